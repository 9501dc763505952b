/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The serial chain alone: what an attacker with unlimited parallel hardware, but no faster
 * multiplier and no faster look-ups than this machine's, still waits for.
 */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include "bench/engine.h"

/**
 * Seconds for the chain of one lane, all passes: 16 c steps a block (SPEC.md section 3), measured
 * on this machine with an S-box in the cache; the best of several times, since the attacker isn't
 * disturbed. Long lanes are measured in part. 0 where c is 0.
 */
double chain_seconds(const struct engine_cost *cost);

#endif
