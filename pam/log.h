/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What the module tells the log and the user. Passwords and hashes never get here; nor do names
 * that aren't accounts, since people type passwords where a name is asked.
 */
#ifndef PAM_LOG_H
#define PAM_LOG_H

#include <security/pam_modules.h>

#include "pam/options.h"

/** Writes a line to the system's log, as pam_syslog(3). */
void log_write(pam_handle_t *pamh, int priority, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The same for LOG_DEBUG, where the option debug is given. */
void log_debug(pam_handle_t *pamh, const struct options *options, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** log_write for who knows nothing of PAM: ctx is the handle. */
void log_text(void *pamh, int priority, const char *text);

/** Logs a wrong password for the local account user, with the words that pam_unix uses. */
void log_failure(pam_handle_t *pamh, const char *user);

/** Shows the user an error, or something to know, unless flags has PAM_SILENT. */
void log_tell_error(pam_handle_t *pamh, unsigned flags, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_tell(pam_handle_t *pamh, unsigned flags, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
