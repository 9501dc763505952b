/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom mhkdf.conf locks out. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "policy/lockout.h"
#include "tests/lib/scratch.h"

#define SALT "AAAAAAAAAAAAAAAAAAAAAA"
#define TAG "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define OF(cost) "$mhkdf$" cost ".p1.c6$" SALT "$" TAG

static char folder[] = "/tmp/mhkdf-lockout-XXXXXX";

static void
put(const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static long answer_ms; /* how long a name service takes for one */

/* Only eve is in any group, and that is adm. */
static bool
in_group(void *ctx, const char *user, const char *group)
{
    const struct timespec time = {0, answer_ms * 1000000};

    nanosleep(&time, NULL);
    assert_ptr_equal(ctx, folder);
    return strcmp(user, "eve") == 0 && strcmp(group, "adm") == 0;
}

static const char *
find(const char *conf, enum lockout_reason reason)
{
    static struct lockout found;
    struct config config;
    struct config_error error;
    struct lockout_query query = {folder, &config, reason, in_group, folder};
    char path[128];

    snprintf(path, sizeof(path), "%s/conf", folder);
    put("conf", conf);
    if (config_load(path, getuid(), true, &config, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(lockout_find(&query, &found), 0);
    config_free(&config);
    assert_int_equal(found.count == 0, found.names[0] == '\0');
    return found.names;
}

static int
set_up(void **unused)
{
    (void)unused;
    put("passwd", "root:x:0:0:::\nanna:x:1000:1000:::\nbob:x:1001:1001:::\neve:x:1002:1002:::\n"
                  "lost:x:1003:1003:::\nold:x:1004:1004:::\nfive:x:1005:1005:::\n");
    put("shadow",
        "root:" OF(
            "m64M.t1") ":1::::::\n"
                       "anna:" OF(
                           "m64M.t1") ":1::::::\n"
                                      "bob:" OF(
                                          "m8M.t9") ":1::::::\n"
                                                    "eve:" OF(
                                                        "m2M.t1") ":1::::::\n"
                                                                  "lost:!" OF(
                                                                      "m64M.t1") ":1::::::\n"
                                                                                 "gone:" OF(
                                                                                     "m64M.t1") ":1"
                                                                                                "::"
                                                                                                "::"
                                                                                                "::"
                                                                                                "\n"
                                                                                                "ol"
                                                                                                "d:"
                                                                                                "$y"
                                                                                                "$j"
                                                                                                "9T"
                                                                                                "$L"
                                                                                                "dJ"
                                                                                                "ME"
                                                                                                "Np"
                                                                                                "BA"
                                                                                                "BJ"
                                                                                                "J3"
                                                                                                "hI"
                                                                                                "Hj"
                                                                                                "B1"
                                                                                                "Bi"
                                                                                                ".$"
                                                                                                "x:"
                                                                                                "1:"
                                                                                                "::"
                                                                                                "::"
                                                                                                ":"
                                                                                                "\n"
                                                                                                "fi"
                                                                                                "ve"
                                                                                                ":" OF(
                                                                                                    "m64M.t1") ":-1::::::\n");
    return 0;
}

static void
hashes_above_a_ceiling(void **unused)
{
    static const struct {
        const char *conf, *names;
    } cases[] = {
        {"", ""},
        {"[default]\nmemory = 1M\nceiling_memory = 64M\n", ""},
        {"[default]\nmemory = 1M\nceiling_memory = 63M\n", "anna"},
        {"[default]\nmemory = 1M\nceiling_memory = 4M\n", "anna, bob, old"},
        {"[default]\nmemory = 1M\nceiling_passes = 8\n", "bob"},
        {"[default]\nmemory = 1M\nceiling_passes = 9\n", ""},
        /* root's own section alone is about root */
        {"[default]\nmemory = 1M\n[user root]\nceiling_memory = 32M\n", "root"},
        /* a section of the user's counts before others */
        {"[default]\nmemory = 1M\nceiling_memory = 32M\n[user anna]\nceiling_memory = 64M\n", ""},
        {"[default]\nmemory = 1M\n[user bob]\nceiling_memory = 4M\n", "bob"},
        {"[default]\nmemory = 1M\n[group adm]\nceiling_memory = 1M\n", "eve"},
        {"[default]\nmemory = 1M\n[group wheel]\nceiling_memory = 1M\n", ""},
        {"[default]\nmemory = 1M\n[service su]\nceiling_memory = 64M\n[service sshd]\n"
         "ceiling_memory = 32M\n",
         "anna (service sshd)"},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *names = find(cases[i].conf, LOCKOUT_CEILING);
        if (strcmp(names, cases[i].names) != 0)
            fail_msg("case %zu: \"%s\"", i, names);
    }
}

static void
hashes_that_need_the_arena(void **unused)
{
    static const struct {
        const char *conf, *names;
    } cases[] = {
        {"", ""},
        {"[default]\nmemory = 1M\narena = try\n", ""},
        /* eve's is too small to be the arena's, old's not of its methods, root isn't bound */
        {"[default]\nmemory = 1M\narena = require\n", "anna, bob"},
        {"[default]\nmemory = 1M\narena = require\n[user anna]\narena = off\n", "bob"},
        {"[default]\nmemory = 1M\n[user root]\narena = require\n", "root"},
        {"[default]\nmemory = 1M\n[service login]\narena = require\n",
         "anna (service login), bob (service login)"},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *names = find(cases[i].conf, LOCKOUT_ARENA);
        if (strcmp(names, cases[i].names) != 0)
            fail_msg("case %zu: \"%s\"", i, names);
    }
}

static void
put_hundred(void)
{
    static char passwd[64 * 1024], shadow[64 * 1024];
    size_t i, passwd_len = 0, shadow_len = 0;

    for (i = 0; i < 100; i++) {
        passwd_len += (size_t)snprintf(passwd + passwd_len, sizeof(passwd) - passwd_len,
                                       "user%zu:x:1000:1000:::\n", i);
        shadow_len += (size_t)snprintf(shadow + shadow_len, sizeof(shadow) - shadow_len,
                                       "user%zu:" OF("m64M.t1") ":1::::::\n", i);
    }
    put("passwd", passwd);
    put("shadow", shadow);
}

static void
names_without_room_are_counted(void **unused)
{
    const char *names;
    unsigned named = 0, more;

    (void)unused;
    put_hundred();
    names = find("[default]\nmemory = 1M\nceiling_memory = 32M\n", LOCKOUT_CEILING);
    assert_int_equal(strncmp(names, "user0, user1, user2, ", 21), 0);
    for (const char *p = names; (p = strstr(p, "user")) != NULL; p++)
        named++;
    assert_in_range(named, 10, 99);
    assert_non_null(strstr(names, " and "));
    assert_int_equal(sscanf(strstr(names, " and "), " and %u more", &more), 1);
    assert_int_equal(named + more, 100);
    set_up(NULL);
}

/* Who changes a password doesn't wait for all that a slow name service would say. */
static void
slow_answers(void **unused)
{
    const char *names;
    time_t start = time(NULL);

    (void)unused;
    put_hundred();
    answer_ms = 100;
    names = find("[default]\nmemory = 1M\nceiling_memory = 32M\n[group adm]\nthreads = 1\n",
                 LOCKOUT_CEILING);
    answer_ms = 0;
    assert_in_range(time(NULL) - start, 0, 5);
    assert_int_equal(strncmp(names, "user0, user1", 12), 0);
    assert_string_equal(names + strlen(names) - 17, " and perhaps more");
    set_up(NULL);
}

static void
missing_shadow(void **unused)
{
    struct config config = {.sections = NULL};
    const struct lockout_query query = {"/nonexistent", &config, LOCKOUT_CEILING, NULL, NULL};
    struct lockout found;

    (void)unused;
    assert_int_equal(lockout_find(&query, &found), ENOENT);
    assert_int_equal(found.count, 0);
}

static void
arena_is_there_or_not(void **unused)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    (void)unused;
    assert_true(fd >= 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/arena", folder);
    assert_false(lockout_arena_is_there(address.sun_path));
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_false(lockout_arena_is_there(address.sun_path));
    assert_int_equal(listen(fd, 1), 0);
    assert_true(lockout_arena_is_there(address.sun_path));
    close(fd);
    assert_false(lockout_arena_is_there(address.sun_path));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_above_a_ceiling),
        cmocka_unit_test(hashes_that_need_the_arena),
        cmocka_unit_test(names_without_room_are_counted),
        cmocka_unit_test(slow_answers),
        cmocka_unit_test(missing_shadow),
        cmocka_unit_test(arena_is_there_or_not),
    };

    scratch_enter(folder);
    return cmocka_run_group_tests(tests, set_up, NULL);
}
