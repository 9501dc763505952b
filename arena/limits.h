/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How much memory this process can still take before somebody is killed for it: what the machine
 * has available, and what is left to each control group (version 1 or 2) that the process is in.
 */
#ifndef ARENA_LIMITS_H
#define ARENA_LIMITS_H

#include <stdint.h>

#define LIMITS_WHAT_SIZE 512

struct limits {
    uint64_t available;          /* bytes */
    char what[LIMITS_WHAT_SIZE]; /* which limit that is, in words */
};

/** Reads the files under root ("" but for tests). What can't be read is no limit. */
void limits_read(const char *root, struct limits *out);

/** Bytes of free huge pages of 2 MiB that nobody has reserved; they aren't part of the above. */
uint64_t limits_free_hugetlb(const char *root);

#endif
