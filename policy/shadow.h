/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Changing an account's hash in ETC/shadow, the way that shadow-utils and pam_unix change it, so
 * that none of them loses the other's work. Lines other than the account's, and fields other than
 * those named here, are kept byte for byte, whether they are understood or not.
 *
 * What was done is in the audit log (policy/audit.h). Hashes are computed before; nothing slow
 * happens under the lock. Thread-safe; nothing is kept.
 */
#ifndef POLICY_SHADOW_H
#define POLICY_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

/** How long a password change waits for the lock, as lckpwdf(3) does. */
#define SHADOW_WAIT_MS 15000U

struct shadow_change {
    const char *name;
    const char *old_hash; /* must be there still when the lock is held; NULL: whatever is there */
    const char *new_hash; /* printable ASCII without ':' */
    bool set_last_change; /* also sets the day of the last change to today */
    unsigned wait_ms;     /* how long to wait for the lock */
    /** The locked part runs in a child (policy/apart.h), so that the user of a set-id program can't
     * stop it with the lock held. apart_uid: the child's ids, 0 but for tests. */
    bool apart;
    uint32_t apart_uid;
};

/**
 * Makes one change.
 *
 * 0; EINVAL: new_hash can't be in the file, or shadow isn't a regular file; ENOENT: there is no
 * shadow, or no line of that name in it; ESTALE: old_hash isn't there any more; ETIMEDOUT: the lock
 * was taken all the time; ETXTBSY: somebody changed the file, without the lock, each time that it
 * was read; EPERM, ETIME and others of apart_run; errors of lock_take, replace_prepare,
 * replace_read and replace_commit. Unless 0, shadow is as it was.
 */
int shadow_change(const char *etc_dir, const struct shadow_change *change);

/** Today by the system's clock, in days since 1970-01-01. */
long shadow_today(void);

#endif
