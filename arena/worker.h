/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A thread that works on slots, one after the other, while the server goes on answering.
 *
 * The server's thread calls all functions. Between worker_start of a job and its coming back from
 * worker_done, the slot belongs to the worker. Jobs are done in turn.
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
    WORKER_FREE,
    WORKER_UNMAP, /* what a client keeps beyond its deadline: own, without its descriptor */
    WORKER_DROP   /* and when it has hung up: own, which has no mapping any more */
};

struct worker_job {
    enum worker_work work;
    uint32_t index;
    struct slot *slot; /* not for the last two */
    struct slot own;
    struct slot_wish wish;
    int rc;       /* when it is done: 0 or errno */
    bool no_room; /* it wasn't tried, since memory would have run out: why says where */
    char why[256];
};

/* For each slot one that makes, scrubs or frees it, and one that unmaps what it was before; and one
 * that drops for each client, and for each slot that had another client meanwhile. */
#define WORKER_JOBS_MAX (3 * LEASE_SLOTS_MAX + LEASE_CLIENTS_MAX)

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct worker_job jobs[WORKER_JOBS_MAX]; /* a ring */
    unsigned first;                          /* of those that are done but not taken */
    unsigned done;
    unsigned count; /* with those that are done */
    bool ending;
    int event_fd; /* gets a count whenever a job is done */
};

/** Starts the thread. event_fd is an eventfd of the caller's. 0 or errno. */
int worker_init(struct worker *worker, int event_fd);

/** Ends the thread when the job that it is at is done, and what was to be dropped is; other jobs
 * aren't done any more. */
void worker_end(struct worker *worker);

void worker_start(struct worker *worker, const struct worker_job *job);

/** Takes a job that is done, in the order of worker_start. False: there is none. */
bool worker_done(struct worker *worker, struct worker_job *job);

#endif
