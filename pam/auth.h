/* SPDX-License-Identifier: BSD-2-Clause */
/** pam_sm_authenticate's work. */
#ifndef PAM_AUTH_H
#define PAM_AUTH_H

#include <security/pam_modules.h>

#include "pam/options.h"

/**
 * Asks for name and password where nobody has yet, and verifies them against the local accounts.
 * Values as verify_find and verify_password, and what libpam gives for a failed conversation.
 */
int auth_run(pam_handle_t *pamh, unsigned flags, const struct options *options);

#endif
