/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How much of a fill is left to do, where only its time counts: that of the whole, less one that
 * was spent elsewhere.
 *
 * The fill is the real one, of the whole memory, and is looked at before each of its steps (the
 * slices of all passes). So whatever a hash of this cost takes besides (a slot of the arena,
 * threads, fresh pages) is taken once, as by a real one, and nothing is computed from the time of a
 * smaller hash. Pure functions.
 */
#ifndef LIBCORE_PACE_H
#define LIBCORE_PACE_H

#include <stdint.h>

struct pace {
    uint64_t spent_ns;
    uint64_t start_ns; /* of the first step */
    uint32_t steps;    /* 1 or more */
    uint32_t blocks;   /* of a segment in the step that is next */
};

/**
 * How many of a segment's segment_blocks are to be filled in this step, from 0, at now_ns: all,
 * part of them and then no more, or none. The first step is whole: what it takes isn't known yet.
 */
uint32_t pace_blocks(const struct pace *pace, uint32_t step, uint32_t segment_blocks,
                     uint64_t now_ns);

#endif
