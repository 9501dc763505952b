/* SPDX-License-Identifier: BSD-2-Clause */
/* Logging in: pam_authenticate and pam_setcred through libpam and pam_wrapper. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <security/pam_modules.h>

#include "libcore/arena_protocol.h"
#include "tests/pam/stage.h"

#define AGING "20000:0:99999:7::"
#define GOOD "S3cret word"
#define BAD "S3cret wort"

/* pam-auth-update's profile with its jumps filled in, and what follows it. */
#define PROFILE                                                                          \
    "auth [success=1 user_unknown=ignore authinfo_unavail=ignore module_unknown=ignore " \
    "default=die] @ debug\n"                                                             \
    "auth requisite pam_deny.so\n"                                                       \
    "auth required pam_permit.so\n"

static void
alone(const char *options)
{
    char text[256];

    snprintf(text, sizeof(text), "auth required @ debug %s\n", options);
    stage_service(text);
}

static int
try_password(const char *password)
{
    stage.answers[0] = password;
    stage.answers[1] = NULL;
    stage.said[0] = '\0';
    return stage_authenticate(STAGE_USER, 0);
}

static void
right_and_wrong(void **unused)
{
    static const char *const settings[] = {
        "$mhkdf$m8K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA",
        "$mhkdf$m64K.t2.p4.c0$AAAAAAAAAAAAAAAAAAAAAA",
        "$mhkdf$m8K.t1.p1.c6.wJDYkcm91bmRzPTEwMDAkYWI$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2i$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2d$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA",
        "$y$j75$abcdefghijklmnopqrstu.",
        "$6$rounds=1000$abcdefgh",
        "$5$rounds=1000$abcdefgh",
        "$1$abcdefgh",
        "$2b$04$abcdefghijklmnopqrstuu",
    };
    size_t i;

    (void)unused;
    alone("");
    for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        stage_account(stage_hash_by(GOOD, settings[i]), AGING);
        assert_int_equal(try_password(GOOD), PAM_SUCCESS);
        assert_string_equal(stage.said, "P:Password: |");
        assert_false(stage_logged("authentication failure"));
        assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
        assert_int_equal(try_password(GOOD " "), PAM_AUTH_ERR);
        assert_int_equal(try_password("x"), PAM_AUTH_ERR);
        assert_true(stage_logged("authentication failure; logname="));
        assert_true(stage_logged("rhost=a?host?name???  user=bob\n"));
        stage_clear(NULL);
    }
}

/* Without the option debug there is no word of what is as it should be. */
static void
debug_is_an_option(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_true(stage_logged("authentication: "));
    stage_clear(NULL);
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nupgrade = no\n");
    stage_service("auth required @\n");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_string_equal(stage_log(), "");
}

static void
root_like_everyone(void **unused)
{
    (void)unused;
    alone("");
    stage_put("passwd", "root:x:0:0:root:/root:/bin/sh\n");
    stage_put("shadow", "root:%s:20000:0:99999:7:::\n", stage_hash(GOOD));
    stage.answers[0] = GOOD;
    assert_int_equal(stage_authenticate("root", 0), PAM_SUCCESS);
    stage.answers[0] = BAD;
    assert_int_equal(stage_authenticate("root", 0), PAM_AUTH_ERR);
}

static void
any_length_up_to_511(void **unused)
{
    static const size_t lengths[] = {1, 7, 8, 9, 72, 73, 127, 128, 511};
    char password[600];
    size_t i;

    (void)unused;
    alone("");
    memset(password, 'p', sizeof(password));
    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        password[lengths[i]] = '\0';
        stage_account(stage_hash(password), AGING);
        assert_int_equal(try_password(password), PAM_SUCCESS);
        password[lengths[i]] = 'p';
        password[lengths[i] + 1] = '\0';
        assert_int_equal(try_password(password), PAM_AUTH_ERR);
        password[lengths[i] + 1] = 'p';
        password[lengths[i] - 1] = '\0';
        if (lengths[i] > 1)
            assert_int_equal(try_password(password), PAM_AUTH_ERR);
        password[lengths[i] - 1] = 'p';
    }
}

static void
no_usable_hash_is_for_other_modules(void **unused)
{
    char locked[512];
    const char *const hashes[] = {"!", "*", "!!", "*LK*", "!*", locked, "*0", "*1", "*NP*"};
    size_t i;

    (void)unused;
    alone("nullok");
    snprintf(locked, sizeof(locked), "!%s", stage_hash(GOOD));
    for (i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        stage_account(hashes[i], AGING);
        assert_int_equal(try_password(GOOD), PAM_USER_UNKNOWN);
        assert_int_equal(try_password(""), PAM_USER_UNKNOWN);
        assert_int_equal(try_password(hashes[i]), PAM_USER_UNKNOWN);
    }
    assert_false(stage_logged("failure"));
    assert_false(stage_logged("malformed"));
}

static void
malformed_hash_is_for_other_modules_and_logged(void **unused)
{
    char cut[512], longer[512];
    const char *const hashes[] = {"x",
                                  "$mhkdf$",
                                  "$mhkdf$v=1$m=8,t=1,p=1,c=6$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
                                  "$mhkdf$m8K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA",
                                  "$argon2id$v=16$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
                                  cut,
                                  longer,
                                  "$6$",
                                  "$nosuchmethod$abc$def"};
    size_t i;

    (void)unused;
    alone("");
    snprintf(cut, sizeof(cut), "%s", stage_hash(GOOD));
    cut[strlen(cut) - 1] = '\0';
    snprintf(longer, sizeof(longer), "%sAA", stage_hash(GOOD));
    for (i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        int rc;
        stage_clear(NULL);
        stage_account(hashes[i], AGING);
        rc = try_password(GOOD);
        if (rc != PAM_USER_UNKNOWN)
            fail_msg("%s: %d", hashes[i], rc);
        assert_true(stage_logged("the hash of bob"));
        assert_false(stage_logged("failure"));
    }
}

static void
site_key_is_not_here(void **unused)
{
    (void)unused;
    alone("");
    stage_account("$mhkdf$m8K.t1.p1.c6.kkey1$AAAAAAAAAAAAAAAAAAAAAA$"
                  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                  AGING);
    assert_int_equal(try_password(GOOD), PAM_AUTHINFO_UNAVAIL);
    assert_true(stage_logged("needs a site key"));
}

static void
arena_is_asked(void **unused)
{
    static const struct {
        enum arena_type type;
        const char *conf;
        int expected;
        const char *logged;
    } cases[] = {
        {ARENA_QUEUED, "wait = 50ms\n", PAM_SYSTEM_ERR, "all of the arena is in use"},
        {ARENA_QUEUED, "wait = 50ms\narena = require\n", PAM_SYSTEM_ERR, "is in use"},
        {ARENA_QUEUED, "wait = 50ms\narena = off\n", PAM_SUCCESS, ""},
        {ARENA_REFUSED, "", PAM_SUCCESS, ""},
        {ARENA_REFUSED, "arena = require\n", PAM_SYSTEM_ERR, "which is required, is unavailable"},
    };
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    char service[192];

    (void)unused;
    snprintf(service, sizeof(service), "auth required @ debug conf=%s/mhkdf.conf\n", stage.etc);
    stage_service(service);
    stage_account(stage_hash_by(GOOD, "$mhkdf$m8M.t1.p1.c0$AAAAAAAAAAAAAAAAAAAAAA"), AGING);
    snprintf(path, sizeof(path), "%s/arena", stage.etc);
    setenv("MHKDF_TEST_ARENA", path, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pid_t arena = stage_start_arena(path, cases[i].type);
        int rc, unknown;
        stage_put("mhkdf.conf", "[default]\n%s", cases[i].conf);
        stage.answers[0] = GOOD;
        unknown = stage_authenticate("nosuch", 0);
        rc = try_password(GOOD);
        kill(arena, SIGKILL);
        waitpid(arena, NULL, 0);
        unlink(path);
        if (rc != cases[i].expected || !stage_logged(cases[i].logged))
            fail_msg("case %zu: %d, %s", i, rc, stage_log());
        /* Nor are names that nobody has a way around it. */
        assert_int_equal(unknown, rc == PAM_SUCCESS ? PAM_USER_UNKNOWN : rc);
        assert_false(stage_logged("failure"));
    }
    unsetenv("MHKDF_TEST_ARENA");
}

/* Root at the console needn't wait; a user there who becomes root, and root from elsewhere, must.
 */
static void
busy_arena_stops_no_root_at_the_console(void **unused)
{
    static const struct {
        const char *uid, *tty, *rhost;
        int expected;
    } cases[] = {
        {"0", "/dev/tty1", NULL, PAM_SUCCESS},
        {"0", "tty1", "192.0.2.1", PAM_SYSTEM_ERR},
        {"0", "pts/0", NULL, PAM_SYSTEM_ERR},
        {"1000", "tty1", NULL, PAM_SYSTEM_ERR},
    };
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    char service[512];
    pid_t arena;

    (void)unused;
    snprintf(service, sizeof(service),
             "auth required " TEST_WRAPPER_MODULES "/pam_set_items.so\n"
             "auth required @ debug conf=%s/mhkdf.conf\n",
             stage.etc);
    stage_service(service);
    stage_put("mhkdf.conf", "[default]\nwait = 50ms\n");
    stage_put("passwd", "root:x:0:0:root:/root:/bin/sh\n");
    stage_put("shadow", "root:%s:20000:0:99999:7:::\n",
              stage_hash_by(GOOD, "$mhkdf$m8M.t1.p1.c0$AAAAAAAAAAAAAAAAAAAAAA"));
    snprintf(path, sizeof(path), "%s/arena", stage.etc);
    setenv("MHKDF_TEST_ARENA", path, 1);
    arena = stage_start_arena(path, ARENA_QUEUED);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        setenv("MHKDF_TEST_UID", cases[i].uid, 1);
        setenv("PAM_TTY", cases[i].tty, 1);
        stage.rhost = cases[i].rhost;
        stage.answers[0] = GOOD;
        rc = stage_authenticate("root", 0);
        if (rc != cases[i].expected)
            fail_msg("case %zu: %d, %s", i, rc, stage_log());
    }
    kill(arena, SIGKILL);
    waitpid(arena, NULL, 0);
    unlink(path);
    unsetenv("PAM_TTY");
    unsetenv("MHKDF_TEST_ARENA");
}

#if !TEST_IS_SANITIZED
/* Root's own limits; those of users are test_limits.c's. */
static void
out_of_memory_is_not_a_wrong_password(void **unused)
{
    const struct rlimit little = {(rlim_t)512 << 20, RLIM_INFINITY};
    struct rlimit before;

    (void)unused;
    alone("");
    stage_account("$mhkdf$m1G.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA$"
                  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                  AGING);
    setenv("MHKDF_TEST_UID", "0", 1);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    assert_int_equal(try_password(GOOD), PAM_SYSTEM_ERR);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(stage_logged("can't be verified for now: not enough memory: 1042M needed, "));
    assert_true(stage_logged("M available (RLIMIT_AS = 524288K)"));
    assert_false(stage_logged("failure"));
}
#endif

/* Neither a prompt nor a hash, whatever the options and the program say. */
static void
empty_field_is_for_other_modules(void **unused)
{
    static const char *const options[] = {"", "nullok", "use_first_pass", "unix_behind"};
    static const int flags[] = {0, PAM_DISALLOW_NULL_AUTHTOK};
    size_t i, j;

    (void)unused;
    stage_put("mhkdf.conf", "[default]\nmemory = lots\n"); /* nothing of it is read */
    stage_account("", AGING);
    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        alone(options[i]);
        for (j = 0; j < 2; j++) {
            stage.answers[0] = "";
            assert_int_equal(stage_authenticate(STAGE_USER, flags[j]), PAM_USER_UNKNOWN);
            assert_int_equal(stage.answered, 0);
            assert_string_equal(stage.said, "");
            assert_int_equal(stage.delay_us, 0);
        }
    }
    assert_true(stage_logged("account bob has an empty password field: left to pam_unix"));
    assert_false(stage_logged("memory:"));
    assert_false(stage_logged("failure"));
}

/* In passwd, which all can read. */
static void
empty_field_of_passwd_is_for_other_modules(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    stage_put("passwd", "bob::1000:1000:::\n");
    assert_int_equal(try_password(""), PAM_USER_UNKNOWN);
    assert_string_equal(stage.said, "");
    /* What shadow says doesn't count where passwd doesn't point there, and the other way round. */
    stage_put("passwd", "bob:%s:1000:1000:::\n", stage_hash(GOOD));
    stage_put("shadow", "bob::20000::::::\n");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_string_equal(stage.said, "P:Password: |");
}

static void
emptied_between(unsigned number)
{
    (void)number;
    stage_account("", AGING);
}

static void
field_that_is_empty_after_the_prompt_is_too(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    stage.on_prompt = emptied_between;
    assert_int_equal(try_password(""), PAM_USER_UNKNOWN);
    assert_false(stage_logged("memory:"));
}

static void
hash_of_an_empty_password(void **unused)
{
    (void)unused;
    stage_account(stage_hash(""), AGING);
    alone("");
    assert_int_equal(try_password(""), PAM_SUCCESS);
    stage.answers[0] = "";
    assert_int_equal(stage_authenticate(STAGE_USER, PAM_DISALLOW_NULL_AUTHTOK), PAM_AUTH_ERR);
}

static unsigned
count_logged(const char *text)
{
    const char *p = stage_log();
    unsigned count = 0;

    for (; (p = strstr(p, text)) != NULL; p++)
        count++;
    return count;
}

static void
nullok_is_logged_once(void **unused)
{
    (void)unused;
    stage_account(stage_hash(GOOD), AGING);
    stage_service("auth optional @ nullok\nauth required @ nullok\n");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_int_equal(count_logged("nullok has no effect"), 1);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_int_equal(count_logged("nullok has no effect"), 2);
    alone("");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_int_equal(count_logged("nullok has no effect"), 2);
    assert_false(stage_logged("unknown option"));
}

static void
unknown_users_are_asked_and_not_named(void **unused)
{
    static const char *const users[] = {
        "S3cret-typed-as-name", "noshadow", "+", "-x", "#", "bob:x", "bo", "bobb"};
    size_t i;

    (void)unused;
    alone("nullok");
    stage_account(stage_hash(GOOD), AGING);
    for (i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
        stage.answers[0] = GOOD;
        stage.said[0] = '\0';
        assert_int_equal(stage_authenticate(users[i], 0), PAM_USER_UNKNOWN);
        assert_string_equal(stage.said, "P:Password: |");
    }
    assert_false(stage_logged("failure"));
}

/* The next module finds the password, and doesn't ask again. */
static void
next_module_gets_the_password(void **unused)
{
    (void)unused;
    stage_account("*", AGING);
    stage_service("auth [success=ok user_unknown=ignore default=die] @ debug\n"
                  "auth required " TEST_WRAPPER_MODULES "/pam_get_items.so\n");
    stage.env = "PAM_AUTHTOK";
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_string_equal(stage.env_value, GOOD);
    stage_account(stage_hash(GOOD), AGING);
    stage_service("auth [success=ok user_unknown=ignore default=die] @ debug\n"
                  "auth required @ try_first_pass debug\n");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_string_equal(stage.said, "P:Password: |");
}

static void
earlier_modules_password_is_used(void **unused)
{
    static const char *const options[] = {"", "try_first_pass", "use_first_pass"};
    char text[512];
    size_t i;

    (void)unused;
    stage_account(stage_hash(GOOD), AGING);
    for (i = 0; i < 3; i++) {
        snprintf(text, sizeof(text),
                 "auth required " TEST_WRAPPER_MODULES "/pam_set_items.so\nauth required @ %s\n",
                 options[i]);
        stage_service(text);
        stage.answers[0] = NULL;
        setenv("PAM_AUTHTOK", GOOD, 1);
        assert_int_equal(stage_authenticate(STAGE_USER, 0), PAM_SUCCESS);
        setenv("PAM_AUTHTOK", BAD, 1);
        assert_int_equal(stage_authenticate(STAGE_USER, 0), PAM_AUTH_ERR);
        unsetenv("PAM_AUTHTOK");
        assert_string_equal(stage.said, "");
    }
    alone("use_first_pass");
    assert_int_equal(try_password(GOOD), PAM_AUTH_ERR);
    assert_string_equal(stage.said, "");
}

static void
failed_conversation(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    assert_int_equal(try_password(NULL), PAM_AUTHTOK_ERR);
}

static void
name_is_asked_for(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    stage.answers[0] = GOOD;
    /* Prompts that echo get no answer on this stage. */
    assert_int_not_equal(stage_authenticate(NULL, 0), PAM_SUCCESS);
    assert_string_equal(stage.said, "P:login:|");
    stage_clear(NULL);
    stage.name = STAGE_USER;
    stage.answers[0] = GOOD;
    assert_int_equal(stage_authenticate(NULL, 0), PAM_SUCCESS);
    assert_int_equal(stage.later, 2);
    assert_string_equal(stage.said, "P:login:|P:login:|P:Password: |");
}

static void
failure_is_delayed(void **unused)
{
    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
    assert_in_range(stage.delay_us, 1000000, 3000000);
}

static void
unreadable_shadow_is_for_the_helper(void **unused)
{
    char path[128];

    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    snprintf(path, sizeof(path), "%s/shadow", stage.etc);
    assert_int_equal(chmod(path, 0), 0);
    stage.as_nobody = true;
    assert_int_equal(try_password(GOOD), PAM_AUTHINFO_UNAVAIL);
    assert_string_equal(stage.said, "P:Password: |");
    assert_false(stage_logged("failure"));
    stage.answers[0] = GOOD;
    assert_int_equal(stage_authenticate("alice", 0), PAM_USER_UNKNOWN);
    /* An account without a password is asked for one like all others. */
    stage_account("", AGING);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(try_password(""), PAM_AUTHINFO_UNAVAIL);
    assert_string_equal(stage.said, "P:Password: |");
}

static void
missing_files(void **unused)
{
    char path[128];

    (void)unused;
    alone("");
    stage_account(stage_hash(GOOD), AGING);
    snprintf(path, sizeof(path), "%s/shadow", stage.etc);
    unlink(path);
    assert_int_equal(try_password(GOOD), PAM_USER_UNKNOWN);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(try_password(GOOD), PAM_AUTHINFO_UNAVAIL);
    assert_true(stage_logged("the local accounts can't be read: Is a directory"));
    assert_int_equal(rmdir(path), 0);
}

static void
hash_in_passwd_is_verified(void **unused)
{
    (void)unused;
    alone("");
    stage_account("*", AGING);
    stage.answers[0] = "S3cret";
    assert_int_equal(stage_authenticate("unshadowed", 0), PAM_SUCCESS);
    stage.answers[0] = BAD;
    assert_int_equal(stage_authenticate("unshadowed", 0), PAM_AUTH_ERR);
}

static void
broken_config_stops_no_login(void **unused)
{
    (void)unused;
    alone("");
    stage_put("mhkdf.conf", "[default]\nmemory = lots\n");
    stage_account(stage_hash(GOOD), AGING);
    {
        char text[256];
        snprintf(text, sizeof(text), "auth required @ debug conf=%s/mhkdf.conf\n", stage.etc);
        stage_service(text);
    }
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_true(stage_logged("mhkdf.conf:2: memory: 'lots'"));
    assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
    stage_service("auth required @ debug conf=/nonexistent/mhkdf.conf\n");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_true(stage_logged("/nonexistent/mhkdf.conf: No such file or directory"));
}

static void
unknown_options_are_logged(void **unused)
{
    (void)unused;
    alone("shadow conf= nullok=1 likeauth");
    stage_account(stage_hash(GOOD), AGING);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_true(stage_logged("unknown option: shadow\n"));
    assert_true(stage_logged("unknown option: conf=\n"));
    assert_true(stage_logged("unknown option: nullok=1\n"));
    assert_true(stage_logged("unknown option: likeauth\n"));
    assert_false(stage_logged("unknown option: debug\n"));
}

static void
profile_and_credentials(void **unused)
{
    int auth;

    (void)unused;
    stage_service(PROFILE);
    stage_account(stage_hash(GOOD), AGING);
    stage.answers[0] = GOOD;
    assert_int_equal(stage_setcred(STAGE_USER, &auth), PAM_SUCCESS);
    assert_int_equal(auth, PAM_SUCCESS);
    stage.answers[0] = BAD;
    stage_setcred(STAGE_USER, &auth);
    assert_int_equal(auth, PAM_AUTH_ERR);
    assert_int_not_equal(stage_setcred("alice", &auth), PAM_SUCCESS);
    assert_int_equal(auth, PAM_AUTH_ERR); /* pam_deny's */
    /* sshd after a public key: no pam_authenticate, for any account */
    assert_int_equal(stage_setcred(STAGE_USER, NULL), PAM_SUCCESS);
    assert_int_equal(stage_setcred("alice", NULL), PAM_SUCCESS);
    alone("");
    stage.answers[0] = GOOD;
    assert_int_equal(stage_setcred(STAGE_USER, &auth), PAM_SUCCESS);
    assert_int_equal(auth, PAM_SUCCESS);
    assert_int_equal(stage_setcred(STAGE_USER, NULL), PAM_SUCCESS);
    /* Behind it, another module lets a user in whom this one doesn't know. */
    stage_service("auth [success=2 user_unknown=ignore default=die] @ debug\n"
                  "auth [success=1 default=ignore] pam_permit.so\n"
                  "auth requisite pam_deny.so\nauth required pam_permit.so\n");
    assert_int_equal(stage_setcred("alice", &auth), PAM_SUCCESS);
    assert_int_equal(auth, PAM_SUCCESS);
}

static void
sessions_are_ignored(void **unused)
{
    static const char *const names[] = {"pam_sm_open_session", "pam_sm_close_session"};
    void *module = dlopen(TEST_MODULE, RTLD_NOW);
    size_t i;

    (void)unused;
    assert_non_null(module);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        union {
            void *symbol;
            int (*function)(pam_handle_t *, int, int, const char **);
        } entry = {.symbol = dlsym(module, names[i])};
        assert_non_null(entry.symbol);
        assert_int_equal(entry.function(NULL, 0, 0, NULL), PAM_IGNORE);
    }
    dlclose(module);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(right_and_wrong),
        STAGE_TEST(debug_is_an_option),
        STAGE_TEST(root_like_everyone),
        STAGE_TEST(any_length_up_to_511),
        STAGE_TEST(no_usable_hash_is_for_other_modules),
        STAGE_TEST(malformed_hash_is_for_other_modules_and_logged),
        STAGE_TEST(site_key_is_not_here),
        STAGE_TEST(arena_is_asked),
        STAGE_TEST(busy_arena_stops_no_root_at_the_console),
#if !TEST_IS_SANITIZED
        STAGE_TEST(out_of_memory_is_not_a_wrong_password),
#endif
        STAGE_TEST(empty_field_is_for_other_modules),
        STAGE_TEST(empty_field_of_passwd_is_for_other_modules),
        STAGE_TEST(field_that_is_empty_after_the_prompt_is_too),
        STAGE_TEST(hash_of_an_empty_password),
        STAGE_TEST(nullok_is_logged_once),
        STAGE_TEST(unknown_users_are_asked_and_not_named),
        STAGE_TEST(next_module_gets_the_password),
        STAGE_TEST(earlier_modules_password_is_used),
        STAGE_TEST(failed_conversation),
        STAGE_TEST(name_is_asked_for),
        STAGE_TEST(failure_is_delayed),
        STAGE_TEST(unreadable_shadow_is_for_the_helper),
        STAGE_TEST(missing_files),
        STAGE_TEST(hash_in_passwd_is_verified),
        STAGE_TEST(broken_config_stops_no_login),
        STAGE_TEST(unknown_options_are_logged),
        STAGE_TEST(profile_and_credentials),
        STAGE_TEST(sessions_are_ignored),
    };

    (void)argc;
    stage_enter(argv);
    return cmocka_run_group_tests(tests, stage_set_up, NULL);
}
