/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The large array of a hash: private memory of its own, straight from the system and back to it.
 */
#ifndef LIBCORE_MEMORY_H
#define LIBCORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct memory {
    void *base;  /* page-aligned, zeros at first; NULL: nothing is held */
    size_t size; /* bytes */
    int locked;  /* it never goes to swap */
};

/**
 * Gets size_kib KiB, kept out of core dumps and, where the kernel can, zeroed in forked children,
 * backed by huge pages (and aligned to 2 MiB for them), and locked as far as the process may.
 * Nothing of it is there until it is touched. ENOMEM: not to be had, or more than this machine can
 * address.
 */
int memory_get(struct memory *memory, uint64_t size_kib);

/**
 * Sees to it that pages are there, cheaper than touching them one by one. Advice: where it fails,
 * they come when they are touched. Keeps errno. Different parts of the same memory may be populated
 * at the same time.
 */
void memory_populate(void *start, size_t size);

/** Lets it go to swap. Keeps errno. */
void memory_unlock(struct memory *memory);

/**
 * Gives it back. The caller has wiped what a guess could be tested against cheaply (first blocks,
 * S-boxes, last column); the kernel zeroes the rest before anybody else gets it. Keeps errno.
 */
void memory_release(struct memory *memory);

#endif
