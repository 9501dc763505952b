/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Stack that has been used: compilers leave copies of what they ran out of registers for in frames
 * that are gone, where no function can wipe them by name.
 */
#ifndef LIBCORE_STACK_H
#define LIBCORE_STACK_H

/** Bytes below the caller's frame that are wiped: more than any work of this library reaches down.
 */
#define STACK_WIPED 16384

/** Overwrites them with zeros. */
__attribute__((noinline)) void stack_wipe(void);

#endif
