/* SPDX-License-Identifier: BSD-2-Clause */
/** Asking mhkdf_chkpwd, where this process can't read shadow itself; and pam_unix's helper. */
#ifndef PAM_HELPER_H
#define PAM_HELPER_H

#include <stdbool.h>

#include <security/pam_modules.h>

#include "pam/options.h"

/** Whether mhkdf_chkpwd will take this process for root's, who may ask for others, and from whom it
 * hides which accounts there are. */
bool helper_is_asked_by_root(void);

/**
 * Verifies the password as verify_password does, but in another process. The host doesn't notice:
 * no SIGCHLD comes, none of its wait calls sees the process, and neither handlers nor dispositions
 * of signals are touched, whatever they are.
 *
 * user: CHKPWD_NOBODY where there is no such account at all, but that must not show.
 *
 * PAM_SUCCESS, kept as a verdict (pam/verdict.h) where the hash is below a floor that expires it;
 * PAM_AUTH_ERR: it is wrong, and mhkdf_chkpwd took its time to say so, or PAM was asked to;
 * PAM_USER_UNKNOWN: no password could be right here; PAM_AUTHINFO_UNAVAIL: it couldn't be verified,
 * mhkdf_chkpwd doesn't run, or refuses since the account isn't the caller's own; PAM_SYSTEM_ERR:
 * not for now, since there is no slot in the arena, or for a shortage that ends the login
 * (pam/limits.h), or since mhkdf_chkpwd died in a set-id program of root's; PAM_PERM_DENIED: the
 * hash is above the ceiling, or below the floor.
 */
int helper_verify(pam_handle_t *pamh, const struct options *options, const char *user,
                  const char *password, bool null_is_ok);

/**
 * Runs pam_unix's helper as pam_unix itself does to find out whether a user has an empty password;
 * what it says doesn't matter. It is seen by nobody, as above. name: of an account without a line
 * in shadow, so that nothing is computed or logged.
 */
void helper_run_unix(pam_handle_t *pamh, const char *name);

#endif
