/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stddef.h>
#include <string.h>

#include "libcore/fill.h"
#include "libcore/mhkdf.h"

/* Where in the fill we are: the block about to be computed. */
struct position {
    uint32_t pass;
    uint32_t slice;
    uint32_t lane;
    uint32_t index; /* in the segment */
};

/* Addresses for data-independent filling, RFC 9106 section 3.4.1.2. */
struct addresses {
    struct block input;
    struct block output;
};

static struct block *
lane_start(const struct fill *fill, uint32_t lane)
{
    return fill->memory + (size_t)lane * fill->lane_blocks;
}

/* Column of the block at the position. */
static uint32_t
column(const struct fill *fill, const struct position *at)
{
    return at->slice * fill->segment_blocks + at->index;
}

/* Column of the block before it in the lane. */
static uint32_t
previous_column(const struct fill *fill, const struct position *at)
{
    uint32_t here = column(fill, at);

    return here == 0 ? fill->lane_blocks - 1 : here - 1;
}

/* Steps 1 to 4 of RFC 9106 section 3.4.2: which column of the reference lane J1 stands for. */
static uint32_t
reference_column(const struct fill *fill, const struct position *at, uint32_t j1, int same_lane)
{
    uint32_t area, start, relative;
    uint64_t x;

    if (at->pass == 0)
        area = at->slice * fill->segment_blocks;
    else
        area = fill->lane_blocks - fill->segment_blocks;
    if (same_lane)
        area += at->index - 1;
    else if (at->index == 0)
        area -= 1;

    x = (uint64_t)j1 * j1 >> 32;
    relative = area - 1 - (uint32_t)(area * x >> 32);

    start =
        at->pass == 0 || at->slice == FILL_SLICES - 1 ? 0 : (at->slice + 1) * fill->segment_blocks;
    return (uint32_t)(((uint64_t)start + relative) % fill->lane_blocks);
}

static const struct block *
reference_block(const struct fill *fill, const struct position *at, uint64_t j)
{
    uint32_t lane = at->lane;

    if (at->pass != 0 || at->slice != 0)
        lane = (uint32_t)(j >> 32) % fill->lanes;
    return lane_start(fill, lane) + reference_column(fill, at, (uint32_t)j, lane == at->lane);
}

static int
is_data_independent(const struct fill *fill, const struct position *at)
{
    return fill->method == FILL_ARGON2I ||
           (fill->method == FILL_ARGON2ID && at->pass == 0 && at->slice < FILL_SLICES / 2);
}

static void
start_addresses(struct addresses *addresses, const struct fill *fill, const struct position *at)
{
    memset(addresses, 0, sizeof *addresses);
    addresses->input.w[0] = at->pass;
    addresses->input.w[1] = at->lane;
    addresses->input.w[2] = at->slice;
    addresses->input.w[3] = (uint64_t)fill->lanes * fill->lane_blocks;
    addresses->input.w[4] = fill->passes;
    addresses->input.w[5] = fill->method == FILL_ARGON2I ? 1 : 2;
}

/* The next 128 pairs J1, J2. */
static void
next_addresses(struct addresses *addresses, struct compress_scratch *scratch)
{
    static const struct block zero;

    addresses->input.w[6]++;
    compress_argon2(&addresses->output, &zero, &addresses->input, COMPRESS_OVERWRITE, scratch);
    compress_argon2(&addresses->output, &zero, &addresses->output, COMPRESS_OVERWRITE, scratch);
}

/* J1 (low half) and J2 for the block at the position, whose predecessor in the lane is prev. */
static uint64_t
next_j(struct addresses *addresses, const struct fill *fill, const struct position *at,
       const struct block *prev, uint32_t first, struct compress_scratch *scratch)
{
    if (!is_data_independent(fill, at))
        return prev->w[0];
    if (at->index % BLOCK_WORDS == 0 || at->index == first)
        next_addresses(addresses, scratch);
    return addresses->output.w[at->index % BLOCK_WORDS];
}

/* SPEC.md section 3, S-box: from the block that precedes the segment's first computed one. */
static void
make_sbox(struct sbox *sbox, const struct block *from, struct compress_scratch *scratch)
{
    static const struct block zero;
    struct block s = *from;

    for (int k = 0; k < SBOX_WORDS / BLOCK_WORDS; k++) {
        compress_mhkdf1(&s, &zero, &s, NULL, 0, COMPRESS_OVERWRITE, scratch);
        compress_mhkdf1(&s, &zero, &s, NULL, 0, COMPRESS_OVERWRITE, scratch);
        memcpy(&sbox->w[k * BLOCK_WORDS], s.w, sizeof s.w);
    }
    mhkdf_wipe(&s, sizeof s);
}

static void
fill_block(const struct fill *fill, const struct position *at, const struct block *prev, uint64_t j,
           struct compress_scratch *scratch)
{
    struct block *out = lane_start(fill, at->lane) + column(fill, at);
    const struct block *ref = reference_block(fill, at, j);
    enum compress_write write = at->pass == 0 ? COMPRESS_OVERWRITE : COMPRESS_XOR;

    switch (fill->method) {
    case FILL_MHKDF1:
        compress_mhkdf1(out, prev, ref, fill->chain == 0 ? NULL : &fill->sboxes[at->lane],
                        fill->chain, write, scratch);
        break;
    case FILL_ARGON2DS:
        compress_argon2ds(out, prev, ref, &fill->sboxes[0], scratch);
        break;
    case FILL_ARGON2D:
    case FILL_ARGON2I:
    case FILL_ARGON2ID:
        compress_argon2(out, prev, ref, write, scratch);
        break;
    }
}

void
fill_segment(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane)
{
    struct compress_scratch scratch;
    struct addresses addresses;
    struct position at = {.pass = pass, .slice = slice, .lane = lane};
    uint32_t first = pass == 0 && slice == 0 ? 2 : 0;
    const struct block *prev;

    at.index = first;
    prev = lane_start(fill, lane) + previous_column(fill, &at);
    if (fill->method == FILL_MHKDF1 && fill->chain > 0)
        make_sbox(&fill->sboxes[lane], prev, &scratch);
    start_addresses(&addresses, fill, &at);

    for (; at.index < fill->segment_blocks; at.index++) {
        uint64_t j = next_j(&addresses, fill, &at, prev, first, &scratch);
        fill_block(fill, &at, prev, j, &scratch);
        prev = lane_start(fill, lane) + column(fill, &at);
    }
    mhkdf_wipe(&scratch, sizeof scratch);
    mhkdf_wipe(&addresses, sizeof addresses);
}

void
fill_argon2ds_sbox(const struct fill *fill)
{
    static const struct block zero;
    struct compress_scratch scratch;
    struct block s = fill->memory[0];

    for (int k = 0; k < SBOX_WORDS / BLOCK_WORDS; k++) {
        compress_argon2(&s, &zero, &s, COMPRESS_OVERWRITE, &scratch);
        compress_argon2(&s, &zero, &s, COMPRESS_OVERWRITE, &scratch);
        memcpy(&fill->sboxes[0].w[k * BLOCK_WORDS], s.w, sizeof s.w);
    }
    mhkdf_wipe(&s, sizeof s);
    mhkdf_wipe(&scratch, sizeof scratch);
}
