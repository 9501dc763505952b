/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A kernel in plain C, made of the same templates as the real ones, which can be told to be wrong:
 * so the templates are tested on every machine, and what finds a faulty kernel is too.
 */
#ifndef TESTS_UNIT_PLAIN_KERNEL_H
#define TESTS_UNIT_PLAIN_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "libcore/compress.h"
#include "libcore/kernel.h"
#include "libcore/kernel_inline.h"

/** What is wrong with the kernel. */
enum plain_fault {
    PLAIN_RIGHT,
    PLAIN_ROTATION, /* one rotation in GB */
    PLAIN_CHAIN,    /* the chain's step */
    PLAIN_XOR,      /* later passes, which XOR over the old block */
    PLAIN_FOUR,     /* groups of four lanes */
    PLAIN_ONE,      /* groups of one lane */
    PLAIN_COMPRESS, /* compressions outside of the fill */
    PLAIN_FAULTS
};
static enum plain_fault plain_fault;

/** Whether the kernel says that this machine can run it. */
static int plain_is_supported = 1;

struct plain_pair {
    uint64_t w[2];
};

#define V struct plain_pair
#define NARROW_WORDS 2
#define KERNEL_PIN(x, v) ((void)(v))

static KERNEL_INLINE V
narrow_load(const uint64_t *words)
{
    return (V){{words[0], words[1]}};
}

static KERNEL_INLINE void
narrow_store(uint64_t *words, V v)
{
    words[0] = v.w[0];
    words[1] = v.w[1];
}

static KERNEL_INLINE V
narrow_add(V x, V y)
{
    return (V){{x.w[0] + y.w[0], x.w[1] + y.w[1]}};
}

static KERNEL_INLINE V
narrow_xor(V x, V y)
{
    return (V){{x.w[0] ^ y.w[0], x.w[1] ^ y.w[1]}};
}

static KERNEL_INLINE V
narrow_multiply(V x, V y)
{
    return (V){{(x.w[0] & 0xffffffffU) * (y.w[0] & 0xffffffffU),
                (x.w[1] & 0xffffffffU) * (y.w[1] & 0xffffffffU)}};
}

static KERNEL_INLINE V
narrow_rotate(V v, int by)
{
    if (by == 24 && plain_fault == PLAIN_ROTATION)
        by = 25;
    return (V){{v.w[0] >> by | v.w[0] << (64 - by), v.w[1] >> by | v.w[1] << (64 - by)}};
}

static KERNEL_INLINE V
narrow_next(V v, V w)
{
    return (V){{v.w[1], w.w[0]}};
}

static inline uint64_t
plain_step(uint64_t x, const struct sbox *sbox)
{
    uint64_t hi = x >> 32, lo = x & 0xffffffffU;

    return ((hi * lo + sbox->w[hi % 512]) ^ sbox->w[512 + lo % 512]) + (plain_fault == PLAIN_CHAIN);
}

#define GROUP_STEP(x, sbox) plain_step(x, sbox)

#include "libcore/kernel_narrow.h"

static void
plain_fill(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane, uint32_t count)
{
    struct block *last =
        fill->memory + (size_t)lane * fill->lane_blocks + (slice + 1) * fill->segment_blocks - 1;

    group_fill(fill, pass, slice, lane, count);
    if ((plain_fault == PLAIN_XOR && pass > 0) || (plain_fault == PLAIN_FOUR && count == 4) ||
        (plain_fault == PLAIN_ONE && count == 1))
        last->w[77] ^= 1;
}

static void
plain_compress(struct block *out, const struct block *in, int argon2)
{
    group_compress(out, in, argon2);
    out->w[127] ^= plain_fault == PLAIN_COMPRESS;
}

static int
plain_supported(void)
{
    return plain_is_supported;
}

static const struct kernel plain_kernel = {
    .name = "plain",
    .is_supported = plain_supported,
    .fill = plain_fill,
    .compress = plain_compress,
};

#endif
