/* SPDX-License-Identifier: BSD-2-Clause */
/* How many lines of one kind mhkdf-arenad writes. Time is the test's own. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena/log.h"

static char said[512];

/* What log_limit_tell writes; "" for nothing. */
static const char *
tell(struct log_limit *limit, uint64_t now_ms, bool at_the_end)
{
    int ends[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    log_limit_tell(limit, now_ms, at_the_end, "apples");
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    (void)close(saved);
    (void)close(ends[1]);
    n = read(ends[0], said, sizeof(said) - 1);
    assert_true(n >= 0);
    said[n] = '\0';
    (void)close(ends[0]);
    return said;
}

static unsigned
allowed(struct log_limit *limit, uint64_t now_ms, unsigned lines)
{
    unsigned count = 0;

    while (lines-- > 0)
        count += log_limit_allows(limit, now_ms);
    return count;
}

static void
so_many_in_a_span(void **state)
{
    struct log_limit limit = {0};
    uint64_t now_ms = 5;

    (void)state;
    assert_int_equal(allowed(&limit, now_ms, LOG_LINES_MAX), LOG_LINES_MAX);
    assert_true(log_limit_deadline(&limit) == UINT64_MAX);
    assert_int_equal(allowed(&limit, now_ms + 1, 18328), 0);
    assert_true(log_limit_deadline(&limit) == now_ms + LOG_SPAN_MS);
    assert_string_equal(tell(&limit, now_ms + LOG_SPAN_MS - 1, false), "");
    assert_non_null(strstr(tell(&limit, now_ms + LOG_SPAN_MS, false), "18328 more apples\n"));
    assert_string_equal(tell(&limit, now_ms + LOG_SPAN_MS, true), "");
    assert_true(log_limit_deadline(&limit) == UINT64_MAX);
    assert_int_equal(allowed(&limit, now_ms + LOG_SPAN_MS, 100), LOG_LINES_MAX);
    assert_non_null(strstr(tell(&limit, now_ms + LOG_SPAN_MS, true), "90 more apples\n"));
}

static void
few_are_all_written(void **state)
{
    struct log_limit limit = {0};

    (void)state;
    for (uint64_t now_ms = 0; now_ms < 100 * LOG_SPAN_MS; now_ms += LOG_SPAN_MS / 10)
        assert_true(log_limit_allows(&limit, now_ms));
    assert_string_equal(tell(&limit, UINT64_MAX, true), "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_in_a_span),
        cmocka_unit_test(few_are_all_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
