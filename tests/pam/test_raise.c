/* SPDX-License-Identifier: BSD-2-Clause */
/* Raising limits and putting them back, by a process that may raise them beyond the hard ones and
 * by one that may not: what the kernel would say is the test's. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "pam/limits.h"
#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"

#define INFINITE RLIM_INFINITY

static struct {
    uint32_t origin_uid;
    bool may_raise; /* CAP_SYS_RESOURCE */
    struct rlimit limits[RLIM_NLIMITS];
    unsigned sets;
    unsigned logged;
} world;

uint32_t
origin_uid(pam_handle_t *pamh)
{
    (void)pamh;
    errno = E2BIG;
    return world.origin_uid;
}

bool
place_may_raise_limits(void)
{
    return true;
}

void
log_write(pam_handle_t *pamh, int priority, const char *format, ...)
{
    (void)pamh;
    (void)priority;
    (void)format;
    world.logged++;
}

int __wrap_getrlimit(int which, struct rlimit *limit);
int
__wrap_getrlimit(int which, struct rlimit *limit)
{
    *limit = world.limits[which];
    return 0;
}

int __wrap_setrlimit(int which, const struct rlimit *limit);
int
__wrap_setrlimit(int which, const struct rlimit *limit)
{
    world.sets++;
    if (limit->rlim_cur > limit->rlim_max) {
        errno = EINVAL;
        return -1;
    }
    if (limit->rlim_max > world.limits[which].rlim_max && !world.may_raise) {
        errno = EPERM;
        return -1;
    }
    world.limits[which] = *limit;
    return 0;
}

static const int raised[] = {RLIMIT_DATA, RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NOFILE};
#define RAISED (sizeof(raised) / sizeof(raised[0]))

static void
set_all(rlim_t soft, rlim_t hard)
{
    size_t i;

    for (i = 0; i < RLIM_NLIMITS; i++)
        world.limits[i] = (struct rlimit){soft, hard};
}

static int
set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    world.origin_uid = 1000;
    world.may_raise = true;
    set_all(5, 10);
    return 0;
}

static void
assert_limit(int which, rlim_t soft, rlim_t hard)
{
    assert_true(world.limits[which].rlim_cur == soft);
    assert_true(world.limits[which].rlim_max == hard);
}

/* Those that aren't raised, or all. */
static void
assert_as_before(bool all)
{
    int which;
    size_t i;

    for (which = 0; which < RLIM_NLIMITS; which++) {
        bool is_raised = false;
        for (i = 0; i < RAISED; i++)
            is_raised |= raised[i] == which;
        if (all || !is_raised)
            assert_limit(which, 5, 10);
    }
}

static void
all_are_raised_and_put_back(void **unused)
{
    bool done;

    (void)unused;
    errno = ERANGE;
    done = limits_raise(NULL);
    assert_true(done);
    assert_int_equal(errno, ERANGE);
    assert_limit(RLIMIT_DATA, INFINITE, INFINITE);
    assert_limit(RLIMIT_AS, INFINITE, INFINITE);
    assert_limit(RLIMIT_FSIZE, INFINITE, INFINITE);
    assert_true(world.limits[RLIMIT_NOFILE].rlim_cur >= 64);
    assert_true(world.limits[RLIMIT_NOFILE].rlim_cur < 10000);
    assert_as_before(false);
    errno = ERANGE;
    limits_restore(done);
    assert_int_equal(errno, ERANGE);
    assert_as_before(true);
}

/* As in a user namespace. */
static void
up_to_the_hard_ones_without_the_right(void **unused)
{
    bool done;
    size_t i;

    (void)unused;
    world.may_raise = false;
    done = limits_raise(NULL);
    for (i = 0; i < RAISED; i++)
        assert_limit(raised[i], 10, 10);
    assert_as_before(false);
    limits_restore(done);
    assert_as_before(true);
    set_all(10, 10);
    done = limits_raise(NULL);
    limits_restore(done);
    for (i = 0; i < RAISED; i++)
        assert_limit(raised[i], 10, 10);
}

static void
roots_are_left_alone(void **unused)
{
    bool done;

    (void)unused;
    world.origin_uid = 0;
    done = limits_raise(NULL);
    assert_false(done);
    limits_restore(done);
    assert_int_equal(world.sets, 0);
    assert_as_before(true);
}

static void
high_ones_are_left_alone(void **unused)
{
    bool done;

    (void)unused;
    set_all(INFINITE, INFINITE);
    world.limits[RLIMIT_NOFILE] = (struct rlimit){65536, 100000};
    done = limits_raise(NULL);
    limits_restore(done);
    assert_int_equal(world.sets, 0);
}

/* Of two threads, say. The last one restores, whoever it is. */
static void
several_share_them(void **unused)
{
    bool first, second;

    (void)unused;
    first = limits_raise(NULL);
    second = limits_raise(NULL);
    limits_restore(first);
    assert_limit(RLIMIT_DATA, INFINITE, INFINITE);
    first = limits_raise(NULL);
    limits_restore(second);
    assert_limit(RLIMIT_DATA, INFINITE, INFINITE);
    limits_restore(first);
    assert_as_before(true);
}

static void
what_the_host_sets_meanwhile_stays(void **unused)
{
    bool done;

    (void)unused;
    done = limits_raise(NULL);
    world.limits[RLIMIT_DATA] = (struct rlimit){7, 8};
    limits_restore(done);
    assert_limit(RLIMIT_DATA, 7, 8);
    assert_limit(RLIMIT_AS, 5, 10);
}

static void
what_ends_a_login(void **unused)
{
    static const int ends[] = {ENOMEM, EMFILE, ENFILE, EAGAIN};
    static const int others[] = {0, EINVAL, ENOENT, EACCES, EPERM, EIO, EKEYREJECTED, EBUSY};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        assert_true(limits_end_login(NULL, ends[i]));
    assert_int_equal(world.logged, i);
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(limits_end_login(NULL, others[i]));
    world.origin_uid = 0;
    for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        assert_false(limits_end_login(NULL, ends[i]));
    assert_int_equal(world.logged, i);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_are_raised_and_put_back, set_up),
        cmocka_unit_test_setup(up_to_the_hard_ones_without_the_right, set_up),
        cmocka_unit_test_setup(roots_are_left_alone, set_up),
        cmocka_unit_test_setup(high_ones_are_left_alone, set_up),
        cmocka_unit_test_setup(several_share_them, set_up),
        cmocka_unit_test_setup(what_the_host_sets_meanwhile_stays, set_up),
        cmocka_unit_test_setup(what_ends_a_login, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
