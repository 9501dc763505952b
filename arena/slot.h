/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The memory of a slot: a memfd of its own, sealed, in the largest pages to be had, faulted in,
 * locked, kept out of core dumps and of forked children.
 *
 * Different slots may be worked on at the same time. slot_init must have run once.
 */
#ifndef ARENA_SLOT_H
#define ARENA_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcore/arena_protocol.h"

struct slot {
    int fd; /* -1: there is none */
    uint8_t *base;
    uint64_t size; /* bytes, a multiple of ARENA_HUGE_PAGE */
    void *reserved;
    size_t reserved_size;
    enum arena_pages pages; /* what it is really made of */
    bool locked;
};

#define SLOT_NONE \
    {             \
        .fd = -1  \
    }

/** How slots are to be made. */
struct slot_wish {
    uint64_t size;
    enum arena_pages pages; /* the best kind to try; those below it come after it */
    bool lock;
    bool only_hugetlb; /* there is no memory for pages of another kind */
    unsigned threads;  /* 1 or more */
};

/** As mhkdf.conf has it. */
const char *slot_pages_name(enum arena_pages pages);

/** Threads that work on a slot is best shared by: as many as there are CPUs, up to 16. */
unsigned slot_threads(void);

/** Installs what turns a SIGBUS from a slot's memory into an error. 0 or errno. */
int slot_init(void);

/** Makes a slot that holds none. 0 or errno; ENOMEM where there are no pages for it. */
int slot_make(struct slot *slot, const struct slot_wish *wish);

/**
 * Fills it with zeros. EIO: somebody has taken pages out of it, so that it isn't what it was;
 * ENOMEM: nor are there others to put back.
 */
int slot_scrub(struct slot *slot, unsigned threads);

/**
 * Takes the mapping away and leaves the descriptor: the memory is a client's now, who is still at
 * work in it.
 */
void slot_unmap(struct slot *slot);

/**
 * Frees it, and its pages with it, whoever keeps a descriptor or a mapping: no client may be at
 * work in it. Who keeps one can still fill the file anew, up to its size; that is memory of the
 * process that does it, as that of a memfd of its own would be, by its own control group.
 */
void slot_free(struct slot *slot);

#endif
