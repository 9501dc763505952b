/* SPDX-License-Identifier: BSD-2-Clause */
/* Which arenas are refused, and what the administrator is told. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "arena/room.h"
#include "libcore/arena_protocol.h"

#define MIB ((uint64_t)1024 * 1024)
#define KIB_OF_GIB (1024 * 1024)

static char text[ROOM_TEXT_SIZE];

static struct room_plan
plan_of(uint32_t slots, uint32_t slot_kib, bool hugetlb)
{
    return (struct room_plan){.slots = slots,
                              .size = arena_slot_size(slot_kib),
                              .slot_kib = slot_kib,
                              .hugetlb = hugetlb};
}

static bool
fits(const struct room_plan *plan, uint64_t memory_mib, uint64_t hugetlb_mib, uint64_t held_mib,
     uint64_t held_hugetlb_mib)
{
    struct room room = {
        .memory = memory_mib * MIB, .hugetlb = hugetlb_mib * MIB, .what = "what there is"};

    return room_fits(plan, &room, held_mib * MIB, held_hugetlb_mib * MIB, text);
}

static void
what_is_missing_is_said(void **state)
{
    struct room_plan plan = plan_of(1, 40 * KIB_OF_GIB, false);

    (void)state;
    assert_false(fits(&plan, 19804, 0, 0, 0));
    assert_string_equal(
        text, "slot_size = 40G: 40962M needed, 19804M available; limited by what there is");
    plan = plan_of(4, 64 * 1024, false);
    assert_false(fits(&plan, 263, 0, 0, 0));
    assert_string_equal(
        text, "slots = 4, slot_size = 64M: 264M needed, 263M available; limited by what there is");
    assert_true(fits(&plan, 264, 0, 0, 0));
    assert_string_equal(text, "");
    plan = plan_of(1, 65537, false);
    assert_false(fits(&plan, 0, 0, 0, 0));
    assert_non_null(strstr(text, "slot_size = 65537K: 66M needed, 0M"));
}

static void
what_is_held_counts(void **state)
{
    struct room_plan plan = plan_of(2, 64 * 1024, true);

    (void)state;
    assert_true(fits(&plan, 66, 0, 66, 0));
    assert_false(fits(&plan, 66, 0, 65, 0));
    assert_true(fits(&plan, 0, 0, 0, 132));
    assert_true(fits(&plan, UINT64_MAX / MIB, 0, UINT64_MAX / MIB, 0));
}

static void
huge_pages_that_are_set_aside_count(void **state)
{
    struct room_plan plan = plan_of(3, 64 * 1024, true);

    (void)state;
    assert_true(fits(&plan, 0, 198, 0, 0));
    assert_true(fits(&plan, 66, 197, 0, 0)); /* two there, one elsewhere */
    assert_false(fits(&plan, 65, 197, 0, 0));
    assert_non_null(strstr(text, "slots = 3, slot_size = 64M: 198M needed, 197M available"));
    plan.hugetlb = false;
    assert_false(fits(&plan, 66, 197, 0, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(what_is_held_counts),
        cmocka_unit_test(huge_pages_that_are_set_aside_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
