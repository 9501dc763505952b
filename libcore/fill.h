/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Filling the memory: order, addressing and S-boxes (RFC 9106 section 3.4, SPEC.md section 3).
 *
 * Blocks are lane-major: block j of lane i is memory[i * lane_blocks + j]. A pass has four slices;
 * the segments of a slice, one a lane, may run at the same time, and a slice starts when the one
 * before it has ended in all lanes.
 */
#ifndef LIBCORE_FILL_H
#define LIBCORE_FILL_H

#include <stdint.h>

#include "libcore/block.h"
#include "libcore/compress.h"

struct kernel;

#define FILL_SLICES 4

enum fill_method {
    FILL_MHKDF1,
    FILL_ARGON2D,
    FILL_ARGON2I,
    FILL_ARGON2ID,
    FILL_ARGON2DS /* of 2015, version 0x10; for its published values alone */
};

struct fill {
    enum fill_method method;
    uint32_t passes;
    uint32_t lanes;
    uint32_t chain;
    uint32_t lane_blocks;      /* q of the specification, a multiple of 4 */
    uint32_t segment_blocks;   /* q / 4 */
    struct block *memory;      /* lanes * lane_blocks blocks; the first two of each lane are set */
    struct lane_state *states; /* one a lane where chain > 0 */
    const struct kernel *kernel; /* NULL: the portable code of compress.h */
    int streamed; /* not 0: written past the caches in the first pass, by kernels that can */
};

/** What a lane with a chain has beside its blocks; 64-byte aligned. */
struct lane_state {
    struct sbox sbox;
    uint64_t values[96]; /* of the chain of the block being computed, for a kernel */
    struct block result; /* of a block that waits for its chain, for a kernel */
};

/**
 * Fills the segments of count lanes, from lane on: pass from 0, slice 0 .. 3. Uses about 8 KiB of
 * stack and leaves nothing secret there. Blocks are in the kernel's own order of words.
 */
void fill_segments(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane,
                   uint32_t count);

/** The portable fill of one segment, in plain order; the lane's S-box is set where there is a
 * chain. */
void fill_portable(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane);

/**
 * Argon2ds alone: makes the S-box of states[0], the one of all lanes, from the first block of lane
 * 0. Called at the start of each pass, while no segment is being filled.
 */
void fill_argon2ds_sbox(const struct fill *fill);

#endif
