/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * mhkdf.conf: the policy for new hashes, and the arena. mhkdf.conf(5) describes the file.
 *
 * Reading is strict: whatever isn't understood is an error, so that a typing error never passes as
 * a weaker policy. What to do about an error is the caller's business: a login goes on with the
 * built-in values, a password change refuses.
 *
 * Thread-safe. No state is kept; memory and descriptors are released before return.
 */
#ifndef POLICY_CONFIG_H
#define POLICY_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "libcore/mhkdf.h"

#define CONFIG_PATH "/etc/security/mhkdf.conf"

/** [arena]: what mhkdf-arenad keeps ready. */
#define CONFIG_SLOTS_MAX 256

enum config_pages { CONFIG_PAGES_AUTO, CONFIG_PAGES_HUGETLB, CONFIG_PAGES_THP, CONFIG_PAGES_PLAIN };

struct config_arena {
    uint32_t slots;          /* 1 .. CONFIG_SLOTS_MAX */
    uint32_t slot_kib;       /* memory of the largest hash that fits; 0: config.cost.memory_kib */
    enum config_pages pages; /* the best kind to try */
    bool lock;               /* locked into memory */
    uint32_t lease_ms;       /* 100 or more */
    uint32_t reserve;        /* slots for root alone; below slots */
};

/** Whether hashes take their memory from the arena. */
enum config_use { CONFIG_ARENA_TRY, CONFIG_ARENA_REQUIRE, CONFIG_ARENA_OFF };

/** [default]: always within SPEC.md's ranges, also after an error. */
struct config {
    struct mhkdf_cost cost; /* of new hashes; memory, passes, lanes, chain */
    uint32_t min_length;    /* bytes of a new password, 1 .. 511 */
    enum config_use use;    /* arena */
    uint32_t wait_ms;       /* longest wait for a slot */
    struct config_arena arena;
};

#define CONFIG_ERROR_SIZE 512

/** Where the error is and what was expected: "FILE:LINE: key: ...", one line without newline. */
struct config_error {
    char text[CONFIG_ERROR_SIZE];
};

/** Fills config with the built-in values. */
void config_builtin(struct config *config);

/**
 * Reads path. Where the file doesn't exist: the built-in values and 0, or, if must_exist, ENOENT.
 *
 * 0; EINVAL: the contents; EPERM: the file belongs to someone other than owner (0, but for tests),
 * or others may write to it; EFBIG: more than 1 MiB; errors of open(2) and read(2); ENOMEM. On
 * failure config holds the built-in values and error says why; on success error is empty.
 */
int config_load(const char *path, uint32_t owner, bool must_exist, struct config *config,
                struct config_error *error);

#endif
