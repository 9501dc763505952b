/* SPDX-License-Identifier: BSD-2-Clause */
/* Fill kernel for AVX2 with BMI1 and BMI2. */
#include <config.h>

#include "libcore/kernel.h"

#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2")
#pragma GCC optimize("O3")
#endif

#include <immintrin.h>

#include "libcore/kernel_x86.h"

/*
 * A block is 8 rows of 16 words, in plain order: register 4r + j has words 4j .. 4j + 3 of row r.
 * The four registers of a row are a, b, c, d of a round. Those at j of all rows have two columns of
 * pairs of words, one in each half: a0, a1, b0, ... d1 of two rounds, of which no word leaves its
 * half. So nothing is transposed. Eight registers are at work at a time, two rows or two columns.
 */
#define GROUP_POSITION(w) (w)
#define GROUP_SCRATCH

#include "libcore/kernel_group.h"

#define V __m256i

static KERNEL_INLINE V
load(const struct block *block, int i)
{
    return _mm256_load_si256((const V *)(const void *)&block->w[4 * i]);
}

static KERNEL_INLINE void
store(struct block *block, int i, V v)
{
    _mm256_store_si256((V *)(void *)&block->w[4 * i], v);
}

static KERNEL_INLINE V
load_values(const struct lane_state *state, int i)
{
    return _mm256_load_si256((const V *)(const void *)&state->values[4 * i - GROUP_VALUES_FROM]);
}

/* Two blocks, or Z and R, put together. */
static KERNEL_INLINE V
join(V x, V y, int chain)
{
    return chain == GROUP_ARGON2 ? _mm256_xor_si256(x, y) : _mm256_add_epi64(x, y);
}

static KERNEL_INLINE V
blamka(V x, V y)
{
    V m = _mm256_mul_epu32(x, y);

    return _mm256_add_epi64(_mm256_add_epi64(x, y), _mm256_add_epi64(m, m));
}

/* v >>> by. */
static KERNEL_INLINE V
rotate(V v, int by)
{
    const V bytes_24 = _mm256_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10, 3, 4,
                                        5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    const V bytes_16 = _mm256_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2, 3,
                                        4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);

    switch (by) {
    case 32:
        return _mm256_shuffle_epi32(v, 0xb1);
    case 24:
        return _mm256_shuffle_epi8(v, bytes_24);
    case 16:
        return _mm256_shuffle_epi8(v, bytes_16);
    default: /* 63 */
        return _mm256_or_si256(_mm256_srli_epi64(v, 63), _mm256_add_epi64(v, v));
    }
}

#define POINT(number, vector)                         \
    do {                                              \
        if (chain > 0) {                              \
            group_point(local, number, parts, chain); \
            KERNEL_PIN(local->x[0], vector);          \
        }                                             \
    } while (0)

/* Half of a quarter round: x = blamka(x, y), z = (z ^ x) >>> r. */
#define HALF(point, x, y, z, r)                         \
    do {                                                \
        x##0 = blamka(x##0, y##0);                      \
        x##1 = blamka(x##1, y##1);                      \
        z##0 = rotate(_mm256_xor_si256(z##0, x##0), r); \
        z##1 = rotate(_mm256_xor_si256(z##1, x##1), r); \
        POINT(point, x##0);                             \
    } while (0)

#define QUARTERS(point)                 \
    do {                                \
        HALF((point), a, b, d, 32);     \
        HALF((point) + 1, c, d, b, 24); \
        HALF((point) + 2, a, b, d, 16); \
        HALF((point) + 3, c, d, b, 63); \
    } while (0)

#define TURN_ROW(b, c, d, to_b, to_d)            \
    do {                                         \
        (b) = _mm256_permute4x64_epi64(b, to_b); \
        (c) = _mm256_permute4x64_epi64(c, 0x4e); \
        (d) = _mm256_permute4x64_epi64(d, to_d); \
    } while (0)

/* In a column: x0, x1 have four words of a round in each half; they turn by 1, 2 or 3 to the left.
 */
#define TURN_1(x)                                           \
    do {                                                    \
        const V turned = _mm256_alignr_epi8(x##1, x##0, 8); \
        x##1 = _mm256_alignr_epi8(x##0, x##1, 8);           \
        x##0 = turned;                                      \
    } while (0)

#define TURN_2(x)            \
    do {                     \
        const V kept = x##0; \
        x##0 = x##1;         \
        x##1 = kept;         \
    } while (0)

#define TURN_3(x)  \
    do {           \
        TURN_1(x); \
        TURN_2(x); \
    } while (0)

/* Rounds over rows 2i and 2i + 1, from prev and ref to the scratch block. */
static KERNEL_INLINE void
two_rows(struct group *group, struct group_local *local, const struct block *prev,
         const struct block *ref, int i, int parts, int chain)
{
    struct block *scratch = &group->scratch;
    V a0 = join(load(prev, 8 * i), load(ref, 8 * i), chain);
    V b0 = join(load(prev, 8 * i + 1), load(ref, 8 * i + 1), chain);
    V c0 = join(load(prev, 8 * i + 2), load(ref, 8 * i + 2), chain);
    V d0 = join(load(prev, 8 * i + 3), load(ref, 8 * i + 3), chain);
    V a1 = join(load(prev, 8 * i + 4), load(ref, 8 * i + 4), chain);
    V b1 = join(load(prev, 8 * i + 5), load(ref, 8 * i + 5), chain);
    V c1 = join(load(prev, 8 * i + 6), load(ref, 8 * i + 6), chain);
    V d1 = join(load(prev, 8 * i + 7), load(ref, 8 * i + 7), chain);

    QUARTERS(8 * i);
    TURN_ROW(b0, c0, d0, 0x39, 0x93);
    TURN_ROW(b1, c1, d1, 0x39, 0x93);
    QUARTERS(8 * i + 4);
    TURN_ROW(b0, c0, d0, 0x93, 0x39);
    TURN_ROW(b1, c1, d1, 0x93, 0x39);
    store(scratch, 8 * i, a0);
    store(scratch, 8 * i + 1, b0);
    store(scratch, 8 * i + 2, c0);
    store(scratch, 8 * i + 3, d0);
    store(scratch, 8 * i + 4, a1);
    store(scratch, 8 * i + 5, b1);
    store(scratch, 8 * i + 6, c1);
    store(scratch, 8 * i + 7, d1);
}

/* Closes register i of the block: z with R and, where it needn't wait for the chain, the old
 * block. */
static KERNEL_INLINE V
complete(struct group *group, struct group_lane *lane, const struct block *prev,
         const struct block *ref, int i, V z, int chain)
{
    V v = join(z, join(load(prev, i), load(ref, i), chain), chain);

    if (!group->xor) {
        store(lane->out, i, v);
    } else if (chain > 0 && i >= GROUP_VALUES_FROM / 4) {
        store(&lane->state->result, i, v);
    } else {
        v = _mm256_xor_si256(v, load(lane->out, i));
        store(lane->out, i, v);
    }
    return v;
}

/* Rounds over the two columns of j. What was made of rows 0 and 7 is left in first and last. */
static KERNEL_INLINE void
two_columns(struct group *group, struct group_lane *lane, struct group_local *local,
            const struct block *prev, const struct block *ref, int j, V *first, V *last, int parts,
            int chain)
{
    const struct block *scratch = &group->scratch;
    V a0 = load(scratch, j), a1 = load(scratch, j + 4);
    V b0 = load(scratch, j + 8), b1 = load(scratch, j + 12);
    V c0 = load(scratch, j + 16), c1 = load(scratch, j + 20);
    V d0 = load(scratch, j + 24), d1 = load(scratch, j + 28);

    QUARTERS(32 + 8 * j);
    TURN_1(b);
    TURN_2(c);
    TURN_3(d);
    QUARTERS(36 + 8 * j);
    TURN_3(b);
    TURN_2(c);
    TURN_1(d);
    *first = complete(group, lane, prev, ref, j, a0, chain);
    complete(group, lane, prev, ref, j + 4, a1, chain);
    complete(group, lane, prev, ref, j + 8, b0, chain);
    complete(group, lane, prev, ref, j + 12, b1, chain);
    complete(group, lane, prev, ref, j + 16, c0, chain);
    complete(group, lane, prev, ref, j + 20, c1, chain);
    complete(group, lane, prev, ref, j + 24, d0, chain);
    *last = complete(group, lane, prev, ref, j + 28, d1, chain);
}

static KERNEL_INLINE void
prefetch(const struct block *block)
{
    KERNEL_UNROLL
    for (int i = 0; i < 16; i++)
        _mm_prefetch((const char *)&block->w[8 * i], _MM_HINT_T0);
}

static KERNEL_INLINE void
slot(struct group *group, unsigned k, int parts, int chain)
{
    struct group_lane *lane = &group->lanes[k];
    const struct block *prev = lane->prev, *ref = lane->ref, *next;
    struct group_local chains, *local = &chains;
    uint64_t old_last = group->xor ? lane->out->w[127] : 0;
    V first, last;

    group_take(local, group, lane, parts, chain);
    two_rows(group, local, prev, ref, 0, parts, chain);
    two_rows(group, local, prev, ref, 1, parts, chain);
    two_rows(group, local, prev, ref, 2, parts, chain);
    two_rows(group, local, prev, ref, 3, parts, chain);

    /* The columns with word 0 first: it names the next reference block. */
    two_columns(group, lane, local, prev, ref, 0, &first, &last, parts, chain);
    next = group_next(group, lane, (uint64_t)_mm256_extract_epi64(first, 0));
    prefetch(next);
    two_columns(group, lane, local, prev, ref, 1, &first, &last, parts, chain);
    two_columns(group, lane, local, prev, ref, 2, &first, &last, parts, chain);
    two_columns(group, lane, local, prev, ref, 3, &first, &last, parts, chain);

    if (chain > 0) {
        lane->last_word = (uint64_t)_mm256_extract_epi64(last, 3);
        lane->old_last = old_last;
    }
    group_pass_on(local, group, parts, chain);
    lane->prev = lane->out++;
    lane->ref = next;
}

static KERNEL_INLINE void
finish(struct block *out, const struct lane_state *state, int chain, int xor)
{
    const int from = GROUP_VALUES_FROM / 4;
    const int values_from = chain == 3 ? 20 : from;

    if (xor) {
        KERNEL_UNROLL
        for (int i = from; i < 32; i++) {
            V v = load(&state->result, i);
            if (i >= values_from)
                v = _mm256_add_epi64(v, load_values(state, i));
            store(out, i, _mm256_xor_si256(load(out, i), v));
        }
    } else {
        KERNEL_UNROLL
        for (int i = values_from; i < 32; i++)
            store(out, i, _mm256_add_epi64(load(out, i), load_values(state, i)));
    }
}

static int
is_supported(void)
{
    return x86_has(X86_AVX2 | X86_BMI);
}

const struct kernel kernel_avx2 = {
    .name = "avx2",
    .is_supported = is_supported,
    .fill = group_fill,
    .compress = group_compress,
};

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
