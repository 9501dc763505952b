/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Little-endian bytes to words and back, whatever the machine's own order and alignment rules.
 */
#ifndef LIBCORE_BYTES_H
#define LIBCORE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint64_t
bytes_load64(const uint8_t *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

static inline void
bytes_store64(uint8_t *p, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(p, &x, sizeof x);
}

static inline void
bytes_store32(uint8_t *p, uint32_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap32(x);
#endif
    memcpy(p, &x, sizeof x);
}

#endif
