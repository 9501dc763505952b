/* SPDX-License-Identifier: BSD-2-Clause */
/* Dummy hashes that are shorter by a time that was spent elsewhere. The clock is the test's own. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "libcore/derive.h"
#include "libcore/pace.h"

#define SEGMENT 4096U

/* Nanoseconds that blocks of a segment take: more in later steps, where references are further away
 * (by growth percent a step). */
static uint64_t
cost_of(uint32_t step, uint32_t blocks, uint64_t block_ns, uint32_t growth)
{
    return blocks * block_ns * (100 + (uint64_t)step * growth) / 100;
}

/* What the whole hash takes but for `spent`, beside what every hash of this cost takes. */
static uint64_t
simulate(uint32_t steps, uint64_t block_ns, uint32_t growth, uint64_t spent_ns)
{
    struct pace pace = {.spent_ns = spent_ns, .start_ns = 1000, .steps = steps};
    uint64_t now_ns = pace.start_ns;

    for (uint32_t step = 0; step < steps; step++) {
        uint32_t blocks = pace_blocks(&pace, step, SEGMENT, now_ns);
        assert_true(blocks <= SEGMENT);
        now_ns += cost_of(step, blocks, block_ns, growth);
        if (blocks < SEGMENT)
            break;
    }
    return now_ns - pace.start_ns;
}

static void
both_together_take_as_long_as_the_whole(void **state)
{
    static const uint64_t speeds_ns[] = {7, 900, 50000};
    static const uint32_t numbers[] = {4, 8, 12, 256};

    (void)state;
    for (size_t s = 0; s < sizeof speeds_ns / sizeof *speeds_ns; s++)
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            uint64_t whole_ns = simulate(numbers[n], speeds_ns[s], 0, 0);
            assert_int_equal(whole_ns, (uint64_t)numbers[n] * SEGMENT * speeds_ns[s]);
            /* In hundredths of the whole, as far as all but the first step goes. */
            for (uint64_t percent = 0; percent * numbers[n] <= 100 * (numbers[n] - 1); percent++) {
                uint64_t spent_ns = whole_ns / 100 * percent;
                uint64_t both_ns = spent_ns + simulate(numbers[n], speeds_ns[s], 0, spent_ns);
                assert_true(both_ns <= whole_ns);
                assert_true(whole_ns - both_ns <= whole_ns / 500 + 100);
            }
        }
}

/* Nor does it matter much that the later steps are slower. */
static void
steps_may_differ(void **state)
{
    uint64_t whole_ns = simulate(4, 1000, 5, 0);

    (void)state;
    for (uint64_t percent = 0; percent <= 40; percent++) {
        uint64_t spent_ns = whole_ns / 100 * percent;
        uint64_t both_ns = spent_ns + simulate(4, 1000, 5, spent_ns);
        assert_in_range(both_ns, whole_ns - whole_ns / 20, whole_ns + whole_ns / 20);
    }
}

static void
never_less_than_the_first_step(void **state)
{
    (void)state;
    assert_int_equal(simulate(4, 1000, 0, UINT64_MAX), (uint64_t)SEGMENT * 1000);
    assert_int_equal(simulate(4, 0, 0, 5), 0);
}

/* Blocks of the memory that are still as they were, in the last slice of each lane and before it.
 */
static void
count_untouched(const struct block *memory, uint32_t lanes, uint32_t lane_blocks, uint32_t out[2])
{
    out[0] = out[1] = 0;
    for (uint32_t lane = 0; lane < lanes; lane++)
        for (uint32_t i = 2; i + 1 < lane_blocks; i++) {
            int is_last = i >= lane_blocks / FILL_SLICES * (FILL_SLICES - 1);
            out[is_last] += memory[(size_t)lane * lane_blocks + i].w[5] == UINT64_MAX;
        }
}

/* In all methods, by all numbers of threads, it ends, and fills no more than it should. */
static void
it_stops_early(void **state)
{
    static const enum fill_method methods[] = {FILL_MHKDF1, FILL_ARGON2D, FILL_ARGON2I,
                                               FILL_ARGON2ID};

    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            struct derive in = {.method = methods[m],
                                .version = 0x13,
                                .memory_kib = 1024,
                                .passes = 1,
                                .lanes = 4,
                                .chain = methods[m] == FILL_MHKDF1 ? 6 : 0,
                                .password = "",
                                .salt = "12345678",
                                .salt_len = 8};
            size_t size = (size_t)derive_size_kib(&in) * 1024;
            struct block *memory = aligned_alloc(64, size);
            struct pace pace = {.spent_ns = UINT64_MAX};
            struct derive_means means = {
                .kernel = derive_kernel(&in), .threads = threads, .memory = memory, .pace = &pace};
            uint32_t untouched[2];
            uint8_t tag[32];

            assert_non_null(memory);
            memset(memory, 0xff, size);
            assert_int_equal(derive_with(&in, &means, tag, sizeof tag), 0);
            count_untouched(memory, in.lanes, 256, untouched);
            assert_int_equal(untouched[0], 4 * 128); /* the second and third slices */
            assert_int_equal(untouched[1], 4 * 63);
            memset(memory, 0xff, size);
            pace.spent_ns = 0;
            assert_int_equal(derive_with(&in, &means, tag, sizeof tag), 0);
            count_untouched(memory, in.lanes, 256, untouched);
            assert_int_equal(untouched[0] + untouched[1], 0);
            free(memory);
        }
}

/* Some part of a slice, by whatever this machine's speed is: nothing is written beside it. */
static void
any_time_will_do(void **state)
{
    const struct mhkdf_cost costs[] = {{MHKDF_METHOD_MHKDF1, 2048, 2, 4, 6},
                                       {MHKDF_METHOD_ARGON2ID, 2048, 2, 3, 0}};
    const struct mhkdf_env env = {.threads = 2};

    (void)state;
    for (uint64_t spent_us = 0; spent_us < 5000; spent_us += 97)
        for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
            assert_int_equal(derive_less(&costs[i], &env, spent_us), 0);
    assert_int_equal(derive_less(&costs[0], &env, UINT64_MAX), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_together_take_as_long_as_the_whole),
        cmocka_unit_test(steps_may_differ),
        cmocka_unit_test(never_less_than_the_first_step),
        cmocka_unit_test(it_stops_early),
        cmocka_unit_test(any_time_will_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
