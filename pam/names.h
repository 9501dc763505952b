/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What the name service, of whatever sources, says about users and groups. The module that the
 * tests load asks the environment instead (pam/place.h). Thread-safe.
 *
 * A source that can't be asked (no memory or descriptors, a server that doesn't answer) is neither
 * a yes nor a no. Only what a source says with ENOENT or ESRCH can't be told from a no: that is
 * what one that isn't installed says, too.
 */
#ifndef PAM_NAMES_H
#define PAM_NAMES_H

#include <stdint.h>

/** Whether there is an account of this name: 0; ENOENT: no; else nobody can tell, and why. */
int names_find_user(const char *user);

/** The same; its uid, where there is one, goes to *uid. */
int names_find_uid(const char *user, uint32_t *uid);

/**
 * Whether the user is in the group: as a listed member, by his primary group, or by the group's
 * number among those that a login would give him.
 *
 * 0; ENOENT: no, or there is no such group; else nobody can tell, and why.
 */
int names_find_member(const char *user, const char *group);

#endif
