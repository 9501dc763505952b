/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What a set-id program does to be safe from its caller, who chooses descriptors, environment,
 * limits, signals and the folder. For the only thread there is.
 */
#ifndef PAM_CONFINE_H
#define PAM_CONFINE_H

#include <stdbool.h>

/**
 * The first thing in main(). Descriptors 0 to 2 are open (on /dev/null where they weren't), all
 * others are closed; there is no environment; signals have their default, but for those of a
 * terminal, which are ignored; no timer is pending; soft limits are at the hard ones, and there are
 * no core dumps and no tracing; of the capabilities at most CAP_DAC_READ_SEARCH, to read shadow,
 * and CAP_IPC_LOCK, to keep the password's memory from swap, are left.
 *
 * false: that can't be had, errno says why, and the program should end.
 */
bool confine_begin(void);

/**
 * When shadow has been read: gives up the right to read it, CAP_DAC_READ_SEARCH and what a set-id
 * bit gave. for_arena: the effective ids stay, since mhkdf-arenad looks at them. No program that is
 * started can get more. false: that failed, errno says why, and the program should end.
 */
bool confine_drop(bool for_arena);

#endif
