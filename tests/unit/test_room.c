/* SPDX-License-Identifier: BSD-2-Clause */
/* Who asks whether there is room for a hash's memory, what about swap, and what is done where there
 * is none: the answers are the test's. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "libcore/headroom.h"
#include "libcore/source.h"
#include "pam/dummy.h"
#include "pam/leasing.h"
#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"
#include "policy/anycrypt.h"
#include "policy/newhash.h"
#include "tests/lib/sanitized.h"

#define MEMORY_KIB 2048 /* of our hashes here */
#define YESCRYPT "$y$j75$abcdefghijklmnopqrstu."

static struct {
    int rc; /* what the answer is */
    bool needs_swap;
    unsigned asked;
    uint64_t size_kib;
    unsigned without_swap; /* how often swap was not to count */
    unsigned logged;
    char line[512];
} world;

int __wrap_headroom_check(const struct headroom_need *need, bool *needs_swap,
                          struct mhkdf_memory_report *report);
int
__wrap_headroom_check(const struct headroom_need *need, bool *needs_swap,
                      struct mhkdf_memory_report *report)
{
    assert_null(need->root);
    world.asked++;
    world.size_kib = need->size_kib;
    world.without_swap += need->without_swap;
    if (needs_swap != NULL)
        *needs_swap = world.needs_swap;
    if (world.rc != 0 && report != NULL) {
        report->needed_kib = 4096;
        report->available_kib = 1024;
        strcpy(report->limit, "a limit");
    }
    return world.rc;
}

static int
set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    return 0;
}

static void
expect(unsigned asked, unsigned without_swap)
{
    assert_int_equal(world.asked, asked);
    assert_int_equal(world.without_swap, without_swap);
    world.asked = world.without_swap = 0;
}

static void
expect_report(const struct mhkdf_memory_report *report)
{
    assert_int_equal(report->from, MHKDF_MEMORY_NONE);
    assert_int_equal(report->needed_kib, 4096);
    assert_int_equal(report->available_kib, 1024);
    assert_string_equal(report->limit, "a limit");
}

/* A setting, and a hash made of it. */
static void
make(char setting[MHKDF_STRING_SIZE], char hash[MHKDF_STRING_SIZE])
{
    struct mhkdf_setting parts = {.cost = {MHKDF_METHOD_MHKDF1, MEMORY_KIB, 1, 1, 6},
                                  .salt_len = MHKDF_SALT_DEFAULT};

    memset(parts.salt, 'a', parts.salt_len);
    assert_int_equal(mhkdf_encode(&parts, setting, MHKDF_STRING_SIZE), 0);
    assert_int_equal(mhkdf_crypt("secret", 6, setting, NULL, hash), 0);
    set_up(NULL);
}

/* ---- libcore ------------------------------------------------------------------------- */

static void
new_hashes_do_not_count_on_swap(void **state)
{
    char setting[MHKDF_STRING_SIZE], hash[MHKDF_STRING_SIZE], out[MHKDF_STRING_SIZE];
    const struct mhkdf_env without = {.without_swap = 1};
    const struct mhkdf_cost cost = {MHKDF_METHOD_MHKDF1, MEMORY_KIB, 1, 1, 6};
    const struct mhkdf_input input = {
        .password = "p", .password_len = 1, .salt = "saltsalt", .salt_len = 8};
    uint8_t tag[32];

    (void)state;
    make(setting, hash);
    assert_int_equal(mhkdf_crypt("secret", 6, setting, NULL, out), 0);
    assert_in_range(world.size_kib, MEMORY_KIB, MEMORY_KIB + 64);
    expect(1, 1);
    /* A hash is what is verified. */
    assert_int_equal(mhkdf_crypt("secret", 6, hash, NULL, out), 0);
    expect(1, 0);
    assert_int_equal(mhkdf_verify("secret", 6, hash, NULL), 0);
    expect(1, 0);
    assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, sizeof(tag)), 0);
    expect(1, 0);
    /* Unless the caller says that it can be left out. */
    assert_int_equal(mhkdf_crypt("secret", 6, hash, &without, out), 0);
    assert_int_equal(mhkdf_verify("secret", 6, hash, &without), 0);
    expect(2, 2);
}

static void
no_room_is_an_error(void **state)
{
    char setting[MHKDF_STRING_SIZE], hash[MHKDF_STRING_SIZE], out[MHKDF_STRING_SIZE] = "x";
    struct mhkdf_memory_report report = {.needed_kib = 7};
    const struct mhkdf_env env = {.report = &report};

    (void)state;
    make(setting, hash);
    assert_int_equal(mhkdf_verify("secret", 6, hash, &env), 0);
    assert_int_equal(report.from, MHKDF_MEMORY_PRIVATE);
    assert_int_equal(report.needed_kib, 0);
    assert_string_equal(report.limit, "");
    world.rc = ENOMEM;
    assert_int_equal(mhkdf_verify("secret", 6, hash, &env), ENOMEM);
    expect_report(&report);
    memset(&report, 0, sizeof(report));
    assert_int_equal(mhkdf_crypt("secret", 6, setting, &env, out), ENOMEM);
    expect_report(&report);
    assert_string_equal(out, "");
    assert_int_equal(mhkdf_verify("secret", 6, hash, NULL), ENOMEM);
}

/* What needs swap to fit must not be kept from it: locked, it would get somebody killed. */
static void
what_needs_swap_is_not_locked(void **state)
{
    struct mhkdf_memory_report report;
    const struct mhkdf_env env = {.report = &report};
    struct source source;
    FILE *status;
    char line[256];
    int locked;

    (void)state;
    assert_int_equal(source_get(&source, MEMORY_KIB, &env), 0);
    locked = report.locked;
    assert_int_equal(report.in_swap, 0);
    source_release(&source);
    world.needs_swap = true;
    assert_int_equal(source_get(&source, MEMORY_KIB, &env), 0);
    assert_int_equal(report.in_swap, 1);
    assert_int_equal(report.locked, 0);
    status = fopen("/proc/self/status", "re");
    assert_non_null(status);
    while (fgets(line, sizeof(line), status) != NULL)
        if (strncmp(line, "VmLck:", 6) == 0 && !TEST_IS_SANITIZED) /* there munlock does nothing */
            assert_int_equal(strtoul(line + 6, NULL, 10), 0);
    fclose(status);
    source_release(&source);
    if (!locked)
        print_message("# this process may lock no memory\n");
}

/* ---- methods of libcrypt ------------------------------------------------------------- */

static void
methods_of_libcrypt(void **state)
{
    struct mhkdf_memory_report report = {.size_kib = 7};
    const struct mhkdf_env env = {.report = &report};
    const struct mhkdf_env without = {.report = &report, .without_swap = 1};
    char hash[MHKDF_STRING_SIZE], out[MHKDF_STRING_SIZE] = "x";

    (void)state;
    if (crypt_checksalt("$y$") == CRYPT_SALT_INVALID) {
        print_message("# this libcrypt has no $y$\n");
        return;
    }
    assert_int_equal(anycrypt_hash_in("secret", YESCRYPT, &env, hash), 0);
    assert_int_equal(world.size_kib, 1024);
    expect(1, 1);
    assert_int_equal(report.size_kib, 0);
    assert_int_equal(anycrypt_verify_in("secret", hash, &env), 0);
    assert_int_equal(anycrypt_verify("secret", hash), 0);
    expect(2, 0);
    assert_int_equal(anycrypt_verify_in("secret", hash, &without), 0);
    expect(1, 1);

    world.rc = ENOMEM;
    assert_int_equal(anycrypt_verify_in("secret", hash, &env), ENOMEM);
    expect_report(&report);
    memset(&report, 0, sizeof(report));
    assert_int_equal(anycrypt_hash_in("secret", YESCRYPT, &env, out), ENOMEM);
    expect_report(&report);
    assert_string_equal(out, "");
    assert_int_equal(anycrypt_hash("secret", YESCRYPT, out), ENOMEM);
}

/* What can't be computed anyway is not for want of memory. */
static void
other_errors_come_first(void **state)
{
    char out[MHKDF_STRING_SIZE], longer[600];
    struct mhkdf_memory_report report;
    const struct mhkdf_env env = {.report = &report};

    (void)state;
    world.rc = ENOMEM;
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(anycrypt_hash_in(longer, YESCRYPT, &env, out), ERANGE);
    assert_int_equal(anycrypt_hash_in("secret", "$y$j75$!", &env, out), EINVAL);
    expect(0, 0);
    assert_int_equal(anycrypt_hash_in("secret", "$sm3y$j75$abcdefghijklmnopqrstu.", &env, out),
                     crypt_checksalt("$sm3y$") == CRYPT_SALT_INVALID ? ENOSYS : ENOMEM);
    /* Beyond all reason: libcrypt refuses it. */
    assert_int_equal(anycrypt_hash_in("secret", "$7$z6..../....saltsalt", &env, out), EINVAL);
}

/* ---- new hashes, and such as can be left out ----------------------------------------- */

static void
find_policy(const char *method, struct config_policy *policy)
{
    const struct config config = {.sections = NULL};
    const struct config_who who = {.user = "bob"};
    uint32_t number = 0;
    const char *why;

    config_look_up(&config, &who, policy);
    policy->cost.memory_kib = MEMORY_KIB;
    assert_int_equal(methods_find(method, &number, &why), 0);
    policy->method = methods_get(number);
}

static void
a_new_hash_is_not_replaced_by_a_weaker_one(void **state)
{
    struct mhkdf_memory_report report;
    const struct mhkdf_env env = {.report = &report};
    char out[MHKDF_STRING_SIZE];
    struct config_policy policy;
    const char *why;

    (void)state;
    find_policy("mhkdf", &policy);
    assert_int_equal(newhash_make("secret", &policy, false, &env, out, &why), 0);
    expect(1, 1);
    world.rc = ENOMEM;
    assert_int_equal(newhash_make("secret", &policy, false, &env, out, &why), ENOMEM);
    expect_report(&report);
    expect(1, 1);
    /* Root's: by our method, or $y$ in its place. */
    memset(&report, 0, sizeof(report));
    assert_int_equal(newhash_make("secret", &policy, true, &env, out, &why), ENOMEM);
    expect_report(&report);
    assert_string_equal(out, "");
}

static void
keep_line(void *ctx, int priority, const char *text)
{
    (void)ctx;
    if (priority == LOG_DEBUG)
        return;
    assert_int_equal(priority, LOG_NOTICE);
    world.logged++;
    (void)snprintf(world.line, sizeof(world.line), "%s", text);
}

static void
a_dummy_hash_is_left_out(void **state)
{
    static const char *const methods[] = {"mhkdf", "yescrypt"};
    struct mhkdf_memory_report report;
    struct mhkdf_env env = {.report = &report};
    struct config_policy policy;
    const struct dummy dummy = {
        .policy = &policy, .resources = &env, .password = "secret", .log = keep_line};

    (void)state;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        set_up(NULL);
        find_policy(methods[i], &policy);
        assert_int_equal(dummy_take_time(&dummy, NULL, 0), 0);
        expect(1, 1);
        assert_int_equal(world.logged, 0);
        assert_int_equal(env.without_swap, 0);
        world.rc = ENOMEM;
        assert_int_equal(dummy_take_time(&dummy, NULL, 0), 0);
        expect(1, 1);
        assert_int_equal(world.logged, 1);
        assert_string_equal(world.line, "the dummy hash is left out: not enough memory: 4M needed, "
                                        "1M available (a limit)");
        /* Nor is its second part tried where there was no room for the first. */
        assert_int_equal(dummy_take_time(&dummy, "$6$abcdefgh$x", 5000), 0);
        assert_int_equal(world.logged, 2);
        env.report = NULL;
        assert_int_equal(dummy_take_time(&dummy, NULL, 0), 0);
        env.report = &report;
    }
}

/* ---- what the log says of memory that was had ---------------------------------------- */

void
log_write(pam_handle_t *pamh, int priority, const char *format, ...)
{
    va_list args;

    (void)pamh;
    assert_int_equal(priority, LOG_NOTICE);
    world.logged++;
    va_start(args, format);
    (void)vsnprintf(world.line, sizeof(world.line), format, args);
    va_end(args);
}

void
log_debug(pam_handle_t *pamh, const struct options *options, const char *format, ...)
{
    (void)pamh;
    (void)options;
    (void)format;
}

const char *
place_arena(void)
{
    return NULL;
}

const char *
origin_service(pam_handle_t *pamh)
{
    (void)pamh;
    return NULL;
}

uint32_t
origin_uid(pam_handle_t *pamh)
{
    (void)pamh;
    return 1000;
}

bool
origin_is_console(pam_handle_t *pamh)
{
    (void)pamh;
    return false;
}

static void
memory_that_may_go_to_swap_is_said(void **state)
{
    struct leasing leasing = {.report = {.from = MHKDF_MEMORY_PRIVATE, .size_kib = 65536}};

    (void)state;
    leasing.report.locked = 1;
    leasing_log(NULL, NULL, &leasing);
    assert_int_equal(world.logged, 0);
    leasing.report.locked = 0;
    leasing_log(NULL, NULL, &leasing);
    assert_int_equal(world.logged, 1);
    assert_non_null(strstr(world.line, "RLIMIT_MEMLOCK is 0K"));
    leasing.report.in_swap = 1; /* a higher limit would be of no use */
    leasing_log(NULL, NULL, &leasing);
    assert_int_equal(world.logged, 2);
    assert_string_equal(world.line, "the hash's memory (65536K) isn't locked and may go to swap: "
                                    "without swap there is no room for it");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(new_hashes_do_not_count_on_swap, set_up),
        cmocka_unit_test_setup(no_room_is_an_error, set_up),
        cmocka_unit_test_setup(what_needs_swap_is_not_locked, set_up),
        cmocka_unit_test_setup(methods_of_libcrypt, set_up),
        cmocka_unit_test_setup(other_errors_come_first, set_up),
        cmocka_unit_test_setup(a_new_hash_is_not_replaced_by_a_weaker_one, set_up),
        cmocka_unit_test_setup(a_dummy_hash_is_left_out, set_up),
        cmocka_unit_test_setup(memory_that_may_go_to_swap_is_said, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
