/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * New hashes for local accounts. Thread-safe.
 */
#ifndef POLICY_NEWHASH_H
#define POLICY_NEWHASH_H

#include <stdbool.h>

#include "libcore/mhkdf.h"

/**
 * Hashes password with a random salt and the given cost.
 *
 * for_root: the account's uid is 0. Programs such as sulogin hand root's hash to crypt(3) without
 * PAM, so one of ours is made only if the libcrypt that this process has loaded verifies it (it
 * accepts the string, and gives a known answer) and is still the one that programs started now get
 * (policy/loaded.h). Otherwise the hash is made by libcrypt: $y$, or
 * without that the method it prefers, or without that $6$; and *why says, in a constant text, why.
 * *why is NULL where the hash is of the method that was asked for.
 *
 * 0; ERANGE: password over 511 bytes; ENOMEM; ENOSYS: libcrypt has none of these methods; errors of
 * mhkdf_random. On failure out is an empty string.
 */
int newhash_make(const char *password, const struct mhkdf_cost *cost, bool for_root,
                 char out[MHKDF_STRING_SIZE], const char **why);

/**
 * The same, with memory from arena (NULL: from nowhere else); *report says so (NULL: it isn't
 * wanted). Besides, as mhkdf_crypt: EBUSY, ECONNREFUSED.
 */
int newhash_make_in(const char *password, const struct mhkdf_cost *cost, bool for_root,
                    const struct mhkdf_arena *arena, struct mhkdf_memory_report *report,
                    char out[MHKDF_STRING_SIZE], const char **why);

#endif
