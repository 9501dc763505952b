/* SPDX-License-Identifier: BSD-2-Clause */
/** Giving up what the daemon doesn't need, before it meets its first client. */
#ifndef ARENA_PRIVILEGE_H
#define ARENA_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

struct privilege_user {
    uid_t uid;
    gid_t gid;
};

/** Looks up a user by name. 0, ENOENT, or another errno value. */
int privilege_find_user(const char *name, struct privilege_user *user);

/** Looks up a group by name. 0, ENOENT, or another errno value. */
int privilege_find_group(const char *name, gid_t *gid);

/**
 * Becomes user (NULL, or where this isn't root: stays who it is), with no capability but
 * CAP_IPC_LOCK, and that only where it was there and lock is true; no program that is started can
 * get more. 0 or errno.
 */
int privilege_drop(const struct privilege_user *user, bool lock);

/** Raises the soft limit of open descriptors to what is wanted, or to the hard limit. Where that is
 * less, peer_accept gets by. */
void privilege_raise_descriptors(unsigned wanted);

#endif
