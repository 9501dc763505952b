/* SPDX-License-Identifier: BSD-2-Clause */
/** Whether there is memory for slots: what doesn't fit would not fail, but get somebody killed. */
#ifndef ARENA_ROOM_H
#define ARENA_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#define ROOM_WHAT_SIZE 512
#define ROOM_TEXT_SIZE 768

/** What slots can take; some is left to everybody else. */
struct room {
    uint64_t memory;           /* bytes */
    uint64_t hugetlb;          /* bytes of huge pages that are set aside; not part of memory */
    char what[ROOM_WHAT_SIZE]; /* which limit memory is, in words */
};

/** What slots are to be. */
struct room_plan {
    uint32_t slots;
    uint64_t size;     /* bytes of a slot */
    uint32_t slot_kib; /* slot_size, as it is configured */
    bool hugetlb;      /* huge pages that are set aside are tried first */
};

/** Reads it; as of now. Thread-safe. */
void room_read(struct room *out);

/**
 * Whether all slots of the plan fit, if the caller gives up what it holds now: bytes of both kinds.
 * False: text says what is missing.
 */
bool room_fits(const struct room_plan *plan, const struct room *room, uint64_t held_memory,
               uint64_t held_hugetlb, char text[ROOM_TEXT_SIZE]);

#endif
