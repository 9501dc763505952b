/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Replacing a file as a whole, so that whoever looks, at any moment, also after a crash, finds
 * either the old or the new contents. For files of the user database; the caller holds its lock
 * (policy/lock.h) from replace_read to replace_commit. These two are async-signal-safe and may run
 * in a child (policy/apart.h): all that takes memory, or asks SELinux, is done before.
 */
#ifndef POLICY_REPLACE_H
#define POLICY_REPLACE_H

#include <stddef.h>
#include <sys/stat.h>

#include "policy/label.h"

struct replace_room; /* policy/replace.c */

/** A file about to be replaced. */
struct replace {
    const char *path;          /* as the caller has it */
    char folder[4096];         /* without symbolic links */
    char name[256];            /* of the file in there */
    char temp[257];            /* of the new one */
    struct replace_room *room; /* NULL: none */
    size_t room_size;          /* bytes */
    struct label label;
    int dir_fd;       /* the folder; -1: none is open */
    int fd;           /* the file itself; -1: none is open */
    struct stat seen; /* the file before it was read */
    const char *data; /* what it held: len bytes, then a NUL; in room */
    size_t len;
};

/** A part of the new contents. */
struct replace_piece {
    const char *data;
    size_t len;
};

/**
 * Finds path (where it is a symbolic link, the file that this points to, which then is what gets
 * replaced), gets the memory for a file of its size and some more, and asks SELinux that files
 * which this thread makes from now on have its label, in its children too. path must stay.
 *
 * 0; ENAMETOOLONG; EINVAL: not a regular file; EFBIG: more than 256 MiB; ENOMEM; errors of
 * realpath(3) and open(2). In any case the caller releases with replace_end.
 */
int replace_prepare(const char *path, struct replace *replace);

/**
 * Opens and reads the file. 0; EINVAL: not a regular file; ENOBUFS: it has grown beyond the memory,
 * so that all is to be prepared anew; errors of open(2) and read(2).
 */
int replace_read(struct replace *replace);

/**
 * Writes the pieces, one after the other, to a new file beside the old one, with the old one's
 * owner, group, mode and extended attributes (policy/xattr.h, policy/label.h), has it stored, and
 * puts it in the old one's place, if that is still the file that was read, and unchanged.
 *
 * The new file's name is the old one's with an "n" in front: nshadow, as pam_unix, under the same
 * lock, calls it, so that what AppArmor and SELinux allow for it holds here too. A file with this
 * name is a left-over of a crash, and is removed.
 *
 * 0: it is in place. (If only storing the folder's entry fails, that is not an error: everyone sees
 * the new file already.) Otherwise nothing has changed and the new file is gone: ETXTBSY: somebody
 * who doesn't take the lock has changed or replaced the old one meanwhile; ENOSPC, EDQUOT, EROFS,
 * EPERM, EIO, EBUSY (path is a mount point) and other errors of the calls that write. A limit on
 * file sizes gives EFBIG, and SIGXFSZ, which the caller keeps blocked (policy/calm.h).
 */
int replace_commit(const struct replace *replace, const struct replace_piece *pieces, size_t count);

/** After replace_read, whatever it gave: wipes what was read, and closes. Async-signal-safe. */
void replace_forget(struct replace *replace);

/** Wipes, closes and releases; harmless for what replace_prepare left after a failure. */
void replace_end(struct replace *replace);

#endif
