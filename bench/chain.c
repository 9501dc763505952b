/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "bench/chain.h"

#include <time.h>

#include "libcore/compress.h"

#define ROUNDS 16
#define MEASURED_MAX 16384 /* blocks */
#define REPEATS 7

/* Every word is written: pages that never were are one page of zeros, which is read too fast. */
static void
fill_sbox(struct sbox *sbox)
{
    uint64_t seed = 1;

    for (int i = 0; i < SBOX_WORDS; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        sbox->w[i] = z ^ z >> 31;
    }
}

static uint64_t
run_chain(const struct sbox *sbox, uint64_t blocks, uint32_t steps, uint64_t x)
{
    const uint64_t *low = sbox->w, *high = sbox->w + 512;

    for (uint64_t block = 0; block < blocks; block++) {
        x ^= block; /* R[0] XOR R[127], which comes from the chain of the block before */
        for (uint32_t i = 0; i < steps; i++) {
            uint64_t hi = x >> 32, lo = x & 0xffffffffU;
            x = ((hi * lo) + low[hi % 512]) ^ high[lo % 512];
        }
    }
    return x;
}

/* Of this thread's CPU: other work on the machine isn't the chain's. */
static double
now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double
chain_seconds(const struct engine_cost *cost)
{
    uint64_t blocks = (uint64_t)(engine_used_kib(cost) / cost->lanes) * cost->passes;
    uint64_t measured = blocks < MEASURED_MAX ? blocks : MEASURED_MAX;
    uint32_t steps = ROUNDS * cost->chain;
    volatile uint64_t x = 1; /* the compiler keeps the work */
    struct sbox sbox;
    double best = 0;

    if (steps == 0)
        return 0;
    fill_sbox(&sbox);
    x = run_chain(&sbox, measured, steps, x); /* into the cache, and the clock up */
    for (int i = 0; i < REPEATS; i++) {
        double start = now(), seconds;

        x = run_chain(&sbox, measured, steps, x);
        seconds = now() - start;
        if (i == 0 || seconds < best)
            best = seconds;
    }
    return best * (double)blocks / (double)measured;
}
