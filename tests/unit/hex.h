/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Hexadecimal for tests. Include after cmocka.h.
 */
#ifndef TESTS_UNIT_HEX_H
#define TESTS_UNIT_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Fails the test unless the len bytes are what the hex text says. */
static inline void
hex_assert_equal(const uint8_t *bytes, size_t len, const char *text)
{
    char got[2 * 1024 + 1];

    assert_in_range(len, 0, 1024);
    for (size_t i = 0; i < len; i++) {
        got[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        got[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    got[2 * len] = '\0';
    assert_string_equal(got, text);
}

/** Decodes hex text ("-" is no bytes) to out, out_size bytes; returns their number. */
static inline size_t
hex_decode(const char *text, uint8_t *out, size_t out_size)
{
    size_t len = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;

    assert_in_range(len, 0, out_size);
    for (size_t i = 0; i < len; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        char *end;
        out[i] = (uint8_t)strtoul(digits, &end, 16);
        assert_true(end == digits + 2);
    }
    return len;
}

#endif
