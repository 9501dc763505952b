/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What all kernels share: how a group of lanes goes through a segment, and the chains beside the
 * SIMD work. Included by each kernel's file, which defines
 *
 *   GROUP_POSITION(w)     where word number w of a block is kept, a constant expression;
 *   GROUP_STEP(x, sbox)   optional: one step of the chain, as an expression;
 *   GROUP_SCRATCH         optional: the group has a scratch block for the slot;
 *   GROUP_STREAM          optional: the kernel can write past the caches, and this, a statement,
 *                         completes such writes;
 *   slot()                as declared below.
 *
 * A slot computes one block of one lane. Meanwhile it runs `parts` chains, each in a different part
 * of itself: chain 0 is that of this block, from its start to 1/parts of its steps; chain 1 is that
 * of the block of the slot before, from there on; and so on. After the slot the last of them has
 * ended, and its values are added to its block. So a chain has the time of `parts` slots, and that
 * of one lane hides behind the work of others. A block is complete before its lane's next slot,
 * since a group has at least as many lanes as parts.
 *
 * Reference blocks come from memory. A lane alone fetches the next one as soon as it is known, to
 * the nearest cache, and waits for it. With several lanes another lane's slot comes first; the
 * fetch goes line by line in even time, since processors that have too many lines on their way drop
 * further ones, and to the second cache, which has more room for misses than the first.
 *
 * Where there is more memory than caches, and nothing to be XORed over, blocks are written past the
 * caches: they would be fetched before they are overwritten. What the lane's next slot needs of
 * them is in a copy.
 */
#ifndef LIBCORE_KERNEL_GROUP_H
#define LIBCORE_KERNEL_GROUP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libcore/address.h"
#include "libcore/block.h"
#include "libcore/fill.h"
#include "libcore/kernel.h"
#include "libcore/kernel_inline.h"
#include "libcore/mhkdf.h"
#include "libcore/reference.h"

#define GROUP_ARGON2 (-1) /* instead of a chain: XOR feedback of RFC 9106 */
/* The most parts of a chain, with each c, that a kernel makes use of: 1, 2 or 4. */
#ifndef GROUP_PARTS_12
#define GROUP_PARTS_3 4
#define GROUP_PARTS_6 4
#define GROUP_PARTS_12 4
#endif
#define GROUP_PARTS_MAX GROUP_PARTS_12
#define GROUP_VALUES_FROM 32 /* the first word that a chain is added to */

enum group_mode {
    GROUP_PLAIN,
    GROUP_XOR,     /* later passes: over the old block */
    GROUP_STREAMED /* past the caches */
};

struct group_lane {
    struct block *out;        /* the block of the next slot */
    struct block *copy;       /* GROUP_STREAMED: where that is kept in the cache; else NULL */
    const struct block *prev; /* the one before it, or the copy of that */
    const struct block *ref;  /* its reference, already on its way to the cache */
    struct lane_state *state;
    uint64_t next_j;    /* J of the block after out, where it is data-independent */
    uint64_t last_word; /* word 127 of prev; before the chain has ended, of what is added to it */
    uint64_t old_last;  /* word 127 of the block that prev was XORed over, or 0 */
    uint32_t number;    /* of the lane */
};

/* A chain on its way. */
struct group_chain {
    uint64_t x;
    struct lane_state *state;
    struct group_lane *lane;
    struct block *out; /* the block that waits for it; NULL: none, it runs for nothing */
};

struct group {
#ifdef GROUP_SCRATCH
    struct block scratch; /* where the registers don't hold a block */
#endif
#ifdef GROUP_STREAM
    struct block copies[KERNEL_LANES_MAX];
#endif
    struct group_lane lanes[KERNEL_LANES_MAX];
    struct group_chain chains[GROUP_PARTS_MAX]; /* by the part that they are in */
    struct reference reference;
    const struct block *far; /* the reference that was found last, to be fetched */
    uint32_t count;          /* of lanes */
    uint32_t index;          /* in the segment, of the blocks being computed */
    int independent;         /* addresses are data-independent */
    enum group_mode mode;
};

/* The chains of a slot, and what it fetches, as local variables. */
struct group_local {
    uint64_t x[GROUP_PARTS_MAX];
    struct lane_state *state[GROUP_PARTS_MAX];
    const struct block *far;  /* to the second cache */
    const struct block *near; /* from there to the first: the next slot's */
};

/*
 * Computes the block of lane k, without its chain, and moves the lane on to its next block. Where
 * there is a chain, words from GROUP_VALUES_FROM are written to out, or, with GROUP_XOR, to
 * state->result, or, with GROUP_STREAMED, to the copy; all others to out as they will stay, and to
 * the copy; last_word and old_last are set. parts is 1, 2 or 4, and 1 for a lane alone; chain is
 * GROUP_ARGON2 or c; both constant.
 */
static KERNEL_INLINE void slot(struct group *group, unsigned k, int lanes, int chain);

/* Adds the values of a chain that has ended to its block, and completes it. */
static KERNEL_INLINE void finish(const struct group_chain *ended, int chain, enum group_mode mode);

#ifndef GROUP_STEP
#define GROUP_STEP(value, box) group_step(value, box)
static KERNEL_INLINE uint64_t
group_step(uint64_t x, const struct sbox *sbox)
{
    uint64_t hi = x >> 32;
    uint64_t lo = (uint32_t)x;

    return (hi * lo + sbox->w[hi & 511]) ^ sbox->w[512 + (lo & 511)];
}
#endif

/* Step number i of a chain, from 0, and its value put where it will be added (SPEC.md section 3).
 */
static KERNEL_INLINE uint64_t
group_chain_step(uint64_t x, struct lane_state *state, int i, int chain)
{
    const int n = 16 * chain < 96 ? 16 * chain : 96;
    const int every = 16 * chain / n;

    x = GROUP_STEP(x, &state->sbox);
    if ((i + 1) % every == 0)
        state->values[GROUP_POSITION(BLOCK_WORDS - n + (i + 1) / every - 1) - GROUP_VALUES_FROM] =
            x;
    return x;
}

/*
 * The SIMD work of a block has 64 points, at which it passes to the chains: 32 in the rounds over
 * rows, 8 in those over the columns of word 0, 24 in the others; and GROUP_TAIL_POINTS more where
 * the kernel writes the block at the end. With one lane the address of the next block shall be
 * known early, and its fetch run beside the rest of the chain: so fewer steps before, more behind.
 * With several lanes there is time: evenly.
 */
#ifndef GROUP_TAIL_POINTS
#define GROUP_TAIL_POINTS 0
#endif
#ifndef GROUP_WEIGHT_ROWS
#define GROUP_WEIGHT_ROWS 3
#define GROUP_WEIGHT_FIRST 3
#define GROUP_WEIGHT_REST 14
#define GROUP_WEIGHT_TAIL 8
#endif

/* Steps of total that have been done after this point. */
static KERNEL_INLINE int
group_steps_after(int point, int total, int parts)
{
    const int rows = parts > 1 ? 1 : GROUP_WEIGHT_ROWS;
    const int first = parts > 1 ? 1 : GROUP_WEIGHT_FIRST;
    const int rest = parts > 1 ? 1 : GROUP_WEIGHT_REST;
    const int tail = parts > 1 ? 1 : GROUP_WEIGHT_TAIL;
    const int sum = 32 * rows + 8 * first + 24 * rest + GROUP_TAIL_POINTS * tail;
    int done = point + 1;
    int weight = rows * (done < 32 ? done : 32);

    if (done > 32)
        weight += first * (done < 40 ? done - 32 : 8);
    if (done > 40)
        weight += rest * (done < 64 ? done - 40 : 24);
    if (done > 64)
        weight += tail * (done - 64);
    return total * weight / sum;
}

/* Into how many parts a chain is cut: no more than there are lanes. */
static KERNEL_INLINE int
group_parts(int lanes, int chain)
{
    const int most = chain <= 0   ? 1
                     : chain == 3 ? GROUP_PARTS_3
                     : chain == 6 ? GROUP_PARTS_6
                                  : GROUP_PARTS_12;

    return lanes < most ? lanes : most;
}

#define GROUP_LINE 8 /* words that a cache fetches at once */
#define GROUP_LINES (BLOCK_WORDS / GROUP_LINE)

/*
 * Fetches count lines of the reference that was found last, from line number first on. Two lanes
 * have little time: the slot that finds it does so in what is left of it. With four, the next slot
 * does, all the time.
 */
static KERNEL_INLINE void
group_fetch_far(const struct group_local *local, int first, int count)
{
    KERNEL_UNROLL
    for (int i = 0; i < count; i++)
        __builtin_prefetch(&local->far->w[(first + i) * GROUP_LINE], 0, 2);
}

/* The same of the next slot's reference, from the second cache to the first; where there is a
 * chain, S-boxes and what the slot works on fill that. */
static KERNEL_INLINE void
group_fetch_near(const struct group_local *local, int first, int count, int chain)
{
    if (chain > 0)
        return;
    KERNEL_UNROLL
    for (int i = 0; i < count; i++)
        __builtin_prefetch(&local->near->w[(first + i) * GROUP_LINE]);
}

/* What the chains do at a point, and the fetching. All arguments but local are constants. */
static KERNEL_INLINE void
group_point(struct group_local *local, int point, int lanes, int chain)
{
    const int parts = group_parts(lanes, chain);
    const int total = chain <= 0 ? 0 : 16 * chain / parts;
    const int from = point == 0 ? 0 : group_steps_after(point - 1, total, parts);
    const int to = group_steps_after(point, total, parts);

    if (lanes == 2 && point >= 40 && point < 64)
        group_fetch_far(local, (point - 40) * 2 / 3, (point - 39) * 2 / 3 - (point - 40) * 2 / 3);
    if (lanes == 4 && point < 64 && point % 4 == 0)
        group_fetch_far(local, point / 4, 1);
    if (lanes > 1 && point < 64 && point % 4 == 0)
        group_fetch_near(local, point / 4, 1, chain);
    KERNEL_UNROLL
    for (int i = from; i < to; i++) {
        KERNEL_UNROLL
        for (int part = 0; part < parts; part++)
            local->x[part] =
                group_chain_step(local->x[part], local->state[part], part * total + i, chain);
    }
}

/* In a slot: the next reference of the lane, once word 0 of this block is known. */
static KERNEL_INLINE const struct block *
group_next(struct group *group, struct group_local *local, const struct group_lane *lane,
           uint64_t word0, int lanes)
{
    uint64_t j = group->independent ? lane->next_j : word0;
    const struct block *next;

    /* Behind the last block of the segment this finds some block of the fill, of no use. */
    next = reference_find(&group->reference, lane->number, group->index + 1, j);
    group->far = next;
    if (lanes == 2)
        local->far = next;
    if (lanes == 1) {
        KERNEL_UNROLL
        for (int w = 0; w < BLOCK_WORDS; w += GROUP_LINE)
            __builtin_prefetch(&next->w[w]);
    }
    return next;
}

/* In a slot: takes the chains up; the one of this block starts. */
static KERNEL_INLINE void
group_take(struct group_local *local, struct group *group, unsigned k, int lanes, int chain)
{
    struct group_lane *lane = &group->lanes[k];
    const int parts = group_parts(lanes, chain);

    if (lanes > 1) {
        local->far = group->far;
        local->near = group->lanes[k + 1 < group->count ? k + 1 : 0].ref;
    }
    if (chain <= 0)
        return;
    /* The last word from a register: what was just added in memory would have to be waited for. */
    group->chains[0].x =
        (lane->prev->w[0] + lane->ref->w[0]) ^ (lane->last_word + lane->ref->w[127]);
    group->chains[0].lane = lane;
    group->chains[0].state = lane->state;
    group->chains[0].out = lane->out;
    for (int part = 0; part < parts; part++) {
        local->x[part] = group->chains[part].x;
        local->state[part] = group->chains[part].state;
    }
}

static KERNEL_INLINE void
group_end_chain(const struct group *group, const struct group_chain *ended, uint64_t x, int chain)
{
    struct group_lane *lane = ended->lane;

    lane->last_word = (lane->last_word + x) ^ lane->old_last;
    finish(ended, chain, group->mode);
}

/* At the end of a slot: the last chain has ended, each other one goes on to its next part. */
static KERNEL_INLINE void
group_pass_on(const struct group_local *local, struct group *group, int lanes, int chain)
{
    const int parts = group_parts(lanes, chain);
    struct group_chain *ended = &group->chains[parts - 1];

    if (chain <= 0)
        return;
    if (ended->out != NULL)
        group_end_chain(group, ended, local->x[parts - 1], chain);
    for (int part = parts - 1; part > 0; part--) {
        group->chains[part] = group->chains[part - 1];
        group->chains[part].x = local->x[part - 1];
    }
}

/* After the last slot: what is left of the chains, with nothing beside it. */
static KERNEL_INLINE void
group_drain(struct group *group, int lanes, int chain)
{
    const int parts = group_parts(lanes, chain);

    if (chain <= 0)
        return;
    for (int part = parts - 1; part > 0; part--) {
        struct group_chain *c = &group->chains[part];
        if (c->out == NULL)
            continue;
        for (int i = part * (16 * chain / parts); i < 16 * chain; i++)
            c->x = group_chain_step(c->x, c->state, i, chain);
        group_end_chain(group, c, c->x, chain);
    }
}

static KERNEL_INLINE void
group_run(struct group *group, struct address addresses[], uint32_t count, uint32_t blocks,
          int lanes, int chain)
{
    for (; group->index < blocks; group->index++) {
        if (chain == GROUP_ARGON2 && group->independent && group->index + 1 < blocks)
            for (uint32_t k = 0; k < count; k++)
                group->lanes[k].next_j = address_get(&addresses[k], group->index + 1);
        for (uint32_t k = 0; k < count; k++)
            slot(group, k, lanes, chain);
    }
    group_drain(group, lanes, chain);
}

/* The lanes at the first block that the segment computes. */
static void
group_start(struct group *group, struct address addresses[], const struct fill *fill, uint32_t pass,
            uint32_t slice, uint32_t first_lane, uint32_t count)
{
    memset(group, 0, sizeof *group);
    reference_start(&group->reference, fill, pass, slice);
    group->count = count;
    group->index = pass == 0 && slice == 0 ? 2 : 0;
    group->independent = address_is_independent(fill, pass, slice);
    if (pass != 0)
        group->mode = GROUP_XOR;
#ifdef GROUP_STREAM
    else if (fill->streamed && count > 1) /* one alone would wait for the copy, too */
        group->mode = GROUP_STREAMED;
#endif
    for (uint32_t k = 0; k < count; k++) {
        struct group_lane *lane = &group->lanes[k];
        struct block *start = fill->memory + (size_t)(first_lane + k) * fill->lane_blocks;
        uint32_t column = slice * fill->segment_blocks + group->index;
        uint64_t j;
        lane->number = first_lane + k;
        lane->out = start + column;
        lane->prev = start + (column == 0 ? fill->lane_blocks : column) - 1;
        lane->last_word = lane->prev->w[127];
        if (group->independent)
            address_start(&addresses[k], fill, pass, slice, first_lane + k);
        j = group->independent ? address_get(&addresses[k], group->index) : lane->prev->w[0];
        lane->ref = reference_find(&group->reference, lane->number, group->index, j);
        group->far = lane->ref;
#ifdef GROUP_STREAM
        if (group->mode == GROUP_STREAMED) {
            lane->copy = &group->copies[k];
            *lane->copy = *lane->prev;
            lane->prev = lane->copy;
        }
#endif
        if (fill->chain > 0) {
            lane->state = &fill->states[first_lane + k];
            memset(lane->state->values, 0, sizeof lane->state->values);
        }
    }
    for (int part = 0; part < GROUP_PARTS_MAX; part++)
        group->chains[part].state = group->lanes[0].state;
}

/*
 * group_run for each number of lanes and each chain, a function of its own: compilers take far
 * longer over all of them in one.
 */
#define GROUP_RUN(name, lanes, chain)                                                           \
    static __attribute__((noinline)) void name(struct group *group, struct address addresses[], \
                                               uint32_t count, uint32_t blocks)                 \
    {                                                                                           \
        group_run(group, addresses, count, blocks, lanes, chain);                               \
    }
#define GROUP_RUNS(name, chain)   \
    GROUP_RUN(name##_1, 1, chain) \
    GROUP_RUN(name##_2, 2, chain) \
    GROUP_RUN(name##_4, 4, chain)
GROUP_RUNS(group_run_argon2, GROUP_ARGON2)
GROUP_RUNS(group_run_0, 0)
GROUP_RUNS(group_run_3, 3)
GROUP_RUNS(group_run_6, 6)
GROUP_RUNS(group_run_12, 12)

typedef void group_runner(struct group *, struct address[], uint32_t, uint32_t);

static group_runner *
group_choose(const struct fill *fill, uint32_t count)
{
    static group_runner *const runners[5][3] = {
        {group_run_argon2_1, group_run_argon2_2, group_run_argon2_4},
        {group_run_0_1, group_run_0_2, group_run_0_4},
        {group_run_3_1, group_run_3_2, group_run_3_4},
        {group_run_6_1, group_run_6_2, group_run_6_4},
        {group_run_12_1, group_run_12_2, group_run_12_4},
    };
    int lanes = count >= 4 ? 2 : count >= 2 ? 1 : 0;

    if (fill->method != FILL_MHKDF1)
        return runners[0][lanes];
    switch (fill->chain) {
    case 3:
        return runners[2][lanes];
    case 6:
        return runners[3][lanes];
    case 12:
        return runners[4][lanes];
    default:
        return runners[1][lanes];
    }
}

/* kernel.h's fill. */
static void
group_fill(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t first_lane,
           uint32_t count)
{
    struct group group;
    struct address addresses[KERNEL_LANES_MAX];

    group_start(&group, addresses, fill, pass, slice, first_lane, count);
    group_choose(fill, count)(&group, addresses, count, fill->segment_blocks);
#ifdef GROUP_STREAM
    if (group.mode == GROUP_STREAMED)
        GROUP_STREAM; /* before other threads are told */
#endif
    mhkdf_wipe(&group, sizeof group);
}

/* kernel.h's compress: a slot of a fill of one block. */
static void
group_compress(struct block *out, const struct block *in, int argon2)
{
    static const struct block zero;
    struct group group;

    memset(&group, 0, sizeof group);
    group.reference.memory = in;
    group.reference.lanes = 1;
    group.reference.lane_blocks = 1;
    group.reference.finished = 1;
    group.lanes[0].out = out;
    group.lanes[0].prev = &zero;
    group.lanes[0].ref = in;
    if (argon2)
        slot(&group, 0, 1, GROUP_ARGON2);
    else
        slot(&group, 0, 1, 0);
    mhkdf_wipe(&group, sizeof group);
}

/* f(0), f(1), ... f(127). */
#define GROUP_POSITIONS_8(f, w) \
    f((w)), f((w) + 1), f((w) + 2), f((w) + 3), f((w) + 4), f((w) + 5), f((w) + 6), f((w) + 7)
#define GROUP_POSITIONS_32(f, w)                                                            \
    GROUP_POSITIONS_8(f, w), GROUP_POSITIONS_8(f, (w) + 8), GROUP_POSITIONS_8(f, (w) + 16), \
        GROUP_POSITIONS_8(f, (w) + 24)
#define GROUP_POSITIONS(f)                                                          \
    GROUP_POSITIONS_32(f, 0), GROUP_POSITIONS_32(f, 32), GROUP_POSITIONS_32(f, 64), \
        GROUP_POSITIONS_32(f, 96)

#endif
