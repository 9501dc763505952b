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
/* With several lanes the S-boxes aren't all in the first cache, and a chain takes about twice as
 * long: it has the time of as many slots as it then needs. */
#ifndef NARROW_PARTS
#define NARROW_PARTS(chain) ((chain)*NARROW_WORDS / 6)
#endif
#define GROUP_PARTS(count, chain)                   \
    ((count) >= 4 && NARROW_PARTS(chain) >= 4   ? 4 \
     : (count) >= 2 && NARROW_PARTS(chain) >= 2 ? 2 \
                                                : 1)

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

/*
 * The chains go beside the rounds: `steps` of each part beside each turn of a loop over rounds, as
 * many in every turn, so that the loops stay loops. The points of kernel_group.h aren't used. Where
 * there is one part, a third of the steps is beside the rows and the rest beside the columns: the
 * address of the next block shall be known early, and its fetch run beside the chain.
 */
static KERNEL_INLINE int
steps_in_rows(int parts, int chain)
{
    const int both = chain <= 0 ? 0 : 16 * chain / (NARROW_ROUNDS * parts);
    const int steps = both / (parts == 1 ? 3 : 2);

    return chain == 12 ? steps / 2 * 2 : steps;
}

static KERNEL_INLINE int
steps_in_columns(int parts, int chain)
{
    return chain <= 0 ? 0 : 16 * chain / (NARROW_ROUNDS * parts) - steps_in_rows(parts, chain);
}

/* What the chains do beside the half of a quarter round with this number, 0 .. 7, in a round with
 * steps; done: steps before that round. All but local and done are constants, done is even. */
static KERNEL_INLINE void
run_chains(struct group_local *local, int half, int steps, int done, int parts, int chain)
{
    const int every = chain == 12 ? 2 : 1;
    const int from = (chain == 3 ? 80 : 32) - GROUP_VALUES_FROM;

    KERNEL_UNROLL
    for (int i = steps * half / 8; i < steps * (half + 1) / 8; i++) {
        KERNEL_UNROLL
        for (int part = 0; part < parts; part++) {
            struct lane_state *state = local->state[part];
            local->x[part] = GROUP_STEP(local->x[part], &state->sbox);
            if ((i + 1) % every == 0)
                state->values[from + part * 16 * chain / parts / every + done / every +
                              (i + 1) / every - 1] = local->x[part];
        }
    }
}

/* Half of a quarter round: p = blamka(p, q), r = (r ^ p) >>> by. */
#define HALF(number, p, q, r, by)                                 \
    do {                                                          \
        p##0 = blamka(p##0, q##0);                                \
        p##1 = blamka(p##1, q##1);                                \
        r##0 = narrow_rotate(narrow_xor(r##0, p##0), by);         \
        r##1 = narrow_rotate(narrow_xor(r##1, p##1), by);         \
        if (chain > 0) {                                          \
            run_chains(local, number, steps, done, parts, chain); \
            KERNEL_PIN(local->x[0], p##0);                        \
        }                                                         \
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

#define ROUND()      \
    do {             \
        QUARTERS(0); \
        TURN_1(b);   \
        TURN_2(c);   \
        TURN_3(d);   \
        QUARTERS(4); \
        TURN_3(b);   \
        TURN_2(c);   \
        TURN_1(d);   \
    } while (0)

#if NARROW_WORDS == 4
#define TURN_ROW(b, c, d, to_b, to_d) \
    do {                              \
        (b) = narrow_turn(b, to_b);   \
        (c) = narrow_turn(c, 2);      \
        (d) = narrow_turn(d, to_d);   \
    } while (0)

#define ROUND_OF_ROWS()             \
    do {                            \
        QUARTERS(0);                \
        TURN_ROW(b0, c0, d0, 1, 3); \
        TURN_ROW(b1, c1, d1, 1, 3); \
        QUARTERS(4);                \
        TURN_ROW(b0, c0, d0, 3, 1); \
        TURN_ROW(b1, c1, d1, 3, 1); \
    } while (0)

/* Where, of the eight registers of two rows, x0 and x1 are. */
#define IN_ROWS(x, i) ((x) + 4 * (i))
#else
#define ROUND_OF_ROWS() ROUND()
#define IN_ROWS(x, i) (2 * (x) + (i))
#endif

/* One turn of the loop over rows, from prev and ref to the scratch block. */
static KERNEL_INLINE void
rows(struct group_local *local, struct block *scratch, const struct block *prev,
     const struct block *ref, int turn, int parts, int chain)
{
    const int steps = steps_in_rows(parts, chain), done = turn * steps;
#define AT(x, i) (8 * turn + IN_ROWS(x, i))
#define LOAD(x, i) join(load(prev, AT(x, i)), load(ref, AT(x, i)), chain)
    V a0 = LOAD(0, 0), a1 = LOAD(0, 1), b0 = LOAD(1, 0), b1 = LOAD(1, 1);
    V c0 = LOAD(2, 0), c1 = LOAD(2, 1), d0 = LOAD(3, 0), d1 = LOAD(3, 1);
#undef LOAD

    ROUND_OF_ROWS();
    store(scratch, AT(0, 0), a0);
    store(scratch, AT(0, 1), a1);
    store(scratch, AT(1, 0), b0);
    store(scratch, AT(1, 1), b1);
    store(scratch, AT(2, 0), c0);
    store(scratch, AT(2, 1), c1);
    store(scratch, AT(3, 0), d0);
    store(scratch, AT(3, 1), d1);
#undef AT
}

/* Writes register i of the block: Z with R, over the old block unless it waits for the chain. */
static KERNEL_INLINE void
close_register(const struct group_lane *lane, int i, V z, int chain, int xor)
{
    V v = join(z, join(load(lane->prev, i), load(lane->ref, i), chain), chain);

    if (!xor)
        store(lane->out, i, v);
    else if (chain > 0 && i >= NARROW_VALUES)
        store(&lane->state->result, i, v);
    else
        store(lane->out, i, narrow_xor(v, load(lane->out, i)));
}

/* One turn of the loop over columns, from the scratch block to the end. */
static KERNEL_INLINE void
columns(struct group_local *local, const struct block *scratch, const struct group_lane *lane,
        int turn, int parts, int chain, int xor)
{
    const int steps = steps_in_columns(parts, chain);
    const int done = NARROW_ROUNDS * steps_in_rows(parts, chain) + turn * steps;
#define AT(x, i) (turn + NARROW_ROW * (2 * (x) + (i)))
    V a0 = load(scratch, AT(0, 0)), a1 = load(scratch, AT(0, 1));
    V b0 = load(scratch, AT(1, 0)), b1 = load(scratch, AT(1, 1));
    V c0 = load(scratch, AT(2, 0)), c1 = load(scratch, AT(2, 1));
    V d0 = load(scratch, AT(3, 0)), d1 = load(scratch, AT(3, 1));

    ROUND();
    close_register(lane, AT(0, 0), a0, chain, xor);
    close_register(lane, AT(0, 1), a1, chain, xor);
    close_register(lane, AT(1, 0), b0, chain, xor);
    close_register(lane, AT(1, 1), b1, chain, xor);
    close_register(lane, AT(2, 0), c0, chain, xor);
    close_register(lane, AT(2, 1), c1, chain, xor);
    close_register(lane, AT(3, 0), d0, chain, xor);
    close_register(lane, AT(3, 1), d1, chain, xor);
#undef AT
}

static KERNEL_INLINE void
slot(struct group *group, unsigned k, int parts, int chain)
{
    struct group_lane lane = group->lanes[k];
    struct block *scratch = &group->scratch;
    struct group_local chains KERNEL_UNINITIALIZED, *local = &chains;
    const int xor = group->xor ;
    const struct block *next;

    group_take(local, group, &group->lanes[k], parts, chain);
    for (int turn = 0; turn < NARROW_ROUNDS; turn++)
        rows(local, scratch, lane.prev, lane.ref, turn, parts, chain);

    /* The column with word 0 first: it names the next reference block. */
    columns(local, scratch, &lane, 0, parts, chain, xor);
    next = group_next(group, &lane, lane.out->w[0]);
    KERNEL_UNROLL
    for (int i = 0; i < BLOCK_WORDS; i += 8)
        __builtin_prefetch(&next->w[i]);
    for (int turn = 1; turn < NARROW_ROUNDS; turn++)
        columns(local, scratch, &lane, turn, parts, chain, xor);

    if (chain > 0) {
        group->lanes[k].last_word = xor? lane.state->result.w[127] : lane.out->w[127];
        group->lanes[k].old_last = xor? lane.out->w[127] : 0;
    }
    group_pass_on(local, group, parts, chain);
    group->lanes[k].prev = lane.out;
    group->lanes[k].out = lane.out + 1;
    group->lanes[k].ref = next;
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
