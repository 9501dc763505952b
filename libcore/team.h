/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Threads of one hash: started once, kept in step by a barrier, joined before return.
 *
 * The host is a login program, perhaps with signal handlers that reap children, perhaps without the
 * right to start a thread. So workers block all signals, and a worker that can't be started is not
 * an error: those that could be, at least the caller, do all of the work.
 */
#ifndef LIBCORE_TEAM_H
#define LIBCORE_TEAM_H

#include <stdatomic.h>

struct team {
    atomic_uint members; /* 0 until all who could be started are known */
    atomic_uint arrived; /* members at the barrier */
    atomic_uint turn;    /* times that the barrier has opened */
    atomic_uint asleep;  /* members that wait in the kernel, for turn or members to change */
    unsigned spins;      /* how long to wait before that */
    void (*work)(struct team *team, unsigned member, void *ctx);
    void *ctx;
};

/**
 * Runs work once in each member of a team of 1 to wanted members, numbered from 0 (the caller), and
 * returns when all have finished. In work, team->members is final.
 */
void team_run(unsigned wanted, void (*work)(struct team *team, unsigned member, void *ctx),
              void *ctx);

/** Called by each member in work: returns when all have called it. Orders memory between them. */
void team_barrier(struct team *team);

/** CPUs that this process may run on, at least 1. */
unsigned team_cpus(void);

#endif
