/* SPDX-License-Identifier: BSD-2-Clause */
/** Connections to clients. Nothing here waits. */
#ifndef ARENA_PEER_H
#define ARENA_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libcore/arena_protocol.h"

/**
 * Accepts a connection from root's programs, or from those with the effective gid group; the peer's
 * euid goes to *euid. *spare is a descriptor of no use, given up for a moment where there is no
 * other, so that whoever waits in vain is at least told.
 *
 * 0; EAGAIN: there is none; EPERM: somebody else's, which is closed; EMFILE: closed for lack of
 * descriptors; other errors of accept4(2), after which the next may be well.
 */
int peer_accept(int listener, int *spare, gid_t group, int *fd, uint32_t *euid);

/**
 * Receives a request. 0: it is valid; EAGAIN: there is none yet; EPIPE: the peer is gone; EPROTO:
 * it breaks the protocol. Descriptors that somebody sends are closed by the kernel, unseen.
 */
int peer_receive(int fd, struct arena_request *request);

/** What a peer that has nothing more to say says: EAGAIN, EPIPE or EPROTO, as above. */
int peer_listen(int fd);

/** Sends a message, with the descriptor slot_fd unless that is -1. 0 or errno. */
int peer_send(int fd, const void *message, size_t size, int slot_fd);

#endif
