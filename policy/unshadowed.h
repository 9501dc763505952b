/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Local accounts that refer to shadow and have no line there. Thread-safe.
 */
#ifndef POLICY_UNSHADOWED_H
#define POLICY_UNSHADOWED_H

#define UNSHADOWED_NAME_SIZE 256

/**
 * Finds one, and writes its name, with its NUL, to name. 0; ENOENT: there is none (or a file, or it
 * can't be said, since the two files are in too different an order); else why a file can't be read.
 */
int unshadowed_find(const char *etc_dir, char name[UNSHADOWED_NAME_SIZE]);

#endif
