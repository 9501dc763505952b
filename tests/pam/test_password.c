/* SPDX-License-Identifier: BSD-2-Clause */
/* Changing passwords: both phases of pam_chauthtok through libpam and pam_wrapper. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <crypt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/anycrypt.h"
#include "policy/lock.h"
#include "policy/shadow.h"
#include "tests/pam/stage.h"

#define AGING "20000:0:99999:7::"
#define OLD "S3cret old"
#define NEW "S3cret new"
#define PROMPTS_OWNER \
    "I:Changing password for bob.|P:Current password: |P:New password: |P:Retype new password: |"
#define PROMPTS_ROOT "P:New password: |P:Retype new password: |"

static void
alone(const char *options)
{
    char text[256];

    snprintf(text, sizeof(text), "password required @ debug conf=%s/mhkdf.conf %s\n", stage.etc,
             options);
    stage_service(text);
}

static void
answers(const char *a, const char *b, const char *c)
{
    memset(stage.answers, 0, sizeof(stage.answers));
    stage.answers[0] = a;
    stage.answers[1] = b;
    stage.answers[2] = c;
    stage.said[0] = '\0';
}

static void
as_root(void)
{
    setenv("MHKDF_TEST_UID", "0", 1);
}

static int
change_as_owner(const char *old, const char *new)
{
    answers(old, new, new);
    return stage_chauthtok(STAGE_USER, 0);
}

static int
change_as_root(const char *new)
{
    as_root();
    answers(new, new, NULL);
    return stage_chauthtok(STAGE_USER, 0);
}

static void
assert_password(const char *password)
{
    assert_int_equal(anycrypt_verify(password, stage_field(2)), 0);
}

static void
assert_unchanged(const char *hash)
{
    assert_string_equal(stage_field(2), hash);
    assert_string_equal(stage_field(3), "20000");
}

static void
owner_changes_his_password(void **unused)
{
    char day[2][24];

    (void)unused;
    alone("");
    stage_put("mhkdf.conf", "[default]\nmemory = 48K\npasses = 2\nlanes = 2\nchain = 12\n");
    stage_account(stage_hash(OLD), "20000:0:99999:7:1:");
    snprintf(day[0], sizeof(day[0]), "%ld", (long)(time(NULL) / 86400));
    assert_int_equal(change_as_owner(OLD, NEW), PAM_SUCCESS);
    snprintf(day[1], sizeof(day[1]), "%ld", (long)(time(NULL) / 86400));
    assert_string_equal(stage.said, PROMPTS_OWNER);
    assert_int_equal(strncmp(stage_field(2), "$mhkdf$m48K.t2.p2.c12$", 22), 0);
    assert_password(NEW);
    assert_true(strcmp(stage_field(3), day[0]) == 0 || strcmp(stage_field(3), day[1]) == 0);
    assert_string_equal(stage_field(4), "0");
    assert_string_equal(stage_field(7), "1");
    assert_true(stage_logged("password changed for bob\n"));
}

static void
built_in_cost_is_used(void **unused)
{
    (void)unused;
    alone("");
    stage_put("mhkdf.conf", "%s", "");
    stage_account(stage_hash(OLD), AGING);
    assert_int_equal(change_as_owner(OLD, NEW), PAM_SUCCESS);
    assert_int_equal(strncmp(stage_field(2), "$mhkdf$m64M.t1.p4.c6$", 21), 0);
    assert_password(NEW);
}

static void
old_methods_are_left_behind(void **unused)
{
    static const char *const settings[] = {"$6$rounds=1000$abcdefgh",
                                           "$y$j75$abcdefghijklmnopqrstu.", "$1$abcdefgh"};
    char first[MHKDF_STRING_SIZE];
    size_t i;

    (void)unused;
    alone("");
    for (i = 0; i < 3; i++) {
        stage_account(stage_hash_by(OLD, settings[i]), AGING);
        assert_int_equal(change_as_owner(OLD, NEW), PAM_SUCCESS);
        assert_password(NEW);
        assert_int_equal(strncmp(stage_field(2), "$mhkdf$m32K.t1.p4.c6$", 21), 0);
    }
    /* Each time with another salt. */
    snprintf(first, sizeof(first), "%s", stage_field(2));
    stage_account(stage_hash(OLD), AGING);
    assert_int_equal(change_as_owner(OLD, NEW), PAM_SUCCESS);
    assert_string_not_equal(first, stage_field(2));
}

static void
wrong_old_password(void **unused)
{
    const char *hash = stage_hash(OLD);

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    assert_int_equal(change_as_owner(NEW, NEW), PAM_AUTH_ERR);
    assert_string_equal(stage.said, "I:Changing password for bob.|P:Current password: |");
    assert_in_range(stage.delay_us, 1000000, 3000000);
    assert_true(stage_logged("authentication failure;"));
    assert_int_equal(change_as_owner("", NEW), PAM_AUTH_ERR);
    assert_unchanged(hash);
    /* Conversation that ends early. */
    answers(NULL, NULL, NULL);
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    answers(OLD, NULL, NULL);
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    answers(OLD, NEW, NULL);
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    assert_unchanged(hash);
}

static void
refused_passwords(void **unused)
{
    const char *hash = stage_hash(OLD);
    char longest[513];
    const struct {
        const char *password;
        const char *reason;
    } cases[] = {
        {OLD, "E:The password has not been changed.|"},
        {"S3cret7", "E:You must choose a longer password, of at least 8 bytes.|"},
        {"", "E:No password has been supplied.|"},
        {longest, "E:You must choose a shorter password, of at most 511 bytes.|"},
    };
    size_t i, j;

    (void)unused;
    alone("");
    memset(longest, 'p', 512);
    longest[512] = '\0';
    stage_account(hash, AGING);
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        answers(OLD, NULL, NULL);
        for (j = 1; j < 9; j++)
            stage.answers[j] = cases[i].password;
        assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
        /* Once: who gives the same again has nothing else. */
        assert_true(stage_said(cases[i].reason));
        assert_ptr_equal(strstr(strstr(stage.said, cases[i].reason) + 1, cases[i].reason), NULL);
        assert_int_equal(stage.answered, 5); /* two times, after the old one */
        assert_unchanged(hash);
    }
    longest[511] = '\0';
    assert_int_equal(change_as_owner(OLD, longest), PAM_SUCCESS);
    assert_password(longest);
}

static void
three_tries_at_most(void **unused)
{
    const char *hash = stage_hash(OLD);

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    answers(OLD, "S3cret1", "S3cret1");
    stage.answers[3] = stage.answers[4] = "S3cret2";
    stage.answers[5] = stage.answers[6] = "S3cret1";
    stage.answers[7] = stage.answers[8] = NEW;
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    assert_int_equal(stage.answered, 7);
    assert_unchanged(hash);
}

static void
second_try_succeeds(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(OLD), AGING);
    answers(OLD, "S3cret7", "S3cret7");
    stage.answers[3] = NEW;
    stage.answers[4] = NEW " typo";
    stage.answers[5] = NEW;
    stage.answers[6] = NEW;
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
    assert_password(NEW);
}

static void
min_length_of_the_config(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(OLD), AGING);
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nmin_length = 12\n");
    answers(OLD, "S3cret 11..", "S3cret 11..");
    stage.answers[3] = "S3cret 12...";
    stage.answers[4] = "S3cret 12...";
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
    assert_true(stage_said("at least 12 bytes"));
    assert_password("S3cret 12...");
    assert_int_equal(change_as_root("a"), PAM_SUCCESS);
    assert_password("a");
}

static void
root_sets_any_local_account(void **unused)
{
    char locked[512];
    const char *const hashes[] = {stage_hash(OLD), "!", "*", "", "!!", locked, "x", "$mhkdf$bad"};
    size_t i;

    (void)unused;
    alone("");
    snprintf(locked, sizeof(locked), "!%s", stage_hash(OLD));
    for (i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        stage_account(hashes[i], "20000:30000:99999:7:0:1");
        assert_int_equal(change_as_root("short"), PAM_SUCCESS);
        assert_string_equal(stage.said, PROMPTS_ROOT);
        assert_password("short");
        assert_string_equal(stage_field(8), "1");
    }
    answers("", "", "");
    stage.answers[3] = stage.answers[4] = stage.answers[5] = "";
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    assert_password("short");
}

static void
owner_of_a_locked_account_does_not(void **unused)
{
    char locked[512];
    const char *const hashes[] = {"!", "*", locked, "x", "$mhkdf$bad"};
    size_t i;

    (void)unused;
    alone("");
    snprintf(locked, sizeof(locked), "!%s", stage_hash(OLD));
    for (i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        stage_account(hashes[i], AGING);
        assert_int_equal(change_as_owner(OLD, NEW), PAM_USER_UNKNOWN);
        assert_unchanged(hashes[i]);
        if (i < 3)
            assert_string_equal(stage.said, "");
    }
}

static void
owner_without_password_sets_one(void **unused)
{
    (void)unused;
    alone("");
    stage_account("", AGING);
    answers(NEW, NEW, NULL);
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
    assert_string_equal(stage.said, PROMPTS_ROOT);
    assert_password(NEW);
}

static void
min_days_hold_for_the_owner(void **unused)
{
    const char *hash = stage_hash(OLD);
    char aging[64];

    (void)unused;
    alone("");
    snprintf(aging, sizeof(aging), "%ld:5:99999:7::", (long)(time(NULL) / 86400) - 1);
    stage_account(hash, aging);
    assert_int_equal(change_as_owner(OLD, NEW), PAM_AUTHTOK_ERR);
    assert_true(stage_said("E:You must wait longer to change your password.|"));
    assert_string_equal(stage_field(2), hash);
    assert_int_equal(change_as_owner(NEW, NEW), PAM_AUTH_ERR);
    assert_int_equal(change_as_root(NEW), PAM_SUCCESS);
    assert_password(NEW);
}

/* It can't be got round by making a server fail. */
static void
min_length_of_a_group_about_which_nobody_can_tell(void **unused)
{
    static const struct {
        const char *conf;
        int expected;
    } cases[] = {
        {"min_length = 11\n[group adm]\nthreads = 1\n", PAM_AUTHTOK_ERR},
        {"[group adm]\nmin_length = 11\n", PAM_AUTHTOK_ERR},
        {"min_length = 11\n[group adm]\nmin_length = 10\n", PAM_AUTHTOK_ERR},
        {"min_length = 9\n[group adm]\nmin_length = 10\n", PAM_SUCCESS},
        {"method = bcrypt\n[group adm]\nmethod = mhkdf\nmin_length = 73\n", PAM_SUCCESS},
        {"[group adm]\nmin_length = 10\n[group wheel]\nmin_length = 11\n", PAM_AUTHTOK_ERR},
    };

    (void)unused;
    alone("");
    assert_int_equal(strlen(NEW), 10);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        stage_clear(NULL);
        setenv("MHKDF_TEST_NSS_ERROR",
               strstr(cases[i].conf, "wheel") ? "bob:wheel=11" : "bob:adm=11", 1);
        stage_put("mhkdf.conf", "[default]\nmemory = 32K\n%s", cases[i].conf);
        stage_account(stage_hash(OLD), AGING);
        rc = change_as_owner(OLD, NEW);
        if (rc != cases[i].expected)
            fail_msg("case %zu: %d; %s", i, rc, stage_log());
    }
}

/* sshd has passwd change what a floor demands: who couldn't would be locked out. */
static void
min_days_dont_hold_against_a_floor(void **unused)
{
    static const struct {
        const char *floor;
        int expected;
    } cases[] = {
        {"floor_memory = 16K\nfloor_action = expire\n", PAM_SUCCESS},
        {"floor_memory = 8K\nfloor_action = expire\n", PAM_AUTHTOK_ERR}, /* it isn't below */
        {"floor_memory = 16K\nfloor_action = log\n", PAM_AUTHTOK_ERR},
        {"floor_memory = 16K\nfloor_action = deny\n", PAM_AUTHTOK_ERR},
    };
    const char *hash = stage_hash(OLD);
    char aging[64];

    (void)unused;
    alone("");
    snprintf(aging, sizeof(aging), "%ld:5:99999:7::", (long)(time(NULL) / 86400));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        stage_put("mhkdf.conf", "[default]\nmemory = 32K\n%s", cases[i].floor);
        stage_account(hash, aging);
        assert_int_equal(change_as_owner(NEW, NEW), PAM_AUTH_ERR);
        assert_int_equal(change_as_owner(OLD, NEW), cases[i].expected);
        if (cases[i].expected == PAM_SUCCESS)
            assert_password(NEW);
        else
            assert_string_equal(stage_field(2), hash);
    }
}

static void
expired_accounts(void **unused)
{
    const char *hash = stage_hash(OLD);

    (void)unused;
    alone("");
    stage_account(hash, "20000:0:99999:7::1");
    assert_int_equal(change_as_owner(OLD, NEW), PAM_ACCT_EXPIRED);
    assert_unchanged(hash);
    stage_account(hash, "20000:0:10:7:10:");
    assert_int_equal(change_as_owner(OLD, NEW), PAM_AUTHTOK_EXPIRED);
    assert_unchanged(hash);
    stage_account(hash, "20000:0:10:7::");
    assert_int_equal(change_as_owner(OLD, NEW), PAM_SUCCESS);
    assert_password(NEW);
}

/* login, running as root, has expired passwords changed by their owners. */
static void
only_if_expired(void **unused)
{
    const char *hash = stage_hash(OLD);
    unsigned round;

    (void)unused;
    alone("");
    for (round = 0; round < 2; round++) {
        if (round == 1)
            as_root();
        stage_account(hash, AGING);
        answers(NULL, NULL, NULL);
        assert_int_equal(stage_chauthtok(STAGE_USER, PAM_CHANGE_EXPIRED_AUTHTOK), PAM_SUCCESS);
        assert_string_equal(stage.said, "");
        assert_unchanged(hash);
        stage_account(hash, "0:0:99999:7::");
        answers(NEW, NEW, NEW);
        assert_int_equal(stage_chauthtok(STAGE_USER, PAM_CHANGE_EXPIRED_AUTHTOK), PAM_AUTH_ERR);
        assert_string_equal(stage_field(2), hash);
        answers(OLD, NEW, NEW);
        assert_int_equal(stage_chauthtok(STAGE_USER, PAM_CHANGE_EXPIRED_AUTHTOK), PAM_SUCCESS);
        assert_string_equal(stage.said, PROMPTS_OWNER);
        assert_password(NEW);
        stage_account(hash, "20000:0:10:7::");
        answers(OLD, NEW, NEW);
        assert_int_equal(stage_chauthtok(STAGE_USER, PAM_CHANGE_EXPIRED_AUTHTOK), PAM_SUCCESS);
        assert_password(NEW);
        stage_account(hash, "20000:0:10:7:1:");
        answers(OLD, NEW, NEW);
        assert_int_equal(stage_chauthtok(STAGE_USER, PAM_CHANGE_EXPIRED_AUTHTOK),
                         PAM_AUTHTOK_EXPIRED);
        stage_account("*", "0:0:99999:7::");
        answers(OLD, NEW, NEW);
        assert_int_equal(stage_chauthtok(STAGE_USER, PAM_CHANGE_EXPIRED_AUTHTOK), PAM_USER_UNKNOWN);
    }
}

static void
silent_is_silent(void **unused)
{
    const char *hash = stage_hash(OLD);
    char aging[64];

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    answers(OLD, NEW, NEW);
    assert_int_equal(stage_chauthtok(STAGE_USER, PAM_SILENT), PAM_SUCCESS);
    assert_string_equal(stage.said,
                        "P:Current password: |P:New password: |P:Retype new password: |");
    snprintf(aging, sizeof(aging), "%ld:5:99999:7::", (long)(time(NULL) / 86400) - 1);
    stage_account(hash, aging);
    answers(OLD, NEW, NEW);
    assert_int_equal(stage_chauthtok(STAGE_USER, PAM_SILENT), PAM_AUTHTOK_ERR);
    assert_string_equal(stage.said, "P:Current password: |");
    stage_put("mhkdf.conf", "bad\n");
    assert_int_equal(stage_chauthtok(STAGE_USER, PAM_SILENT), PAM_AUTHTOK_ERR);
    assert_null(strstr(stage.said, "E:"));
}

static void
set_by_another_module(const char *options)
{
    char text[512];

    snprintf(text, sizeof(text),
             "password required " TEST_WRAPPER_MODULES "/pam_set_items.so\n"
             "password required @ debug conf=%s/mhkdf.conf %s\n",
             stage.etc, options);
    stage_service(text);
}

static void
use_authtok_never_asks(void **unused)
{
    static const char *const options[] = {"use_authtok", "use_authtok try_first_pass",
                                          "use_first_pass"};
    const char *hash = stage_hash(OLD);
    size_t i;

    (void)unused;
    as_root();
    for (i = 0; i < 3; i++) {
        stage_account(hash, AGING);
        alone(options[i]);
        answers(NEW, NEW, NEW);
        assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
        assert_string_equal(stage.said, "");
        assert_unchanged(hash);
        set_by_another_module(options[i]);
        setenv("PAM_AUTHTOK", NEW, 1);
        answers(NULL, NULL, NULL);
        assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
        assert_string_equal(stage.said, "");
        assert_password(NEW);
        /* One that is refused isn't asked for again. */
        stage_account(hash, AGING);
        setenv("PAM_AUTHTOK", "", 1);
        assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
        assert_unchanged(hash);
        unsetenv("PAM_AUTHTOK");
    }
}

static void
use_authtok_asks_for_the_old_one(void **unused)
{
    (void)unused;
    stage_account(stage_hash(OLD), AGING);
    set_by_another_module("use_authtok");
    setenv("PAM_AUTHTOK", NEW, 1);
    answers(OLD, NULL, NULL);
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
    assert_string_equal(stage.said, "I:Changing password for bob.|P:Current password: |");
    assert_password(NEW);
    unsetenv("PAM_AUTHTOK");
}

static void
broken_config_is_said_and_nothing_changes(void **unused)
{
    const char *hash = stage_hash(OLD);
    char path[128];

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    stage_put("mhkdf.conf", "[default]\nmemroy = 1G\n");
    assert_int_equal(change_as_owner(OLD, NEW), PAM_AUTHTOK_ERR);
    assert_true(stage_said("E:Passwords can't be changed while this is wrong: "));
    assert_true(stage_said("mhkdf.conf:2: memroy: unknown key"));
    assert_true(stage_logged("mhkdf.conf:2: memroy: unknown key"));
    assert_int_equal(change_as_root(NEW), PAM_AUTHTOK_ERR);
    assert_true(stage_said("mhkdf.conf:2: memroy: unknown key"));
    answers(NULL, NULL, NULL);
    assert_int_equal(stage_chauthtok("alice", 0), PAM_USER_UNKNOWN);
    assert_string_equal(stage.said, "");
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\n");
    snprintf(path, sizeof(path), "%s/mhkdf.conf", stage.etc);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(change_as_root(NEW), PAM_AUTHTOK_ERR);
    assert_int_equal(chmod(path, 0644), 0);
    stage_service("password required @ conf=/nonexistent/mhkdf.conf\n");
    assert_int_equal(change_as_root(NEW), PAM_AUTHTOK_ERR);
    assert_unchanged(hash);
}

static void
accounts_of_others(void **unused)
{
    static const char *const users[] = {"alice", "noshadow", "unshadowed", "+", "bob:x"};
    size_t i, root;

    (void)unused;
    alone("");
    stage_account(stage_hash(OLD), AGING);
    for (root = 0; root < 2; root++) {
        for (i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
            answers(OLD, NEW, NEW);
            assert_int_equal(stage_chauthtok(users[i], 0), PAM_USER_UNKNOWN);
            assert_string_equal(stage.said, "");
        }
        as_root();
    }
}

/* Where another module has the account, its new password is asked for here, once. */
static void
next_module_gets_the_new_password(void **unused)
{
    (void)unused;
    stage_account(stage_hash(OLD), AGING);
    stage_service("password [success=ok user_unknown=ignore default=die] @ debug\n"
                  "password required " TEST_WRAPPER_MODULES "/pam_get_items.so\n");
    stage.env = "PAM_AUTHTOK";
    answers(NEW, NEW, NULL);
    assert_int_equal(stage_chauthtok("alice", 0), PAM_SUCCESS);
    assert_string_equal(stage.said, PROMPTS_ROOT);
    assert_string_equal(stage.env_value, NEW);
    stage_service("password [success=ok user_unknown=ignore default=die] @ use_authtok\n"
                  "password required pam_permit.so\n");
    answers(NEW, NEW, NULL);
    assert_int_equal(stage_chauthtok("alice", 0), PAM_SUCCESS);
    assert_string_equal(stage.said, "");
}

static void
change_behind_the_back(unsigned number)
{
    const struct shadow_change change = {
        .name = STAGE_USER, .new_hash = "$6$other", .wait_ms = 1000};

    if (number == 1)
        assert_int_equal(shadow_change(stage.etc, &change), 0);
}

static void
changed_meanwhile(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(OLD), AGING);
    stage.on_prompt = change_behind_the_back;
    assert_int_equal(change_as_owner(OLD, NEW), PAM_AUTHTOK_ERR);
    assert_true(stage_said("changed by someone else meanwhile"));
    assert_unchanged("$6$other");
    /* Root verified nothing, and his word is the last. */
    assert_int_equal(change_as_root(NEW), PAM_SUCCESS);
    assert_password(NEW);
}

static void
lock_is_waited_for(void **unused)
{
    struct lock lock;
    int status;
    pid_t pid;

    (void)unused;
    alone("");
    stage_account(stage_hash(OLD), AGING);
    assert_int_equal(lock_take(stage.etc, 0, &lock), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct timespec pause = {0, 300000000};
        nanosleep(&pause, NULL); /* holds the lock, which is the open file's */
        _exit(0);
    }
    close(lock.fd);
    calm_end(&lock.calm);
    assert_int_equal(change_as_root(NEW), PAM_SUCCESS);
    assert_password(NEW);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void
lock_that_stays_is_said(void **unused)
{
    const char *hash = stage_hash(OLD);
    struct lock lock;

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    setenv("MHKDF_TEST_LOCK_MS", "100", 1);
    assert_int_equal(lock_take(stage.etc, 0, &lock), 0);
    assert_int_equal(change_as_owner(OLD, NEW), PAM_AUTHTOK_LOCK_BUSY);
    lock_release(&lock);
    unsetenv("MHKDF_TEST_LOCK_MS");
    assert_true(stage_said("E:The password file is locked. Try again later.|"));
    assert_true(stage_logged("password of bob not changed: shadow is locked\n"));
    assert_string_equal(stage_field(2), hash);
    assert_int_equal(change_as_owner(OLD, NEW), PAM_SUCCESS);
}

/* By a program that asks later. */
static void
name_is_asked_for(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(OLD), AGING);
    stage.name = STAGE_USER;
    answers(OLD, NEW, NEW);
    assert_int_equal(stage_chauthtok(NULL, 0), PAM_SUCCESS);
    assert_int_equal(stage.later, 2);
    assert_password(NEW);
}

static void
unwritable_shadow_is_said(void **unused)
{
    const char *hash = stage_hash(OLD);
    const struct rlimit little = {100, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    char path[128];

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    snprintf(path, sizeof(path), "%s/nshadow", stage.etc);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(change_as_owner(OLD, NEW), PAM_AUTHTOK_ERR);
    assert_true(stage_said("E:The new password can't be stored: Is a directory|"));
    assert_unchanged(hash);
    assert_int_equal(rmdir(path), 0);
    /* A limit that root has set. What cmocka and the wrapper print is over it already; test_shadow
     * has the case where the signal isn't ignored. */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    unsetenv("MHKDF_TEST_LOG");
    assert_int_equal(change_as_root(NEW), PAM_AUTHTOK_ERR);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    signal(SIGXFSZ, SIG_DFL);
    snprintf(path, sizeof(path), "%s/log", stage.etc);
    setenv("MHKDF_TEST_LOG", path, 1);
    assert_true(stage_said("can't be stored: File too large"));
    assert_unchanged(hash);
}

static void
not_without_privileges(void **unused)
{
    const char *hash = stage_hash(OLD);
    char path[128];

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    snprintf(path, sizeof(path), "%s/shadow", stage.etc);
    assert_int_equal(chmod(path, 0), 0);
    stage.as_nobody = true;
    assert_int_equal(change_as_owner(OLD, NEW), PAM_AUTHTOK_RECOVERY_ERR);
    assert_string_equal(stage.said, "E:The local accounts can't be read.|");
    assert_int_equal(chmod(path, 0600), 0);
    assert_unchanged(hash);
}

/* One that a user set before he started passwd. */
static void
limit_on_files_doesnt_count(void **unused)
{
    const struct rlimit little = {100, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit after = {0, 0};
    char path[128];

    (void)unused;
    alone("");
    stage_account(stage_hash(OLD), AGING);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    unsetenv("MHKDF_TEST_LOG");
    assert_int_equal(change_as_owner(OLD, NEW), PAM_SUCCESS);
    getrlimit(RLIMIT_FSIZE, &after);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    signal(SIGXFSZ, SIG_DFL);
    snprintf(path, sizeof(path), "%s/log", stage.etc);
    setenv("MHKDF_TEST_LOG", path, 1);
    assert_int_equal(after.rlim_cur, 100);
    assert_password(NEW);
}

#if !TEST_IS_SANITIZED
/* Root's own limits; those of users are tests/pam/test_limits.c's. */
static void
out_of_memory_is_said(void **unused)
{
    const char *hash = stage_hash(OLD);
    const struct rlimit little = {(rlim_t)512 << 20, RLIM_INFINITY};
    struct rlimit before;

    (void)unused;
    alone("");
    stage_account(hash, AGING);
    stage_put("mhkdf.conf", "[default]\nmemory = 1G\n");
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    assert_int_equal(change_as_root(NEW), PAM_AUTHTOK_ERR);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(
        stage_said("E:The new password can't be hashed: not enough memory: 1042M needed, "));
    assert_true(stage_said("M available (RLIMIT_AS = 524288K); \"memory = ...\" in mhkdf.conf "
                           "changes what is needed.|"));
    assert_true(stage_logged("not changed: not enough memory: 1042M needed, "));
    assert_true(stage_logged("\"memory = ...\" in mhkdf.conf changes what is needed"));
    assert_unchanged(hash);
    /* Nor can a dear old one be verified. */
    hash = "$mhkdf$m1G.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA$"
           "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    stage_account(hash, "0:0:99999:7::");
    answers(OLD, NEW, NEW);
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    assert_int_equal(stage_chauthtok(STAGE_USER, PAM_CHANGE_EXPIRED_AUTHTOK),
                     PAM_AUTHTOK_RECOVERY_ERR);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(stage_said("E:The current password can't be verified now"));
    assert_true(stage_logged("can't be verified for now: not enough memory: 1042M needed, "));
    assert_string_equal(stage_field(2), hash);
}

#endif

/* What the system's libcrypt can't verify never becomes root's, whatever he is called. */
static void
uid_0_gets_what_libcrypt_knows(void **unused)
{
    bool knows = crypt_checksalt("$mhkdf$m8K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA") == 0;
    static const char *const users[] = {"root", "toor"};
    char path[128], line[1024];
    size_t i;

    (void)unused;
    alone("");
    as_root();
    for (i = 0; i < 2; i++) {
        FILE *f;
        bool found = false;
        stage_clear(NULL);
        as_root();
        stage_account("*", AGING);
        answers(NEW, NEW, NULL);
        assert_int_equal(stage_chauthtok(users[i], 0), PAM_SUCCESS);
        snprintf(path, sizeof(path), "%s/shadow", stage.etc);
        f = fopen(path, "r");
        assert_non_null(f);
        while (fgets(line, sizeof(line), f) != NULL) {
            char *hash = line + 5;
            if (strncmp(line, users[i], 4) != 0)
                continue;
            found = true;
            hash[strcspn(hash, ":")] = '\0';
            assert_int_equal(strncmp(hash, knows ? "$mhkdf$" : "$y$", knows ? 7 : 3), 0);
            assert_string_equal(crypt(NEW, hash), hash);
        }
        fclose(f);
        assert_true(found);
        assert_int_equal(stage_logged("(uid 0) is not one of $mhkdf$"), !knows);
    }
}

/* What libcrypt makes for root in place of it mustn't lock him out by his own section. */
static void
uid_0_gets_no_hash_that_is_refused(void **unused)
{
    static const char *const texts[] = {
        "[user root]\nmemory = 32M\nfloor_memory = 32M\nfloor_action = deny\n",
        "[default]\nmemory = 32K\n[user root]\nceiling_memory = 32K\n",
    };
    bool knows = crypt_checksalt("$mhkdf$m8K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA") == 0;

    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        stage_clear(NULL);
        alone("");
        as_root();
        stage_put("passwd", "root:x:0:0:root:/root:/bin/sh\n");
        stage_put("shadow", "root:*:20000:0:99999:7:::\n");
        stage_put("mhkdf.conf", "%s", texts[i]);
        answers(NEW, NEW, NULL);
        assert_int_equal(stage_chauthtok("root", 0), knows ? PAM_SUCCESS : PAM_AUTHTOK_ERR);
        assert_int_equal(stage_said("E:Logins with the new password would be refused: "), !knows);
        assert_int_equal(stage_logged("not changed: with the new hash logins would be"), !knows);
    }
}

static void
jumped_over_is_nothing(void **unused)
{
    const char *hash = stage_hash(OLD);

    (void)unused;
    stage_account(hash, AGING);
    stage_service("password [success=1 default=ignore] " TEST_WRAPPER_MODULES "/pam_set_items.so\n"
                  "password required @ debug\n"
                  "password required pam_permit.so\n");
    answers(NEW, NEW, NEW);
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
    assert_string_equal(stage.said, "");
    assert_unchanged(hash);
}

/* Another module may change the user between the phases; what the first one found isn't his. */
static void
finding_is_for_its_user_only(void **unused)
{
    const char *hash = stage_hash(OLD);
    char text[512];

    (void)unused;
    as_root();
    stage_account(hash, AGING);
    snprintf(text, sizeof(text),
             "password required @ debug conf=%s/mhkdf.conf\n"
             "password required " TEST_WRAPPER_MODULES "/pam_set_items.so\n",
             stage.etc);
    stage_service(text);
    setenv("PAM_USER", "toor", 1);
    answers(NEW, NEW, NULL);
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_RECOVERY_ERR);
    unsetenv("PAM_USER");
    assert_string_equal(stage.said, "");
    assert_true(stage_logged("the first phase of the password change was left out"));
    assert_unchanged(hash);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(owner_changes_his_password),
        STAGE_TEST(built_in_cost_is_used),
        STAGE_TEST(old_methods_are_left_behind),
        STAGE_TEST(wrong_old_password),
        STAGE_TEST(refused_passwords),
        STAGE_TEST(three_tries_at_most),
        STAGE_TEST(second_try_succeeds),
        STAGE_TEST(min_length_of_the_config),
        STAGE_TEST(root_sets_any_local_account),
        STAGE_TEST(owner_of_a_locked_account_does_not),
        STAGE_TEST(owner_without_password_sets_one),
        STAGE_TEST(min_days_hold_for_the_owner),
        STAGE_TEST(min_length_of_a_group_about_which_nobody_can_tell),
        STAGE_TEST(min_days_dont_hold_against_a_floor),
        STAGE_TEST(expired_accounts),
        STAGE_TEST(only_if_expired),
        STAGE_TEST(silent_is_silent),
        STAGE_TEST(use_authtok_never_asks),
        STAGE_TEST(use_authtok_asks_for_the_old_one),
        STAGE_TEST(broken_config_is_said_and_nothing_changes),
        STAGE_TEST(accounts_of_others),
        STAGE_TEST(next_module_gets_the_new_password),
        STAGE_TEST(changed_meanwhile),
        STAGE_TEST(lock_is_waited_for),
        STAGE_TEST(lock_that_stays_is_said),
        STAGE_TEST(name_is_asked_for),
        STAGE_TEST(unwritable_shadow_is_said),
        STAGE_TEST(limit_on_files_doesnt_count),
        STAGE_TEST(not_without_privileges),
#if !TEST_IS_SANITIZED
        STAGE_TEST(out_of_memory_is_said),
#endif
        STAGE_TEST(uid_0_gets_what_libcrypt_knows),
        STAGE_TEST(uid_0_gets_no_hash_that_is_refused),
        STAGE_TEST(jumped_over_is_nothing),
        STAGE_TEST(finding_is_for_its_user_only),
    };

    (void)argc;
    stage_enter(argv);
    return cmocka_run_group_tests(tests, stage_set_up, NULL);
}
