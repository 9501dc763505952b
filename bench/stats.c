/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "bench/stats.h"

#include <stdlib.h>

static int
compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The value that quarters / 4 of the others are below. */
static double
quantile(const double *sorted, unsigned count, unsigned quarters)
{
    unsigned steps = (count - 1) * quarters, below = steps / 4;

    if (steps % 4 == 0)
        return sorted[below];
    return sorted[below] + (sorted[below + 1] - sorted[below]) * (steps % 4) / 4;
}

struct stats
stats_of(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), compare);
    return (struct stats){.quartile1 = quantile(values, count, 1),
                          .median = quantile(values, count, 2),
                          .quartile3 = quantile(values, count, 3)};
}
