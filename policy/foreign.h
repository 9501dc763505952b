/* SPDX-License-Identifier: BSD-2-Clause */
/** What can be read in settings of libcrypt's own methods. Thread-safe; nothing is kept. */
#ifndef POLICY_FOREIGN_H
#define POLICY_FOREIGN_H

#include <stdint.h>

/**
 * KiB of memory that a setting or hash of yescrypt ($y$, $gy$, $sm3y$) or scrypt ($7$) asks for,
 * UINT64_MAX where it is beyond all reason; 0 for every other method, which needs next to
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

/**
 * Whether a setting or hash is a complete setting of yescrypt, gost-yescrypt, scrypt, bcrypt ($2a$,
 * $2b$, $2y$), sha512crypt or sha256crypt, with a salt: 0; EINVAL for those that lack it; ENOTSUP
 * for every other method, none of which a new hash should be made with.
 */
int foreign_check_new(const char *setting);

/** KiB as foreign_memory_kib, times how often it goes through them. */
uint64_t foreign_work_kib(const char *setting);

/**
 * Microseconds that a setting or hash takes by a rough estimate; UINT64_MAX: beyond all reason; 0:
 * too little to matter, or it can't be read.
 */
uint64_t foreign_time_us(const char *setting);

/** How good a method is, beside others that aren't ours; from the worst. */
enum foreign_rank { FOREIGN_REST, FOREIGN_SHA512, FOREIGN_BCRYPT, FOREIGN_SCRYPT };
enum foreign_rank foreign_rank(const char *setting);

/**
 * Whether the method looks at every bit of this password: 1 or 0. bcrypt looks at 72 bytes,
 * traditional DES at 8 (with bigcrypt 128) of 7 bits, extended DES at 7 bits of each.
 */
int foreign_sees_all(const char *setting, const char *password);

#endif
