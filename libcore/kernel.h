/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Fill kernels: the same fill as fill.c's portable one, for one instruction set each, and for
 * several lanes at once, so that the memory latency and the chain of one lane hide behind the work
 * of another.
 *
 * A kernel is used only after it has given, in this process, what the portable code gives.
 */
#ifndef LIBCORE_KERNEL_H
#define LIBCORE_KERNEL_H

#include <stdint.h>

#include "libcore/block.h"
#include "libcore/fill.h"

/*
 * Which kernels there are. Without optimisation each temporary of these long functions would have a
 * place of its own on the stack, some megabytes of them: then the portable code is all there is.
 */
#if defined __OPTIMIZE__ && defined __x86_64__
#define KERNEL_X86 1
#endif
#if defined __OPTIMIZE__ && defined __aarch64__
#define KERNEL_NEON 1
#endif

#ifndef KERNEL_LANES_MAX
#define KERNEL_LANES_MAX 4
#endif

/** What compression a fill needs; each is checked on its own. */
enum kernel_mode {
    KERNEL_ARGON2,
    KERNEL_CHAIN_0,
    KERNEL_CHAIN_3,
    KERNEL_CHAIN_6,
    KERNEL_CHAIN_12,
    KERNEL_MODES
};

struct kernel {
    const char *name;
    /** Whether this machine and its system can run it: 1 or 0. */
    int (*is_supported)(void);
    /**
     * Fills the segments of count lanes (1 .. KERNEL_LANES_MAX) from lane on. Where there is a
     * chain, their S-boxes are set.
     */
    void (*fill)(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane,
                 uint32_t count);
    /** out = G(zero, in, none, 0) of mhkdf1 (argon2 == 0) or G(zero, in) of RFC 9106. May overlap.
     */
    void (*compress)(struct block *out, const struct block *in, int argon2);
    /** Where the kernel keeps word number w of a block; NULL: at w. */
    const uint8_t *positions;
};

/**
 * The fastest kernel that works here, or NULL for the portable code. The answer is worked out once
 * in a process for each mode. Thread-safe.
 */
const struct kernel *kernel_get(enum kernel_mode mode);

/** The mode of a method and chain; -1 for Argon2ds, which has no kernels. */
int kernel_mode_of(enum fill_method method, uint32_t chain);

/** "portable" or the name of the kernel. */
const char *kernel_name(const struct kernel *kernel);

/** Turns a block from plain order into the kernel's, and back. */
void kernel_from_plain(const struct kernel *kernel, struct block *block);
void kernel_to_plain(const struct kernel *kernel, struct block *block);

/** Whether the kernel gives what the portable code gives: 1 or 0. For kernel_get and tests. */
int kernel_agrees(const struct kernel *kernel, enum kernel_mode mode);

/**
 * The first in a list, with NULL at its end, that is supported and agrees; with a name, of those
 * with this name. NULL: none. For kernel_get and tests.
 */
const struct kernel *kernel_choose(const struct kernel *const *from, enum kernel_mode mode,
                                   const char *name);

/** All kernels that were compiled in, the fastest first, and NULL. */
extern const struct kernel *const kernel_all[];

#endif
