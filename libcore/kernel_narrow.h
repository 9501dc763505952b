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
 *   with GROUP_STREAM: void narrow_stream(words, v), past the caches;
 *   with 4 words: V narrow_turn(v, by), four words to the left by a constant 1, 2 or 3.
 *
 * A block is 8 rows of 16 words, in plain order. Sixteen registers are at work at a time, a[0] ..
 * d[3], though the compiler keeps some of them in memory: with fewer, each step would wait for the
 * one before. They come from two rows (128-bit registers) or four, or from two columns in each 128
 * bits. Four words of x, in a round, are in both x[0] and x[1], and in x[2] and x[3]; but with rows
 * in 256 bits each register has four.
 */
#ifndef LIBCORE_KERNEL_NARROW_H
#define LIBCORE_KERNEL_NARROW_H

#define GROUP_POSITION(w) (w)
#define GROUP_SCRATCH
/* With several lanes the S-boxes aren't all in the first cache, and a chain takes about twice as
 * long: it has the time of as many slots as it then needs. */
#if NARROW_WORDS == 4
#define GROUP_PARTS_3 2
#define GROUP_PARTS_6 4
#else
#define GROUP_PARTS_3 1
#define GROUP_PARTS_6 2
#endif
#define GROUP_PARTS_12 4

#include "libcore/kernel_group.h"

#define NARROW_REGISTERS (BLOCK_WORDS / NARROW_WORDS)
#define NARROW_ROW (16 / NARROW_WORDS)                   /* registers in a row */
#define NARROW_VALUES (GROUP_VALUES_FROM / NARROW_WORDS) /* the first that a chain is added to */
#define NARROW_TURNS (NARROW_REGISTERS / 16)             /* of the loops over rows and columns */

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

/* Past the caches. */
static KERNEL_INLINE void
stream(struct block *block, int i, V v)
{
#ifdef GROUP_STREAM
    narrow_stream(&block->w[NARROW_WORDS * i], v);
#else
    store(block, i, v);
#endif
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
 * What the chains do beside one turn of a loop: as much in every turn, so that the loops stay
 * loops, and in equal shares between its SIMD steps. The points of kernel_group.h aren't used. All
 * are constants but done.
 */
struct beside {
    int parts;
    int chain;
    int done;   /* steps of each part before the turn; even where chain is 12 */
    int steps;  /* of each part in the turn */
    int shares; /* that they are divided into */
};

/* Where there is one part, a third of its steps is beside the rows and the rest beside the columns:
 * the address of the next block shall be known early, and its fetch run beside the chain. */
static KERNEL_INLINE struct beside
beside_rows(int turn, int parts, int chain)
{
    const int both = chain <= 0 ? 0 : 16 * chain / (NARROW_TURNS * parts);
    const int even = chain == 12 ? 2 : 1;
    struct beside rows = {.parts = parts, .chain = chain, .shares = 8};

    rows.steps = both / ((parts == 1 ? 3 : 2) * even) * even;
    rows.done = turn * rows.steps;
    return rows;
}

static KERNEL_INLINE struct beside
beside_columns(int turn, int parts, int chain)
{
    const int both = chain <= 0 ? 0 : 16 * chain / (NARROW_TURNS * parts);
    struct beside columns = {.parts = parts, .chain = chain, .shares = 12};

    columns.done = beside_rows(NARROW_TURNS, parts, chain).done;
    columns.steps = both - columns.done / NARROW_TURNS;
    columns.done += turn * columns.steps;
    return columns;
}

/* The chains' share with this number, from 0, after what has made v. */
static KERNEL_INLINE void
run_share(struct group_local *local, const struct beside *beside, int number, V *v)
{
    const int chain = beside->chain;
    const int every = chain == 12 ? 2 : 1;
    const int from = (chain == 3 ? 80 : 32) - GROUP_VALUES_FROM;
    const int end = beside->steps * (number + 1) / beside->shares;

    if (chain <= 0)
        return;
    KERNEL_UNROLL
    for (int i = beside->steps * number / beside->shares; i < end; i++) {
        KERNEL_UNROLL
        for (int part = 0; part < beside->parts; part++) {
            struct lane_state *state = local->state[part];
            const int first = from + part * 16 * chain / beside->parts / every;
            local->x[part] = GROUP_STEP(local->x[part], &state->sbox);
            if ((i + 1) % every == 0)
                state->values[first + beside->done / every + i / every] = local->x[part];
        }
    }
    KERNEL_PIN(local->x[0], *v);
}

/* Half of a quarter round, number 0 .. 7: x = blamka(x, y), z = (z ^ x) >>> by. */
static KERNEL_INLINE void
half(V x[4], const V y[4], V z[4], int by, struct group_local *local, const struct beside *beside,
     int number)
{
    KERNEL_UNROLL
    for (int i = 0; i < 4; i++) {
        x[i] = blamka(x[i], y[i]);
        z[i] = narrow_rotate(narrow_xor(z[i], x[i]), by);
    }
    run_share(local, beside, number, &x[0]);
}

/* GB, number 0 or 1 of a round. */
static KERNEL_INLINE void
quarters(V a[4], V b[4], V c[4], V d[4], struct group_local *local, const struct beside *beside,
         int number)
{
    half(a, b, d, 32, local, beside, 4 * number);
    half(c, d, b, 24, local, beside, 4 * number + 1);
    half(a, b, d, 16, local, beside, 4 * number + 2);
    half(c, d, b, 63, local, beside, 4 * number + 3);
}

/* Four words of each round, in each half of two registers, to the left by 1, 2 or 3. */
static KERNEL_INLINE void
turn_pairs(V x[4], int by)
{
    KERNEL_UNROLL
    for (int i = 0; i < 4; i += 2) {
        const V x0 = x[i], x1 = x[i + 1];
        x[i] = by == 1 ? narrow_next(x0, x1) : by == 2 ? x1 : narrow_next(x1, x0);
        x[i + 1] = by == 1 ? narrow_next(x1, x0) : by == 2 ? x0 : narrow_next(x0, x1);
    }
}

#define ROUND(turn)                              \
    do {                                         \
        quarters(a, b, c, d, local, &beside, 0); \
        turn(b, 1);                              \
        turn(c, 2);                              \
        turn(d, 3);                              \
        quarters(a, b, c, d, local, &beside, 1); \
        turn(b, 3);                              \
        turn(c, 2);                              \
        turn(d, 1);                              \
    } while (0)

#if NARROW_WORDS == 4
static KERNEL_INLINE void
turn_rows(V x[4], int by)
{
    KERNEL_UNROLL
    for (int i = 0; i < 4; i++)
        x[i] = narrow_turn(x[i], by);
}

#define IN_ROWS(x, i) ((x) + 4 * (i))
#else
#define turn_rows turn_pairs
#define IN_ROWS(x, i) (2 * (x) + (i) % 2 + 8 * ((i) / 2))
#endif

static KERNEL_INLINE void
fetch_own(const struct block *out)
{
    KERNEL_UNROLL
    for (int i = 0; i < GROUP_LINES; i++)
        __builtin_prefetch(&out->w[i * GROUP_LINE], 1);
}

/* What several lanes fetch in a turn of the loops, numbered through both; see group_fetch_far. */
static KERNEL_INLINE void
fetch(const struct group_local *local, int turn, int lanes, int chain)
{
    const int even = GROUP_LINES / (2 * NARROW_TURNS);
    const int late = (GROUP_LINES + NARROW_TURNS - 2) / (NARROW_TURNS - 1);
    const int first = (turn - NARROW_TURNS - 1) * late;

    if (lanes == 2 && turn > NARROW_TURNS)
        group_fetch_far(local, first < GROUP_LINES - late ? first : GROUP_LINES - late, late);
    if (lanes == 4)
        group_fetch_far(local, turn * even, even);
    if (lanes > 1)
        group_fetch_near(local, turn * even, even, chain);
}

/* One turn of the loop over rows, from prev and ref to the scratch block. */
static KERNEL_INLINE void
rows(struct group_local *local, struct block *scratch, const struct block *prev,
     const struct block *ref, int turn, int lanes, int chain)
{
    const struct beside beside = beside_rows(turn, group_parts(lanes, chain), chain);
    V a[4] KERNEL_UNINITIALIZED, b[4] KERNEL_UNINITIALIZED;
    V c[4] KERNEL_UNINITIALIZED, d[4] KERNEL_UNINITIALIZED;

    fetch(local, turn, lanes, chain);
#define AT(x, i) (16 * turn + IN_ROWS(x, i))
    KERNEL_UNROLL
    for (int i = 0; i < 4; i++) {
        a[i] = join(load(prev, AT(0, i)), load(ref, AT(0, i)), chain);
        b[i] = join(load(prev, AT(1, i)), load(ref, AT(1, i)), chain);
        c[i] = join(load(prev, AT(2, i)), load(ref, AT(2, i)), chain);
        d[i] = join(load(prev, AT(3, i)), load(ref, AT(3, i)), chain);
    }
    ROUND(turn_rows);
    KERNEL_UNROLL
    for (int i = 0; i < 4; i++) {
        store(scratch, AT(0, i), a[i]);
        store(scratch, AT(1, i), b[i]);
        store(scratch, AT(2, i), c[i]);
        store(scratch, AT(3, i), d[i]);
    }
#undef AT
}

/* Writes register i of the block, Z with R, as kernel_group.h says of slot. */
static KERNEL_INLINE void
close_register(const struct group_lane *lane, int i, V z, int chain, enum group_mode mode)
{
    const int waits = chain > 0 && i >= NARROW_VALUES;
    V v = join(z, join(load(lane->prev, i), load(lane->ref, i), chain), chain);

    switch (mode) {
    case GROUP_PLAIN:
        store(lane->out, i, v);
        break;
    case GROUP_XOR:
        if (waits)
            store(&lane->state->result, i, v);
        else
            store(lane->out, i, narrow_xor(v, load(lane->out, i)));
        break;
    case GROUP_STREAMED:
        store(lane->copy, i, v);
        if (!waits)
            stream(lane->out, i, v);
        break;
    }
}

/* One turn of the loop over columns, from the scratch block to the end. */
static KERNEL_INLINE void
columns(struct group_local *local, const struct block *scratch, const struct group_lane *lane,
        int turn, int lanes, int chain, enum group_mode mode)
{
    const struct beside beside = beside_columns(turn, group_parts(lanes, chain), chain);
    V a[4] KERNEL_UNINITIALIZED, b[4] KERNEL_UNINITIALIZED;
    V c[4] KERNEL_UNINITIALIZED, d[4] KERNEL_UNINITIALIZED;

    fetch(local, NARROW_TURNS + turn, lanes, chain);
#define AT(x, i) (2 * turn + (i) / 2 + NARROW_ROW * (2 * (x) + (i) % 2))
    KERNEL_UNROLL
    for (int i = 0; i < 4; i++) {
        a[i] = load(scratch, AT(0, i));
        b[i] = load(scratch, AT(1, i));
        c[i] = load(scratch, AT(2, i));
        d[i] = load(scratch, AT(3, i));
    }
    ROUND(turn_pairs);
    KERNEL_UNROLL
    for (int i = 0; i < 4; i++) {
        close_register(lane, AT(0, i), a[i], chain, mode);
        close_register(lane, AT(1, i), b[i], chain, mode);
        close_register(lane, AT(2, i), c[i], chain, mode);
        close_register(lane, AT(3, i), d[i], chain, mode);
        run_share(local, &beside, 8 + i, &a[3]);
    }
#undef AT
}

static KERNEL_INLINE void
slot(struct group *group, unsigned k, int lanes, int chain)
{
    struct group_lane lane = group->lanes[k];
    struct block *scratch = &group->scratch;
    struct group_local chains KERNEL_UNINITIALIZED, *local = &chains;
    const enum group_mode mode = group->mode;
    const struct block *next, *done = mode == GROUP_STREAMED ? lane.copy : lane.out;

    if (mode == GROUP_PLAIN) /* or stores wait in line behind those to memory */
        fetch_own(lane.out);
    group_take(local, group, k, lanes, chain);
    for (int turn = 0; turn < NARROW_TURNS; turn++)
        rows(local, scratch, lane.prev, lane.ref, turn, lanes, chain);

    /* The column with word 0 first: it names the next reference block. */
    columns(local, scratch, &lane, 0, lanes, chain, mode);
    next = group_next(group, local, &lane, done->w[0], lanes);
    for (int turn = 1; turn < NARROW_TURNS; turn++)
        columns(local, scratch, &lane, turn, lanes, chain, mode);

    if (chain > 0) {
        group->lanes[k].last_word = mode == GROUP_XOR ? lane.state->result.w[127] : done->w[127];
        group->lanes[k].old_last = mode == GROUP_XOR ? lane.out->w[127] : 0;
    }
    group_pass_on(local, group, lanes, chain);
    group->lanes[k].prev = done;
    group->lanes[k].out = lane.out + 1;
    group->lanes[k].ref = next;
}

static KERNEL_INLINE void
finish(const struct group_chain *ended, int chain, enum group_mode mode)
{
    const struct lane_state *state = ended->state;
    struct block *out = ended->out, *copy = ended->lane->copy;
    const int values_from = chain == 3 ? NARROW_REGISTERS / 8 * 5 : NARROW_VALUES;
    V v;

    KERNEL_UNROLL
    for (int i = mode == GROUP_PLAIN ? values_from : NARROW_VALUES; i < NARROW_REGISTERS; i++) {
        switch (mode) {
        case GROUP_PLAIN:
            store(out, i, narrow_add(load(out, i), load_values(state, i)));
            break;
        case GROUP_XOR:
            v = load(&state->result, i);
            if (i >= values_from)
                v = narrow_add(v, load_values(state, i));
            store(out, i, narrow_xor(v, load(out, i)));
            break;
        case GROUP_STREAMED:
            v = load(copy, i);
            if (i >= values_from) {
                v = narrow_add(v, load_values(state, i));
                store(copy, i, v);
            }
            stream(out, i, v);
            break;
        }
    }
}

#endif
