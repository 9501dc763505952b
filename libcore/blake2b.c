/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <string.h>

#include "libcore/blake2b.h"
#include "libcore/bytes.h"
#include "libcore/mhkdf.h"

/* RFC 7693 section 2.6. */
static const uint64_t IV[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* RFC 7693 section 2.7; rounds 10 and 11 use rows 0 and 1 again. */
static const uint8_t SIGMA[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t
rotate_right(uint64_t x, unsigned by)
{
    return x >> by | x << (64 - by);
}

static inline void
mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotate_right(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotate_right(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 63);
}

static void
compress(struct blake2b *state, const uint8_t *block, size_t len, uint64_t last)
{
    uint64_t v[16], m[16];

    state->t[0] += len;
    state->t[1] += state->t[0] < len;
    for (int i = 0; i < 16; i++)
        m[i] = bytes_load64(block + 8 * i);
    for (int i = 0; i < 8; i++) {
        v[i] = state->h[i];
        v[i + 8] = IV[i];
    }
    v[12] ^= state->t[0];
    v[13] ^= state->t[1];
    v[14] ^= last;

    for (int round = 0; round < 12; round++) {
        const uint8_t *s = SIGMA[round % 10];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++)
        state->h[i] ^= v[i] ^ v[i + 8];
    mhkdf_wipe(v, sizeof v);
    mhkdf_wipe(m, sizeof m);
}

void
blake2b_init(struct blake2b *state, size_t out_len)
{
    memset(state, 0, sizeof *state);
    memcpy(state->h, IV, sizeof IV);
    state->h[0] ^= UINT64_C(0x01010000) ^ out_len; /* fanout and depth 1, no key */
    state->out_len = out_len;
}

void
blake2b_update(struct blake2b *state, const void *in, size_t len)
{
    const uint8_t *p = in;

    while (len > 0) {
        size_t n = BLAKE2B_BLOCK - state->buffered;
        if (n == 0) { /* a full buffer waits until it is known not to be the last block */
            compress(state, state->buffer, BLAKE2B_BLOCK, 0);
            state->buffered = 0;
            continue;
        }
        if (n > len)
            n = len;
        memcpy(state->buffer + state->buffered, p, n);
        state->buffered += n;
        p += n;
        len -= n;
    }
}

void
blake2b_update32(struct blake2b *state, uint32_t x)
{
    uint8_t bytes[4];

    bytes_store32(bytes, x);
    blake2b_update(state, bytes, sizeof bytes);
}

void
blake2b_final(struct blake2b *state, uint8_t *out)
{
    uint8_t digest[BLAKE2B_SIZE];

    memset(state->buffer + state->buffered, 0, BLAKE2B_BLOCK - state->buffered);
    compress(state, state->buffer, state->buffered, ~UINT64_C(0));
    for (int i = 0; i < 8; i++)
        bytes_store64(digest + 8 * i, state->h[i]);
    memcpy(out, digest, state->out_len);
    mhkdf_wipe(digest, sizeof digest);
    mhkdf_wipe(state, sizeof *state);
}

void
blake2b_long(uint8_t *out, uint32_t out_len, const void *const in[], const size_t in_len[],
             size_t parts)
{
    struct blake2b state;
    uint8_t v[BLAKE2B_SIZE];

    blake2b_init(&state, out_len < BLAKE2B_SIZE ? out_len : BLAKE2B_SIZE);
    blake2b_update32(&state, out_len);
    for (size_t i = 0; i < parts; i++)
        blake2b_update(&state, in[i], in_len[i]);
    if (out_len <= BLAKE2B_SIZE) {
        blake2b_final(&state, out);
        return;
    }

    /* V_1, V_2, ...: the first 32 bytes of each, until at most 64 are left for the last. */
    blake2b_final(&state, v);
    for (;;) {
        memcpy(out, v, BLAKE2B_SIZE / 2);
        out += BLAKE2B_SIZE / 2;
        out_len -= BLAKE2B_SIZE / 2;
        blake2b_init(&state, out_len < BLAKE2B_SIZE ? out_len : BLAKE2B_SIZE);
        blake2b_update(&state, v, BLAKE2B_SIZE);
        if (out_len <= BLAKE2B_SIZE)
            break;
        blake2b_final(&state, v);
    }
    blake2b_final(&state, out);
    mhkdf_wipe(v, sizeof v);
}
