/* SPDX-License-Identifier: BSD-2-Clause */
/** File descriptors of a process that isn't ours, and of its children. Async-signal-safe. */
#ifndef POLICY_DESCRIPTORS_H
#define POLICY_DESCRIPTORS_H

/** Closes first and all above it; without close_range(2), those below the limit on their number. */
void descriptors_close_from(int first);

/**
 * Makes a pipe: ends[0] to read from, ends[1] to write to, both closed by execve(2). Neither is one
 * of 0 to 2, which the host may have closed, and would take for something else.
 *
 * 0; EMFILE, ENFILE. On failure no descriptor is open, and both ends are -1.
 */
int descriptors_pipe(int ends[2]);

/** Closes both ends, of which each may be -1, and makes them -1. */
void descriptors_close_pipe(int ends[2]);

#endif
