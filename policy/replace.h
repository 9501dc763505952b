/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Replacing a file as a whole, so that whoever looks, at any moment, also after a crash, finds
 * either the old or the new contents. For files of the user database; the caller holds its lock
 * (policy/lock.h).
 */
#ifndef POLICY_REPLACE_H
#define POLICY_REPLACE_H

#include <stddef.h>

#include "policy/file.h"

/** A file about to be replaced. */
struct replace {
    int dir_fd;           /* its folder; -1: none is open */
    int fd;               /* the file itself; -1: none is open */
    char name[256];       /* its name in the folder */
    struct file contents; /* what it held */
};

/** A part of the new contents. */
struct replace_piece {
    const char *data;
    size_t len;
};

/**
 * Opens path (where it is a symbolic link, the file that this points to, which then is what gets
 * replaced) and reads it.
 *
 * 0; EINVAL: not a regular file; EFBIG; ENOMEM; errors of realpath(3), open(2) and read(2). In any
 * case the caller releases with replace_end.
 */
int replace_begin(const char *path, struct replace *replace);

/**
 * Writes the pieces, one after the other, to a new file beside the old one, with the old one's
 * owner, group, mode and extended attributes (policy/xattr.h, policy/label.h), has it stored, and
 * puts it in the old one's place.
 *
 * The new file's name is the old one's with an "n" in front: nshadow, as pam_unix, under the same
 * lock, calls it, so that what AppArmor and SELinux allow for it holds here too. A file with this
 * name is a left-over of a crash, and is removed.
 *
 * 0: it is in place. (If only storing the folder's entry fails, that is not an error: everyone sees
 * the new file already.) Otherwise nothing has changed and the new file is gone: ENOSPC, EDQUOT,
 * EROFS, EPERM, EIO, EBUSY (path is a mount point) and other errors of the calls that write. A
 * limit on file sizes gives EFBIG, and SIGXFSZ, which the caller keeps blocked (policy/calm.h).
 */
int replace_commit(const struct replace *replace, const struct replace_piece *pieces, size_t count);

/** Wipes, closes and releases; harmless for what replace_begin left after a failure. */
void replace_end(struct replace *replace);

#endif
