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

#include "policy/calm.h"

struct lock {
    int fd;           /* -1: not held */
    struct calm calm; /* lasts as long as the lock is held */
};

/**
 * Takes the lock for writing, and looks for it again and again for wait_ms milliseconds.
 *
 * 0: it is held, and the calling thread, which is the one to release it, gets no signals until
 * then. ETIMEDOUT: someone else kept it. Otherwise errors of open(2) and fcntl(2), such as EACCES
 * and EROFS. On failure, and while it waits, signals are as before.
 *
 * The lock belongs to the open file (F_OFD_SETLK): it keeps threads of one process apart, and a
 * host's own lock on the file keeps us out. Where the system has only the traditional kind,
 * closing the file would also drop a host's own.
 *
 * Async-signal-safe, as lock_release is.
 */
int lock_take(const char *etc_dir, unsigned wait_ms, struct lock *lock);

/** Releases what lock_take took, also where the process was forked meanwhile and the child lives.
 */
void lock_release(struct lock *lock);

#endif
