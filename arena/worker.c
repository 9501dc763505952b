/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena/limits.h"

/* What stays free when a slot is made: for page tables, and for everybody else. */
#define MARGIN ((uint64_t)16 * 1024 * 1024)

/* A slot that doesn't fit would not fail but get somebody killed, here or elsewhere. */
static bool
fits(struct worker_job *job)
{
    struct limits limits;

    limits_read("", &limits);
    if (limits.available >= MARGIN && limits.available - MARGIN >= job->wish.size)
        return true;
    job->wish.only_hugetlb = true; /* which may still be refused: by their own control group, say */
    if (job->wish.pages == ARENA_HUGETLB && limits_free_hugetlb("") >= job->wish.size)
        return true;
    (void)snprintf(job->why, sizeof(job->why), "%" PRIu64 "M are left of %.200s",
                   limits.available / 1024 / 1024, limits.what);
    return false;
}

static void
work(struct worker_job *job)
{
    switch (job->work) {
    case WORKER_MAKE:
        slot_free(job->slot);
        job->no_room = !fits(job);
        job->rc = job->no_room ? ENOMEM : slot_make(job->slot, &job->wish);
        break;
    case WORKER_SCRUB:
        job->rc = slot_scrub(job->slot, job->wish.threads);
        break;
    case WORKER_FREE:
        slot_free(job->slot);
        job->rc = 0;
        break;
    }
}

static struct worker_job *
nth(struct worker *worker, unsigned n)
{
    return &worker->jobs[(worker->first + n) % LEASE_SLOTS_MAX];
}

static void *
run(void *arg)
{
    struct worker *worker = arg;
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&worker->lock);
    for (;;) {
        struct worker_job *job;

        while (!worker->ending && worker->done == worker->count)
            (void)pthread_cond_wait(&worker->wanted, &worker->lock);
        if (worker->ending)
            break;
        job = nth(worker, worker->done);
        (void)pthread_mutex_unlock(&worker->lock);
        work(job);
        (void)pthread_mutex_lock(&worker->lock);
        worker->done++;
        if (write(worker->event_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
            continue; /* it is full, so that it is readable anyway */
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return NULL;
}

int
worker_init(struct worker *worker, int event_fd)
{
    int rc;

    memset(worker, 0, sizeof(*worker));
    worker->event_fd = event_fd;
    rc = pthread_mutex_init(&worker->lock, NULL);
    if (rc == 0)
        rc = pthread_cond_init(&worker->wanted, NULL);
    if (rc == 0)
        rc = pthread_create(&worker->thread, NULL, run, worker);
    return rc;
}

void
worker_end(struct worker *worker)
{
    (void)pthread_mutex_lock(&worker->lock);
    worker->ending = true;
    (void)pthread_cond_signal(&worker->wanted);
    (void)pthread_mutex_unlock(&worker->lock);
    (void)pthread_join(worker->thread, NULL);
}

void
worker_start(struct worker *worker, const struct worker_job *job)
{
    (void)pthread_mutex_lock(&worker->lock);
    *nth(worker, worker->count) = *job;
    worker->count++;
    (void)pthread_cond_signal(&worker->wanted);
    (void)pthread_mutex_unlock(&worker->lock);
}

bool
worker_done(struct worker *worker, struct worker_job *job)
{
    bool found;

    (void)pthread_mutex_lock(&worker->lock);
    found = worker->done > 0;
    if (found) {
        *job = *nth(worker, 0);
        worker->first = (worker->first + 1) % LEASE_SLOTS_MAX;
        worker->done--;
        worker->count--;
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return found;
}
