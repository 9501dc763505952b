/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "bench/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/chain.h"
#include "bench/jobs.h"
#include "bench/pages.h"
#include "libcore/headroom.h"
#include "libcore/team.h"

#define WIPES 3 /* the best of so many */

static double
seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static double
now(clockid_t clock)
{
    struct timespec time;

    (void)clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int
measure_hash(struct measure_row *row, void *memory, struct measure_sample *sample)
{
    uint8_t tag[ENGINE_TAG_SIZE];
    static const uint8_t none[ENGINE_TAG_SIZE];
    struct rusage before, after;
    double start;
    int rc;

    (void)getrusage(RUSAGE_SELF, &before);
    start = now(CLOCK_MONOTONIC);
    rc = engine_hash(&row->engine, memory, tag);
    sample->seconds = now(CLOCK_MONOTONIC) - start;
    (void)getrusage(RUSAGE_SELF, &after);
    sample->user = seconds_of(after.ru_utime) - seconds_of(before.ru_utime);
    sample->system = seconds_of(after.ru_stime) - seconds_of(before.ru_stime);
    sample->faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
    if (rc != 0)
        return rc;
    if (memcmp(row->tag, none, sizeof(none)) == 0)
        memcpy(row->tag, tag, sizeof(tag));
    return memcmp(row->tag, tag, sizeof(tag)) == 0 ? 0 : EBADMSG;
}

void
measure_tell(struct measure *measure)
{
    measure->done++;
    if (measure->progress != NULL)
        measure->progress(measure->ctx, measure->done, measure->total);
}

uint64_t
measure_size_kib(const struct measure *measure)
{
    uint64_t size_kib = 0;

    for (unsigned i = 0; i < measure->count; i++)
        if (measure->rows[i].engine.size_kib > size_kib)
            size_kib = measure->rows[i].engine.size_kib;
    return size_kib;
}

static int
explain(const struct measure_row *row, int rc, char error[ENGINE_ERROR_SIZE])
{
    const struct engine *engine = &row->engine;

    if (rc == ENOMEM)
        (void)snprintf(error, ENGINE_ERROR_SIZE,
                       "\"%.60s\": not enough memory: the hash needs %" PRIu64 " MiB", engine->name,
                       (engine->size_kib + 1023) / 1024);
    else if (rc == EBADMSG)
        (void)snprintf(error, ENGINE_ERROR_SIZE,
                       "\"%.60s\" (%.200s) gave two different tags for the same input: nothing it "
                       "takes can be trusted",
                       engine->name, engine->code);
    else
        (void)snprintf(error, ENGINE_ERROR_SIZE, "\"%.60s\" can't hash at this cost", engine->name);
    return rc;
}

static int
is_measured(const struct measure *measure, const struct measure_row *row, enum measure_phase phase)
{
    switch (row->engine.function) {
    case ENGINE_CRYPT:
        return phase != MEASURE_READY;
    case ENGINE_LIMIT:
        return phase == MEASURE_READY;
    default:
        return phase != MEASURE_FRESH || !measure->ready_only;
    }
}

static int
allocate(struct measure *measure)
{
    for (unsigned i = 0; i < measure->count; i++) {
        struct measure_row *row = &measure->rows[i];
        for (int phase = 0; phase < MEASURE_PHASES; phase++) {
            if ((phase == MEASURE_JOBS && measure->jobs == 0) ||
                !is_measured(measure, row, (enum measure_phase)phase))
                continue;
            row->samples[phase] = calloc(measure->runs, sizeof(**row->samples));
            if (row->samples[phase] == NULL)
                return ENOMEM;
            measure->total += measure->runs;
        }
    }
    return 0;
}

/* Memory that is promised and then isn't there would end this process, or another one. */
static int
check_memory(const struct measure *measure, char error[ENGINE_ERROR_SIZE])
{
    uint64_t jobs = measure->jobs > 1 ? measure->jobs : 1;
    const struct headroom_need need = {.size_kib = measure_size_kib(measure) * jobs,
                                       .without_swap = true};
    struct mhkdf_memory_report report;
    char why[HEADROOM_TEXT_SIZE];

    if (headroom_check(&need, NULL, &report) == 0)
        return 0;
    headroom_explain(&report, why, sizeof(why));
    (void)snprintf(error, ENGINE_ERROR_SIZE, "%s%s", jobs > 1 ? "for all jobs: " : "", why);
    return ENOMEM;
}

/* The first hash of each engine in this process; those that compute the same must agree. */
static int
warm_up(struct measure *measure, enum measure_phase phase, void *memory,
        char error[ENGINE_ERROR_SIZE])
{
    struct measure_sample again;

    for (unsigned i = 0; i < measure->count; i++) {
        struct measure_row *row = &measure->rows[i];
        int is_first = row->first.seconds <= 0;
        int rc = 0;

        if (row->samples[phase] != NULL)
            rc = measure_hash(row, memory, is_first ? &row->first : &again);
        if (rc != 0)
            return explain(row, rc, error);
    }
    for (unsigned i = 0; i < measure->count; i++) {
        const struct measure_row *row = &measure->rows[i], *other = measure->rows;

        while (other != row && !engine_is_same(&other->engine, &row->engine))
            other++;
        if (memcmp(other->tag, row->tag, sizeof(row->tag)) != 0) {
            (void)snprintf(error, ENGINE_ERROR_SIZE,
                           "\"%.60s\" (%.200s) and \"%.60s\" (%.200s) should give the same tag and "
                           "don't: no comparison",
                           row->engine.name, row->engine.code, other->engine.name,
                           other->engine.code);
            return EBADMSG;
        }
    }
    return 0;
}

/* Each engine once a round; who comes first in a round changes. */
static int
run_rounds(struct measure *measure, enum measure_phase phase, void *memory,
           char error[ENGINE_ERROR_SIZE])
{
    unsigned sequence = 0;

    for (unsigned run = 0; run < measure->runs; run++) {
        for (unsigned i = 0; i < measure->count; i++) {
            struct measure_row *row = &measure->rows[(run + i) % measure->count];
            struct measure_sample *sample;
            int rc;

            if (row->samples[phase] == NULL)
                continue;
            sample = &row->samples[phase][run];
            sample->sequence = sequence++;
            rc = measure_hash(row, memory, sample);
            if (rc != 0)
                return explain(row, rc, error);
            measure_tell(measure);
        }
    }
    return 0;
}

/*
 * What libargon2 spends on overwriting its memory: one thread, with the same memset(3). Zeros over
 * zeros would be faster than they are over a fill.
 */
static void
measure_wipe(struct measure_row *row, void *memory)
{
    void *(*volatile wipe)(void *, int, size_t) = memset;

    for (int i = 0; i < WIPES; i++) {
        double start, seconds;

        (void)wipe(memory, i + 1, (size_t)row->engine.size_kib * 1024);
        start = now(CLOCK_THREAD_CPUTIME_ID);
        (void)wipe(memory, 0, (size_t)row->engine.size_kib * 1024);
        seconds = now(CLOCK_THREAD_CPUTIME_ID) - start;
        if (i == 0 || seconds < row->wipe_seconds)
            row->wipe_seconds = seconds;
    }
}

static int
run_ready(struct measure *measure, char error[ENGINE_ERROR_SIZE])
{
    struct pages pages;
    int rc = ENOMEM;

    measure->ready_kib = measure_size_kib(measure);
    if (measure->ready_kib == 0)
        return 0;
    if (pages_map(&pages, measure->ready_kib) != 0 || pages_populate(&pages, team_cpus()) != 0) {
        (void)snprintf(error, ENGINE_ERROR_SIZE, "not enough memory: %" PRIu64 " MiB are needed",
                       (measure->ready_kib + 1023) / 1024);
        goto out;
    }
    rc = warm_up(measure, MEASURE_READY, pages.base, error);
    if (rc == 0)
        rc = run_rounds(measure, MEASURE_READY, pages.base, error);
    if (rc != 0)
        goto out;
    (void)pages_look(&pages, &measure->resident_kib, &measure->huge_kib);
    for (unsigned i = 0; i < measure->count; i++)
        if (measure->rows[i].engine.wipes)
            measure_wipe(&measure->rows[i], pages.base);
out:
    pages_unmap(&pages);
    return rc;
}

int
measure_run(struct measure *measure, char error[ENGINE_ERROR_SIZE])
{
    int rc = check_memory(measure, error);

    if (rc != 0)
        return rc;
    if (allocate(measure) != 0) {
        (void)snprintf(error, ENGINE_ERROR_SIZE, "not enough memory for the results");
        return ENOMEM;
    }
    rc = warm_up(measure, MEASURE_FRESH, NULL, error);
    if (rc == 0)
        rc = run_rounds(measure, MEASURE_FRESH, NULL, error);
    if (rc == 0)
        rc = run_ready(measure, error);
    if (rc == 0 && measure->jobs > 0)
        rc = jobs_run(measure, error);
    for (unsigned i = 0; rc == 0 && i < measure->count; i++)
        if (measure->rows[i].engine.cost.chain > 0)
            measure->rows[i].chain_seconds = chain_seconds(&measure->rows[i].engine.cost);
    return rc;
}

void
measure_free(struct measure *measure)
{
    for (unsigned i = 0; i < measure->count; i++) {
        for (int phase = 0; phase < MEASURE_PHASES; phase++)
            free(measure->rows[i].samples[phase]);
        engine_close(&measure->rows[i].engine);
    }
}

struct stats
measure_stats(const struct measure *measure, const struct measure_row *row,
              enum measure_phase phase)
{
    double values[MEASURE_RUNS_MAX];

    for (unsigned i = 0; i < measure->runs; i++)
        values[i] = row->samples[phase][i].seconds;
    return stats_of(values, measure->runs);
}

void
measure_cpu(const struct measure *measure, const struct measure_row *row, enum measure_phase phase,
            double *user, double *system)
{
    double values[MEASURE_RUNS_MAX];

    for (unsigned i = 0; i < measure->runs; i++)
        values[i] = row->samples[phase][i].user;
    *user = stats_of(values, measure->runs).median;
    for (unsigned i = 0; i < measure->runs; i++)
        values[i] = row->samples[phase][i].system;
    *system = stats_of(values, measure->runs).median;
}
