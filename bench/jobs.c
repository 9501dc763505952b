/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "bench/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/pages.h"

#define NONE (-1)

struct job {
    pid_t pid;  /* NONE: not started */
    int order;  /* where the number of an engine is written to; NONE: closed */
    int answer; /* where its struct answer comes from */
};

struct answer {
    int rc;
    struct measure_sample sample;
};

static int
write_whole(int fd, const void *data, size_t len)
{
    ssize_t n;

    do
        n = write(fd, data, len);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : EPIPE;
}

/* What is read is less than PIPE_BUF, so it comes in one piece or not at all. */
static int
read_whole(int fd, void *data, size_t len)
{
    ssize_t n;

    do
        n = read(fd, data, len);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : EPIPE;
}

/* A job's whole life, after the first answer, which says that its memory is ready. */
static void
work(struct measure *measure, int order, int answer_to)
{
    struct answer answer = {0};
    struct pages pages = {0};
    uint64_t size_kib = measure_size_kib(measure);
    unsigned char number;

    if (size_kib > 0 && (pages_map(&pages, size_kib) != 0 || pages_populate(&pages, 1) != 0))
        answer.rc = ENOMEM;
    while (write_whole(answer_to, &answer, sizeof(answer)) == 0 &&
           read_whole(order, &number, 1) == 0)
        answer.rc = measure_hash(&measure->rows[number], pages.base, &answer.sample);
}

static void
become_job(struct measure *measure, const struct job *jobs, unsigned count, int order,
           int answer_to, pid_t parent)
{
    /* Ends of other jobs' pipes would keep them alive when the parent has gone. */
    for (unsigned i = 0; i < count; i++) {
        if (jobs[i].order != NONE)
            (void)close(jobs[i].order);
        if (jobs[i].answer != NONE)
            (void)close(jobs[i].answer);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        work(measure, order, answer_to);
    _exit(0);
}

static int
start_job(struct measure *measure, struct job *jobs, unsigned number)
{
    struct job *job = &jobs[number];
    pid_t parent = getpid();
    int orders[2] = {NONE, NONE}, answers[2] = {NONE, NONE};
    int rc = EAGAIN;

    if (pipe(orders) != 0)
        return rc;
    job->order = orders[1];
    if (pipe(answers) == 0) {
        job->answer = answers[0];
        job->pid = fork();
        if (job->pid == 0)
            become_job(measure, jobs, number + 1, orders[0], answers[1], parent);
        rc = job->pid > 0 ? 0 : EAGAIN;
        (void)close(answers[1]);
    }
    (void)close(orders[0]);
    return rc;
}

static void
end_jobs(struct job *jobs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (jobs[i].order != NONE)
            (void)close(jobs[i].order);
        if (jobs[i].answer != NONE)
            (void)close(jobs[i].answer);
    }
    for (unsigned i = 0; i < count; i++)
        while (jobs[i].pid > 0 && waitpid(jobs[i].pid, NULL, 0) < 0 && errno == EINTR)
            continue;
}

/* All answers to the last order; sums go to sample. The first error counts. */
static int
collect(const struct job *jobs, unsigned count, struct measure_sample *sample)
{
    int rc = 0;

    for (unsigned i = 0; i < count; i++) {
        struct answer answer;
        int now = read_whole(jobs[i].answer, &answer, sizeof(answer));

        if (now == 0) {
            now = answer.rc;
            sample->user += answer.sample.user;
            sample->system += answer.sample.system;
            sample->faults += answer.sample.faults;
        }
        if (rc == 0)
            rc = now;
    }
    return rc;
}

static int
order_all(const struct job *jobs, unsigned count, unsigned row, struct measure_sample *sample)
{
    unsigned char number = (unsigned char)row;
    struct timespec start, end;
    int rc = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    for (unsigned i = 0; i < count && rc == 0; i++)
        rc = write_whole(jobs[i].order, &number, 1);
    if (rc == 0)
        rc = collect(jobs, count, sample);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    sample->seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    return rc;
}

static int
run_rounds(struct measure *measure, const struct job *jobs)
{
    unsigned sequence = 0;

    for (unsigned run = 0; run < measure->runs; run++) {
        for (unsigned i = 0; i < measure->count; i++) {
            unsigned number = (run + i) % measure->count;
            struct measure_sample *samples = measure->rows[number].samples[MEASURE_JOBS];
            int rc;

            if (samples == NULL)
                continue;
            samples[run].sequence = sequence++;
            rc = order_all(jobs, measure->jobs, number, &samples[run]);
            if (rc != 0)
                return rc;
            measure_tell(measure);
        }
    }
    return 0;
}

static void
explain(const struct measure *measure, int rc, char error[ENGINE_ERROR_SIZE])
{
    uint64_t mib = (measure_size_kib(measure) + 1023) / 1024;

    if (rc == EAGAIN)
        (void)snprintf(error, ENGINE_ERROR_SIZE, "%u processes can't be started", measure->jobs);
    else if (rc == EBADMSG)
        (void)snprintf(error, ENGINE_ERROR_SIZE, "a job gave another tag than the others");
    else
        (void)snprintf(error, ENGINE_ERROR_SIZE,
                       "a job of %u %s; each needs %" PRIu64 " MiB of memory", measure->jobs,
                       rc == EPIPE ? "ended early" : "failed", mib);
}

int
jobs_run(struct measure *measure, char error[ENGINE_ERROR_SIZE])
{
    struct job *jobs = calloc(measure->jobs, sizeof(*jobs));
    struct measure_sample unused = {0};
    int rc = 0;

    if (jobs == NULL) {
        (void)snprintf(error, ENGINE_ERROR_SIZE, "not enough memory for the jobs");
        return ENOMEM;
    }
    for (unsigned i = 0; i < measure->jobs; i++)
        jobs[i] = (struct job){NONE, NONE, NONE};
    for (unsigned i = 0; i < measure->jobs && rc == 0; i++)
        rc = start_job(measure, jobs, i);
    if (rc == 0)
        rc = collect(jobs, measure->jobs, &unused);
    if (rc == 0)
        rc = run_rounds(measure, jobs);
    if (rc != 0)
        explain(measure, rc, error);
    end_jobs(jobs, measure->jobs);
    free(jobs);
    return rc;
}
