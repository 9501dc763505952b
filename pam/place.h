/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Where the module is: which files it reads, and for whom it works. In the module that is
 * installed these are constants and system calls. The one that the tests load (MHKDF_TEST_PLACE)
 * takes them from the environment, which the real one never reads:
 *
 *   MHKDF_TEST_ETC    folder with passwd and shadow
 *   MHKDF_TEST_UID    the caller's real uid
 *   MHKDF_TEST_LOG    file to which log lines are added
 *   MHKDF_TEST_ARENA  the arena's socket
 *   MHKDF_TEST_GROUPS "user:group,user:group": who is in which group (pam/names.h)
 *   MHKDF_TEST_NSS    "user,user": accounts of other sources (pam/names.h)
 *   MHKDF_TEST_NSS_UID a number: such an account's uid is this and the length of its name
 *   MHKDF_TEST_NSS_ERROR "user=5" or "user:group=5": what can't be told, and the errno
 *   MHKDF_TEST_UNIX_CHKPWD pam_unix's helper
 *   MHKDF_TEST_KEEP_LIMITS limits aren't raised (pam/limits.h)
 *   MHKDF_TEST_LOCK_MS how long a password change waits for shadow's lock
 *
 * mhkdf.conf and the distribution's vendor.conf are in MHKDF_TEST_ETC then, and so are the folders
 * pam.d and vendor-pam.d.
 */
#ifndef PAM_PLACE_H
#define PAM_PLACE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/** "/etc". */
const char *place_etc(void);

/** The real uid of the calling process: who asks for what a set-id program does. */
uint32_t place_real_uid(void);

/** The arena's socket; NULL: where libcore looks for it. */
const char *place_arena(void);

/** mhkdf_chkpwd's path, and that of pam_unix's helper. */
const char *place_chkpwd(void);
const char *place_unix_chkpwd(void);

/** mhkdf.conf, and the distribution's, which counts where there is none. */
const char *place_conf(void);
const char *place_vendor_conf(void);

/** Where libpam looks for the files of services, from 0, the first one that counts; NULL: there are
 * no more. The string is valid until the next call. */
const char *place_pam_folder(unsigned number);

/** How long a password change waits for shadow's lock. */
uint32_t place_lock_wait_ms(void);

/** Who must own mhkdf.conf: root. */
uint32_t place_conf_owner(void);

/** The ids of the child that changes shadow (policy/apart.h): root's. */
uint32_t place_apart_uid(void);

/** Whether limits may be raised (pam/limits.h), if the kernel lets us: true. */
bool place_may_raise_limits(void);

/** Does nothing; for the tests, see above. */
void place_copy_log(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
