/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Which block is the reference of the next one: RFC 9106 section 3.4.2, with all that stays the
 * same in a segment worked out beforehand.
 */
#ifndef LIBCORE_REFERENCE_H
#define LIBCORE_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "libcore/block.h"
#include "libcore/fill.h"

struct reference {
    const struct block *memory;
    uint64_t lanes_inverse; /* 2^64 / lanes, rounded up */
    uint32_t lanes;
    uint32_t lane_blocks;
    uint32_t finished; /* blocks of a lane in segments that have ended, of those to choose from */
    uint32_t start;    /* column where they start */
    uint32_t first;    /* not 0: the very first segment, which refers to its own lane alone */
};

/** Works out what holds for all blocks of the segments of this pass (from 0) and slice (0 .. 3). */
static inline void
reference_start(struct reference *reference, const struct fill *fill, uint32_t pass, uint32_t slice)
{
    reference->memory = fill->memory;
    reference->lanes_inverse =
        UINT64_MAX / fill->lanes + 1; /* 0 for one lane, which is right too */
    reference->lanes = fill->lanes;
    reference->lane_blocks = fill->lane_blocks;
    reference->first = pass == 0 && slice == 0;
    if (pass == 0) {
        reference->finished = slice * fill->segment_blocks;
        reference->start = 0;
    } else {
        reference->finished = fill->lane_blocks - fill->segment_blocks;
        reference->start = slice == FILL_SLICES - 1 ? 0 : (slice + 1) * fill->segment_blocks;
    }
}

/* j2 mod lanes; a division would be in the way of the next block's fetch. */
static inline uint32_t
reference_lane(const struct reference *reference, uint32_t j2)
{
#ifdef __SIZEOF_INT128__
    /* Lemire, Kaser and Kurz 2019, "Faster remainder by direct computation": exact for 32 bits. */
    uint64_t fraction = reference->lanes_inverse * j2;

    return (uint32_t)((unsigned __int128)fraction * reference->lanes >> 64);
#else
    return j2 % reference->lanes;
#endif
}

/** The reference block for block index of a segment (from 0) of a lane, by j = J1 + 2^32 J2. */
static inline const struct block *
reference_find(const struct reference *reference, uint32_t lane, uint32_t index, uint64_t j)
{
    uint32_t from = reference->first ? lane : reference_lane(reference, (uint32_t)(j >> 32));
    uint32_t area = reference->finished;
    uint64_t x = (j & 0xffffffffU) * (j & 0xffffffffU) >> 32;
    uint32_t column;

    if (from == lane)
        area += index - 1;
    else if (index == 0)
        area -= 1;
    column = reference->start + (area - 1 - (uint32_t)(area * x >> 32));
    if (column >= reference->lane_blocks || column < reference->start)
        column -= reference->lane_blocks;
    return reference->memory + (size_t)from * reference->lane_blocks + column;
}

#endif
