/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Base64 of SPEC.md section 4: standard alphabet, no padding, canonical. Both ways take a time that
 * depends on lengths alone, since tags pass through them.
 */
#ifndef LIBCORE_BASE64_H
#define LIBCORE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/** Characters, without a NUL, that len bytes become. len is at most SIZE_MAX / 4. */
static inline size_t
base64_length(size_t len)
{
    return (len * 4 + 2) / 3;
}

/** Writes the base64_length(len) characters of len bytes to out, without a NUL; returns their end.
 */
char *base64_encode(char *out, const uint8_t *bytes, size_t len);

/** Whether c is of the alphabet: 1 or 0. */
int base64_is_digit(char c);

/**
 * Decodes text_len characters to out, of out_size bytes, and sets *len to the number of bytes.
 *
 * EINVAL: a foreign character, a length that no bytes have, or unused bits that are not zero.
 * ERANGE: canonical, but more than out_size bytes. out may hold part of the bytes on failure.
 */
int base64_decode(const char *text, size_t text_len, uint8_t *out, size_t out_size, size_t *len);

#endif
