/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/compress.h"

/* BlaMka's multiply-add, RFC 9106 section 3.6. */
static inline uint64_t
blamka(uint64_t x, uint64_t y)
{
    return x + y + 2 * (uint64_t)(uint32_t)x * (uint32_t)y;
}

static inline uint64_t
rotate_right(uint64_t x, unsigned by)
{
    return x >> by | x << (64 - by);
}

/* GB of RFC 9106 section 3.6. */
static inline void
quarter(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d)
{
    *a = blamka(*a, *b);
    *d = rotate_right(*d ^ *a, 32);
    *c = blamka(*c, *d);
    *b = rotate_right(*b ^ *c, 24);
    *a = blamka(*a, *b);
    *d = rotate_right(*d ^ *a, 16);
    *c = blamka(*c, *d);
    *b = rotate_right(*b ^ *c, 63);
}

/* P of RFC 9106 section 3.6 on eight pairs of words; pair k is at w[k * stride]. */
static inline void
p_round(uint64_t *w, int stride)
{
    uint64_t v[16];

    for (int k = 0; k < 8; k++) {
        v[2 * k] = w[k * stride];
        v[2 * k + 1] = w[k * stride + 1];
    }
    for (int k = 0; k < 4; k++)
        quarter(&v[k], &v[4 + k], &v[8 + k], &v[12 + k]);
    for (int k = 0; k < 4; k++)
        quarter(&v[k], &v[4 + (k + 1) % 4], &v[8 + (k + 2) % 4], &v[12 + (k + 3) % 4]);
    for (int k = 0; k < 8; k++) {
        w[k * stride] = v[2 * k];
        w[k * stride + 1] = v[2 * k + 1];
    }
}

/* The 16 P-rounds of a block: 8 over rows, then 8 over columns. */
static inline void
p_rounds(struct block *z)
{
    for (int row = 0; row < 8; row++)
        p_round(&z->w[16 * row], 2);
    for (int column = 0; column < 8; column++)
        p_round(&z->w[2 * column], 16);
}

/* One step of the chain, SPEC.md section 3. */
static inline uint64_t
chain_step(uint64_t x, const struct sbox *sbox)
{
    uint64_t hi = x >> 32;
    uint64_t lo = x & 0xffffffffU;

    return (hi * lo + sbox->w[hi % 512]) ^ sbox->w[512 + lo % 512];
}

/* The whole chain of a block, added to the last n words of out, the end of every s-th step. */
static void
add_wide_chain(struct block *out, const struct block *r, const struct sbox *sbox, uint32_t chain)
{
    uint32_t steps = 16 * chain;
    uint32_t n = steps < 96 ? steps : 96;
    uint32_t s = steps / n;
    uint64_t x = r->w[0] ^ r->w[127];

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < s; k++)
            x = chain_step(x, sbox);
        out->w[BLOCK_WORDS - n + i] += x;
    }
}

static inline void
write_block(struct block *out, const struct block *result, enum compress_write write)
{
    if (write == COMPRESS_XOR)
        block_xor(out, result);
    else
        *out = *result;
}

void
compress_argon2(struct block *out, const struct block *prev, const struct block *ref,
                enum compress_write write, struct compress_scratch *scratch)
{
    struct block *r = &scratch->r;
    struct block *z = &scratch->z;

    for (int i = 0; i < BLOCK_WORDS; i++)
        z->w[i] = r->w[i] = prev->w[i] ^ ref->w[i];
    p_rounds(z);
    block_xor(z, r);
    write_block(out, z, write);
}

void
compress_mhkdf1(struct block *out, const struct block *prev, const struct block *ref,
                const struct sbox *sbox, uint32_t chain, enum compress_write write,
                struct compress_scratch *scratch)
{
    struct block *r = &scratch->r;
    struct block *z = &scratch->z;

    for (int i = 0; i < BLOCK_WORDS; i++)
        z->w[i] = r->w[i] = prev->w[i] + ref->w[i];
    p_rounds(z);
    for (int i = 0; i < BLOCK_WORDS; i++)
        z->w[i] += r->w[i];
    if (chain > 0)
        add_wide_chain(z, r, sbox, chain);
    write_block(out, z, write);
}

void
compress_argon2ds(struct block *out, const struct block *prev, const struct block *ref,
                  const struct sbox *sbox, struct compress_scratch *scratch)
{
    struct block *r = &scratch->r;
    struct block *z = &scratch->z;
    uint64_t x;

    for (int i = 0; i < BLOCK_WORDS; i++)
        z->w[i] = r->w[i] = prev->w[i] ^ ref->w[i];
    p_rounds(z);
    block_xor(z, r);
    x = r->w[0] ^ r->w[127];
    for (int i = 0; i < 96; i++)
        x = chain_step(x, sbox);
    z->w[0] += x;
    z->w[127] += x;
    *out = *z;
}
