/* SPDX-License-Identifier: BSD-2-Clause */
/** Numbers as administrators write them. */
#ifndef TOOLS_SIZE_H
#define TOOLS_SIZE_H

#include <stdint.h>

/**
 * Reads a size, a whole number followed by K, M or G (powers of 1,024), in KiB.
 *
 * 0; EINVAL: not such a text; ERANGE: more than 2^32 - 1 KiB. On failure kib is left alone.
 */
int size_parse(const char *text, uint32_t *kib);

/**
 * Reads a whole decimal number without sign or leading zeros.
 *
 * 0; EINVAL: not such a text; ERANGE: above 2^32 - 1. On failure number is left alone.
 */
int size_parse_number(const char *text, uint32_t *number);

#endif
