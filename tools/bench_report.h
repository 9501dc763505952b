/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Reports of mhkdf bench. Each gives a text to be freed, or NULL where there is no memory for it.
 */
#ifndef TOOLS_BENCH_REPORT_H
#define TOOLS_BENCH_REPORT_H

#include "bench/machine.h"
#include "bench/measure.h"

/** Version of the JSON document: it changes when a key does or goes; new keys may come without. */
#define BENCH_REPORT_SCHEMA 1

/** For people. */
char *bench_report_table(const struct measure *measure, const struct machine *machine);

/** For programs. */
char *bench_report_json(const struct measure *measure, const struct machine *machine);

/** Rows of PHCtest, of hashes in fresh memory: in out m_cost t_cost time[ms] memory[kb]. */
char *bench_report_phctest(const struct measure *measure);

/** "4 KiB", "2 MiB", "mixed" or "unknown": pages of the memory that was ready. */
const char *bench_report_pages(const struct measure *measure);

/** "fresh", "ready" and "jobs". */
extern const char *const bench_report_phases[MEASURE_PHASES];

/** Hashes in a sample of this phase. */
unsigned bench_report_hashes(const struct measure *measure, enum measure_phase phase);

#endif
