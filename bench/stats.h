/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

/** Quartiles of some values, interpolated between neighbours. */
struct stats {
    double quartile1;
    double median;
    double quartile3;
};

/** values: count of them, at least 1; they are sorted in place. */
struct stats stats_of(double *values, unsigned count);

#endif
