/* SPDX-License-Identifier: BSD-2-Clause */
/** Old passwords that other modules remember so that they aren't used again. */
#ifndef PAM_HISTORY_H
#define PAM_HISTORY_H

#include <security/pam_modules.h>

/**
 * Logs one warning where the service keeps a history of passwords that won't recognise this new
 * hash, with the reason and what to do; else nothing. Never fails.
 *
 * hash: what was stored for user.
 */
void history_warn(pam_handle_t *pamh, const char *user, const char *hash);

#endif
