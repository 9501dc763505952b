/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Numbers as people write them in files. Thread-safe; nothing is kept.
 */
#ifndef POLICY_SIZE_H
#define POLICY_SIZE_H

#include <stdint.h>

/** A decimal number of digits alone, at most max. EINVAL: anything else. ERANGE: above max. */
int size_parse_number(const char *text, uint32_t max, uint32_t *out);

/**
 * A size: a decimal number, then K, M or G (1024-based) without a blank, in KiB.
 * EINVAL: anything else, a missing unit included. ERANGE: above 2^32 - 1 KiB.
 */
int size_parse_kib(const char *text, uint32_t *kib);

/**
 * A time: a decimal number, then ms or s without a blank, in milliseconds. EINVAL: anything else,
 * a missing unit included. ERANGE: above 2^31 - 1 ms.
 */
int size_parse_ms(const char *text, uint32_t *ms);

#endif
