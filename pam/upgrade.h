/* SPDX-License-Identifier: BSD-2-Clause */
/** A stronger hash in place of a weak one, when the password is at hand. */
#ifndef PAM_UPGRADE_H
#define PAM_UPGRADE_H

#include <stdbool.h>

#include <security/pam_modules.h>

#include "pam/options.h"
#include "policy/account.h"
#include "policy/config.h"

/**
 * Replaces the account's hash, which this password has just been verified against, if the policy
 * wants that and what it asks for is stronger (policy/strength.h). Where it fails, the log says
 * why, and nothing has changed.
 *
 * True: account->hash is the new one, in shadow too.
 */
bool upgrade_run(pam_handle_t *pamh, const struct options *options,
                 const struct config_policy *policy, const char *user, struct account *account,
                 const char *password);

#endif
