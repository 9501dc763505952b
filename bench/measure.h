/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Runs engines in turn, so that whatever disturbs the machine meanwhile disturbs all of them, and
 * keeps every single time.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>

#include "bench/engine.h"
#include "bench/stats.h"

#define MEASURE_RUNS_MAX 1000
#define MEASURE_JOBS_MAX 1024
#define MEASURE_ENGINES_MAX 64

enum measure_phase {
    MEASURE_FRESH, /* each hash maps, faults in and gives back its own memory */
    MEASURE_READY, /* all use the same memory, which was faulted in before */
    MEASURE_JOBS,  /* several processes hash at once, each in ready memory */
    MEASURE_PHASES
};

struct measure_sample {
    unsigned sequence; /* from 0: when it was taken, among all of its phase */
    double seconds;    /* jobs: until the last of them was done */
    double user;       /* CPU seconds of all threads; jobs: of all processes */
    double system;
    uint64_t faults; /* of pages */
};

struct measure_row {
    struct engine engine;
    uint8_t tag[ENGINE_TAG_SIZE];
    struct measure_sample first; /* in this process, with all that is done but once */
    struct measure_sample *samples[MEASURE_PHASES]; /* runs of each; NULL: not measured */
    double chain_seconds;                           /* see bench/chain.h */
    double wipe_seconds; /* of overwriting its memory, where the engine does it; else 0 */
};

struct measure {
    struct measure_row *rows;
    unsigned count; /* of rows */
    unsigned runs;  /* of each engine and phase */
    unsigned jobs;  /* processes at once; 0: no such phase */
    int ready_only; /* leave the fresh phase out */
    /** Told after each hash; NULL: nobody is. */
    void (*progress)(void *ctx, unsigned done, unsigned total);
    void *ctx;

    /* Of the memory that was ready. */
    uint64_t ready_kib;
    uint64_t resident_kib;
    uint64_t huge_kib; /* in 2 MiB pages */

    unsigned done; /* hashes */
    unsigned total;
};

/**
 * Measures rows whose engines are open and all else of which is zero. 0, or an errno value with a
 * message in error; measure_free is due either way.
 */
int measure_run(struct measure *measure, char error[ENGINE_ERROR_SIZE]);

/** Frees samples and closes the engines. */
void measure_free(struct measure *measure);

/** Times of a phase that was measured. */
struct stats measure_stats(const struct measure *measure, const struct measure_row *row,
                           enum measure_phase phase);

/** Median of the CPU seconds of a phase that was measured: in user space, and in the kernel. */
void measure_cpu(const struct measure *measure, const struct measure_row *row,
                 enum measure_phase phase, double *user, double *system);

/** For bench/jobs.c: counts a hash and tells the progress. */
void measure_tell(struct measure *measure);

/** For bench/jobs.c: one hash, timed; its tag must be that of earlier ones. */
int measure_hash(struct measure_row *row, void *memory, struct measure_sample *sample);

/** The memory that the largest of the engines needs. */
uint64_t measure_size_kib(const struct measure *measure);

#endif
