/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Where a hash's memory comes from: the arena, if the caller wants it and there is one, else
 * private memory, if there is room for it (headroom.h).
 */
#ifndef LIBCORE_SOURCE_H
#define LIBCORE_SOURCE_H

#include <stdint.h>

#include "libcore/arena.h"
#include "libcore/memory.h"
#include "libcore/mhkdf.h"

struct source {
    void *base; /* of as much as was asked for, 64-byte aligned */
    struct memory own;
    struct arena_lease lease;
};

/**
 * Gets size_kib KiB. Of env, arena, report and without_swap count, as mhkdf.h has them; report is
 * filled in also on failure.
 *
 * 0; ENOMEM; EBUSY, ECONNREFUSED: as mhkdf.h says of mhkdf_crypt.
 */
int source_get(struct source *source, uint64_t size_kib, const struct mhkdf_env *env);

/** Gives it back, as memory_release and arena_release. */
void source_release(struct source *source);

#endif
