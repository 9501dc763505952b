/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The lock of the user database, ETC/.pwd.lock: what lckpwdf(3) locks, and with it shadow-utils,
 * pam_unix and systemd. shadow-utils hold it for as long as they hold their own passwd.lock,
 * shadow.lock and the like, so it is enough.
 *
 * Not lckpwdf(): that sets an alarm and a handler, which belong to the program we run in.
 */
#ifndef POLICY_LOCK_H
#define POLICY_LOCK_H

/**
 * Takes the lock for writing, and looks for it again and again for wait_ms milliseconds.
 *
 * 0: *fd holds the lock until it is closed, which is how the caller releases it. ETIMEDOUT: someone
 * else kept it. Otherwise errors of open(2) and fcntl(2), such as EACCES and EROFS. On failure *fd
 * is -1.
 *
 * The lock belongs to the open file (F_OFD_SETLK): it keeps threads of one process apart, and a
 * host's own lock on the file keeps us out. Where the system has only the traditional kind,
 * closing *fd would also drop a host's own.
 */
int lock_take(const char *etc_dir, unsigned wait_ms, int *fd);

#endif
