/* SPDX-License-Identifier: BSD-2-Clause */
/** Extended attributes of a file that takes another one's place. Thread-safe, async-signal-safe. */
#ifndef POLICY_XATTR_H
#define POLICY_XATTR_H

#define XATTR_SIZE_MAX 65536 /* of a value, and of all names together: the kernel's limit */

/** What a copy works in. */
struct xattr_room {
    char names[XATTR_SIZE_MAX];
    char values[2][XATTR_SIZE_MAX];
};

/**
 * Gives the open file `to` the attributes of the open file `from`. What decides about access (the
 * ACL, security.*, such as SELinux's label) must come out equal, an ACL that `to` only inherited
 * from its folder included; of other attributes what can't be copied is left out. security.ima and
 * security.evm describe the contents and are left to the kernel.
 *
 * 0; EPERM and other errors of fsetxattr(2). File systems without attributes: 0.
 */
int xattr_copy(int from, int to, struct xattr_room *room);

#endif
