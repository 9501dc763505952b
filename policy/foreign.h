/* SPDX-License-Identifier: BSD-2-Clause */
/** What settings of libcrypt's own methods cost. Thread-safe; nothing is kept. */
#ifndef POLICY_FOREIGN_H
#define POLICY_FOREIGN_H

#include <stdint.h>

/**
 * KiB of memory that a setting or hash of yescrypt ($y$), gost-yescrypt ($gy$) or scrypt ($7$) asks
 * for, UINT64_MAX where it is beyond all reason; 0 for every other method, which needs next to
 * none, and for one that can't be read.
 */
uint64_t foreign_memory_kib(const char *setting);

#endif
