/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Memory on loan from mhkdf-arenad.
 *
 * The process may be any: with descriptors 0 to 2 closed, with signal handlers, with limits that
 * somebody else has set, forking in other threads. None of the functions changes errno.
 */
#ifndef LIBCORE_ARENA_H
#define LIBCORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "libcore/mhkdf.h"

struct arena_lease {
    void *base;  /* 2 MiB-aligned, zeros at first; NULL: nothing is held */
    size_t size; /* bytes, at least what was asked for */
    int pages;   /* enum mhkdf_pages */
    int fd;      /* the connection, while something is held */
    void *reserved;
    size_t reserved_size;
};

/**
 * Borrows size bytes, waiting for up to want->wait_ms. It is mapped, but not in forked children
 * and not for core dumps.
 *
 * 0; EBUSY: all slots were in use for all that time; ECONNREFUSED: there is no arena, or none that
 * works, or it lends nothing to this process, or its slots are too small: fall back.
 */
int arena_get(struct arena_lease *lease, const struct mhkdf_arena *want, size_t size);

/** Gives it back; the caller has wiped what a guess could be tested against cheaply. */
void arena_release(struct arena_lease *lease);

#endif
