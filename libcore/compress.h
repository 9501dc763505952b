/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The compression functions, on blocks in the machine's own byte order: G of RFC 9106 section 3.5,
 * and what SPEC.md section 3 makes of it. This is the portable code, and the reference for any
 * other.
 */
#ifndef LIBCORE_COMPRESS_H
#define LIBCORE_COMPRESS_H

#include <stdint.h>

#include "libcore/block.h"

/** S-box of a lane: 1,024 words, 8 KiB. */
#define SBOX_WORDS 1024

struct sbox {
    uint64_t w[SBOX_WORDS];
};

/** Room for what a compression keeps aside. It holds secrets afterwards: the caller wipes it. */
struct compress_scratch {
    struct block r;
    struct block z;
};

/** What becomes of the old content of the block that is written. */
enum compress_write {
    COMPRESS_OVERWRITE,
    COMPRESS_XOR /* later passes of version 0x13 and mhkdf1 */
};

/**
 * RFC 9106: out = G(prev, ref), with XOR feedback. out may be prev or ref with COMPRESS_OVERWRITE.
 */
void compress_argon2(struct block *out, const struct block *prev, const struct block *ref,
                     enum compress_write write, struct compress_scratch *scratch);

/**
 * mhkdf1: out = G(prev, ref, sbox, chain), with feedback by addition and the wide chain. sbox may
 * be NULL where chain is 0. out may be prev or ref with COMPRESS_OVERWRITE.
 */
void compress_mhkdf1(struct block *out, const struct block *prev, const struct block *ref,
                     const struct sbox *sbox, uint32_t chain, enum compress_write write,
                     struct compress_scratch *scratch);

/**
 * Argon2ds of 2015, kept because it has published values for the chain: XOR feedback, and the last
 * of the 96 values of the chain added to words 0 and 127. Always overwrites.
 */
void compress_argon2ds(struct block *out, const struct block *prev, const struct block *ref,
                       const struct sbox *sbox, struct compress_scratch *scratch);

#endif
