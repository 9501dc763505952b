/* SPDX-License-Identifier: BSD-2-Clause */
/** What mhkdf.conf says for the login at hand. */
#ifndef PAM_RULING_H
#define PAM_RULING_H

#include <stdbool.h>

#include <security/pam_modules.h>

#include "pam/options.h"
#include "policy/config.h"

/**
 * Reads the file and looks the policy up for this user and the handle's service. On an error, which
 * is logged, policy is the fallback's (policy/config.h). is_root: the account has uid 0.
 *
 * Where nobody can tell whether the user is in one of the file's groups, that is logged once, and
 * isn't an error: the group counts as not his, but its section can only take away from what the
 * policy refuses, requires and upgrades.
 *
 * 0, or as config_load.
 */
int ruling_find(pam_handle_t *pamh, const struct options *options, const char *user, bool is_root,
                struct config_policy *policy, struct config_error *error);

#endif
