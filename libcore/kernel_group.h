/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What all kernels share: how a group of lanes goes through a segment, and the chains beside the
 * SIMD work. Included by each kernel's file, which defines
 *
 *   GROUP_POSITION(w)     where word number w of a block is kept, a constant expression;
 *   GROUP_STEP(x, sbox)   optional: one step of the chain, as an expression;
 *   GROUP_SCRATCH         optional: the group has a scratch block for the slot;
 *   slot()                as declared below.
 *
 * A slot computes one block of one lane. Meanwhile it runs `parts` chains, each in a different part
 * of itself: chain 0 is that of this block, from its start to 1/parts of its steps; chain 1 is that
 * of the block of the slot before, from there on; and so on. After the slot the last of them has
 * ended, and its values are added to its block. So a chain has the time of `parts` slots, and that
 * of one lane hides behind the work of others. A block is complete before its lane's next slot,
 * since a group has at least as many lanes as parts.
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

struct group_lane {
    struct block *out;        /* the block of the next slot */
    const struct block *prev; /* the one before it */
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
    struct group_lane lanes[KERNEL_LANES_MAX];
    struct group_chain chains[GROUP_PARTS_MAX]; /* by the part that they are in */
    struct reference reference;
    uint32_t index;  /* in the segment, of the blocks being computed */
    int independent; /* addresses are data-independent */
    int xor ;        /* later passes: the result is XORed over the old block */
};

/* The chains of a slot, as local variables. */
struct group_local {
    uint64_t x[GROUP_PARTS_MAX];
    struct lane_state *state[GROUP_PARTS_MAX];
};

/*
 * Computes the block of lane k, without its chain, and moves the lane on to its next block. Where
 * there is a chain, words from GROUP_VALUES_FROM are written to out, or, with xor, to
 * state->result; all others to out as they will stay; last_word and old_last are set. parts is 1, 2
 * or 4, chain is GROUP_ARGON2 or c; both constant.
 */
static KERNEL_INLINE void slot(struct group *group, unsigned k, int parts, int chain);

/* Adds the values of a chain that has ended to its block, and completes it. */
static KERNEL_INLINE void finish(struct block *out, const struct lane_state *state, int chain,
                                 int xor);

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
#define GROUP_WEIGHT_ROWS 6
#define GROUP_WEIGHT_FIRST 6
#define GROUP_WEIGHT_REST 12
#define GROUP_WEIGHT_TAIL 6
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

/* What the chains do at a point. All arguments but local are constants. */
static KERNEL_INLINE void
group_point(struct group_local *local, int point, int parts, int chain)
{
    const int total = 16 * chain / parts;
    const int from = point == 0 ? 0 : group_steps_after(point - 1, total, parts);
    const int to = group_steps_after(point, total, parts);

    KERNEL_UNROLL
    for (int i = from; i < to; i++) {
        KERNEL_UNROLL
        for (int part = 0; part < parts; part++)
            local->x[part] =
                group_chain_step(local->x[part], local->state[part], part * total + i, chain);
    }
}

/* In a slot: the next block of the lane, once word 0 of this one is known; starts its fetch. */
static KERNEL_INLINE const struct block *
group_next(const struct group *group, const struct group_lane *lane, uint64_t word0)
{
    uint64_t j = group->independent ? lane->next_j : word0;

    /* Behind the last block of the segment this finds some block of the fill, of no use. */
    return reference_find(&group->reference, lane->number, group->index + 1, j);
}

/* In a slot: takes the chains up; the one of this block starts. */
static KERNEL_INLINE void
group_take(struct group_local *local, struct group *group, struct group_lane *lane, int parts,
           int chain)
{
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
    finish(ended->out, ended->state, chain, group->xor);
}

/* At the end of a slot: the last chain has ended, each other one goes on to its next part. */
static KERNEL_INLINE void
group_pass_on(const struct group_local *local, struct group *group, int parts, int chain)
{
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
group_drain(struct group *group, int parts, int chain)
{
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
          int parts, int chain)
{
    for (; group->index < blocks; group->index++) {
        if (chain == GROUP_ARGON2 && group->independent && group->index + 1 < blocks)
            for (uint32_t k = 0; k < count; k++)
                group->lanes[k].next_j = address_get(&addresses[k], group->index + 1);
        for (uint32_t k = 0; k < count; k++)
            slot(group, k, parts, chain);
    }
    group_drain(group, parts, chain);
}

/* The lanes at the first block that the segment computes. */
static void
group_start(struct group *group, struct address addresses[], const struct fill *fill, uint32_t pass,
            uint32_t slice, uint32_t first_lane, uint32_t count)
{
    memset(group, 0, sizeof *group);
    reference_start(&group->reference, fill, pass, slice);
    group->index = pass == 0 && slice == 0 ? 2 : 0;
    group->independent = address_is_independent(fill, pass, slice);
    group->xor = pass != 0;
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
        if (fill->chain > 0) {
            lane->state = &fill->states[first_lane + k];
            memset(lane->state->values, 0, sizeof lane->state->values);
        }
    }
    for (int part = 0; part < GROUP_PARTS_MAX; part++)
        group->chains[part].state = group->lanes[0].state;
}

/*
 * group_run for each number of parts and each chain, a function of its own: compilers take far
 * longer over all of them in one.
 */
#define GROUP_RUN(name, parts, chain)                                                           \
    static __attribute__((noinline)) void name(struct group *group, struct address addresses[], \
                                               uint32_t count, uint32_t blocks)                 \
    {                                                                                           \
        group_run(group, addresses, count, blocks, parts, chain);                               \
    }
GROUP_RUN(group_run_argon2, 1, GROUP_ARGON2)
GROUP_RUN(group_run_0, 1, 0)
GROUP_RUN(group_run_3_alone, 1, 3)
GROUP_RUN(group_run_6_alone, 1, 6)
GROUP_RUN(group_run_12_alone, 1, 12)
#if GROUP_PARTS_3 >= 2
GROUP_RUN(group_run_3_by_2, 2, 3)
#else
#define group_run_3_by_2 group_run_3_alone
#endif
#if GROUP_PARTS_6 >= 2
GROUP_RUN(group_run_6_by_2, 2, 6)
#else
#define group_run_6_by_2 group_run_6_alone
#endif
#if GROUP_PARTS_12 >= 2
GROUP_RUN(group_run_12_by_2, 2, 12)
#else
#define group_run_12_by_2 group_run_12_alone
#endif
#if GROUP_PARTS_3 >= 4
GROUP_RUN(group_run_3_by_4, 4, 3)
#else
#define group_run_3_by_4 group_run_3_by_2
#endif
#if GROUP_PARTS_6 >= 4
GROUP_RUN(group_run_6_by_4, 4, 6)
#else
#define group_run_6_by_4 group_run_6_by_2
#endif
#if GROUP_PARTS_12 >= 4
GROUP_RUN(group_run_12_by_4, 4, 12)
#else
#define group_run_12_by_4 group_run_12_by_2
#endif

typedef void group_runner(struct group *, struct address[], uint32_t, uint32_t);

/* The chains of a group of more lanes are in more parts. */
static group_runner *
group_choose(const struct fill *fill, uint32_t count)
{
    static group_runner *const chains[3][3] = {
        {group_run_3_alone, group_run_3_by_2, group_run_3_by_4},
        {group_run_6_alone, group_run_6_by_2, group_run_6_by_4},
        {group_run_12_alone, group_run_12_by_2, group_run_12_by_4},
    };
    int parts = count >= 4 ? 2 : count >= 2 ? 1 : 0;

    if (fill->method != FILL_MHKDF1)
        return group_run_argon2;
    switch (fill->chain) {
    case 3:
        return chains[0][parts];
    case 6:
        return chains[1][parts];
    case 12:
        return chains[2][parts];
    default:
        return group_run_0;
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
