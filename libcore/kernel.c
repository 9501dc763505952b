/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "libcore/kernel.h"
#include "libcore/memory.h"
#include "libcore/mhkdf.h"

#ifdef KERNEL_X86
extern const struct kernel kernel_avx512;
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_ssse3;
extern const struct kernel kernel_sse2;
#endif
#ifdef KERNEL_NEON
extern const struct kernel kernel_neon;
#endif

const struct kernel *const kernel_all[] = {
#ifdef KERNEL_X86
    &kernel_avx512, &kernel_avx2, &kernel_ssse3, &kernel_sse2,
#endif
#ifdef KERNEL_NEON
    &kernel_neon,
#endif
    NULL,
};

int
kernel_mode_of(enum fill_method method, uint32_t chain)
{
    switch (method) {
    case FILL_ARGON2D:
    case FILL_ARGON2I:
    case FILL_ARGON2ID:
        return KERNEL_ARGON2;
    case FILL_MHKDF1:
        return chain == 0   ? KERNEL_CHAIN_0
               : chain == 3 ? KERNEL_CHAIN_3
               : chain == 6 ? KERNEL_CHAIN_6
                            : KERNEL_CHAIN_12;
    case FILL_ARGON2DS:
        break;
    }
    return -1;
}

const char *
kernel_name(const struct kernel *kernel)
{
    return kernel == NULL ? "portable" : kernel->name;
}

void
kernel_from_plain(const struct kernel *kernel, struct block *block)
{
    struct block plain;

    if (kernel == NULL || kernel->positions == NULL)
        return;
    plain = *block;
    for (int w = 0; w < BLOCK_WORDS; w++)
        block->w[kernel->positions[w]] = plain.w[w];
    mhkdf_wipe(&plain, sizeof plain);
}

void
kernel_to_plain(const struct kernel *kernel, struct block *block)
{
    struct block own;

    if (kernel == NULL || kernel->positions == NULL)
        return;
    own = *block;
    for (int w = 0; w < BLOCK_WORDS; w++)
        block->w[w] = own.w[kernel->positions[w]];
    mhkdf_wipe(&own, sizeof own);
}

/*
 * The small fill that a kernel is checked with: both kinds of pass over four lanes, in groups of
 * all sizes, so with every kind of slot.
 */
#define CHECK_LANES 4
#define CHECK_SEGMENT 3 /* blocks; the first two of a lane are given */
#define CHECK_LANE (CHECK_SEGMENT * FILL_SLICES)
#define CHECK_PASSES 2

struct check {
    struct block blocks[CHECK_LANES * CHECK_LANE];
    struct lane_state states[CHECK_LANES];
};

/* Splitmix64 (Steele, Lea and Flood 2014): any words will do, as long as they differ. */
static uint64_t
next_word(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The fill's first blocks, in plain order, and S-boxes. */
static void
start_check(struct fill *fill, struct check *check, enum kernel_mode mode)
{
    static const uint32_t chains[KERNEL_MODES] = {0, 0, 3, 6, 12};
    uint64_t seed = (uint64_t)mode;

    fill->method = mode == KERNEL_ARGON2 ? FILL_ARGON2ID : FILL_MHKDF1;
    fill->passes = CHECK_PASSES;
    fill->lanes = CHECK_LANES;
    fill->chain = chains[mode];
    fill->lane_blocks = CHECK_LANE;
    fill->segment_blocks = CHECK_SEGMENT;
    fill->memory = check->blocks;
    fill->states = check->states;
    fill->kernel = NULL;
    fill->streamed = 0;
    for (int lane = 0; lane < CHECK_LANES; lane++) {
        for (int i = 0; i < 2; i++)
            for (int w = 0; w < BLOCK_WORDS; w++)
                check->blocks[lane * CHECK_LANE + i].w[w] = next_word(&seed);
        for (int w = 0; fill->chain > 0 && w < SBOX_WORDS; w++)
            check->states[lane].sbox.w[w] = next_word(&seed);
    }
}

static void
run_portable(struct fill *fill)
{
    for (uint32_t pass = 0; pass < CHECK_PASSES; pass++)
        for (uint32_t slice = 0; slice < FILL_SLICES; slice++)
            for (uint32_t lane = 0; lane < CHECK_LANES; lane++)
                fill_portable(fill, pass, slice, lane);
}

static void
run_kernel(struct fill *fill, const struct kernel *kernel)
{
    /* how many lanes the first group has; the second one has the others */
    static const uint32_t groups[CHECK_PASSES][FILL_SLICES] = {{4, 2, 1, 4}, {2, 4, 3, 1}};
    static const int streamed[FILL_SLICES] = {0, 0, 1, 1};

    fill->kernel = kernel;
    for (int lane = 0; lane < CHECK_LANES; lane++)
        for (int i = 0; i < 2; i++)
            kernel_from_plain(kernel, &fill->memory[lane * CHECK_LANE + i]);
    for (uint32_t pass = 0; pass < CHECK_PASSES; pass++) {
        for (uint32_t slice = 0; slice < FILL_SLICES; slice++) {
            uint32_t count = groups[pass][slice];
            fill->streamed = streamed[slice];
            kernel->fill(fill, pass, slice, 0, count);
            if (count < CHECK_LANES)
                kernel->fill(fill, pass, slice, count, CHECK_LANES - count);
        }
    }
    for (int i = 0; i < CHECK_LANES * CHECK_LANE; i++)
        kernel_to_plain(kernel, &fill->memory[i]);
}

/* kernel->compress on a block of ours; block is in plain order before and after. */
static int
compress_agrees(const struct kernel *kernel, enum kernel_mode mode, struct block *block)
{
    static const struct block zero;
    struct compress_scratch scratch;
    struct block expected;

    if (mode == KERNEL_ARGON2)
        compress_argon2(&expected, &zero, block, COMPRESS_OVERWRITE, &scratch);
    else
        compress_mhkdf1(&expected, &zero, block, NULL, 0, COMPRESS_OVERWRITE, &scratch);
    kernel_from_plain(kernel, block);
    kernel->compress(block, block, mode == KERNEL_ARGON2);
    kernel_to_plain(kernel, block);
    return memcmp(&expected, block, sizeof expected) == 0;
}

int
kernel_agrees(const struct kernel *kernel, enum kernel_mode mode)
{
    struct memory memory;
    struct check *checks; /* of the portable code, and of the kernel */
    struct fill fill;
    int agrees = 0;

    if (memory_get(&memory, (2 * sizeof *checks + 1023) / 1024) != 0)
        return 0;
    checks = memory.base;
    start_check(&fill, &checks[0], mode);
    run_portable(&fill);
    start_check(&fill, &checks[1], mode);
    run_kernel(&fill, kernel);
    if (memcmp(checks[0].blocks, checks[1].blocks, sizeof checks[0].blocks) == 0)
        agrees = compress_agrees(kernel, mode, &checks[1].blocks[0]);
    memory_release(&memory);
    return agrees;
}

const struct kernel *
kernel_choose(const struct kernel *const *from, enum kernel_mode mode, const char *name)
{
    for (const struct kernel *const *k = from; *k != NULL; k++)
        if ((name == NULL || strcmp(name, (*k)->name) == 0) && (*k)->is_supported() &&
            kernel_agrees(*k, mode))
            return *k;
    return NULL;
}

/*
 * Test builds take the name of a kernel from the environment, and the portable code where no such
 * kernel works; others never look.
 */
static const char *
forced_name(void)
{
#ifdef MHKDF_TESTING
    return getenv("MHKDF_CPU");
#else
    return NULL;
#endif
}

static const struct kernel *chosen[KERNEL_MODES];

#define CHOOSE_ONCE(mode)                                              \
    static pthread_once_t once_##mode = PTHREAD_ONCE_INIT;             \
    static void choose_##mode(void)                                    \
    {                                                                  \
        chosen[mode] = kernel_choose(kernel_all, mode, forced_name()); \
    }
CHOOSE_ONCE(KERNEL_ARGON2)
CHOOSE_ONCE(KERNEL_CHAIN_0)
CHOOSE_ONCE(KERNEL_CHAIN_3)
CHOOSE_ONCE(KERNEL_CHAIN_6)
CHOOSE_ONCE(KERNEL_CHAIN_12)

const struct kernel *
kernel_get(enum kernel_mode mode)
{
    static const struct {
        pthread_once_t *once;
        void (*choose)(void);
    } choices[KERNEL_MODES] = {
        {&once_KERNEL_ARGON2, choose_KERNEL_ARGON2},
        {&once_KERNEL_CHAIN_0, choose_KERNEL_CHAIN_0},
        {&once_KERNEL_CHAIN_3, choose_KERNEL_CHAIN_3},
        {&once_KERNEL_CHAIN_6, choose_KERNEL_CHAIN_6},
        {&once_KERNEL_CHAIN_12, choose_KERNEL_CHAIN_12},
    };

    (void)pthread_once(choices[mode].once, choices[mode].choose);
    return chosen[mode];
}
