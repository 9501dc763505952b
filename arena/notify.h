/* SPDX-License-Identifier: BSD-2-Clause */
/** systemd's two simple protocols, without its library: sd_notify(3) and sd_listen_fds(3). */
#ifndef ARENA_NOTIFY_H
#define ARENA_NOTIFY_H

/** Sends state ("READY=1", ...) to the service manager, if there is one that wants it. */
void notify_send(const char *state);

/**
 * How many descriptors, from 3 on, the service manager has given; 0: none. They are closed in
 * programs that are started.
 */
int notify_sockets(void);

#endif
