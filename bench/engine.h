/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Engines: what can be measured. Ours (mhkdf, argon2d, argon2i, argon2id), peers where they are
 * installed (libargon2, the system's crypt(3)), and the limits of the machine (copy, random).
 *
 * A specification is NAME[:ARGUMENT][,KEY=VALUE ...]. Not thread-safe: one hash at a time in a
 * process, since libargon2's allocators get no context.
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#define ENGINE_TAG_SIZE 32     /* bytes */
#define ENGINE_PASSWORD_SIZE 8 /* bytes */
#define ENGINE_SALT_SIZE 16    /* bytes */
#define ENGINE_NAME_SIZE 512   /* longest specification, with its NUL */
#define ENGINE_CODE_SIZE 512   /* longest name of a code path, with its NUL */
#define ENGINE_ERROR_SIZE 768  /* longest message, with its NUL */
#define ENGINE_THREADS_MAX 64

/** What every engine hashes: "password", and 16 bytes 0x02. */
extern const uint8_t engine_password[ENGINE_PASSWORD_SIZE];
extern const uint8_t engine_salt[ENGINE_SALT_SIZE];

/** What a hash costs, and how it is run. */
struct engine_cost {
    uint32_t memory_kib;
    uint32_t passes; /* in defaults, 0: 3 for Argon2, else 1 */
    uint32_t lanes;
    uint32_t chain;     /* 0 for all but mhkdf */
    unsigned threads;   /* 1 .. ENGINE_THREADS_MAX */
    const char *kernel; /* name of a fill kernel of ours; NULL: the fastest */
};

enum engine_function {
    ENGINE_MHKDF1,
    ENGINE_ARGON2D,
    ENGINE_ARGON2I,
    ENGINE_ARGON2ID,
    ENGINE_CRYPT, /* its memory is its own affair and can't be made ready */
    ENGINE_LIMIT  /* no hash: what the memory allows; needs ready memory */
};

struct engine;

struct engine_kind {
    /** Names of its engines, NULL-terminated. */
    const char *const *names;
    /** Takes the argument (NULL: none was given) and checks the cost. 0, or EINVAL with a message
     * in error. */
    int (*open)(struct engine *engine, const char *argument, char error[ENGINE_ERROR_SIZE]);
    /** See engine_hash. */
    int (*hash)(struct engine *engine, void *memory, uint8_t tag[ENGINE_TAG_SIZE]);
    /** Frees own; NULL: there is nothing to free. */
    void (*close)(struct engine *engine);
};

struct engine {
    const struct engine_kind *kind;
    char name[ENGINE_NAME_SIZE]; /* its specification */
    enum engine_function function;
    struct engine_cost cost;     /* threads: those that can be in use, at most lanes */
    char code[ENGINE_CODE_SIZE]; /* the code path; set by the first hash at the latest */
    uint64_t size_kib;           /* memory that engine_hash wants; 0: none */
    uint64_t written_kib;        /* written by a hash: m' blocks a pass; 0: not known */
    int wipes;                   /* whether it overwrites all its memory before it returns */
    char kernel[32];             /* of its specification; cost.kernel points here or is NULL */
    unsigned number;             /* which of the kind's names it has */
    void *own;
};

/**
 * Makes an engine from a specification; what that doesn't say is as in defaults. libargon2 is the
 * path that plain "libargon2" means. 0, or EINVAL with a message that says what was expected; after
 * 0, engine_close is due.
 */
int engine_open(struct engine *engine, const char *specification,
                const struct engine_cost *defaults, const char *libargon2,
                char error[ENGINE_ERROR_SIZE]);

/**
 * One hash. memory holds size_kib KiB, 2 MiB aligned and faulted in; NULL: the engine maps its own
 * and gives it back. 0, ENOMEM, or EINVAL where the engine itself refuses.
 */
int engine_hash(struct engine *engine, void *memory, uint8_t tag[ENGINE_TAG_SIZE]);

void engine_close(struct engine *engine);

/** Whether two engines compute the same function of the same cost, so that tags must agree. */
int engine_is_same(const struct engine *a, const struct engine *b);

/** Whether the function is mhkdf1 or one of Argon2's: 1 or 0. */
int engine_is_fill(const struct engine *engine);

/** m' of the specification, in KiB: what of memory_kib is used. */
uint32_t engine_used_kib(const struct engine_cost *cost);

extern const struct engine_kind engine_ours;
extern const struct engine_kind engine_libargon2;
extern const struct engine_kind engine_crypt;
extern const struct engine_kind engine_limit;

/** Where plain "libargon2" is loaded from unless something else is said. */
#define ENGINE_LIBARGON2_DEFAULT "libargon2.so.1"

/** The path that engine_open got; for engine_libargon2's open. */
extern const char *engine_libargon2_path;

#endif
