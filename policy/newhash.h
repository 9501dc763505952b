/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * New hashes for local accounts. Thread-safe.
 */
#ifndef POLICY_NEWHASH_H
#define POLICY_NEWHASH_H

#include <stdbool.h>

#include "libcore/mhkdf.h"
#include "policy/config.h"

/**
 * Hashes password with a random salt, and with the method and cost that policy asks for.
 *
 * for_root: the account's uid is 0. Programs such as sulogin hand root's hash to crypt(3) without
 * PAM, so one of ours is made only if the libcrypt that this process has loaded verifies it (it
 * accepts the string, and gives a known answer) and is still the one that programs started now get
 * (policy/loaded.h). Otherwise the hash is made by libcrypt: $y$, or
 * without that the method it prefers, or without that $6$; and *why says, in a constant text, why.
 * *why is NULL where the hash is of the method that was asked for.
 *
 * resources: as for anycrypt_hash_in; its report is filled with zeros where nothing was computed.
 *
 * 0; ERANGE: password over 511 bytes, or longer than the method looks at; ENOMEM; ENOSYS: libcrypt
 * has none of these methods; EBUSY, ECONNREFUSED: as mhkdf_crypt; errors of mhkdf_random. On
 * failure out is an empty string.
 */
int newhash_make(const char *password, const struct config_policy *policy, bool for_root,
                 const struct mhkdf_env *resources, char out[MHKDF_STRING_SIZE], const char **why);

/**
 * Whether the libcrypt that this process has loaded computes our hashes as we do: it is asked for a
 * known answer, the cheapest hash of this method and chain. False also where there is no memory.
 */
bool newhash_crypt_verifies(const struct mhkdf_cost *cost);

/** What *why would be. */
const char *newhash_why_not_for_root(const struct config_policy *policy);

/**
 * Makes a setting by policy. memory_kib: in place of its cost's, at least 8 a lane.
 * 0, ENOSYS, errors of mhkdf_random; on failure out is an empty string.
 */
int newhash_setting(const struct config_policy *policy, uint32_t memory_kib,
                    char out[MHKDF_STRING_SIZE]);

#endif
