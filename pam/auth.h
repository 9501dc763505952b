/* SPDX-License-Identifier: BSD-2-Clause */
/** pam_sm_authenticate's work, and pam_sm_acct_mgmt's. */
#ifndef PAM_AUTH_H
#define PAM_AUTH_H

#include <security/pam_modules.h>

#include "pam/options.h"

/**
 * Asks for name and password where nobody has yet, and verifies them against the local accounts.
 * Where the answer is no, it takes the same time whether there is such an account or not. Where it
 * is yes, a hash that is weaker than mhkdf.conf asks for is replaced.
 *
 * Values as verify_find and verify_password, and what libpam gives for a failed conversation.
 * PAM_PERM_DENIED: the stored hash is above the ceiling, or below the floor; no other module is to
 * take it.
 */
int auth_run(pam_handle_t *pamh, unsigned flags, const struct options *options);

/**
 * PAM_NEW_AUTHTOK_REQD: auth_run, in this transaction, verified a password whose hash is below the
 * floor, and the policy says "expire". Else PAM_IGNORE.
 */
int auth_account(pam_handle_t *pamh);

#endif
