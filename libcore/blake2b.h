/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * BLAKE2b (RFC 7693) without a key, and the variable-length hash H' of RFC 9106 section 3.3 on top.
 */
#ifndef LIBCORE_BLAKE2B_H
#define LIBCORE_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_SIZE 64 /* bytes, the longest digest */
#define BLAKE2B_BLOCK 128

struct blake2b {
    uint64_t h[8];
    uint64_t t[2]; /* bytes compressed so far, low word first */
    uint8_t buffer[BLAKE2B_BLOCK];
    size_t buffered; /* bytes */
    size_t out_len;  /* bytes */
};

/** Starts a digest of out_len bytes, 1 .. 64. */
void blake2b_init(struct blake2b *state, size_t out_len);

/** Takes len bytes in. in may be NULL where len is 0. */
void blake2b_update(struct blake2b *state, const void *in, size_t len);

/** Takes the four bytes LE32(x) in. */
void blake2b_update32(struct blake2b *state, uint32_t x);

/** Writes the out_len bytes of the digest and wipes the state. */
void blake2b_final(struct blake2b *state, uint8_t *out);

/**
 * H'^out_len( A || B ) of RFC 9106 section 3.3, for out_len bytes, 1 .. 2^32 - 1. in holds the
 * parts and in_len their bytes, parts of them.
 */
void blake2b_long(uint8_t *out, uint32_t out_len, const void *const in[], const size_t in_len[],
                  size_t parts);

#endif
