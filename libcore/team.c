/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "libcore/team.h"

/* A fill needs less than 8 KiB, but glibc takes the host's thread-local data from the same stack.
 */
#define STACK_SIZE (256 * 1024)

struct worker {
    struct team *team;
    unsigned member;
    pthread_t thread;
};

void
team_barrier(struct team *team)
{
    unsigned long turn;

    (void)pthread_mutex_lock(&team->mutex);
    turn = team->turn;
    if (++team->waiting == team->members) {
        team->waiting = 0;
        team->turn++;
        (void)pthread_cond_broadcast(&team->changed);
    } else {
        while (turn == team->turn)
            (void)pthread_cond_wait(&team->changed, &team->mutex);
    }
    (void)pthread_mutex_unlock(&team->mutex);
}

static void *
run_worker(void *arg)
{
    struct worker *worker = arg;
    struct team *team = worker->team;

    (void)pthread_mutex_lock(&team->mutex);
    while (team->members == 0)
        (void)pthread_cond_wait(&team->changed, &team->mutex);
    (void)pthread_mutex_unlock(&team->mutex);
    team->work(team, worker->member, team->ctx);
    return NULL;
}

/* Starts workers until there are wanted members or one can't be started; returns the members. */
static unsigned
start_workers(struct worker workers[], struct team *team, unsigned wanted)
{
    pthread_attr_t attr;
    sigset_t all, saved;
    unsigned members = 1;

    if (wanted < 2 || pthread_attr_init(&attr) != 0)
        return members;
    (void)pthread_attr_setstacksize(&attr, STACK_SIZE);
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &saved) == 0) { /* workers inherit the mask */
        for (; members < wanted; members++) {
            struct worker *worker = &workers[members];
            worker->team = team;
            worker->member = members;
            if (pthread_create(&worker->thread, &attr, run_worker, worker) != 0)
                break;
        }
        (void)pthread_sigmask(SIG_SETMASK, &saved, NULL);
    }
    (void)pthread_attr_destroy(&attr);
    return members;
}

void
team_run(unsigned wanted, void (*work)(struct team *team, unsigned member, void *ctx), void *ctx)
{
    struct worker workers[MHKDF_LANES_MAX];
    struct team team = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER,
                        .work = work,
                        .ctx = ctx};
    unsigned members;
    int cancel_state;

    /* A host that cancels this thread must not unwind it while workers use its stack. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (wanted > MHKDF_LANES_MAX)
        wanted = MHKDF_LANES_MAX;
    members = start_workers(workers, &team, wanted);

    (void)pthread_mutex_lock(&team.mutex);
    team.members = members;
    (void)pthread_cond_broadcast(&team.changed);
    (void)pthread_mutex_unlock(&team.mutex);

    work(&team, 0, ctx);
    for (unsigned i = 1; i < members; i++)
        (void)pthread_join(workers[i].thread, NULL);
    (void)pthread_cond_destroy(&team.changed);
    (void)pthread_mutex_destroy(&team.mutex);
    (void)pthread_setcancelstate(cancel_state, NULL);
}

unsigned
team_cpus(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    /* More CPUs than cpu_set_t holds. */
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > INT_MAX ? INT_MAX : (unsigned)online;
}
