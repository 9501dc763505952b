/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * mhkdf.conf: the policy for new hashes. mhkdf.conf(5) describes the file.
 *
 * Reading is strict: whatever isn't understood is an error, so that a typing error never passes as
 * a weaker policy. What to do about an error is the caller's business: a login goes on with the
 * built-in values, a password change refuses.
 *
 * Thread-safe. No state is kept; memory and descriptors are released before return.
 */
#ifndef POLICY_CONFIG_H
#define POLICY_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "libcore/mhkdf.h"

#define CONFIG_PATH "/etc/security/mhkdf.conf"

/** [default]: always within SPEC.md's ranges, also after an error. */
struct config {
    struct mhkdf_cost cost; /* of new hashes; memory, passes, lanes, chain */
    uint32_t min_length;    /* bytes of a new password, 1 .. 511 */
};

#define CONFIG_ERROR_SIZE 512

/** Where the error is and what was expected: "FILE:LINE: key: ...", one line without newline. */
struct config_error {
    char text[CONFIG_ERROR_SIZE];
};

/** Fills config with the built-in values. */
void config_builtin(struct config *config);

/**
 * Reads path. Where the file doesn't exist: the built-in values and 0, or, if must_exist, ENOENT.
 *
 * 0; EINVAL: the contents; EPERM: the file belongs to someone other than owner (0, but for tests),
 * or others may write to it; EFBIG: more than 1 MiB; errors of open(2) and read(2); ENOMEM. On
 * failure config holds the built-in values and error says why; on success error is empty.
 */
int config_load(const char *path, uint32_t owner, bool must_exist, struct config *config,
                struct config_error *error);

#endif
