/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Hashes that nobody needs, computed so that an answer takes as long as a wrong password for a hash
 * of the policy's cost: who measures shall not learn which names are accounts, and how theirs are.
 */
#ifndef PAM_DUMMY_H
#define PAM_DUMMY_H

#include <stdbool.h>
#include <stdint.h>

#include "libcore/mhkdf.h"
#include "policy/config.h"

/** Of accounts that there aren't, for the arena. */
#define DUMMY_NO_UID UINT32_MAX

struct dummy {
    const struct config_policy *policy;
    const struct mhkdf_env *resources; /* threads, and where the memory comes from */
    const char *password;              /* as it was given; NULL: one that can't be right */
    bool null_is_ok;                   /* an empty one might be right */
    /** Where lines for the log go; those of LOG_DEBUG for who asked for them. */
    void (*log)(void *ctx, int priority, const char *text);
    void *ctx;
};

/**
 * Makes a refusal take as long as one of a wrong password: computes a whole hash or, after a
 * verification against hash that took spent_us microseconds, what is missing. hash is NULL where
 * nothing was computed. Does
 * nothing for passwords that are refused by their length alone, for every name.
 *
 * 0, also where it failed or there was no room for its memory (free swap doesn't count), which is
 * logged: the answer is what it was going to be. EBUSY,
 * ECONNREFUSED: not for now, since there is no slot in the arena, as for a real one.
 */
int dummy_take_time(const struct dummy *dummy, const char *hash, uint64_t spent_us);

/** A clock for spent_us. */
uint64_t dummy_now_us(void);

#endif
