/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The unit of memory: 1,024 bytes, 128 words in the machine's own byte order. Bytes of the
 * specification are little-endian; they are converted where blocks come from H' and where the last
 * column goes to it, nowhere else.
 */
#ifndef LIBCORE_BLOCK_H
#define LIBCORE_BLOCK_H

#include <stdint.h>

#include "libcore/bytes.h"

#define BLOCK_WORDS 128
#define BLOCK_SIZE 1024 /* bytes */

struct block {
    _Alignas(64) uint64_t w[BLOCK_WORDS]; /* as vector instructions like it */
};

/** Reads a block from BLOCK_SIZE little-endian bytes. */
static inline void
block_load(struct block *block, const uint8_t *bytes)
{
    for (int i = 0; i < BLOCK_WORDS; i++)
        block->w[i] = bytes_load64(bytes + 8 * i);
}

/** Writes a block as BLOCK_SIZE little-endian bytes. */
static inline void
block_store(uint8_t *bytes, const struct block *block)
{
    for (int i = 0; i < BLOCK_WORDS; i++)
        bytes_store64(bytes + 8 * i, block->w[i]);
}

/** to ^= from, word by word. */
static inline void
block_xor(struct block *to, const struct block *from)
{
    for (int i = 0; i < BLOCK_WORDS; i++)
        to->w[i] ^= from->w[i];
}

#endif
