/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The limits on resources that the user of a set-id program has set before it started: they must
 * not switch off what mhkdf.conf refuses. Thread-safe.
 */
#ifndef PAM_LIMITS_H
#define PAM_LIMITS_H

#include <stdbool.h>

#include <security/pam_modules.h>

/**
 * Where the person behind the program (pam/origin.h) isn't root, raises RLIMIT_DATA, RLIMIT_AS,
 * RLIMIT_FSIZE and RLIMIT_NOFILE as far as this process may: with CAP_SYS_RESOURCE beyond the hard
 * limits, else up to them. They are the process's: other threads of the host have them meanwhile,
 * and children that it starts inherit them. So there must be no conversation before limits_restore,
 * in which the host could start a program for its user.
 *
 * What it returns is for limits_restore. Several threads, or calls within each other, share the
 * raised limits, and the last one restores them.
 */
bool limits_raise(pam_handle_t *pamh);

/** Puts the limits back, but for those that the host has changed meanwhile. */
void limits_restore(bool raised);

/**
 * Whether this error (an errno of reading the configuration or the accounts, or of verifying) ends
 * the login: it is want of memory or descriptors (policy/shortage.h), and the person behind the
 * program isn't root. Then the log says so, and the result is to be PAM_SYSTEM_ERR, which no stack
 * may ignore: another module would accept a hash that mhkdf.conf denies. For root it's an error
 * like others: a login is never lost to an improvement.
 */
bool limits_end_login(pam_handle_t *pamh, int error);

#endif
