/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>

#include "libcore/base64.h"

/* All ones where low <= c <= high, else zero. The values are below 256. */
static uint32_t
in_range(uint32_t c, uint32_t low, uint32_t high)
{
    return (((c - low) | (high - c)) >> 8 & 1) - 1;
}

/* Digit (0 .. 63) to its character, without a table. */
static char
encode_digit(uint32_t d, uint32_t digit62)
{
    uint32_t c = (in_range(d, 0, 25) & (d + 'A')) | (in_range(d, 26, 51) & (d - 26 + 'a')) |
                 (in_range(d, 52, 61) & (d - 52 + '0')) | (in_range(d, 62, 62) & digit62) |
                 (in_range(d, 63, 63) & '/');

    return (char)c;
}

/* Character to its digit; 64 or more for a character that is none. */
static uint32_t
decode_digit(char character, uint32_t digit62)
{
    uint32_t c = (unsigned char)character;
    uint32_t d1 = (in_range(c, 'A', 'Z') & (c - 'A' + 1)) |
                  (in_range(c, 'a', 'z') & (c - 'a' + 27)) |
                  (in_range(c, '0', '9') & (c - '0' + 53)) | (in_range(c, digit62, digit62) & 63) |
                  (in_range(c, '/', '/') & 64);

    return d1 - 1; /* 0xffffffff for none */
}

size_t
base64_span(const char *text, char alphabet)
{
    size_t len = 0;

    while (decode_digit(text[len], (unsigned char)alphabet) < 64)
        len++;
    return len;
}

char *
base64_encode(char *out, const uint8_t *bytes, size_t len, char alphabet)
{
    const uint32_t digit62 = (unsigned char)alphabet;
    uint32_t bits = 0;
    unsigned count = 0;

    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | bytes[i];
        for (count += 8; count >= 6; count -= 6)
            *out++ = encode_digit(bits >> (count - 6) & 63, digit62);
    }
    if (count > 0)
        *out++ = encode_digit(bits << (6 - count) & 63, digit62);
    return out;
}

int
base64_decode(const char *text, size_t text_len, uint8_t *out, size_t out_size, size_t *len,
              char alphabet)
{
    size_t bytes_len = text_len / 4 * 3 + (text_len % 4 * 3) / 4;
    size_t at = 0;
    uint32_t bits = 0;
    uint32_t bad = 0;
    unsigned count = 0;

    for (size_t i = 0; i < text_len; i++) {
        uint32_t digit = decode_digit(text[i], (unsigned char)alphabet);
        bad |= digit & ~(uint32_t)63;
        bits = bits << 6 | (digit & 63);
        count += 6;
        if (count >= 8) {
            count -= 8;
            if (at < out_size)
                out[at++] = (uint8_t)(bits >> count);
        }
    }
    if (bad != 0 || text_len % 4 == 1 || (bits & ((1U << count) - 1)) != 0)
        return EINVAL;
    if (bytes_len > out_size)
        return ERANGE;
    *len = bytes_len;
    return 0;
}
