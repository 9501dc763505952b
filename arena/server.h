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
    uint32_t slot_kib;      /* slot_size, as it is configured */
    enum arena_pages pages; /* best kind to try */
    bool pages_asked;       /* whether that was asked for by name */
    bool lock;
};

/** Memory of slots, which other slots can take the place of: bytes in pages that were set aside,
 * and in others. */
struct server_held {
    uint64_t hugetlb, memory;
};

struct server_setup {
    int listener;
    gid_t group;
    /** Reads the configuration again, on SIGHUP. 0, or errno after a line in the log: then nothing
     * has changed. ENOMEM: its slots don't fit into held and what else there is. */
    int (*reload)(struct server_config *config, const struct server_held *held);
    /** Most slots that a service may hold at once, by the configuration; 0: no cap. */
    uint32_t (*slots_max)(const char *service);
};

/** Blocks the signals that the server takes; before any thread is started. */
void server_block_signals(void);

/** Serves until SIGTERM, and then until leases have ended. 0 or errno. */
int server_run(const struct server_setup *setup, const struct server_config *config);

#endif
