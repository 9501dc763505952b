/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "libcore/stack.h"
#include "libcore/team.h"

/* A fill needs less than STACK_WIPED, but glibc takes the host's thread-local data from the same
 * stack. */
#define STACK_SIZE (256 * 1024)

struct worker {
    struct team *team;
    unsigned member;
    pthread_t thread;
};

/*
 * Slices end at nearly the same time in all members, so a short wait is the rule: some 20
 * microseconds of it are spent awake. Where there are more members than CPUs, somebody else needs
 * this one.
 */
#define SPINS 1000

static inline void
pause_cpu(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ __volatile__("isb");
#endif
}

static void
futex(atomic_uint *word, int operation, unsigned value)
{
#ifdef SYS_futex
    (void)syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
#else
    (void)syscall(SYS_futex_time64, word, operation, value, NULL, NULL, 0);
#endif
}

/* Returns once *word is no longer value, and all that was done before it changed is visible. */
static void
wait_for_change(struct team *team, atomic_uint *word, unsigned value)
{
    for (unsigned i = 0; i < team->spins; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            return;
        pause_cpu();
    }
    atomic_fetch_add(&team->asleep, 1);
    while (atomic_load(word) == value)
        futex(word, FUTEX_WAIT_PRIVATE, value);
    atomic_fetch_sub(&team->asleep, 1);
}

/* Changes *word, and wakes those who wait for that. */
static void
change(struct team *team, atomic_uint *word, unsigned value)
{
    atomic_store(word, value);
    if (atomic_load(&team->asleep) != 0)
        futex(word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

void
team_barrier(struct team *team)
{
    unsigned turn = atomic_load_explicit(&team->turn, memory_order_relaxed);

    if (atomic_fetch_add(&team->arrived, 1) + 1 == team->members) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        change(team, &team->turn, turn + 1);
    } else {
        wait_for_change(team, &team->turn, turn);
    }
}

static void *
run_worker(void *arg)
{
    struct worker *worker = arg;
    struct team *team = worker->team;

    wait_for_change(team, &team->members, 0);
    team->work(team, worker->member, team->ctx);
    stack_wipe(); /* the C library keeps stacks for other threads */
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
    struct team team = {.work = work, .ctx = ctx};
    unsigned members;
    int cancel_state;

    /* A host that cancels this thread must not unwind it while workers use its stack. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (wanted > MHKDF_LANES_MAX)
        wanted = MHKDF_LANES_MAX;
    team.spins = wanted <= team_cpus() ? SPINS : 0;
    members = start_workers(workers, &team, wanted);

    change(&team, &team.members, members);

    work(&team, 0, ctx);
    for (unsigned i = 1; i < members; i++)
        (void)pthread_join(workers[i].thread, NULL);
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
