/* SPDX-License-Identifier: BSD-2-Clause */
/** Where the memory of a login's hash comes from, by mhkdf.conf and by who logs in where. */
#ifndef PAM_LEASING_H
#define PAM_LEASING_H

#include <stdint.h>

#include <security/pam_modules.h>

#include "libcore/mhkdf.h"
#include "pam/options.h"
#include "policy/config.h"

struct leasing {
    struct mhkdf_arena arena;
    struct mhkdf_memory_report report;
    struct mhkdf_env resources; /* for anycrypt: with the two above, or without an arena */
};

/**
 * Plans for the account with this uid. Root at the console gets memory without the arena after
 * policy->wait_ms. out keeps
 * pointers of the handle's and to itself.
 */
void leasing_plan(pam_handle_t *pamh, const struct config_policy *policy, uint32_t account_uid,
                  struct leasing *out);

/** Says in the log what the administrator can do something about. */
void leasing_log(pam_handle_t *pamh, const struct options *options, const struct leasing *leasing);

#endif
