/* SPDX-License-Identifier: BSD-2-Clause */
/* A password change tells whom mhkdf.conf locks out. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/pam/stage.h"

#define AGING "20000:0:99999:7::"
#define OLD "S3cret old"
#define NEW "S3cret new"
#define LOW_CEILING "[default]\nmemory = 8K\nlanes = 1\nceiling_memory = 8K\n"
#define HASH_16K stage_hash_by(OLD, "$mhkdf$m16K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA")
#define CEILING_TEXT "mhkdf.conf locks out carl: their hashes are above its ceiling_memory"
#define ARENA_TEXT \
    "mhkdf.conf locks out carl: it says arena = require, but mhkdf-arenad isn't running"

static void
two_accounts(const char *hash)
{
    stage_put("passwd", "bob:x:1000:1000:::\ncarl:x:1001:1001:::\n");
    stage_put("shadow", "root:*:1::::::\nbob:%s:" AGING ":\ncarl:%s:1::::::\n",
              stage_hash_by(OLD, "$mhkdf$m8K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA"), hash);
}

static int
change(const char *uid)
{
    setenv("MHKDF_TEST_UID", uid, 1);
    stage_service("password required @\n");
    memset(stage.answers, 0, sizeof(stage.answers));
    stage.said[0] = '\0';
    stage.answers[0] = strcmp(uid, "0") == 0 ? NEW : OLD;
    stage.answers[1] = NEW;
    stage.answers[2] = NEW;
    return stage_chauthtok(STAGE_USER, 0);
}

static void
ceiling_below_stored_hashes(void **unused)
{
    (void)unused;
    two_accounts(HASH_16K);
    stage_put("mhkdf.conf", "[default]\nmemory = 8K\nlanes = 1\nceiling_memory = 16K\n");
    assert_int_equal(change("0"), PAM_SUCCESS);
    assert_false(stage_logged("locks out"));
    stage_put("mhkdf.conf", LOW_CEILING);
    two_accounts(HASH_16K);
    assert_int_equal(change("0"), PAM_SUCCESS);
    assert_true(stage_logged(CEILING_TEXT));
    assert_true(stage_said("E:Warning: " CEILING_TEXT));
}

/* A user isn't told about others. */
static void
owner_is_told_nothing(void **unused)
{
    (void)unused;
    stage_put("mhkdf.conf", LOW_CEILING);
    two_accounts(HASH_16K);
    assert_int_equal(change("1000"), PAM_SUCCESS);
    assert_true(stage_logged(CEILING_TEXT));
    assert_false(stage_said("carl"));
}

static void
required_arena_that_is_not_there(void **unused)
{
    const char *dear = stage_hash_by(OLD, "$mhkdf$m4M.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA");
    char socket_path[128];
    pid_t arena;

    (void)unused;
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\narena = require\n");
    snprintf(socket_path, sizeof(socket_path), "%s/arena", stage.etc);
    setenv("MHKDF_TEST_ARENA", socket_path, 1);
    two_accounts(dear);
    assert_int_equal(change("0"), PAM_SUCCESS);
    assert_true(stage_logged(ARENA_TEXT));
    assert_true(stage_said("E:Warning: " ARENA_TEXT));
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\narena = try\n");
    stage_put("log", "%s", "");
    two_accounts(dear);
    assert_int_equal(change("0"), PAM_SUCCESS);
    assert_false(stage_logged("locks out"));
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\narena = require\n");
    arena = stage_start_arena(socket_path, ARENA_REFUSED);
    assert_int_equal(change("0"), PAM_SUCCESS);
    kill(arena, SIGKILL);
    waitpid(arena, NULL, 0);
    assert_false(stage_logged("locks out"));
    unsetenv("MHKDF_TEST_ARENA");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(ceiling_below_stored_hashes),
        STAGE_TEST(owner_is_told_nothing),
        STAGE_TEST(required_arena_that_is_not_there),
    };

    (void)argc;
    stage_enter(argv);
    return cmocka_run_group_tests(tests, stage_set_up, NULL);
}
