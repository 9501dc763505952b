/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena/room.h"

/* A slot that doesn't fit would not fail but get somebody killed, here or elsewhere. */
static bool
fits(struct worker_job *job)
{
    struct room room;

    room_read(&room);
    if (room.memory >= job->wish.size)
        return true;
    job->wish.only_hugetlb = true; /* which may still be refused: by their own control group, say */
    if (job->wish.pages == ARENA_HUGETLB && room.hugetlb >= job->wish.size)
        return true;
    (void)snprintf(job->why, sizeof(job->why),
                   "%" PRIu64 "M needed, %" PRIu64 "M available (%.180s)",
                   job->wish.size / 1024 / 1024, room.memory / 1024 / 1024, room.what);
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
    case WORKER_UNMAP:
        slot_unmap(&job->own);
        break;
    case WORKER_DROP:
        slot_free(&job->own);
        break;
    }
}

static struct worker_job *
nth(struct worker *worker, unsigned n)
{
    return &worker->jobs[(worker->first + n) % WORKER_JOBS_MAX];
}

static void *
run(void *arg)
{
    struct worker *worker = arg;
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&worker->lock);
    for (;;) {
        struct worker_job *job;
        bool ending;

        while (!worker->ending && worker->done == worker->count)
            (void)pthread_cond_wait(&worker->wanted, &worker->lock);
        if (worker->done == worker->count)
            break;
        job = nth(worker, worker->done);
        ending = worker->ending;
        (void)pthread_mutex_unlock(&worker->lock);
        if (!ending || job->work == WORKER_DROP) /* of which nobody else knows */
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
        worker->first = (worker->first + 1) % WORKER_JOBS_MAX;
        worker->done--;
        worker->count--;
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return found;
}
