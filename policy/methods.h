/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The methods that new hashes can be made with: ours, and those that libxcrypt knows, which the
 * system's libcrypt has or not. Thread-safe; all of it is constant.
 */
#ifndef POLICY_METHODS_H
#define POLICY_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct methods_entry {
    const char *name;   /* as crypt(5) calls it */
    const char *prefix; /* of its settings, for crypt_gensalt(3); "" for traditional DES */
    int ours;           /* enum mhkdf_method; 0: libcrypt's */
    unsigned count_min; /* crypt_gensalt's counts where they stand for 2^(count+9) KiB of memory; */
    unsigned count_max; /* both 0: the method takes next to none, and its default cost is used */
};

/** mhkdf, the built-in method. */
#define METHODS_MHKDF 0U

/** The entry with this number; NULL: there are not so many. */
const struct methods_entry *methods_get(uint32_t number);

/** The number of the method of this name or, where it isn't empty, prefix. ENOENT: unknown. */
int methods_find(const char *text, uint32_t *number);

/** Whether hashes of it can be made here. */
bool methods_is_there(const struct methods_entry *method);

/** The count for crypt_gensalt: the most that memory_kib allows, or the least there is; 0: the
 * method's default. */
unsigned methods_count(const struct methods_entry *method, uint32_t memory_kib);

/** What a hash then takes, in KiB; 0: next to nothing. */
uint32_t methods_memory_kib(const struct methods_entry *method, uint32_t memory_kib);

/** Longest password, in bytes, that the method looks at. */
size_t methods_length_max(const struct methods_entry *method);

#endif
