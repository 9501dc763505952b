/* SPDX-License-Identifier: BSD-2-Clause */
/** What can be read in settings of libcrypt's own methods. Thread-safe; nothing is kept. */
#ifndef POLICY_FOREIGN_H
#define POLICY_FOREIGN_H

#include <stdint.h>

/**
 * KiB of memory that a setting or hash of yescrypt ($y$), gost-yescrypt ($gy$) or scrypt ($7$) asks
 * for, UINT64_MAX where it is beyond all reason; 0 for every other method, which needs next to
 * none, and for one that can't be read.
 */
uint64_t foreign_memory_kib(const char *setting);

/**
 * Whether a setting or hash has the shape of its method, as far as that is simple to tell: EINVAL
 * for yescrypt, gost-yescrypt, scrypt or bcrypt ($2a$, $2b$, $2x$, $2y$) whose parameters can't be
 * read or end too early, and for a "rounds=" of SHA-crypt ($5$, $6$) without a number; else 0,
 * which says nothing about other methods.
 */
int foreign_check(const char *setting);

#endif
