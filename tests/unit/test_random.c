/* SPDX-License-Identifier: BSD-2-Clause */
/* Random bytes with and without getrandom(2), and salts made of them. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/types.h>

#include "libcore/mhkdf.h"

static int getrandom_error, open_error;
static size_t getrandom_most;

ssize_t __real_getrandom(void *, size_t, unsigned);
ssize_t __wrap_getrandom(void *, size_t, unsigned);
int __real_open(const char *, int, ...);
int __wrap_open(const char *, int, ...);
int __wrap_open64(const char *, int, ...);

ssize_t
__wrap_getrandom(void *buf, size_t len, unsigned flags)
{
    if (getrandom_error != 0) {
        errno = getrandom_error;
        if (getrandom_error == EINTR)
            getrandom_error = 0;
        return -1;
    }
    return __real_getrandom(buf, getrandom_most != 0 && len > getrandom_most ? getrandom_most : len,
                            flags);
}

int
__wrap_open(const char *path, int flags, ...)
{
    if (open_error != 0) {
        errno = open_error;
        return -1;
    }
    return __real_open(path, flags);
}

int
__wrap_open64(const char *path, int flags, ...)
{
    return __wrap_open(path, flags);
}

static int
reset(void **state)
{
    (void)state;
    getrandom_error = open_error = 0;
    getrandom_most = 0;
    return 0;
}

/* Twice 1,000 bytes: different, and without a run of 8 zeros. */
static void
check_random(void)
{
    static const uint8_t zeros[8];
    uint8_t a[1002], b[1000];

    memset(a, 0, sizeof a);
    assert_int_equal(mhkdf_random(a + 1, 1000), 0);
    assert_int_equal(mhkdf_random(b, 1000), 0);
    assert_memory_not_equal(a + 1, b, 1000);
    assert_null(memmem(a + 1, 1000, zeros, sizeof zeros));
    assert_int_equal(a[0], 0);
    assert_int_equal(a[1001], 0);
}

static void
plain(void **state)
{
    (void)state;
    check_random();
    assert_int_equal(mhkdf_random(NULL, 0), 0);
}

static void
interrupted_and_short(void **state)
{
    (void)state;
    getrandom_error = EINTR;
    getrandom_most = 7;
    check_random();
}

static void
no_getrandom(void **state)
{
    (void)state;
    getrandom_error = ENOSYS;
    check_random();
}

static void
nothing_at_all(void **state)
{
    uint8_t buf[32];
    char out[192] = "#";

    (void)state;
    getrandom_error = EPERM;
    open_error = EACCES;
    memset(buf, 1, sizeof buf);
    assert_int_equal(mhkdf_random(buf, sizeof buf), EACCES);
    for (size_t i = 0; i < sizeof buf; i++)
        assert_int_equal(buf[i], 0);
    assert_int_equal(mhkdf_gensalt("$mhkdf$", 1, NULL, 0, out, sizeof out), EACCES);
    assert_string_equal(out, "");
}

static void
salts_differ(void **state)
{
    char a[192], b[192];

    (void)state;
    assert_int_equal(mhkdf_gensalt("$mhkdf$", 0, NULL, 0, a, sizeof a), 0);
    assert_int_equal(mhkdf_gensalt("$mhkdf$", 0, NULL, 0, b, sizeof b), 0);
    assert_string_not_equal(a, b);
    assert_memory_equal(a, "$mhkdf$m64M.t1.p4.c6$", 21);
}

static void
equal_and_wipe(void **state)
{
    char a[100] = "abc", b[100] = "abc";

    (void)state;
    assert_int_equal(mhkdf_equal(a, b, sizeof a), 1);
    assert_int_equal(mhkdf_equal(NULL, NULL, 0), 1);
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] ^= (char)(1 << i % 8);
        assert_int_equal(mhkdf_equal(a, b, sizeof a), 0);
        b[i] ^= (char)(1 << i % 8);
    }
    mhkdf_wipe(a, 2);
    assert_int_equal(a[0] | a[1], 0);
    assert_int_equal(a[2], 'c');
    mhkdf_wipe(NULL, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(plain, reset),
        cmocka_unit_test_setup(interrupted_and_short, reset),
        cmocka_unit_test_setup(no_getrandom, reset),
        cmocka_unit_test_setup(nothing_at_all, reset),
        cmocka_unit_test_setup(salts_differ, reset),
        cmocka_unit_test_setup(equal_and_wipe, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
