/* SPDX-License-Identifier: BSD-2-Clause */
/** The socket that clients connect to. */
#ifndef ARENA_LISTENER_H
#define ARENA_LISTENER_H

#include <sys/types.h>

/**
 * Takes the socket that the service manager has made, or else makes one at path: root's, of the
 * group, mode 0660 (in tests without root: with the caller's own group), with its folder where
 * that isn't there. A socket that nobody listens at is replaced.
 *
 * 0 and *fd; EADDRINUSE: another daemon listens there; EPROTO: the manager's socket is of another
 * kind; else errno.
 */
int listener_open(const char *path, gid_t group, int *fd);

#endif
