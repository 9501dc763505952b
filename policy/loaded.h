/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Whether a shared library is still what other programs would load: a process that lives for long
 * keeps the library it started with, whatever takes its place in the file system. Thread-safe.
 */
#ifndef POLICY_LOADED_H
#define POLICY_LOADED_H

#include <stdbool.h>

/**
 * function: any address in the library. True if a program that starts now and needs a library of
 * this one's soname gets, by ldconfig's cache, a file with the code and constants that this process
 * has in memory, byte for byte. So it is false after the file was replaced, and after another
 * folder came first in /etc/ld.so.conf.d, or this one no longer does. False too whenever it can't
 * be told: there is no such file, or function is not in a shared library.
 *
 * Contents are compared, since /proc may be missing, and device and inode numbers of mappings and
 * files disagree on overlayfs and btrfs.
 *
 * A libcrypt that only stands in front of another (crypt-plugin/front) verifies our hashes itself:
 * which library is behind it doesn't matter here.
 */
bool loaded_is_current(void (*function)(void));

/** The same by another cache than /etc/ld.so.cache. */
bool loaded_is_current_by(void (*function)(void), const char *cache);

#endif
