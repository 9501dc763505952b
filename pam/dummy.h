/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Hashes that nobody needs, computed so that an answer takes as long as a wrong password for a hash
 * of the policy's cost: who measures shall not learn which names are accounts, and how theirs are.
 */
#ifndef PAM_DUMMY_H
#define PAM_DUMMY_H

#include <stdint.h>

#include <security/pam_modules.h>

#include "pam/options.h"
#include "policy/config.h"

/** Of accounts that there aren't. */
#define DUMMY_NO_UID UINT32_MAX

struct dummy {
    const struct options *options;
    const struct config_policy *policy;
    uint32_t uid; /* the account's, for the arena; or DUMMY_NO_UID */
    const char *password;
};

/**
 * Computes a whole one.
 *
 * PAM_SUCCESS, also where it failed, which is logged: the answer is what it was going to be.
 * PAM_SYSTEM_ERR: not for now, since there is no slot in the arena, as for a real one.
 */
int dummy_run(pam_handle_t *pamh, const struct dummy *dummy);

/** Computes what is missing after a hash that took spent_us microseconds. Results as dummy_run. */
int dummy_top_up(pam_handle_t *pamh, const struct dummy *dummy, const char *hash,
                 uint64_t spent_us);

/** A clock for spent_us. */
uint64_t dummy_now_us(void);

#endif
