/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Several processes that hash at once, as several logins do.
 */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include "bench/measure.h"

/**
 * Runs the phase MEASURE_JOBS: in each round and for each engine all jobs hash once, at the same
 * time. 0, or an errno value with a message in error. No process is left behind.
 */
int jobs_run(struct measure *measure, char error[ENGINE_ERROR_SIZE]);

#endif
