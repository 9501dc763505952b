/* SPDX-License-Identifier: BSD-2-Clause */
/** pam_sm_chauthtok's work, in its two phases. pam_mhkdf(8) says who may change what. */
#ifndef PAM_PASSWORD_H
#define PAM_PASSWORD_H

#include <security/pam_modules.h>

#include "pam/options.h"

/**
 * PAM_PRELIM_CHECK: whether there is something to change here, and whether the caller may. Asks
 * for the old password and verifies it, unless the caller is root. What it found stays with the
 * handle for password_update.
 *
 * PAM_SUCCESS; PAM_USER_UNKNOWN: not an account that this module changes; PAM_AUTH_ERR: the old
 * password is wrong; PAM_AUTHTOK_ERR: too early, or mhkdf.conf is broken; PAM_ACCT_EXPIRED,
 * PAM_AUTHTOK_EXPIRED; PAM_AUTHTOK_RECOVERY_ERR: the old hash can't be read or verified;
 * PAM_BUF_ERR; what libpam gives for a failed conversation.
 */
int password_prelim(pam_handle_t *pamh, unsigned flags, const struct options *options);

/**
 * PAM_UPDATE_AUTHTOK: asks for the new password, hashes it, writes it.
 *
 * PAM_SUCCESS; PAM_USER_UNKNOWN, as before; PAM_AUTHTOK_ERR: no acceptable password was given, or
 * it couldn't be hashed or written; PAM_AUTHTOK_LOCK_BUSY: shadow was locked, or changed, all the
 * time;
 * PAM_AUTHTOK_RECOVERY_ERR: password_prelim didn't run for this account.
 */
int password_update(pam_handle_t *pamh, unsigned flags, const struct options *options);

#endif
