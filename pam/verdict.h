/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What the auth phase found out for the account and password phases of the same transaction: that
 * the password that was verified here is to be changed, since its hash is below the floor.
 */
#ifndef PAM_VERDICT_H
#define PAM_VERDICT_H

#include <stdbool.h>

#include <security/pam_modules.h>

/** Keeps it for this user, in place of an earlier one. PAM_SUCCESS, PAM_BUF_ERR. */
int verdict_keep(pam_handle_t *pamh, const char *user);

/** Whether it was kept for this user. */
bool verdict_is_due(pam_handle_t *pamh, const char *user);

/** Forgets it. */
void verdict_drop(pam_handle_t *pamh);

#endif
