/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arena/limits.h"

#define MIB ((uint64_t)1024 * 1024)

/* What stays free: for page tables, and for everybody else. */
#define MARGIN (16 * MIB)

void
room_read(struct room *out)
{
    struct limits limits;

    limits_read("", &limits);
    out->memory = limits.available > MARGIN ? limits.available - MARGIN : 0;
    out->hugetlb = limits_free_hugetlb("");
    (void)snprintf(out->what, sizeof(out->what), "%s", limits.what);
}

static uint64_t
add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* As it would stand in mhkdf.conf. */
static void
write_size(uint32_t kib, char *out, size_t size)
{
    const char *unit = kib % (1024 * 1024) == 0 ? "G" : kib % 1024 == 0 ? "M" : "K";
    uint32_t divisor = unit[0] == 'G' ? 1024 * 1024 : unit[0] == 'M' ? 1024 : 1;

    (void)snprintf(out, size, "%" PRIu32 "%s", kib / divisor, unit);
}

bool
room_fits(const struct room_plan *plan, const struct room *room, uint64_t held_memory,
          uint64_t held_hugetlb, char text[ROOM_TEXT_SIZE])
{
    uint64_t memory = add(room->memory, held_memory);
    uint64_t in_pool = plan->hugetlb ? add(room->hugetlb, held_hugetlb) / plan->size : 0;
    uint64_t needed, available;
    char size[24], slots[32] = "";

    text[0] = '\0';
    if (in_pool >= plan->slots || memory / plan->size >= plan->slots - in_pool)
        return true;
    needed = plan->size;
    available = memory;
    if (in_pool > 0 || memory >= plan->size) { /* one fits, so that the number is too large, too */
        needed = plan->size * plan->slots;
        available = add(memory, in_pool * plan->size);
        (void)snprintf(slots, sizeof(slots), "slots = %" PRIu32 ", ", plan->slots);
    }
    write_size(plan->slot_kib, size, sizeof(size));
    (void)snprintf(text, ROOM_TEXT_SIZE,
                   "%sslot_size = %s: %" PRIu64 "M needed, %" PRIu64 "M available; limited by %s",
                   slots, size, needed / MIB, available / MIB, room->what);
    return false;
}
