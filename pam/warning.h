/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What a password change tells of mhkdf.conf beside the change itself: that it locks accounts out,
 * with their names. A login doesn't look for that.
 */
#ifndef PAM_WARNING_H
#define PAM_WARNING_H

#include <stdbool.h>

#include <security/pam_modules.h>

#include "pam/options.h"

/**
 * Writes to the log, and tells root where to_user, which accounts have hashes above a ceiling, and
 * which ones need an arena that is required and isn't there. Says nothing where there are none, or
 * where that can't be found out.
 */
void warning_of_lockouts(pam_handle_t *pamh, unsigned flags, const struct options *options,
                         bool to_user);

#endif
