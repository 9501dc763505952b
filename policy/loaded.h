/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Whether a shared library is still what other programs would load: a process that lives for long
 * keeps the library it started with, whatever takes its place in the file system. Thread-safe.
 */
#ifndef POLICY_LOADED_H
#define POLICY_LOADED_H

#include <stdbool.h>

/**
 * function: any address in the library. True if the file that is at the library's path now has the
 * code and constants that this process has in memory, byte for byte. False if it differs, and
 * whenever it can't be told: there is no such file, or function is not in a shared library.
 *
 * Contents are compared, since /proc may be missing, and device and inode numbers of mappings and
 * files disagree on overlayfs and btrfs.
 */
bool loaded_is_current(void (*function)(void));

#endif
