/* SPDX-License-Identifier: BSD-2-Clause */
/* What an upgrade does about things that happen while it computes, which no program outside can
 * bring about at the right moment: hashing and storing are the test's. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pam/leasing.h"
#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"
#include "pam/upgrade.h"
#include "policy/newhash.h"
#include "policy/shadow.h"

#define OLD "$1$abcdefgh$4ZSLG6E7MkrynLQI3Tv941"
#define NEW "$mhkdf$new"

static struct {
    const char *etc;
    uint32_t wait_ms;    /* that mhkdf.conf allows */
    int hash_rc;         /* what hashing gives */
    const char *why;     /* and why it isn't what was asked for */
    int store_rc;        /* what storing gives */
    bool is_short;       /* hashing finds no room for its memory */
    uint32_t origin_uid; /* who is behind the program */
    unsigned hashed, stored;
    uint32_t waited_ms; /* how long hashing might have waited */
    struct shadow_change change;
    unsigned logged, debugged;
    char line[512];
} world;

void
log_write(pam_handle_t *pamh, int priority, const char *format, ...)
{
    va_list args;

    (void)pamh;
    (void)priority;
    world.logged++;
    va_start(args, format);
    vsnprintf(world.line, sizeof(world.line), format, args);
    va_end(args);
}

void
log_debug(pam_handle_t *pamh, const struct options *options, const char *format, ...)
{
    (void)pamh;
    (void)options;
    (void)format;
    world.debugged++;
}

void
leasing_plan(pam_handle_t *pamh, const struct config_policy *policy, uint32_t account_uid,
             struct leasing *out)
{
    (void)pamh;
    (void)account_uid;
    memset(out, 0, sizeof(*out));
    out->arena.wait_ms = policy->wait_ms;
    out->resources.arena = &out->arena;
    out->resources.report = &out->report;
}

void
leasing_log(pam_handle_t *pamh, const struct options *options, const struct leasing *leasing)
{
    (void)pamh;
    (void)options;
    (void)leasing;
}

const char *
place_etc(void)
{
    return world.etc;
}

uint32_t
place_apart_uid(void)
{
    return 4711;
}

uint32_t
origin_uid(pam_handle_t *pamh)
{
    (void)pamh;
    return world.origin_uid;
}

int __wrap_newhash_make(const char *password, const struct config_policy *policy, bool for_root,
                        const struct mhkdf_env *resources, char out[MHKDF_STRING_SIZE],
                        const char **why);
int
__wrap_newhash_make(const char *password, const struct config_policy *policy, bool for_root,
                    const struct mhkdf_env *resources, char out[MHKDF_STRING_SIZE],
                    const char **why)
{
    (void)password;
    (void)policy;
    (void)for_root;
    world.hashed++;
    world.waited_ms = resources->arena->wait_ms;
    if (world.is_short) {
        resources->report->needed_kib = 67624;
        resources->report->available_kib = 22000;
        strcpy(resources->report->limit, "RLIMIT_AS = 1K");
    }
    *why = world.why;
    snprintf(out, MHKDF_STRING_SIZE, "%s", NEW);
    return world.hash_rc;
}

int __wrap_shadow_change(const char *etc_dir, const struct shadow_change *change);
int
__wrap_shadow_change(const char *etc_dir, const struct shadow_change *change)
{
    (void)etc_dir;
    world.stored++;
    world.change = *change;
    assert_string_equal(change->name, "bob");
    assert_string_equal(change->old_hash, OLD);
    assert_string_equal(change->new_hash, NEW);
    assert_false(change->set_last_change);
    return world.store_rc;
}

/* One upgrade, and whether account says afterwards what shadow has. */
static bool
upgrade(const char *method, const char *password)
{
    const struct options options = {.debug = true};
    const struct config config = {.sections = NULL};
    const struct config_who who = {.user = "bob"};
    struct config_policy policy;
    struct account account = {.hash = strdup(OLD), .uid = 1000, .shadowed = true};
    const char *why;
    uint32_t number = 0;
    bool is_upgraded;

    config_look_up(&config, &who, &policy);
    if (method != NULL) {
        assert_int_equal(methods_find(method, &number, &why), 0);
        policy.method = methods_get(number);
    }
    policy.wait_ms = world.wait_ms;
    is_upgraded = upgrade_run(NULL, &options, &policy, "bob", &account, password);
    assert_string_equal(account.hash, is_upgraded ? NEW : OLD);
    account_free(&account);
    return is_upgraded;
}

static int
set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    world.etc = ".";
    world.wait_ms = 10000;
    return 0;
}

static void
all_goes_well(void **unused)
{
    (void)unused;
    assert_true(upgrade(NULL, "S3cret word"));
    assert_int_equal(world.stored, 1);
    assert_int_equal(world.logged, 1);
    assert_non_null(strstr(world.line, "has been upgraded"));
    assert_in_range(world.change.wait_ms, 100, 500);
}

/* Who isn't root could stop this process with the lock held. */
static void
users_change_shadow_in_a_child(void **unused)
{
    (void)unused;
    assert_true(upgrade(NULL, "S3cret word"));
    assert_false(world.change.apart);
    world.origin_uid = 1000;
    assert_true(upgrade(NULL, "S3cret word"));
    assert_true(world.change.apart);
    assert_int_equal(world.change.apart_uid, 4711);
}

/* A login that has waited for a slot doesn't wait as long for a second one. */
static void
second_wait_is_short(void **unused)
{
    static const uint32_t waits[][2] = {
        {10000, 1000}, {1001, 1000}, {1000, 1000}, {50, 50}, {0, 0}};

    (void)unused;
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        world.wait_ms = waits[i][0];
        assert_true(upgrade(NULL, "S3cret word"));
        assert_int_equal(world.waited_ms, waits[i][1]);
    }
}

/* What was made for root in place of what was asked for is never stored at a login. */
static void
other_hash_than_was_planned(void **unused)
{
    (void)unused;
    world.why = "libcrypt was replaced";
    assert_false(upgrade(NULL, "S3cret word"));
    assert_int_equal(world.hashed, 1);
    assert_int_equal(world.stored, 0);
    assert_int_equal(world.logged, 1);
}

static void
failures_are_logged_once(void **unused)
{
    static const struct {
        int hash_rc, store_rc;
        const char *line; /* NULL: for who wants to debug alone */
    } cases[] = {
        {ENOMEM, 0, "isn't upgraded: %m"},
        {EBUSY, 0, "isn't upgraded: all of the arena is in use: %m"},
        {0, ETIMEDOUT, "isn't upgraded: shadow is locked: %m"},
        {0, ENOSPC, "isn't upgraded: %m"},
        {0, EBUSY, "isn't upgraded: shadow can't be replaced, as where it is a mount point: %m"},
        {0, ETXTBSY, "isn't upgraded: somebody keeps changing shadow without its lock: %m"},
        {ETXTBSY, 0, "isn't upgraded: %m"},
        {0, EAGAIN, "isn't upgraded: %m"},
        {0, EPERM, "isn't upgraded: %m"},
        {0, ETIME, "isn't upgraded: %m"},
        {0, ESTALE, NULL},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char expected[512], line[512];
        int rc = cases[i].hash_rc != 0 ? cases[i].hash_rc : cases[i].store_rc;
        set_up(NULL);
        world.hash_rc = cases[i].hash_rc;
        world.store_rc = cases[i].store_rc;
        assert_false(upgrade(NULL, "S3cret word"));
        assert_int_equal(world.stored, cases[i].hash_rc == 0);
        assert_int_equal(world.logged, cases[i].line != NULL);
        assert_int_equal(world.debugged, cases[i].line == NULL);
        if (cases[i].line == NULL)
            continue;
        snprintf(line, sizeof(line), "the hash of bob %.*s", (int)strlen(cases[i].line) - 2,
                 cases[i].line);
        snprintf(expected, sizeof(expected), "%s%s", line, strerror(rc));
        assert_string_equal(world.line, expected);
    }
}

static void
no_room_is_said_once(void **unused)
{
    (void)unused;
    world.is_short = true;
    world.hash_rc = ENOMEM;
    assert_false(upgrade(NULL, "S3cret word"));
    assert_int_equal(world.stored, 0);
    assert_int_equal(world.logged, 1);
    assert_string_equal(
        world.line, "the hash of bob isn't upgraded: not enough memory: 67M needed, 21M "
                    "available (RLIMIT_AS = 1K); \"memory = ...\" in mhkdf.conf changes what is "
                    "needed");
}

/* The old method looked at all of the password; the new one has to, too. */
static void
new_method_has_to_see_all(void **unused)
{
    char password[80];

    (void)unused;
    memset(password, 'x', sizeof(password));
    password[72] = '\0';
    assert_true(upgrade("bcrypt", password));
    password[72] = 'x';
    password[73] = '\0';
    assert_false(upgrade("bcrypt", password));
    assert_int_equal(world.hashed, 1);
    assert_non_null(strstr(world.line, "the new method wouldn't look at all"));
    assert_true(upgrade(NULL, password));
}

/* Programs that can't write to shadow don't complain; what else is in the way is said, and nothing
 * is computed in vain. */
static void
folder_that_cant_be_written(void **unused)
{
    bool root = geteuid() == 0, is_upgraded;

    (void)unused;
    world.etc = "/nonexistent/folder";
    assert_false(upgrade(NULL, "S3cret word"));
    assert_int_equal(world.logged, 1);
    assert_int_equal(world.hashed, 0);
    set_up(NULL);
    world.etc = "/";
    if (root)
        assert_int_equal(seteuid(65534), 0);
    is_upgraded = upgrade(NULL, "S3cret word");
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_false(is_upgraded);
    assert_int_equal(world.logged, 0);
    assert_int_equal(world.debugged, 1);
    assert_int_equal(world.hashed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_goes_well, set_up),
        cmocka_unit_test_setup(users_change_shadow_in_a_child, set_up),
        cmocka_unit_test_setup(second_wait_is_short, set_up),
        cmocka_unit_test_setup(other_hash_than_was_planned, set_up),
        cmocka_unit_test_setup(failures_are_logged_once, set_up),
        cmocka_unit_test_setup(no_room_is_said_once, set_up),
        cmocka_unit_test_setup(new_method_has_to_see_all, set_up),
        cmocka_unit_test_setup(folder_that_cant_be_written, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
