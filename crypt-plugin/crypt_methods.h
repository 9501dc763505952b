/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * libcore's methods as a libcrypt offers them: what the front library and a grafted libxcrypt have
 * in common. mhkdf.conf isn't read here; the costs are those of the strings. Thread-safe.
 */
#ifndef CRYPT_METHODS_H
#define CRYPT_METHODS_H

#include <stddef.h>
#include <stdint.h>

#include "libcore/mhkdf.h"

/** crypt_rn(3) of the library that has all other methods. */
typedef char *crypt_methods_rn(const char *phrase, const char *setting, void *data, int size);

/**
 * Hashes phrase, which ends with a NUL after phrase_len bytes, with a setting of ours, and writes
 * the string to out, MHKDF_STRING_SIZE bytes. crypt_rn computes the inner hash of a wrapped one;
 * NULL: there is no such function, and wraps of other methods fail. Memory comes from mhkdf-arenad
 * where this process may use it.
 *
 * 0, or an errno value as SPEC.md section 4 orders them: ERANGE for a phrase over 511 bytes, EINVAL
 * for what is malformed, ERANGE, ENOKEY; then ENOMEM, EBUSY, ECONNREFUSED. On failure out is an
 * empty string.
 */
int crypt_methods_hash(const char *phrase, size_t phrase_len, const char *setting,
                       crypt_methods_rn *crypt_rn, char out[MHKDF_STRING_SIZE]);

/**
 * crypt_gensalt(3) for a prefix of ours: SPEC.md section 6. rbytes must not be NULL. The setting
 * goes to output, output_size bytes, of which nothing is written on failure.
 *
 * 0, EINVAL, ERANGE, as mhkdf_gensalt. What was a negative int is no large number of bytes: EINVAL.
 */
int crypt_methods_gensalt(const char *prefix, unsigned long count, const uint8_t *rbytes,
                          size_t rbytes_len, char *output, size_t output_size);

#endif
