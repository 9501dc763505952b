/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Memory for engines, the same for all: private, 2 MiB aligned, huge pages asked for. What kind of
 * page it really has is read back from the system, which is never told to change its settings.
 */
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

#include <stddef.h>
#include <stdint.h>

struct pages {
    void *base;  /* NULL: nothing is held */
    size_t size; /* bytes, a multiple of 2 MiB */
};

/** Maps at least size_kib KiB, untouched. ENOMEM: not to be had. */
int pages_map(struct pages *pages, uint64_t size_kib);

/** Faults all of it in, writable, with threads threads. ENOMEM: the system has no more. */
int pages_populate(struct pages *pages, unsigned threads);

/** Gives it back; nothing where base is NULL. */
void pages_unmap(struct pages *pages);

/**
 * How much of it is resident, and how much of that in huge pages, in KiB. An errno value where the
 * system doesn't say.
 */
int pages_look(const struct pages *pages, uint64_t *resident_kib, uint64_t *huge_kib);

#endif
