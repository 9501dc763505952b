/* SPDX-License-Identifier: BSD-2-Clause */
/* MHKDF_CPU in test builds: linked with kernel.c compiled with MHKDF_TESTING. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "libcore/kernel.h"
#include "libcore/mhkdf.h"

/* SPEC.md section 7, c = 6. */
static const uint8_t TAG[32] = {0x5d, 0x18, 0xb7, 0xa4, 0xa7, 0xdb, 0x1e, 0x7b, 0xdd, 0x91, 0x62,
                                0x67, 0x27, 0xa1, 0x80, 0x34, 0x13, 0xad, 0x4b, 0x94, 0x91, 0xb4,
                                0x3f, 0xb1, 0x08, 0x62, 0xa4, 0x9b, 0x8c, 0x3a, 0x5c, 0x21};

/* In a process of its own, since the choice is made once: with name in the environment (NULL: not
 * set), all modes get expected, and the hash is right. */
static void
assert_forces(const char *name, const struct kernel *const expected[KERNEL_MODES])
{
    static const struct mhkdf_cost cost = {MHKDF_METHOD_MHKDF1, 64, 2, 4, 6};
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        uint8_t tag[32], ones[32], twos[16];
        struct mhkdf_input input = {
            .password = ones, .password_len = sizeof ones, .salt = twos, .salt_len = sizeof twos};
        int right = name == NULL ? unsetenv("MHKDF_CPU") == 0 : setenv("MHKDF_CPU", name, 1) == 0;
        memset(ones, 1, sizeof ones);
        memset(twos, 2, sizeof twos);
        right &= mhkdf_derive(&cost, &input, 1, tag, sizeof tag) == 0 &&
                 memcmp(tag, TAG, sizeof tag) == 0;
        for (int mode = 0; mode < KERNEL_MODES; mode++)
            right &= kernel_get((enum kernel_mode)mode) == expected[mode];
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("MHKDF_CPU=%s", name == NULL ? "(unset)" : name);
}

static void
each_kernel(void **state)
{
    (void)state;
    for (size_t i = 0; kernel_all[i] != NULL; i++) {
        const struct kernel *expected[KERNEL_MODES] = {NULL};
        for (int mode = 0; mode < KERNEL_MODES && kernel_all[i]->is_supported(); mode++)
            expected[mode] = kernel_all[i];
        assert_forces(kernel_all[i]->name, expected);
    }
}

static void
portable_code(void **state)
{
    static const struct kernel *const none[KERNEL_MODES] = {NULL};

    (void)state;
    assert_forces("portable", none);
    assert_forces("a kernel of that name isn't there", none);
}

static void
unset(void **state)
{
    const struct kernel *expected[KERNEL_MODES];

    (void)state;
    for (int mode = 0; mode < KERNEL_MODES; mode++)
        expected[mode] = kernel_choose(kernel_all, (enum kernel_mode)mode, NULL);
    assert_forces(NULL, expected);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel),
        cmocka_unit_test(portable_code),
        cmocka_unit_test(unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
