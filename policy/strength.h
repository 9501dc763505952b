/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What a stored hash is worth, beside another one and beside what a policy asks for. Nothing is
 * computed. Thread-safe.
 *
 * A hash that wraps others (SPEC.md section 5) counts as the best of its levels in each respect.
 */
#ifndef POLICY_STRENGTH_H
#define POLICY_STRENGTH_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/config.h"

struct strength {
    unsigned rank;       /* of the method */
    uint64_t memory_kib; /* 0: next to none */
    uint64_t work_kib;   /* memory times passes */
    uint32_t chain;
    bool is_imported; /* argon2i or argon2d: for replacing it, its passes don't count */
    bool is_wrap;
    bool has_key; /* a site key is part of it */
};

/** Reads a hash. EINVAL: it isn't one, as far as that can be seen. */
int strength_read(const char *hash, struct strength *out);

/** What a new hash of the policy will be. */
void strength_of_policy(const struct config_policy *policy, struct strength *out);

/**
 * Whether the one is stronger: rank, memory, memory times passes and chain are all at least as
 * large, and one is larger. In place of a wrap, what is as large is enough; in place of argon2i or
 * argon2d, work that is as large as their memory. A hash with a site key is never weaker than one
 * without.
 */
bool strength_is_more(const struct strength *one, const struct strength *than);

/**
 * What is wrong with verifying a hash by the policy's ceilings, the settings that are wrapped in it
 * included, as constant text; NULL: nothing.
 */
const char *strength_above_ceiling(const struct config_policy *policy, const char *hash);

/** Whether verifying needs a site key. */
bool strength_needs_key(const char *hash);

/** Whether a hash fills less memory than the policy's floor. */
bool strength_is_below_floor(const struct config_policy *policy, const char *hash);

/**
 * Whether verifying a password against the hash looked at every bit of it. Otherwise another
 * password may be the one that was meant, and a new hash of this one would shut that out.
 */
bool strength_sees_all(const char *hash, const char *password);

#endif
