/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The slot for registers that can't hold a block between them: 128 or 256 bits, 16 of them or more.
 * Included by each kernel's file, after kernel_inline.h, which defines
 *
 *   NARROW_WORDS                words in a register: 2 or 4;
 *   V                           the type of a register;
 *   V narrow_load(words), void narrow_store(words, v), from and to uint64_t's, aligned;
 *   V narrow_add(x, y), narrow_xor(x, y)
 *   V narrow_multiply(x, y)     of the low halves of words;
 *   V narrow_rotate(v, by)      words to the right, by a constant 32, 24, 16 or 63;
 *   V narrow_next(v, w)         in each 128 bits: the second word of v, the first of w;
 *   KERNEL_PIN(x, v)            as in kernel_x86.h;
 *   with 4 words: V narrow_turn(v, by), four words to the left by a constant 1, 2 or 3.
 *
 * A block is 8 rows of 16 words, in plain order. Eight registers are at work at a time: a0, a1, b0,
 * ... d1 of a round, where x0 and x1 have, in each 128 bits, four words of x. They come from one
 * row (128-bit registers), or from one column in each 128 bits. In 256 bits a row's a, b, c, d are
 * a register each, and two rows are at work.
 */
#ifndef LIBCORE_KERNEL_NARROW_H
#define LIBCORE_KERNEL_NARROW_H

#define GROUP_POSITION(w) (w)
#define GROUP_SCRATCH

#include "libcore/kernel_group.h"

#define NARROW_REGISTERS (BLOCK_WORDS / NARROW_WORDS)
#define NARROW_ROW (16 / NARROW_WORDS)                   /* registers in a row */
#define NARROW_VALUES (GROUP_VALUES_FROM / NARROW_WORDS) /* the first that a chain is added to */
#define NARROW_ROUNDS \
    (16 / NARROW_WORDS) /* over rows, and over columns; NARROW_WORDS / 2 at once */

static KERNEL_INLINE V
load(const struct block *block, int i)
{
    return narrow_load(&block->w[NARROW_WORDS * i]);
}

static KERNEL_INLINE void
store(struct block *block, int i, V v)
{
    narrow_store(&block->w[NARROW_WORDS * i], v);
}

static KERNEL_INLINE V
load_values(const struct lane_state *state, int i)
{
    return narrow_load(&state->values[NARROW_WORDS * i - GROUP_VALUES_FROM]);
}

/* Two blocks, or Z and R, put together. */
static KERNEL_INLINE V
join(V x, V y, int chain)
{
    return chain == GROUP_ARGON2 ? narrow_xor(x, y) : narrow_add(x, y);
}

static KERNEL_INLINE V
blamka(V x, V y)
{
    V m = narrow_multiply(x, y);

    return narrow_add(narrow_add(x, y), narrow_add(m, m));
}

/* Points of kernel_group.h that come before this half of a quarter round, of all in the slot. */
static KERNEL_INLINE int
points_before(int half)
{
    const int rows = 8 * NARROW_ROUNDS;

    if (half <= rows)
        return 32 * half / rows;
    if (half <= rows + 8)
        return 32 + (half - rows);
    return 40 + 24 * (half - rows - 8) / (rows - 8);
}

/* What the chains do beside this half. */
static KERNEL_INLINE void
points(struct group_local *local, int half, int parts, int chain)
{
    const int from = points_before(half), to = points_before(half + 1);

    KERNEL_UNROLL
    for (int point = from; point < to; point++)
        group_point(local, point, parts, chain);
}

/* Half of a quarter round: p = blamka(p, q), r = (r ^ p) >>> by. */
#define HALF(number, p, q, r, by)                         \
    do {                                                  \
        p##0 = blamka(p##0, q##0);                        \
        p##1 = blamka(p##1, q##1);                        \
        r##0 = narrow_rotate(narrow_xor(r##0, p##0), by); \
        r##1 = narrow_rotate(narrow_xor(r##1, p##1), by); \
        if (chain > 0) {                                  \
            points(local, number, parts, chain);          \
            KERNEL_PIN(local->x[0], p##0);                \
        }                                                 \
    } while (0)

#define QUARTERS(number)                 \
    do {                                 \
        HALF((number), a, b, d, 32);     \
        HALF((number) + 1, c, d, b, 24); \
        HALF((number) + 2, a, b, d, 16); \
        HALF((number) + 3, c, d, b, 63); \
    } while (0)

/* The four words of x in x0 and x1 to the left, by 1, 2 and 3. */
#define TURN_1(x)                               \
    do {                                        \
        const V next = narrow_next(x##0, x##1); \
        x##1 = narrow_next(x##1, x##0);         \
        x##0 = next;                            \
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

#define ROUND(number)           \
    do {                        \
        QUARTERS(number);       \
        TURN_1(b);              \
        TURN_2(c);              \
        TURN_3(d);              \
        QUARTERS((number) + 4); \
        TURN_3(b);              \
        TURN_2(c);              \
        TURN_1(d);              \
    } while (0)

#if NARROW_WORDS == 4
#define TURN_ROW(b, c, d, to_b, to_d) \
    do {                              \
        (b) = narrow_turn(b, to_b);   \
        (c) = narrow_turn(c, 2);      \
        (d) = narrow_turn(d, to_d);   \
    } while (0)

#define ROUND_OF_ROWS(number)       \
    do {                            \
        QUARTERS(number);           \
        TURN_ROW(b0, c0, d0, 1, 3); \
        TURN_ROW(b1, c1, d1, 1, 3); \
        QUARTERS((number) + 4);     \
        TURN_ROW(b0, c0, d0, 3, 1); \
        TURN_ROW(b1, c1, d1, 3, 1); \
    } while (0)

/* Where, of the eight registers of two rows, x0 and x1 are. */
#define IN_ROWS(x, i) ((x) + 4 * (i))
#else
#define ROUND_OF_ROWS(number) ROUND(number)
#define IN_ROWS(x, i) (2 * (x) + (i))
#endif

/* The rounds over rows that are done at once, from prev and ref to the scratch block. */
static KERNEL_INLINE void
rows(struct group *group, struct group_local *local, const struct block *prev,
     const struct block *ref, int number, int parts, int chain)
{
    struct block *scratch = &group->scratch;
    const int from = 8 * number;
#define LOAD(x, i) join(load(prev, from + IN_ROWS(x, i)), load(ref, from + IN_ROWS(x, i)), chain)
    V a0 = LOAD(0, 0), a1 = LOAD(0, 1), b0 = LOAD(1, 0), b1 = LOAD(1, 1);
    V c0 = LOAD(2, 0), c1 = LOAD(2, 1), d0 = LOAD(3, 0), d1 = LOAD(3, 1);
#undef LOAD

    ROUND_OF_ROWS(8 * number);
    store(scratch, from + IN_ROWS(0, 0), a0);
    store(scratch, from + IN_ROWS(0, 1), a1);
    store(scratch, from + IN_ROWS(1, 0), b0);
    store(scratch, from + IN_ROWS(1, 1), b1);
    store(scratch, from + IN_ROWS(2, 0), c0);
    store(scratch, from + IN_ROWS(2, 1), c1);
    store(scratch, from + IN_ROWS(3, 0), d0);
    store(scratch, from + IN_ROWS(3, 1), d1);
}

/* Writes register i of the block: Z with R, over the old block unless it waits for the chain. */
static KERNEL_INLINE void
close_register(struct group *group, struct group_lane *lane, int i, V z, int chain)
{
    V v = join(z, join(load(lane->prev, i), load(lane->ref, i), chain), chain);

    if (!group->xor)
        store(lane->out, i, v);
    else if (chain > 0 && i >= NARROW_VALUES)
        store(&lane->state->result, i, v);
    else
        store(lane->out, i, narrow_xor(v, load(lane->out, i)));
}

/* The rounds over columns that are done at once, from the scratch block to the end. */
static KERNEL_INLINE void
columns(struct group *group, struct group_local *local, struct group_lane *lane, int number,
        int parts, int chain)
{
    const struct block *scratch = &group->scratch;
#define AT(x, i) (number + NARROW_ROW * (2 * (x) + (i)))
    V a0 = load(scratch, AT(0, 0)), a1 = load(scratch, AT(0, 1));
    V b0 = load(scratch, AT(1, 0)), b1 = load(scratch, AT(1, 1));
    V c0 = load(scratch, AT(2, 0)), c1 = load(scratch, AT(2, 1));
    V d0 = load(scratch, AT(3, 0)), d1 = load(scratch, AT(3, 1));

    ROUND(8 * (NARROW_ROUNDS + number));
    close_register(group, lane, AT(0, 0), a0, chain);
    close_register(group, lane, AT(0, 1), a1, chain);
    close_register(group, lane, AT(1, 0), b0, chain);
    close_register(group, lane, AT(1, 1), b1, chain);
    close_register(group, lane, AT(2, 0), c0, chain);
    close_register(group, lane, AT(2, 1), c1, chain);
    close_register(group, lane, AT(3, 0), d0, chain);
    close_register(group, lane, AT(3, 1), d1, chain);
#undef AT
}

/* All of the block, with every point a constant. */
#define NARROW_ROWS_2(n)                                          \
    rows(group, local, lane->prev, lane->ref, (n), parts, chain); \
    rows(group, local, lane->prev, lane->ref, (n) + 1, parts, chain)
#define NARROW_COLUMNS_1(n) columns(group, local, lane, (n), parts, chain)

static KERNEL_INLINE void
all_rows(struct group *group, struct group_local *local, struct group_lane *lane, int parts,
         int chain)
{
    if (chain <= 0) {
        for (int n = 0; n < NARROW_ROUNDS; n++)
            rows(group, local, lane->prev, lane->ref, n, parts, chain);
        return;
    }
    NARROW_ROWS_2(0);
    NARROW_ROWS_2(2);
#if NARROW_ROUNDS == 8
    NARROW_ROWS_2(4);
    NARROW_ROWS_2(6);
#endif
}

/* All but the first. */
static KERNEL_INLINE void
other_columns(struct group *group, struct group_local *local, struct group_lane *lane, int parts,
              int chain)
{
    if (chain <= 0) {
        for (int n = 1; n < NARROW_ROUNDS; n++)
            columns(group, local, lane, n, parts, chain);
        return;
    }
    NARROW_COLUMNS_1(1);
    NARROW_COLUMNS_1(2);
    NARROW_COLUMNS_1(3);
#if NARROW_ROUNDS == 8
    NARROW_COLUMNS_1(4);
    NARROW_COLUMNS_1(5);
    NARROW_COLUMNS_1(6);
    NARROW_COLUMNS_1(7);
#endif
}

static KERNEL_INLINE void
slot(struct group *group, unsigned k, int parts, int chain)
{
    struct group_lane *lane = &group->lanes[k];
    struct group_local chains KERNEL_UNINITIALIZED, *local = &chains;
    const struct block *next;

    group_take(local, group, lane, parts, chain);
    all_rows(group, local, lane, parts, chain);

    /* The column with word 0 first: it names the next reference block. */
    columns(group, local, lane, 0, parts, chain);
    next = group_next(group, lane, lane->out->w[0]);
    KERNEL_UNROLL
    for (int i = 0; i < BLOCK_WORDS; i += 8)
        __builtin_prefetch(&next->w[i]);
    other_columns(group, local, lane, parts, chain);

    if (chain > 0) {
        lane->last_word = group->xor ? lane->state->result.w[127] : lane->out->w[127];
        lane->old_last = group->xor ? lane->out->w[127] : 0;
    }
    group_pass_on(local, group, parts, chain);
    lane->prev = lane->out++;
    lane->ref = next;
}

static KERNEL_INLINE void
finish(struct block *out, const struct lane_state *state, int chain, int xor)
{
    const int values_from = chain == 3 ? NARROW_REGISTERS / 8 * 5 : NARROW_VALUES;

    if (xor) {
        KERNEL_UNROLL
        for (int i = NARROW_VALUES; i < NARROW_REGISTERS; i++) {
            V v = load(&state->result, i);
            if (i >= values_from)
                v = narrow_add(v, load_values(state, i));
            store(out, i, narrow_xor(v, load(out, i)));
        }
    } else {
        KERNEL_UNROLL
        for (int i = values_from; i < NARROW_REGISTERS; i++)
            store(out, i, narrow_add(load(out, i), load_values(state, i)));
    }
}

#endif
