/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The methods that new hashes can be made with: ours, and those of libxcrypt that are worth it,
 * which the system's libcrypt has or not. Thread-safe; all of it is constant.
 */
#ifndef POLICY_METHODS_H
#define POLICY_METHODS_H

#include <stddef.h>
#include <stdint.h>

struct methods_entry {
    const char *name;   /* as crypt(5) calls it */
    const char *prefix; /* of its settings, for crypt_gensalt(3) */
    int ours;           /* enum mhkdf_method; 0: libcrypt's */
    unsigned count_min; /* crypt_gensalt's counts where they stand for 2^(count+9) KiB of memory; */
    unsigned count_max; /* both 0: the method takes next to none, and count is its cost */
    unsigned count;
    uint32_t passes; /* where mhkdf.conf doesn't say; 0: the method has none */
};

/** mhkdf, the built-in method. */
#define METHODS_MHKDF 0U

/** The entry with this number; NULL: there are not so many. */
const struct methods_entry *methods_get(uint32_t number);

/**
 * The number of the method of this name. ENOENT: there is none that new hashes should be made with;
 * *why is then the reason, as constant text, where the name is one of crypt(5) or of Argon2; else
 * NULL.
 */
int methods_find(const char *name, uint32_t *number, const char **why);

/** Whether hashes of it can be made here: 0; ENOSYS, libcrypt hasn't got it; ENOMEM, EMFILE or
 * ENFILE, that can't be told, since a part of libcrypt couldn't be loaded. */
int methods_check(const struct methods_entry *method);

/** The count for crypt_gensalt: the most that memory_kib allows, or the least there is; for a
 * method that takes next to no memory, its cost. */
unsigned methods_count(const struct methods_entry *method, uint32_t memory_kib);

/** What a hash then takes, in KiB; 0: next to nothing. */
uint32_t methods_memory_kib(const struct methods_entry *method, uint32_t memory_kib);

/** Longest password, in bytes, that the method looks at. */
size_t methods_length_max(const struct methods_entry *method);

#endif
