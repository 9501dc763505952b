/* SPDX-License-Identifier: BSD-2-Clause */
/* Fill kernel for AVX-512 (F and VL) with BMI1 and BMI2. */
#include <config.h>

#include "libcore/kernel.h"

#ifdef KERNEL_X86

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,bmi,bmi2"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,bmi,bmi2")
#pragma GCC optimize("O2,no-var-tracking,no-var-tracking-assignments") /* or it takes minutes */
#endif

#include <immintrin.h>

#include "libcore/kernel_x86.h"

/*
 * A block is an 8 x 8 matrix of units of two words. Each register holds a tile of 2 x 2 units, and
 * so does the memory: tile (I, J) is register 4I + J and has units (2I, 2J), (2I, 2J+1), (2I+1,
 * 2J), (2I+1, 2J+1), in this order. Then the four registers of a row of tiles are a, b, c, d of two
 * rounds over rows, and the four of a column of tiles those of two rounds over columns, and nothing
 * is ever transposed. Words 0 and 127 are at their places.
 */
#define GROUP_POSITION(w) ((w) / 32 * 32 + (w) % 16 / 4 * 8 + (w) / 16 % 2 * 4 + (w) % 4)

#define GROUP_TAIL_POINTS 15
#define GROUP_STREAM _mm_sfence()

#include "libcore/kernel_group.h"

#define V __m512i
#define TILE(i, j) t[4 * (i) + (j)]

static KERNEL_INLINE V
load(const struct block *block, int i)
{
    return _mm512_load_si512(&block->w[8 * i]);
}

static KERNEL_INLINE void
store(struct block *block, int i, V v)
{
    _mm512_store_si512(&block->w[8 * i], v);
}

/* Past the caches. */
static KERNEL_INLINE void
stream(struct block *block, int i, V v)
{
    _mm512_stream_si512((V *)(void *)&block->w[8 * i], v);
}

/* R of tile i. */
static KERNEL_INLINE V
feedback(const struct block *prev, const struct block *ref, int i, int chain)
{
    if (chain == GROUP_ARGON2)
        return _mm512_xor_si512(load(prev, i), load(ref, i));
    return _mm512_add_epi64(load(prev, i), load(ref, i));
}

/* Z and R of a tile, put together. */
static KERNEL_INLINE V
close_tile(V z, V r, int chain)
{
    return chain == GROUP_ARGON2 ? _mm512_xor_si512(z, r) : _mm512_add_epi64(z, r);
}

static KERNEL_INLINE V
blamka(V x, V y)
{
    V m = _mm512_mul_epu32(x, y);

    return _mm512_add_epi64(_mm512_add_epi64(x, y), _mm512_add_epi64(m, m));
}

/* Half of a quarter round: x = blamka(x, y), z = (z ^ x) >>> r. */
#define HALF(x, y, z, r)                                   \
    do {                                                   \
        (x) = blamka(x, y);                                \
        (z) = _mm512_ror_epi64(_mm512_xor_si512(z, x), r); \
    } while (0)

#define POINT(number, vector)                      \
    do {                                           \
        group_point(&local, number, lanes, chain); \
        if (chain > 0)                             \
            KERNEL_PIN(local.x[0], vector);        \
    } while (0)

/* The same half in the rounds of all rows of tiles; a, b, d are columns of tiles. */
#define ROWS(point, a, b, d, r)                      \
    do {                                             \
        HALF(TILE(0, a), TILE(0, b), TILE(0, d), r); \
        POINT(point, TILE(0, a));                    \
        HALF(TILE(1, a), TILE(1, b), TILE(1, d), r); \
        POINT((point) + 1, TILE(1, a));              \
        HALF(TILE(2, a), TILE(2, b), TILE(2, d), r); \
        POINT((point) + 2, TILE(2, a));              \
        HALF(TILE(3, a), TILE(3, b), TILE(3, d), r); \
        POINT((point) + 3, TILE(3, a));              \
    } while (0)

/* One column of tiles. */
#define COLUMN(j, point, a, b, d, r)                 \
    do {                                             \
        HALF(TILE(a, j), TILE(b, j), TILE(d, j), r); \
        POINT(point, TILE(a, j));                    \
    } while (0)

#define COLUMNS(point, a, b, d, r)          \
    do {                                    \
        COLUMN(1, point, a, b, d, r);       \
        COLUMN(2, (point) + 1, a, b, d, r); \
        COLUMN(3, (point) + 2, a, b, d, r); \
    } while (0)

/* To the diagonals of a round over rows, and back. */
#define ROWS_TURN(to_b, to_d)                                     \
    do {                                                          \
        KERNEL_UNROLL                                             \
        for (int i = 0; i < 4; i++) {                             \
            TILE(i, 1) = _mm512_permutex_epi64(TILE(i, 1), to_b); \
            TILE(i, 2) = _mm512_permutex_epi64(TILE(i, 2), 0x4e); \
            TILE(i, 3) = _mm512_permutex_epi64(TILE(i, 3), to_d); \
        }                                                         \
    } while (0)

/* The same over columns, where the two rounds have every other unit. */
#define COLUMN_TURN(j, to_b, to_d)                                       \
    do {                                                                 \
        TILE(1, j) = _mm512_permutexvar_epi64(to_b, TILE(1, j));         \
        TILE(2, j) = _mm512_shuffle_i64x2(TILE(2, j), TILE(2, j), 0x4e); \
        TILE(3, j) = _mm512_permutexvar_epi64(to_d, TILE(3, j));         \
    } while (0)

static KERNEL_INLINE uint64_t
last_word(V v)
{
    return (uint64_t)_mm_extract_epi64(_mm512_extracti32x4_epi32(v, 3), 1);
}

static KERNEL_INLINE void
slot(struct group *group, unsigned k, int lanes, int chain)
{
    const V left = _mm512_setr_epi64(1, 4, 3, 6, 5, 0, 7, 2);
    const V right = _mm512_setr_epi64(5, 0, 7, 2, 1, 4, 3, 6);
    struct group_lane *lane = &group->lanes[k];
    const struct block *prev = lane->prev, *ref = lane->ref, *next;
    struct block *const out = lane->out, *const copy = lane->copy;
    const enum group_mode mode = group->mode;
    struct group_local local KERNEL_UNINITIALIZED;
    uint64_t word0, last, old_last;
    V t[16] KERNEL_UNINITIALIZED;

    group_take(&local, group, k, lanes, chain);
    KERNEL_UNROLL
    for (int i = 0; i < 16; i++)
        t[i] = feedback(prev, ref, i, chain);

    ROWS(0, 0, 1, 3, 32);
    ROWS(4, 2, 3, 1, 24);
    ROWS(8, 0, 1, 3, 16);
    ROWS(12, 2, 3, 1, 63);
    ROWS_TURN(0x39, 0x93);
    ROWS(16, 0, 1, 3, 32);
    ROWS(20, 2, 3, 1, 24);
    ROWS(24, 0, 1, 3, 16);
    ROWS(28, 2, 3, 1, 63);
    ROWS_TURN(0x93, 0x39);

    /* The column of tiles with word 0 first: it names the next reference block. */
    COLUMN(0, 32, 0, 1, 3, 32);
    COLUMN(0, 33, 2, 3, 1, 24);
    COLUMN(0, 34, 0, 1, 3, 16);
    COLUMN(0, 35, 2, 3, 1, 63);
    COLUMN_TURN(0, left, right);
    COLUMN(0, 36, 0, 1, 3, 32);
    COLUMN(0, 37, 2, 3, 1, 24);
    COLUMN(0, 38, 0, 1, 3, 16);
    COLUMN(0, 39, 2, 3, 1, 63);
    COLUMN_TURN(0, right, left);
    t[0] = close_tile(t[0], feedback(prev, ref, 0, chain), chain);
    if (mode == GROUP_XOR)
        t[0] = _mm512_xor_si512(t[0], load(out, 0));
    if (mode == GROUP_STREAMED) {
        store(copy, 0, t[0]);
        stream(out, 0, t[0]);
    } else {
        store(out, 0, t[0]);
    }
    word0 = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(t[0]));
    next = group_next(group, &local, lane, word0, lanes);

    COLUMNS(40, 0, 1, 3, 32);
    COLUMNS(43, 2, 3, 1, 24);
    COLUMNS(46, 0, 1, 3, 16);
    COLUMNS(49, 2, 3, 1, 63);
    KERNEL_UNROLL
    for (int j = 1; j < 4; j++)
        COLUMN_TURN(j, left, right);
    COLUMNS(52, 0, 1, 3, 32);
    COLUMNS(55, 2, 3, 1, 24);
    COLUMNS(58, 0, 1, 3, 16);
    COLUMNS(61, 2, 3, 1, 63);
    KERNEL_UNROLL
    for (int j = 1; j < 4; j++)
        COLUMN_TURN(j, right, left);

    last = last_word(close_tile(t[15], feedback(prev, ref, 15, chain), chain));
    old_last = mode == GROUP_XOR ? out->w[127] : 0;
    switch (mode) {
    case GROUP_PLAIN:
        KERNEL_UNROLL
        for (int i = 1; i < 16; i++) {
            t[i] = close_tile(t[i], feedback(prev, ref, i, chain), chain);
            store(out, i, t[i]);
            POINT(63 + i, t[i]);
        }
        break;
    case GROUP_XOR:
        KERNEL_UNROLL
        for (int i = 1; i < 16; i++) {
            t[i] = close_tile(t[i], feedback(prev, ref, i, chain), chain);
            if (chain > 0 && i >= GROUP_VALUES_FROM / 8)
                store(&lane->state->result, i, t[i]);
            else
                store(out, i, _mm512_xor_si512(t[i], load(out, i)));
            POINT(63 + i, t[i]);
        }
        break;
    case GROUP_STREAMED:
        KERNEL_UNROLL
        for (int i = 1; i < 16; i++) {
            t[i] = close_tile(t[i], feedback(prev, ref, i, chain), chain);
            store(copy, i, t[i]);
            if (chain <= 0 || i < GROUP_VALUES_FROM / 8)
                stream(out, i, t[i]);
            POINT(63 + i, t[i]);
        }
        break;
    }
    lane->last_word = last;
    lane->old_last = old_last;
    group_pass_on(&local, group, lanes, chain);
    lane->prev = mode == GROUP_STREAMED ? copy : out;
    lane->out = out + 1;
    lane->ref = next;
}

static KERNEL_INLINE void
finish(const struct group_chain *ended, int chain, enum group_mode mode)
{
    const struct lane_state *state = ended->state;
    struct block *out = ended->out, *copy = ended->lane->copy;

    KERNEL_UNROLL
    for (int i = GROUP_VALUES_FROM / 8; i < 16; i++) {
        const int has_values = chain != 3 || i >= 8;
        V values = _mm512_setzero_si512(), v;
        if (has_values)
            values = _mm512_load_si512(&state->values[8 * i - GROUP_VALUES_FROM]);
        switch (mode) {
        case GROUP_PLAIN:
            if (has_values)
                store(out, i, _mm512_add_epi64(load(out, i), values));
            break;
        case GROUP_XOR:
            v = _mm512_add_epi64(load(&state->result, i), values);
            store(out, i, _mm512_xor_si512(v, load(out, i)));
            break;
        case GROUP_STREAMED:
            v = _mm512_add_epi64(load(copy, i), values);
            store(copy, i, v);
            stream(out, i, v);
            break;
        }
    }
}

static int
is_supported(void)
{
    return x86_has(X86_AVX512 | X86_BMI);
}

static const uint8_t POSITIONS[BLOCK_WORDS] = {GROUP_POSITIONS(GROUP_POSITION)};

const struct kernel kernel_avx512 = {
    .name = "avx512",
    .is_supported = is_supported,
    .fill = group_fill,
    .compress = group_compress,
    .positions = POSITIONS,
};

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
/* Not for this machine; the name is there, as libxcrypt's tests want of each that graft renames. */
const struct kernel kernel_avx512 = {.name = "avx512"};
#endif
