/* SPDX-License-Identifier: BSD-2-Clause */
/** Looking up local accounts and verifying passwords, for both kinds of modules. */
#ifndef PAM_VERIFY_H
#define PAM_VERIFY_H

#include <stdbool.h>

#include <security/pam_modules.h>

#include "libcore/mhkdf.h"
#include "pam/chkpwd.h"
#include "pam/options.h"
#include "policy/account.h"
#include "policy/config.h"

/**
 * Finds the local account.
 *
 * PAM_SUCCESS: the caller releases it with account_free. PAM_USER_UNKNOWN: there is none, or it has
 * no hash anywhere. PAM_CRED_INSUFFICIENT: this process may not read shadow. PAM_AUTHINFO_UNAVAIL:
 * the files can't be read; PAM_SYSTEM_ERR: and that for a shortage which ends the login
 * (pam/limits.h).
 */
int verify_find(pam_handle_t *pamh, const struct options *options, const char *user,
                struct account *account);

/** false: this process may not read shadow. (verify_find looks there only where it must.) */
bool verify_can_read_shadow(void);

/** Asks PAM to delay the answer, if it is no, unless the options say that it isn't to be. */
void verify_delay(pam_handle_t *pamh, const struct options *options);

/**
 * Verifies the password against the account's hash; a wrong one is logged, and its answer delayed.
 * null_is_ok: an empty password may be the right one.
 *
 * PAM_SUCCESS; PAM_AUTH_ERR: it is wrong. PAM_USER_UNKNOWN: no password could be right here, since
 * the hash is locked, malformed, or of a method that isn't there. PAM_AUTHINFO_UNAVAIL: it
 * couldn't be computed. PAM_SYSTEM_ERR: not for now, since there is no slot in the arena, or not
 * enough memory, or for a shortage that ends the login.
 * PAM_PERM_DENIED: the hash is above the policy's ceiling; nothing was computed.
 */
int verify_password(pam_handle_t *pamh, const struct options *options,
                    const struct config_policy *policy, const char *user,
                    const struct account *account, const char *password, bool null_is_ok);

/** What an answer is in PAM. */
int verify_code(enum chkpwd_answer answer);

/**
 * The same for what a verification, or dummy_take_time, returned; where there is something to say,
 * the log gets a line. user, report: as for judge.
 */
int verify_judge(pam_handle_t *pamh, const char *user, const struct mhkdf_memory_report *report,
                 int rc);

#endif
