/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A whole file in memory, byte for byte, for files that are read in one piece and may hold hashes.
 * Thread-safe.
 */
#ifndef POLICY_FILE_H
#define POLICY_FILE_H

#include <stddef.h>

struct file {
    char *data; /* len bytes, then a NUL that isn't part of the file */
    size_t len;
};

/**
 * Reads what fd has to give, from where it stands to the end. max: most bytes (below SIZE_MAX).
 *
 * 0; EFBIG: more than max; ENOMEM; errors of read(2). On failure nothing is held. The caller
 * releases with file_free.
 */
int file_read(int fd, size_t max, struct file *out);

/**
 * The same into memory that is there already, which stays the caller's: size bytes at data, the
 * NUL's included. *len: bytes that were read, also on failure, to be wiped.
 *
 * 0; ENOBUFS: there is more than that; errors of read(2). Async-signal-safe.
 */
int file_read_into(int fd, char *data, size_t size, size_t *len);

/** Wipes and releases; harmless for a struct of zeros and a second time. */
void file_free(struct file *file);

#endif
