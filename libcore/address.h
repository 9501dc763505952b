/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Data-independent addresses: the pairs J1, J2 of Argon2i and of the first half pass of Argon2id
 * (RFC 9106 section 3.4.1.2).
 */
#ifndef LIBCORE_ADDRESS_H
#define LIBCORE_ADDRESS_H

#include <stdint.h>

#include "libcore/fill.h"

/** The addresses of one segment of one lane, a block of 128 at a time. Nothing in it is secret. */
struct address {
    const struct fill *fill;
    uint32_t pass;
    uint32_t slice;
    uint32_t lane;
    uint32_t made; /* number of the block in output, from 1; 0: none yet */
    struct block output;
};

/** Whether the segments of this pass and slice take their addresses from here: 1 or 0. */
int address_is_independent(const struct fill *fill, uint32_t pass, uint32_t slice);

/** Starts the addresses of a segment. */
void address_start(struct address *address, const struct fill *fill, uint32_t pass, uint32_t slice,
                   uint32_t lane);

/** J1 + 2^32 J2 for block index of the segment. */
uint64_t address_get(struct address *address, uint32_t index);

#endif
