/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A thread that works on slots, one after the other, while the server goes on answering.
 *
 * The server's thread calls all functions. Between worker_start of a job and its coming back from
 * worker_done, the slot belongs to the worker.
 */
#ifndef ARENA_WORKER_H
#define ARENA_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena/lease.h"
#include "arena/slot.h"

enum worker_work {
    WORKER_MAKE, /* frees what there is, then makes it */
    WORKER_SCRUB,
    WORKER_FREE
};

struct worker_job {
    enum worker_work work;
    uint32_t index;
    struct slot *slot;
    struct slot_wish wish;
    int rc;       /* when it is done: 0 or errno */
    bool no_room; /* it wasn't tried, since memory would have run out: why says where */
    char why[256];
};

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct worker_job jobs[LEASE_SLOTS_MAX]; /* a ring: at most one for each slot */
    unsigned first;                          /* of those that are done but not taken */
    unsigned done;
    unsigned count; /* with those that are done */
    bool ending;
    int event_fd; /* gets a count whenever a job is done */
};

/** Starts the thread. event_fd is an eventfd of the caller's. 0 or errno. */
int worker_init(struct worker *worker, int event_fd);

/** Ends the thread when the job that it is at is done; others are dropped. */
void worker_end(struct worker *worker);

void worker_start(struct worker *worker, const struct worker_job *job);

/** Takes a job that is done, in the order of worker_start. False: there is none. */
bool worker_done(struct worker *worker, struct worker_job *job);

#endif
