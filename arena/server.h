/* SPDX-License-Identifier: BSD-2-Clause */
/** The daemon at work: one thread that answers clients and never waits for anything else, and two
 * that make and scrub slots. */
#ifndef ARENA_SERVER_H
#define ARENA_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "arena/lease.h"
#include "arena/slot.h"

/** What of it the configuration decides. */
struct server_config {
    struct lease_config lease;
    enum arena_pages pages; /* best kind to try */
    bool pages_asked;       /* whether that was asked for by name */
    bool lock;
};

struct server_setup {
    int listener;
    gid_t group;
    /** Reads the configuration again, on SIGHUP. 0, or errno after a line in the log. */
    int (*reload)(struct server_config *config);
    /** Most slots that a service may hold at once, by the configuration; 0: no cap. */
    uint32_t (*slots_max)(const char *service);
};

/** Blocks the signals that the server takes; before any thread is started. */
void server_block_signals(void);

/** Serves until SIGTERM, and then until leases have ended. 0 or errno. */
int server_run(const struct server_setup *setup, const struct server_config *config);

#endif
