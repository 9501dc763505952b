/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * B64 of SPEC.md section 4: base64 without padding, canonical. Both ways take a time that depends
 * on lengths alone, since tags pass through them.
 *
 * The alphabet is named by its digit 62, the only one that differs; digit 63 is `/` in both.
 */
#ifndef LIBCORE_BASE64_H
#define LIBCORE_BASE64_H

#include <stddef.h>
#include <stdint.h>

#define BASE64_STANDARD '+' /* $argon2*$ */
#define BASE64_CRYPT '.'    /* $mhkdf$: the alphabet of crypt(3), in base64's order */

/** Characters, without a NUL, that len bytes become. len is at most SIZE_MAX / 4. */
static inline size_t
base64_length(size_t len)
{
    return (len * 4 + 2) / 3;
}

/** Writes the base64_length(len) characters of len bytes to out, without a NUL; returns their end.
 */
char *base64_encode(char *out, const uint8_t *bytes, size_t len, char alphabet);

/** Characters at the start of text that are of the alphabet. text ends with a NUL. */
size_t base64_span(const char *text, char alphabet);

/**
 * Decodes text_len characters to out, of out_size bytes, and sets *len to the number of bytes.
 *
 * EINVAL: a foreign character, a length that no bytes have, or unused bits that are not zero.
 * ERANGE: canonical, but more than out_size bytes. out may hold part of the bytes on failure.
 */
int base64_decode(const char *text, size_t text_len, uint8_t *out, size_t out_size, size_t *len,
                  char alphabet);

#endif
