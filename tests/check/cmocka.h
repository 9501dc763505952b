/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * As much of cmocka's interface as the tests of libcore use, for ./check to compile them for other
 * machines (32 bits, big-endian), for which the distribution has no cmocka that fits. The first
 * check that fails ends the test it is in. Prints TAP.
 */
#ifndef TESTS_CHECK_CMOCKA_H
#define TESTS_CHECK_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

static jmp_buf cmocka_failed;

static inline int
cmocka_in_range(uintmax_t value, uintmax_t low, uintmax_t high)
{
    return value >= low && value <= high;
}

#define cmocka_unit_test(f) \
    {                       \
#f, f, NULL, NULL   \
    }
#define cmocka_unit_test_setup(f, s) \
    {                                \
#f, f, s, NULL               \
    }
#define cmocka_unit_test_setup_teardown(f, s, t) \
    {                                            \
#f, f, s, t                              \
    }

#define print_message(...) printf("# " __VA_ARGS__)
#define fail_msg(...)                            \
    do {                                         \
        printf("# %s:%d: ", __FILE__, __LINE__); \
        printf(__VA_ARGS__);                     \
        putchar('\n');                           \
        longjmp(cmocka_failed, 1);               \
    } while (0)
#define assert_true(c)          \
    do {                        \
        if (!(c))               \
            fail_msg("%s", #c); \
    } while (0)
#define assert_false(c) assert_true(!(c))
#define assert_null(p) assert_true((p) == NULL)
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_int_equal(a, b) assert_true((uintmax_t)(a) == (uintmax_t)(b))
#define assert_int_not_equal(a, b) assert_true((uintmax_t)(a) != (uintmax_t)(b))
#define assert_in_range(v, low, high) \
    assert_true(cmocka_in_range((uintmax_t)(v), (uintmax_t)(low), (uintmax_t)(high)))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_string_not_equal(a, b) assert_true(strcmp(a, b) != 0)
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)
#define assert_memory_not_equal(a, b, n) assert_true(memcmp(a, b, n) != 0)

static int
cmocka_run_one(const struct CMUnitTest *test, void *state)
{
    volatile int failed = 1;

    if (setjmp(cmocka_failed) == 0) {
        if (test->setup != NULL && test->setup(&state) != 0)
            fail_msg("setup failed");
        test->test(&state);
        failed = 0;
    }
    if (test->teardown != NULL)
        (void)test->teardown(&state);
    return failed;
}

static inline int
cmocka_run_tests(const struct CMUnitTest *tests, size_t count, int (*setup)(void **state),
                 int (*teardown)(void **state))
{
    void *state = NULL;
    int failures = 0, failed;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("1..%zu\n", count);
    if (setup != NULL && setup(&state) != 0)
        return (int)count;
    for (size_t i = 0; i < count; i++) {
        failed = cmocka_run_one(&tests[i], state);
        printf("%sok %zu - %s\n", failed ? "not " : "", i + 1, tests[i].name);
        failures += failed;
    }
    if (teardown != NULL)
        (void)teardown(&state);
    return failures;
}

#define cmocka_run_group_tests(tests, setup, teardown) \
    cmocka_run_tests(tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

#endif
