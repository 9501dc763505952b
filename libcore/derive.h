/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * From password to tag: H0, first blocks, the fill by a team of threads, the tag (RFC 9106 section
 * 3.2, SPEC.md section 3). mhkdf_derive is this with ranges checked; tests reach what only
 * published vectors use (secret and associated data with Argon2, and Argon2ds of 2015).
 */
#ifndef LIBCORE_DERIVE_H
#define LIBCORE_DERIVE_H

#include <stddef.h>
#include <stdint.h>

#include "libcore/fill.h"
#include "libcore/mhkdf.h"
#include "libcore/pace.h"

struct derive {
    enum fill_method method;
    uint32_t version; /* in H0: 0x13, or 0x10 for Argon2ds */
    uint32_t memory_kib;
    uint32_t passes;
    uint32_t lanes;
    uint32_t chain;
    const void *password;
    uint32_t password_len; /* bytes, as are the others */
    const void *salt;
    uint32_t salt_len;
    const void *secret; /* K */
    uint32_t secret_len;
    const void *associated; /* X */
    uint32_t associated_len;
};

/** From here on, so much of a fill would fall out of the caches unused that it isn't put there. */
#define DERIVE_STREAM_KIB (32 * 1024)

/** What a derivation works with; the tag doesn't depend on it. */
struct derive_means {
    const struct kernel *kernel; /* NULL: the portable code */
    unsigned threads;            /* at most; 1 or more */
    /**
     * derive_size_kib KiB, 64-byte aligned, of any content; afterwards it holds no first blocks,
     * S-boxes or last column, but all the rest of the fill. NULL: memory of its own.
     */
    void *memory;
    int populate;             /* not 0: memory's pages may not be there yet */
    uint64_t stream_from_kib; /* the least that is written past the caches; 0: DERIVE_STREAM_KIB */
    struct pace *pace;        /* NULL: the whole; else of spent_ns, and the tag is of no use */
};

/** KiB of memory that a derivation needs. */
uint64_t derive_size_kib(const struct derive *in);

/** The fastest kernel for it that works here; NULL: the portable code. */
const struct kernel *derive_kernel(const struct derive *in);

/**
 * Writes the tag of tag_len bytes (4 .. 2^32 - 1). The caller has checked the ranges. ENOMEM: the
 * memory isn't to be had; tag is untouched then.
 */
int derive_with(const struct derive *in, const struct derive_means *means, uint8_t *tag,
                uint32_t tag_len);

/** The same with the fastest kernel, env's threads, and memory by source.h, whose errors these are.
 */
int derive_tag(const struct derive *in, const struct mhkdf_env *env, uint8_t *tag,
               uint32_t tag_len);

/** mhkdf_derive, with env's threads and memory. */
int derive_in(const struct mhkdf_cost *cost, const struct mhkdf_input *input,
              const struct mhkdf_env *env, uint8_t *tag, size_t tag_len);

/**
 * A dummy hash of this cost that takes spent_us less than a whole one would, for a caller who spent
 * so much elsewhere (libcore/pace.h), but not less than a quarter of its first pass. threads, arena
 * and report from env. 0, EINVAL, or errors of source.h.
 */
int derive_less(const struct mhkdf_cost *cost, const struct mhkdf_env *env, uint64_t spent_us);

/** Whether a cost is within the ranges of SPEC.md section 2: 0 or EINVAL. */
int derive_check_cost(const struct mhkdf_cost *cost);

#endif
