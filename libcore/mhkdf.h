/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * libmhkdf: memory-hard password hashing, mhkdf1 and RFC 9106 Argon2.
 *
 * Conventions of every function here:
 * - The result is 0 or a positive errno value; errno itself is not part of the interface. What each
 *   value means is said at the function. Outputs are written only on success unless said otherwise.
 * - Buffers of one call must not overlap.
 * - The caller owns all buffers; the library keeps no pointer after it returns and no state between
 *   calls. Pointers with a length of 0 may be NULL.
 * - All functions are thread-safe and may be called after fork(). None prints, exits, aborts, reads
 *   the environment, installs signal handlers, or leaves threads, descriptors or mappings behind.
 * - Passwords, keys, tags and what is derived from them are wiped from the library's own memory
 *   before it returns, on success and on failure.
 * - Hashing uses memory_kib KiB of fresh mappings, up to 20 KiB of the caller's stack, and up to
 *   lanes - 1 threads besides the caller's, which block all signals and are joined before return.
 * - Private memory of 1 MiB or more is taken only where /proc and the memory cgroups say that there
 *   is room for it, so that nobody is killed for it; otherwise the result is ENOMEM.
 *
 * SPEC.md (doc/SPEC.md in the distribution) is the contract for functions and strings.
 */
#ifndef MHKDF_H
#define MHKDF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes, with the NUL, that hold any string of SPEC.md section 4 (crypt(3)'s CRYPT_OUTPUT_SIZE).
 */
#define MHKDF_STRING_SIZE 384

/** Ranges of SPEC.md section 2; they hold for the Argon2 methods too. */
#define MHKDF_SALT_MIN 8          /* bytes */
#define MHKDF_SALT_MAX 64         /* bytes */
#define MHKDF_KEY_MAX 64          /* bytes */
#define MHKDF_TAG_MIN 16          /* bytes */
#define MHKDF_TAG_MAX 64          /* bytes */
#define MHKDF_PASSES_MAX 16777215 /* 2^24 - 1 */
#define MHKDF_LANES_MAX 64
#define MHKDF_MEMORY_MAX_KIB 4294967295U /* 2^32 - 1; the minimum is 8 KiB a lane */

/** Defaults of SPEC.md section 2, and of a setting made by mhkdf_gensalt with count 0. */
#define MHKDF_MEMORY_DEFAULT_KIB 65536
#define MHKDF_PASSES_DEFAULT 1
#define MHKDF_PASSES_ARGON2 3 /* default of the Argon2 methods */
#define MHKDF_LANES_DEFAULT 4
#define MHKDF_CHAIN_DEFAULT 6
#define MHKDF_SALT_DEFAULT 16 /* random bytes of a new salt: 22 characters in a $mhkdf$ string */
#define MHKDF_TAG_DEFAULT 32  /* bytes */

/** Longest password that crypt(3) and mhkdf_crypt take, in bytes. mhkdf_derive takes up to 2^32-1.
 */
#define MHKDF_CRYPT_PASSWORD_MAX 511

/** Longest key id (k of a string), in characters. */
#define MHKDF_KEY_ID_MAX 16

enum mhkdf_method {
    MHKDF_METHOD_MHKDF1 = 1, /* $mhkdf$, SPEC.md section 3 */
    MHKDF_METHOD_ARGON2D,    /* $argon2d$, RFC 9106, version 0x13 */
    MHKDF_METHOD_ARGON2I,    /* $argon2i$ */
    MHKDF_METHOD_ARGON2ID    /* $argon2id$ */
};

/** What a hash costs. All of it is part of the hash: another value, another tag. */
struct mhkdf_cost {
    enum mhkdf_method method;
    uint32_t memory_kib; /* 8 * lanes .. 2^32 - 1 */
    uint32_t passes;     /* 1 .. 2^24 - 1 */
    uint32_t lanes;      /* 1 .. 64 */
    uint32_t chain;      /* steps per BLAKE2 round: 0, 3, 6 or 12; 0 for the Argon2 methods */
};

/** What is hashed. Lengths in bytes. */
struct mhkdf_input {
    const void *password;
    size_t password_len; /* 0 .. 2^32 - 1 */
    const void *salt;
    size_t salt_len; /* 8 .. 64 */
    const void *key; /* site key; NULL where none is in use */
    size_t key_len;  /* 0 .. 64; 0 for the Argon2 methods */
    int wrapped;     /* not 0: password holds an older hash (SPEC.md section 5); mhkdf1 only */
};

/**
 * Computes the raw tag of tag_len bytes (16 .. 64): mhkdf1 by SPEC.md section 3, Argon2 by RFC 9106
 * section 3 (version 0x13, without secret and associated data).
 *
 * threads is the most threads to use, the caller's included; 0 means as many as there are CPUs that
 * this process may run on. More than lanes are never used. The tag doesn't depend on it, and where
 * a thread can't be started its lanes run in those that could, so this is never an error.
 *
 * EINVAL: a parameter, length or combination out of range. ENOMEM: there isn't enough memory; free
 * swap counts. On failure tag is filled with zeros.
 */
int mhkdf_derive(const struct mhkdf_cost *cost, const struct mhkdf_input *input, unsigned threads,
                 uint8_t *tag, size_t tag_len);

/** A string of SPEC.md section 4 taken apart. It may hold a tag: wipe it (mhkdf_wipe) after use. */
struct mhkdf_setting {
    struct mhkdf_cost cost;
    size_t salt_len;              /* 8 .. 64 */
    uint8_t salt[MHKDF_SALT_MAX]; /* $mhkdf$: the text itself, without a NUL, of A-Za-z0-9./ */
    size_t tag_len;               /* 0 where the string stops after the salt; else 16 .. 64 */
    uint8_t tag[MHKDF_TAG_MAX];
    char key_id[MHKDF_KEY_ID_MAX + 1]; /* of A-Za-z0-9; "" where there is no k */
    char inner[MHKDF_STRING_SIZE]; /* setting of a wrapped hash (section 5), decoded; "" if none */
};

/**
 * Takes a setting or hash of one of our methods apart, and checks all of it, inner settings
 * included. string is NUL-terminated; nothing behind its NUL is read, and nothing is allocated.
 *
 * EINVAL: not a well-formed string of ours. ERANGE: well-formed, but longer than 383 bytes, or the
 * hash made from it would be. On failure out is filled with zeros.
 */
int mhkdf_parse(const char *string, struct mhkdf_setting *out);

/**
 * Puts a string together: a setting without the last `$` where tag_len is 0, else the hash.
 * out holds out_size bytes; MHKDF_STRING_SIZE is always enough.
 *
 * EINVAL: a member out of range. ERANGE: the string, or the hash made from the setting, would be
 * longer than 383 bytes, or out_size is too small. On failure out is an empty string (where
 * out_size > 0).
 */
int mhkdf_encode(const struct mhkdf_setting *setting, char *out, size_t out_size);

/**
 * Makes a new salt for a setting whose cost.method is set: of 16 random bytes, 22 characters for
 * $mhkdf$. EINVAL: an unknown method. Errors of mhkdf_random; salt_len is 0 then.
 */
int mhkdf_random_salt(struct mhkdf_setting *setting);

/** Whether string starts with the prefix of one of our methods, well-formed or not: 1 or 0. */
int mhkdf_is_ours(const char *string);

/**
 * Memory from mhkdf-arenad, which lends it ready for use. A process may ask if its effective uid is
 * 0 or its effective gid is shadow's; for others, and where there is no daemon, the arena is
 * unavailable. Hashes of less than 4 MiB don't use it.
 *
 * Unavailable and busy are different: where it is unavailable, memory of the process's own is used
 * instead. Where it works but all of it is lent, falling back would let any number of logins fill
 * the machine: so the caller waits for its turn, and then fails. A daemon that runs, but can't make
 * its slots, is unavailable; where it is required, it is busy.
 */
struct mhkdf_arena {
    const char *socket;    /* NULL: /run/mhkdf/arena.sock */
    const char *service;   /* name, such as "sshd"; cut after 31 bytes; may be NULL */
    uint32_t real_uid;     /* whose doing this is */
    uint32_t wait_ms;      /* how long to wait for a turn, at most 2^31 - 1 */
    uint32_t slots_max;    /* most slots that this service may hold at once; 0: no cap */
    int require;           /* not 0: fail with ECONNREFUSED where it is unavailable */
    int private_when_busy; /* not 0: use own memory after wait_ms, too (root at the console) */
};

enum mhkdf_memory_from {
    MHKDF_MEMORY_NONE, /* there was none */
    MHKDF_MEMORY_PRIVATE,
    MHKDF_MEMORY_ARENA
};

enum mhkdf_pages {
    MHKDF_PAGES_UNKNOWN,
    MHKDF_PAGES_PLAIN,
    MHKDF_PAGES_THP,    /* 2 MiB, put together by the kernel */
    MHKDF_PAGES_HUGETLB /* 2 MiB, set aside by the administrator */
};

/** Bytes, with the NUL, of a text that names a limit. */
#define MHKDF_LIMIT_SIZE 192

/** Where a hash had its memory; for a log, which the library doesn't write. */
struct mhkdf_memory_report {
    int from;  /* enum mhkdf_memory_from */
    int pages; /* enum mhkdf_pages, of the arena's */
    uint64_t size_kib;
    int arena_error;         /* 0, or why the arena wasn't used: EBUSY, ECONNREFUSED, ENOMEM */
    uint32_t waited_ms;      /* for the arena's answer */
    int locked;              /* private memory: whether it is locked, */
    uint64_t lock_limit_kib; /* and RLIMIT_MEMLOCK; UINT64_MAX: none */
    int in_swap; /* there is room only if other memory goes to swap: so it isn't locked */
    /**
     * ENOMEM since there wasn't room for it: what private memory would have needed, a reserve
     * included; what was available; and which limit left the least. Otherwise 0, 0 and "".
     */
    uint64_t needed_kib;
    uint64_t available_kib;
    char limit[MHKDF_LIMIT_SIZE]; /* printable, such as "RLIMIT_AS = 65536K" */
};

/**
 * What a string may need from its surroundings. Each member may be NULL or 0, and so may a pointer
 * to the whole. ctx is handed to the functions as it is.
 */
struct mhkdf_env {
    /**
     * Finds the site key with this id: writes up to MHKDF_KEY_MAX bytes to key and their number to
     * key_len, and returns 0; or returns ENOKEY. The library wipes its copy. NULL: no key is known.
     */
    int (*find_key)(void *ctx, const char *key_id, uint8_t *key, size_t *key_len);
    /**
     * crypt(3) of a method that isn't ours, for a wrapped hash: hashes phrase (NUL-terminated) with
     * setting, writes the string and its NUL to out (MHKDF_STRING_SIZE bytes), and returns 0; or
     * returns an errno value. A result that starts with `*` counts as a failure. NULL: such wraps
     * can be parsed but not computed.
     */
    int (*foreign_crypt)(void *ctx, const char *phrase, const char *setting, char *out);
    void *ctx;
    unsigned threads;                   /* as for mhkdf_derive */
    const struct mhkdf_arena *arena;    /* NULL: private memory */
    struct mhkdf_memory_report *report; /* of the last hash that was computed, if any */
    /**
     * Private memory is taken only where there is room for it. Free swap counts as room where a
     * password is verified: by mhkdf_verify, or by mhkdf_crypt with a hash in place of a setting.
     * It doesn't for a new hash, by mhkdf_crypt with a setting; nor, if this isn't 0, for any other
     * (one that can be left out).
     */
    int without_swap;
};

/**
 * crypt(3) for our methods: hashes the password with a setting (or with a hash, whose tag is
 * ignored but for its length) and writes the NUL-terminated string to out, MHKDF_STRING_SIZE bytes.
 *
 * password_len: 0 .. 511; a password with a NUL byte can be hashed, but not wrapped (EINVAL).
 *
 * Checked in this order, before anything is computed or allocated: ERANGE: a password over 511
 * bytes. EINVAL, as mhkdf_parse, or an inner setting that needs a foreign_crypt where there is
 * none. ERANGE, as mhkdf_parse. ENOKEY: find_key doesn't know a key id. Then: ENOMEM; with
 * env->arena, EBUSY (it was in use for all of wait_ms) and ECONNREFUSED (it is required, and
 * unavailable), which are both temporary; or, for a wrapped hash, what foreign_crypt returned
 * (EINVAL where it gave a failure token). On failure out is an empty string.
 */
int mhkdf_crypt(const void *password, size_t password_len, const char *setting,
                const struct mhkdf_env *env, char *out);

/**
 * Verifies a password against a hash of one of our methods. Tags are compared in constant time.
 *
 * 0: it matches. EKEYREJECTED: it doesn't. Otherwise nothing is known about the password: EINVAL
 * also for a setting without a tag; the rest as mhkdf_crypt.
 */
int mhkdf_verify(const void *password, size_t password_len, const char *hash,
                 const struct mhkdf_env *env);

/**
 * crypt_gensalt(3) for our methods (SPEC.md section 6). prefix is "$mhkdf$", "$argon2id$",
 * "$argon2d$" or "$argon2i$", or a string that starts so. count 0 means the default memory, 1 .. 15
 * means 2^(count+9) KiB. rbytes holds rbytes_len random bytes, of which the first 16 are used; NULL
 * means that the library takes 16 from the system. The setting goes to out, out_size bytes; 192 are
 * enough.
 *
 * EINVAL: unknown prefix, count out of range, or fewer than 16 bytes. ERANGE: out_size is too
 * small. With rbytes NULL, the errors of mhkdf_random. On failure out is an empty string (where
 * out_size > 0).
 */
int mhkdf_gensalt(const char *prefix, unsigned long count, const void *rbytes, size_t rbytes_len,
                  char *out, size_t out_size);

/**
 * Fills buf with len bytes from the system's random number generator, waiting for it to be seeded.
 * Errors of getrandom(2) and of /dev/urandom, its fallback. On failure buf is filled with zeros.
 */
int mhkdf_random(void *buf, size_t len);

/** Overwrites len bytes with zeros in a way that compilers keep, and clears the vector registers,
 * through which functions such as memcpy(3) take what they copy. */
void mhkdf_wipe(void *buf, size_t len);

/** Compares len bytes in a time that doesn't depend on them: 1 if all are equal, else 0. */
int mhkdf_equal(const void *a, const void *b, size_t len);

/** Version of the library that is running, "major.minor.patch". Static storage. */
const char *mhkdf_version(void);

#ifdef __cplusplus
}
#endif

#endif
