/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stddef.h>

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

/* GB of RFC 9106 section 3.6. A macro, like P below: the words stay in registers, as many as fit.
 */
#define GB(a, b, c, d)               \
    do {                             \
        a = blamka(a, b);            \
        d = rotate_right(d ^ a, 32); \
        c = blamka(c, d);            \
        b = rotate_right(b ^ c, 24); \
        a = blamka(a, b);            \
        d = rotate_right(d ^ a, 16); \
        c = blamka(c, d);            \
        b = rotate_right(b ^ c, 63); \
    } while (0)

/* P of RFC 9106 section 3.6 on eight pairs of words; pair k is at [k * stride]. */
static inline void
p_round(uint64_t *to, const uint64_t *from, size_t stride)
{
#define LOAD_PAIR(k, x, y) uint64_t x = from[(k)*stride], y = from[(k)*stride + 1]
#define STORE_PAIR(k, x, y)     \
    do {                        \
        to[(k)*stride] = x;     \
        to[(k)*stride + 1] = y; \
    } while (0)
    LOAD_PAIR(0, v0, v1);
    LOAD_PAIR(1, v2, v3);
    LOAD_PAIR(2, v4, v5);
    LOAD_PAIR(3, v6, v7);
    LOAD_PAIR(4, v8, v9);
    LOAD_PAIR(5, v10, v11);
    LOAD_PAIR(6, v12, v13);
    LOAD_PAIR(7, v14, v15);

    GB(v0, v4, v8, v12);
    GB(v1, v5, v9, v13);
    GB(v2, v6, v10, v14);
    GB(v3, v7, v11, v15);
    GB(v0, v5, v10, v15);
    GB(v1, v6, v11, v12);
    GB(v2, v7, v8, v13);
    GB(v3, v4, v9, v14);

    STORE_PAIR(0, v0, v1);
    STORE_PAIR(1, v2, v3);
    STORE_PAIR(2, v4, v5);
    STORE_PAIR(3, v6, v7);
    STORE_PAIR(4, v8, v9);
    STORE_PAIR(5, v10, v11);
    STORE_PAIR(6, v12, v13);
    STORE_PAIR(7, v14, v15);
#undef LOAD_PAIR
#undef STORE_PAIR
}

/* z = r after the 16 P-rounds of a block: 8 over rows, then 8 over columns. */
static void
p_rounds(struct block *z, const struct block *r)
{
    for (size_t row = 0; row < 8; row++)
        p_round(&z->w[16 * row], &r->w[16 * row], 2);
    for (size_t column = 0; column < 8; column++)
        p_round(&z->w[2 * column], &z->w[2 * column], 16);
}

static inline void
add_blocks(struct block *to, const struct block *x, const struct block *y)
{
    for (int i = 0; i < BLOCK_WORDS; i++)
        to->w[i] = x->w[i] + y->w[i];
}

static inline void
xor_blocks(struct block *to, const struct block *x, const struct block *y)
{
    for (int i = 0; i < BLOCK_WORDS; i++)
        to->w[i] = x->w[i] ^ y->w[i];
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

void
compress_argon2(struct block *out, const struct block *prev, const struct block *ref,
                enum compress_write write, struct compress_scratch *scratch)
{
    struct block *r = &scratch->r;
    struct block *z = &scratch->z;
    struct block *result = write == COMPRESS_XOR ? z : out;

    xor_blocks(r, prev, ref);
    p_rounds(z, r);
    xor_blocks(result, z, r);
    if (write == COMPRESS_XOR)
        block_xor(out, result);
}

/* G of SPEC.md section 3, in its order. */
void
compress_mhkdf1(struct block *out, const struct block *prev, const struct block *ref,
                const struct sbox *sbox, uint32_t chain, enum compress_write write,
                struct compress_scratch *scratch)
{
    struct block *r = &scratch->r;
    struct block *z = &scratch->z;
    struct block *result = write == COMPRESS_XOR ? z : out;

    add_blocks(r, prev, ref);
    p_rounds(z, r);
    add_blocks(result, z, r);
    if (chain > 0)
        add_wide_chain(result, r, sbox, chain);
    if (write == COMPRESS_XOR)
        block_xor(out, result);
}

void
compress_argon2ds(struct block *out, const struct block *prev, const struct block *ref,
                  const struct sbox *sbox, struct compress_scratch *scratch)
{
    struct block *r = &scratch->r;
    struct block *z = &scratch->z;
    uint64_t x;

    xor_blocks(r, prev, ref);
    p_rounds(z, r);
    block_xor(z, r);
    x = r->w[0] ^ r->w[127];
    for (int i = 0; i < 96; i++)
        x = chain_step(x, sbox);
    z->w[0] += x;
    z->w[127] += x;
    *out = *z;
}
