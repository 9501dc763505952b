/* SPDX-License-Identifier: BSD-2-Clause */
/* The name service as the installed module asks it. libc's three functions are replaced: they look
 * into texts of the test, with libc's own parser, or fail as they are told to. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pam/names.h"

#define MEMBERS 50000

static struct {
    char *passwd, *group;
    const char *logins; /* what getgrouplist says of bob: numbers */
    int error;          /* of the call that fails */
    const char *call;   /* which one; NULL: none */
    unsigned times;     /* how often, before it goes well */
    unsigned passwd_calls, group_calls, list_calls;
    size_t most; /* the largest buffer */
} world;

static int
fails(const char *call)
{
    if (world.call == NULL || strcmp(world.call, call) != 0 || world.times == 0)
        return 0;
    world.times--;
    return world.error;
}

int __wrap_getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size,
                      struct passwd **out);
int
__wrap_getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size,
                  struct passwd **out)
{
    FILE *file = fmemopen(world.passwd, strlen(world.passwd), "r");
    int rc = fails("passwd");

    world.passwd_calls++;
    *out = NULL;
    assert_non_null(file);
    while (rc == 0 && (rc = fgetpwent_r(file, entry, buffer, size, out)) == 0) {
        if (strcmp(entry->pw_name, name) == 0)
            break;
    }
    fclose(file);
    if (rc != 0)
        *out = NULL;
    return rc == ENOENT && world.call == NULL ? 0 : rc;
}

int __wrap_getgrnam_r(const char *name, struct group *entry, char *buffer, size_t size,
                      struct group **out);
int
__wrap_getgrnam_r(const char *name, struct group *entry, char *buffer, size_t size,
                  struct group **out)
{
    FILE *file = fmemopen(world.group, strlen(world.group), "r");
    int rc = fails("group");

    world.group_calls++;
    if (size > world.most)
        world.most = size;
    *out = NULL;
    assert_non_null(file);
    while (rc == 0 && (rc = fgetgrent_r(file, entry, buffer, size, out)) == 0) {
        if (strcmp(entry->gr_name, name) == 0)
            break;
    }
    fclose(file);
    if (rc != 0)
        *out = NULL;
    return rc == ENOENT && world.call == NULL ? 0 : rc;
}

int __wrap_getgrouplist(const char *user, gid_t primary, gid_t *gids, int *count);
int
__wrap_getgrouplist(const char *user, gid_t primary, gid_t *gids, int *count)
{
    const char *text = strcmp(user, "bob") == 0 ? world.logins : "";
    int room = *count, found = 0;
    char *end;

    world.list_calls++;
    if (fails("grouplist") != 0)
        return -1;
    if (room > 0)
        gids[0] = primary;
    found++;
    for (; *text != '\0'; text = end + (*end == ' '), found++) {
        gid_t gid = (gid_t)strtoul(text, &end, 10);
        if (found < room)
            gids[found] = gid;
    }
    *count = found;
    return found > room ? -1 : found;
}

static char *
huge_group(void)
{
    char *text = malloc((size_t)MEMBERS * 64), *p = text;

    assert_non_null(text);
    p += sprintf(p, "huge:x:77:");
    for (unsigned i = 0; i < MEMBERS; i++)
        p += sprintf(p, "%sa-rather-long-name-of-a-member-%05u", i == 0 ? "" : ",", i);
    sprintf(p, ",last\nafter:x:78:bob\n");
    return text;
}

static int
set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    world.logins = "";
    world.passwd = strdup("root:x:0:0::/:\nbob:x:1000:100::/:\nnumber:x:1001:4711::/:\n"
                          "last:x:1002:100::/:\n");
    world.group = strdup("root:x:0:\nadm:x:4:bob,last\nempty:x:5:\nusers:x:100:\n"
                         "domain users:x:200:bob\nbücher:x:201:bob\nadmin:x:6:bobby,bo\n");
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    free(world.passwd);
    free(world.group);
    return 0;
}

static void
members(void **unused)
{
    static const struct {
        const char *user, *group, *logins;
        int expected;
    } cases[] = {
        {"bob", "adm", "", 0},
        {"last", "adm", "", 0},
        {"root", "adm", "", ENOENT},
        {"bob", "users", "", 0}, /* the primary one */
        {"root", "users", "", ENOENT},
        {"bob", "empty", "", ENOENT},
        {"bob", "empty", "5", 0}, /* of which nobody is listed */
        {"bob", "empty", "6 7 5 8", 0},
        {"bob", "empty", "55 4", ENOENT},
        {"root", "empty", "5", ENOENT},
        {"bob", "admin", "", ENOENT}, /* names that are part of each other */
        {"bob", "ad", "", ENOENT},
        {"bob", "admi", "", ENOENT},
        {"number", "users", "", ENOENT}, /* whose group has no name */
        {"number", "4711", "", ENOENT},
        {"bob", "100", "", ENOENT},
        {"bob", "domain users", "", 0},
        {"bob",
         "b\xc3\xbc"
         "cher",
         "", 0},
        {"bob", "nosuch", "5", ENOENT},
        {"nobody-here", "adm", "", ENOENT},
        {"nobody-here", "users", "", ENOENT},
    };

    uint32_t uid = 0;

    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        world.logins = cases[i].logins;
        rc = names_find_member(cases[i].user, cases[i].group);
        if (rc != cases[i].expected)
            fail_msg("case %zu: %d", i, rc);
    }
    assert_int_equal(names_find_user("bob"), 0);
    assert_int_equal(names_find_user("bo"), ENOENT);
    assert_int_equal(names_find_uid("last", &uid), 0);
    assert_int_equal(uid, 1002);
    assert_int_equal(names_find_uid("bo", &uid), ENOENT);
    assert_int_equal(uid, 1002);
}

static void
very_large_groups(void **unused)
{
    char numbers[1200] = "", *p = numbers;

    (void)unused;
    free(world.group);
    world.group = huge_group();
    assert_int_equal(names_find_member("last", "huge"), 0);
    assert_in_range(world.most, (size_t)MEMBERS * 40, 16 * 1024 * 1024);
    assert_int_equal(names_find_member("a-rather-long-name-of-a-member-49999", "huge"), 0);
    assert_int_equal(names_find_member("root", "huge"), ENOENT);
    /* a user with more groups than most have; the last counts */
    for (unsigned i = 0; i < 200; i++)
        p += sprintf(p, "%u ", 1000 + i);
    sprintf(p, "77");
    world.logins = numbers;
    assert_int_equal(names_find_member("bob", "huge"), 0);
    /* one that never fits */
    world.call = "group";
    world.error = ERANGE;
    world.times = 1000;
    assert_int_equal(names_find_member("bob", "huge"), ERANGE);
    assert_in_range(world.times, 900, 1000);
    assert_int_equal(world.most, 16 * 1024 * 1024);
}

/* Nobody can tell: neither yes nor no. */
static void
sources_that_fail(void **unused)
{
    static const int errors[] = {EIO, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR, ECONNREFUSED};

    (void)unused;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        world.error = errors[i];
        world.call = "passwd";
        world.times = 1000;
        assert_int_equal(names_find_user("carol"), errors[i]);
        assert_int_equal(names_find_member("carol", "users"), errors[i]);
        assert_int_equal(names_find_member("bob", "adm"), 0); /* for that it isn't needed */
        world.call = "group";
        world.times = 1000;
        assert_int_equal(names_find_member("carol", "adm"), errors[i]);
        assert_int_equal(names_find_user("bob"), 0);
    }
    world.call = "grouplist";
    world.times = 1;
    assert_int_equal(names_find_member("bob", "empty"), ENOMEM);
}

/* What is said where there is nothing, or no such source. */
static void
other_ways_to_say_no(void **unused)
{
    static const int errors[] = {ENOENT, ESRCH};

    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        world.error = errors[i];
        world.call = "passwd";
        world.times = 1000;
        assert_int_equal(names_find_user("carol"), ENOENT);
        assert_int_equal(names_find_member("carol", "users"), ENOENT);
        world.call = "group";
        assert_int_equal(names_find_member("carol", "adm"), ENOENT);
    }
}

static void
signals_are_asked_over(void **unused)
{
    static const char *const calls[] = {"passwd", "group"};

    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        world.error = EINTR;
        world.call = calls[i];
        world.times = 3;
        assert_int_equal(names_find_member("bob", "users"), 0);
        assert_int_equal(world.times, 0);
    }
    /* As many are asked about one who isn't there: time doesn't tell. */
    world.call = NULL;
    world.passwd_calls = world.group_calls = world.list_calls = 0;
    assert_int_equal(names_find_member("root", "users"), ENOENT);
    assert_int_equal(names_find_member("nobody-here", "users"), ENOENT);
    assert_int_equal(world.passwd_calls, 2);
    assert_int_equal(world.group_calls, 2);
    assert_int_equal(world.list_calls, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_large_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sources_that_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_ways_to_say_no, set_up, tear_down),
        cmocka_unit_test_setup_teardown(signals_are_asked_over, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
