/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * mhkdf.conf: what holds for which login. mhkdf.conf(5) describes the file.
 *
 * Reading is strict: whatever isn't understood is an error, so that a typing error never passes as
 * a weaker policy. What to do about an error is the caller's business: a login goes on with the
 * fallback, a password change refuses.
 *
 * Thread-safe. No state is kept; a struct config owns its memory, and config_free releases it.
 */
#ifndef POLICY_CONFIG_H
#define POLICY_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcore/mhkdf.h"
#include "policy/methods.h"

#define CONFIG_PATH "/etc/security/mhkdf.conf"

/** Sections of one file. */
#define CONFIG_SECTIONS_MAX 1024

/** [arena]: what mhkdf-arenad keeps ready. */
#define CONFIG_SLOTS_MAX 256

enum config_pages { CONFIG_PAGES_AUTO, CONFIG_PAGES_HUGETLB, CONFIG_PAGES_THP, CONFIG_PAGES_PLAIN };

struct config_arena {
    uint32_t slots;          /* 1 .. CONFIG_SLOTS_MAX */
    uint32_t slot_kib;       /* memory of the largest hash that fits */
    enum config_pages pages; /* the best kind to try */
    bool lock;               /* locked into memory */
    uint32_t lease_ms;       /* 100 or more */
    uint32_t reserve;        /* slots for root alone; below slots */
};

/** Whether hashes take their memory from the arena. */
enum config_use { CONFIG_ARENA_TRY, CONFIG_ARENA_REQUIRE, CONFIG_ARENA_OFF };

/** What happens to a login whose stored hash is below the floor. */
enum config_action { CONFIG_LOG, CONFIG_EXPIRE, CONFIG_DENY };

struct config_section; /* policy/config_keys.h */

/** A file as it was read. */
struct config {
    struct config_section *sections; /* NULL: the built-in values alone */
    size_t count;
    struct config_arena arena;
    bool is_fallback; /* the file couldn't be used */
};

/** Which login it is. */
struct config_who {
    const char *service; /* PAM's name of it, such as "sshd"; NULL: none */
    const char *user;    /* NULL: none */
    bool is_root;        /* the account has uid 0 */
    /** Whether the user is in this group; asked about the file's groups, in its order, until there
     * is one. NULL: in none. */
    bool (*in_group)(void *ctx, const char *group);
    void *ctx;
};

/** What holds for one login. The cost is always within SPEC.md's ranges. */
struct config_policy {
    const struct methods_entry *method; /* of new hashes; static storage */
    struct mhkdf_cost cost; /* of new hashes; where the method isn't ours, of a $mhkdf$ hash of this
                               memory */
    unsigned idle_memory_line; /* of a memory that is set and doesn't count for the method; or 0 */
    uint32_t threads;          /* most threads; 0: as many as there are CPUs */
    bool upgrade;
    uint32_t floor_kib; /* 0: none */
    enum config_action floor_action;
    uint32_t ceiling_kib;    /* UINT32_MAX: none */
    uint32_t ceiling_passes; /* UINT32_MAX: none */
    uint32_t min_length;     /* bytes of a new password, 1 .. 511 */
    enum config_use use;     /* arena */
    uint32_t wait_ms;        /* longest wait for a slot */
    uint32_t slots_max;      /* most slots that the service may hold at once; 0: no cap */
};

#define CONFIG_ERROR_SIZE 640

/** Where the error is and what was expected: "FILE:LINE: key: ...", one line without newline. */
struct config_error {
    char text[CONFIG_ERROR_SIZE];
};

/**
 * Reads path. Where the file doesn't exist: the built-in values and 0, or, if must_exist, ENOENT.
 *
 * 0; EINVAL: the contents; EPERM: the file belongs to someone other than owner (0, but for tests),
 * or others may write to it; EFBIG: more than 1 MiB; errors of open(2) and read(2); ENOMEM.
 *
 * On failure config holds the fallback, and error says why: the built-in values, but nothing is
 * refused or upgraded by them, since that isn't what the administrator wanted to say. On success
 * error is empty. In any case the caller releases with config_free.
 */
int config_load(const char *path, uint32_t owner, bool must_exist, struct config *config,
                struct config_error *error);

/** Reads path or, only where there is no such file, vendor, which may be missing too. */
int config_load_either(const char *path, const char *vendor, uint32_t owner, struct config *config,
                       struct config_error *error);

/** The distribution's file, config_load_either's vendor: DATADIR/mhkdf/mhkdf.conf. */
const char *config_vendor_path(void);

/** Releases; harmless for a struct of zeros and a second time. */
void config_free(struct config *config);

/**
 * Looks every key up: in the user's section, in that of the first group of the file that the user
 * is in, in the service's, in [default]; then there is the built-in value.
 *
 * For root, floors and ceilings are looked up in the section of the user alone, and "require" is
 * "try" unless that section says it.
 */
void config_look_up(const struct config *config, const struct config_who *who,
                    struct config_policy *out);

/** slots_max of a service, as a daemon wants it who doesn't know the user. */
uint32_t config_slots_max(const struct config *config, const char *service);

#endif
