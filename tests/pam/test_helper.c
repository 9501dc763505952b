/* SPDX-License-Identifier: BSD-2-Clause */
/* Where shadow can't be read: how mhkdf_chkpwd is asked, what its answers become, and that the host
 * notices nothing; with a script in its place. Then the program itself, built for tests. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pam/chkpwd.h"
#include "tests/pam/stage.h"

#define AGING "20000:0:99999:7::"
#define GOOD "S3cret word"
#define BAD "S3cret wort"
#define SALT "AAAAAAAAAAAAAAAAAAAAAA"
#define TAG "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static const char *
in_etc(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", stage.etc, name);
    return path;
}

static void
let_read(const char *name, char *text, size_t size)
{
    FILE *f = fopen(in_etc(name), "r");
    size_t len;

    assert_non_null(f);
    len = fread(text, 1, size - 1, f);
    text[len] = '\0';
    fclose(f);
}

/* The shell script is what the module asks. */
static void
script(const char *text)
{
    stage_service("auth required @ debug\naccount required pam_permit.so\n"
                  "account [success=ok new_authtok_reqd=ok ignore=ignore default=bad] @ debug\n");
    stage_put("chkpwd", "#!/bin/sh\n%s\n", text);
    assert_int_equal(chmod(in_etc("chkpwd"), 0755), 0);
    stage_put("seen", "%s", "");
    chmod(in_etc("seen"), 0666);
    setenv("MHKDF_TEST_CHKPWD", in_etc("chkpwd"), 1);
    stage_account(stage_hash(GOOD), AGING);
    assert_int_equal(chmod(in_etc("shadow"), 0), 0);
    stage.as_nobody = true;
}

static int
try_password(const char *password, int flags)
{
    stage.answers[0] = password;
    stage.answers[1] = NULL;
    return stage_authenticate(STAGE_USER, flags);
}

static void
answers_are_translated(void **unused)
{
    static const struct {
        const char *script;
        int rc;
        const char *logged;
    } cases[] = {
        {"exit 0", PAM_SUCCESS, NULL},
        {"exit 10", PAM_AUTH_ERR, "authentication failure;"},
        {"exit 11", PAM_USER_UNKNOWN, NULL},
        {"exit 12", PAM_AUTHINFO_UNAVAIL, NULL},
        {"exit 13", PAM_SYSTEM_ERR, NULL},
        {"exit 14", PAM_AUTHINFO_UNAVAIL, "only its caller's own account"},
        {"exit 15", PAM_PERM_DENIED, NULL},
        {"exit 16", PAM_SUCCESS, NULL},
        {"exit 17", PAM_AUTHINFO_UNAVAIL, "status 17"},
        {"exit 1", PAM_AUTHINFO_UNAVAIL, "chkpwd has failed: status 1"},
        {"exit 2", PAM_AUTHINFO_UNAVAIL, "status 2"},
        {"exit 99", PAM_AUTHINFO_UNAVAIL, "status 99"},
        {"exit 126", PAM_AUTHINFO_UNAVAIL, "can't be started"},
        {"exit 127", PAM_AUTHINFO_UNAVAIL, "status 127"},
        {"exit 255", PAM_AUTHINFO_UNAVAIL, "has failed"},
        {"kill -9 $$", PAM_AUTHINFO_UNAVAIL, "signal 9"},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        script(cases[i].script);
        stage_put("log", "%s", "");
        chmod(in_etc("log"), 0666);
        assert_int_equal(try_password(GOOD, 0), cases[i].rc);
        if (cases[i].logged != NULL && !stage_logged(cases[i].logged))
            fail_msg("%s: logged is '%s'", cases[i].script, stage_log());
        /* The program pauses itself. */
        assert_int_equal(stage.delay_us, 0);
    }
}

static void
program_that_cant_be_started(void **unused)
{
    (void)unused;
    script("exit 0");
    setenv("MHKDF_TEST_CHKPWD", "/nonexistent/chkpwd", 1);
    assert_int_equal(try_password(GOOD, 0), PAM_AUTHINFO_UNAVAIL);
    assert_true(stage_logged("/nonexistent/chkpwd can't be started"));
    script("exit 0");
    assert_int_equal(chmod(in_etc("chkpwd"), 0644), 0);
    assert_int_equal(try_password(GOOD, 0), PAM_AUTHINFO_UNAVAIL);
    assert_true(stage_logged("can't be started"));
}

#define LONG_16 "0123456789abcdef"
#define LONG_128 LONG_16 LONG_16 LONG_16 LONG_16 LONG_16 LONG_16 LONG_16 LONG_16
#define LONG_512 LONG_128 LONG_128 LONG_128 LONG_128

static void
what_the_program_gets(void **unused)
{
    static const struct {
        const char *password;
        int flags;
        const char *seen;
    } cases[] = {
        /* each with its NUL, but for what is too long */
        {GOOD, 0, "2:bob:nullok:12\n"},      {GOOD, PAM_DISALLOW_NULL_AUTHTOK, "2:bob:nonull:12\n"},
        {"", 0, "2:bob:nullok:1\n"},         {&LONG_512[1], 0, "2:bob:nullok:512\n"},
        {LONG_512, 0, "2:bob:nullok:512\n"}, {LONG_512 "7", 0, "2:bob:nullok:512\n"},
    };
    char command[512], seen[256];
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(command, sizeof(command), "echo $#:$1:$2:$(wc -c) > %s", in_etc("seen"));
        script(command);
        assert_int_equal(try_password(cases[i].password, cases[i].flags), PAM_SUCCESS);
        let_read("seen", seen, sizeof(seen));
        assert_string_equal(seen, cases[i].seen);
    }
    snprintf(command, sizeof(command),
             "read -r p; [ \"$p\" = '%s' ] && [ -z \"$MHKDF_TEST_ETC$LD_PRELOAD$HOME\" ] && "
             "[ \"$(readlink /proc/$$/fd/1)\" = /dev/null ] && "
             "[ \"$(readlink /proc/$$/fd/2)\" = /dev/null ] && [ ! -e /proc/$$/fd/9 ]",
             GOOD);
    script(command);
    fcntl(1, F_DUPFD, 9); /* not close-on-exec */
    assert_int_equal(try_password(GOOD, 0), PAM_SUCCESS);
    close(9);
}

/* Root asks for everyone, and in the same way for nobody, whose name isn't said: it may be a
 * password. PAM delays all refusals alike. */
static void
root_asks_for_everyone(void **unused)
{
    static const struct {
        const char *user, *uid;
        int status, rc;
        const char *seen; /* "": the program isn't asked */
    } cases[] = {
        {"bob", "0", CHKPWD_WRONG, PAM_AUTH_ERR, "5:bob:nullok:stage:0:elsewhere\n"},
        {"bob", "0", CHKPWD_UNKNOWN, PAM_USER_UNKNOWN, "5:bob:nullok:stage:0:elsewhere\n"},
        {"bob", "0", CHKPWD_DENIED, PAM_PERM_DENIED, "5:bob:nullok:stage:0:elsewhere\n"},
        {"bob", "0", CHKPWD_BUSY, PAM_SYSTEM_ERR, "5:bob:nullok:stage:0:elsewhere\n"},
        {"bob", "0", CHKPWD_RIGHT, PAM_SUCCESS, "5:bob:nullok:stage:0:elsewhere\n"},
        {"noshadow", "0", CHKPWD_UNKNOWN, PAM_USER_UNKNOWN,
         "5:noshadow:nullok:stage:0:elsewhere\n"},
        {"alice", "0", CHKPWD_UNKNOWN, PAM_USER_UNKNOWN, "5::nullok:stage:0:elsewhere\n"},
        {"alice", "0", CHKPWD_BUSY, PAM_SYSTEM_ERR, "5::nullok:stage:0:elsewhere\n"},
        {"alice", "0", CHKPWD_UNAVAILABLE, PAM_AUTHINFO_UNAVAIL, "5::nullok:stage:0:elsewhere\n"},
        /* of another source */
        {"carol", "0", CHKPWD_RIGHT, PAM_USER_UNKNOWN, ""},
        /* Others have nothing to hide. */
        {"bob", "1000", CHKPWD_WRONG, PAM_AUTH_ERR, "2:bob:nullok:::\n"},
        {"alice", "1000", CHKPWD_RIGHT, PAM_USER_UNKNOWN, ""},
    };
    char command[512], seen[256];

    (void)unused;
    setenv("MHKDF_TEST_NSS", "carol", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        snprintf(command, sizeof(command), "echo \"$#:$1:$2:$3:$4:$5\" > %s; exit %d",
                 in_etc("seen"), cases[i].status);
        script(command);
        setenv("MHKDF_TEST_UID", cases[i].uid, 1);
        stage.delay_us = 0;
        stage.answers[0] = GOOD;
        rc = stage_authenticate(cases[i].user, 0);
        let_read("seen", seen, sizeof(seen));
        if (rc != cases[i].rc || strcmp(seen, cases[i].seen) != 0)
            fail_msg("case %zu: %d, '%s'; %s", i, rc, seen, stage_log());
        if (rc != PAM_SUCCESS && (cases[i].uid[0] == '0' || cases[i].seen[0] == '\0'))
            assert_in_range(stage.delay_us, 1000000, 3000000);
    }
    assert_false(stage_logged("alice"));
    setenv("MHKDF_TEST_UID", "0", 1);
    setenv("MHKDF_TEST_CHKPWD", "/nonexistent/chkpwd", 1);
    assert_int_equal(stage_authenticate("alice", 0), PAM_AUTHINFO_UNAVAIL);
    /* Where shadow can be read, the module sees to it itself. */
    script("exit 0");
    setenv("MHKDF_TEST_UID", "0", 1);
    assert_int_equal(chmod(in_etc("shadow"), 0644), 0);
    assert_int_equal(stage_authenticate("alice", 0), PAM_USER_UNKNOWN);
    assert_true(stage_logged("a hash of 32K for nobody"));
}

/* The account phase of the same transaction asks for a new password, and of no other. */
static void
floor_expires(void **unused)
{
    int auth = -1;

    (void)unused;
    script("exit 16");
    stage.answers[0] = GOOD;
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_NEW_AUTHTOK_REQD);
    assert_int_equal(auth, PAM_SUCCESS);
    assert_int_equal(stage_login(STAGE_USER, NULL, NULL), PAM_SUCCESS);
    script("exit 0");
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_SUCCESS);
    assert_int_equal(auth, PAM_SUCCESS);
}

static volatile sig_atomic_t signals;

static void
count(int number)
{
    (void)number;
    signals++;
}

/* Ignored, handled, or by default: no signal comes, no wait sees a child, and all is as before. */
static void
host_notices_nothing(void **unused)
{
    static const struct {
        void (*handler)(int);
        int flags;
    } cases[] = {
        {SIG_DFL, 0},
        {SIG_IGN, 0},
        {count, 0},
        {count, SA_NOCLDWAIT},
        {count, SA_NOCLDSTOP | SA_RESTART},
    };
    const struct itimerval soon = {{0, 0}, {0, 50000}};
    struct sigaction action = {.sa_handler = SIG_DFL}, after;
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        script("sleep 0.2; exit 0");
        action.sa_handler = cases[i].handler;
        action.sa_flags = cases[i].flags;
        assert_int_equal(sigaction(SIGCHLD, &action, NULL), 0);
        action.sa_handler = count;
        action.sa_flags = 0;
        assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
        signals = 0;
        assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
        assert_int_equal(try_password(GOOD, 0), PAM_SUCCESS);
        assert_int_equal(signals, 1); /* the alarm's */
        assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
        assert_int_equal(errno, ECHILD);
        assert_int_equal(sigaction(SIGCHLD, NULL, &after), 0);
        assert_true(after.sa_handler == cases[i].handler);
        assert_int_equal(after.sa_flags & (SA_NOCLDWAIT | SA_NOCLDSTOP),
                         cases[i].flags & ~SA_RESTART);
    }
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

static void
closed_descriptors(void **unused)
{
    int saved[3], fd, rc;
    bool left_open = false;

    (void)unused;
    script("[ \"$(cat)\" = '" GOOD "' ] && exit 0; exit 10");
    fflush(NULL);
    for (fd = 0; fd <= 2; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 20);
        close(fd);
    }
    rc = try_password(GOOD, 0);
    for (fd = 0; fd <= 2; fd++) {
        left_open = left_open || fcntl(fd, F_GETFD) != -1;
        dup2(saved[fd], fd);
        close(saved[fd]);
    }
    assert_int_equal(rc, PAM_SUCCESS);
    assert_false(left_open);
}

/* For ever: it comes last. */
static void
no_new_privileges(void **unused)
{
    (void)unused;
    script("exit 0");
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(try_password(GOOD, 0), PAM_AUTHINFO_UNAVAIL);
    assert_true(stage_logged("NoNewPrivileges"));
}

/* ---- the program ---- */

static bool pipe_stays_open; /* till the program has ended */

static int
ask_for(const char *name, const char *word, const char *const origin[3], const char *password,
        size_t len)
{
    int ends[2], status = 0;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    if (len > 0) /* it fits into the pipe; the program may end before it reads */
        assert_int_equal(write(ends[1], password, len), (ssize_t)len);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[0], 0);
        close(ends[0]);
        close(ends[1]);
        unsetenv("LD_PRELOAD");
        if (origin == NULL)
            execl(TEST_CHKPWD, "mhkdf_chkpwd", name, word, (char *)NULL);
        else
            execl(TEST_CHKPWD, "mhkdf_chkpwd", name, word, origin[0], origin[1], origin[2],
                  (char *)NULL);
        _exit(99);
    }
    close(ends[0]);
    if (!pipe_stays_open)
        close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (pipe_stays_open)
        close(ends[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int
ask(const char *name, const char *word, const char *password, size_t len)
{
    return ask_for(name, word, NULL, password, len);
}

#define HASH_OF_NONE "of an empty password"

/* NULL: of GOOD. */
static const char *
hash_of_case(const char *hash)
{
    if (hash == NULL)
        return stage_hash(GOOD);
    return strcmp(hash, HASH_OF_NONE) == 0 ? stage_hash("") : hash;
}

static void
program_answers(void **unused)
{
    static const struct {
        const char *name, *word, *uid, *hash, *password;
        size_t len;
        int answer;
    } cases[] = {
        {"bob", "nonull", "1000", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_RIGHT},
        {"bob", "nonull", "1000", NULL, BAD, sizeof(BAD) - 1, CHKPWD_WRONG},
        {"bob", "nonull", "1000", NULL, GOOD, sizeof(GOOD), CHKPWD_RIGHT}, /* with the NUL */
        {"bob", "nonull", "1000", NULL, GOOD "\0", sizeof(GOOD) + 1, CHKPWD_WRONG},
        {"bob", "nonull", "1000", NULL, GOOD "\0x", sizeof(GOOD) + 1, CHKPWD_WRONG},
        {"bob", "nonull", "1000", NULL, "\0" GOOD, sizeof(GOOD), CHKPWD_WRONG},
        {"bob", "nonull", "1000", NULL, "", 0, CHKPWD_WRONG},
        /* An account without a password is pam_unix's matter. */
        {"bob", "nullok", "1000", "", "", 0, CHKPWD_UNKNOWN},
        {"bob", "nonull", "1000", "", "", 0, CHKPWD_UNKNOWN},
        {"bob", "nullok", "1000", "", "x", 1, CHKPWD_UNKNOWN},
        {"bob", "nullok", "1000", "", "", 1, CHKPWD_UNKNOWN}, /* a NUL */
        {"bob", "nullok", "0", "", "", 1, CHKPWD_UNKNOWN},
        /* One with the hash of an empty password isn't. */
        {"bob", "nullok", "1000", HASH_OF_NONE, "", 0, CHKPWD_RIGHT},
        {"bob", "nonull", "1000", HASH_OF_NONE, "", 0, CHKPWD_WRONG},
        {"bob", "nullok", "1000", HASH_OF_NONE, "x", 1, CHKPWD_WRONG},
        {"bob", "nullok", "1000", HASH_OF_NONE, "", 1, CHKPWD_RIGHT}, /* a NUL */
        {"bob", "nonull", "1000", HASH_OF_NONE, "", 1, CHKPWD_WRONG},
        {"bob", "nullok", "1000", HASH_OF_NONE, "\0\0", 2, CHKPWD_WRONG},
        {"bob", "nonull", "0", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_RIGHT},
        {"bob", "nonull", "1001", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_REFUSED},
        {"root", "nonull", "1000", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_REFUSED},
        {"toor", "nonull", "0", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_UNKNOWN}, /* locked */
        {"alice", "nonull", "1000", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_UNKNOWN},
        {"noshadow", "nonull", "1001", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_UNKNOWN},
        {"noshadow", "nonull", "1000", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_REFUSED},
        {"bob", "nonull", "1000", "!x", GOOD, sizeof(GOOD) - 1, CHKPWD_UNKNOWN},
        {"bob", "nonull", "1000", "$mhkdf$broken", GOOD, sizeof(GOOD) - 1, CHKPWD_UNKNOWN},
        {"bob", "maybe", "1000", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_REFUSED},
        {"bob", NULL, "1000", NULL, GOOD, sizeof(GOOD) - 1, CHKPWD_REFUSED},
        {"bob", "nonull", "1000", NULL, LONG_512, 512, CHKPWD_WRONG},
        {"bob", "nonull", "1000", "$mhkdf$m64K.t1.p4.c6.kgone$" SALT "$" TAG, GOOD, sizeof(GOOD),
         CHKPWD_UNAVAILABLE},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int answer;
        stage_account(hash_of_case(cases[i].hash), AGING);
        setenv("MHKDF_TEST_UID", cases[i].uid, 1);
        answer = ask(cases[i].name, cases[i].word, cases[i].password, cases[i].len);
        if (answer != cases[i].answer)
            fail_msg("case %zu: %d, not %d; %s", i, answer, cases[i].answer, stage_log());
    }
    assert_true(stage_logged("password check failed for user (bob)"));
    assert_true(stage_logged("uid 1001 asked for the password of bob"));
    assert_true(stage_logged("inappropriate use by uid 1000"));
    assert_false(stage_logged("alice"));
}

/* Its limits are those of mhkdf.conf. */
static void
program_denies(void **unused)
{
    static const struct {
        const char *conf;
        int answer, when_wrong;
    } cases[] = {
        {"[default]\nmemory = 64K\nfloor_memory = 64K\nfloor_action = deny\n", CHKPWD_DENIED,
         CHKPWD_WRONG},
        {"[default]\nmemory = 64K\nfloor_memory = 64K\nfloor_action = expire\n", CHKPWD_RIGHT_BELOW,
         CHKPWD_WRONG},
        {"[default]\nmemory = 64K\nfloor_memory = 32K\nfloor_action = expire\n", CHKPWD_RIGHT,
         CHKPWD_WRONG},
        {"[default]\nmemory = 64K\nfloor_memory = 64K\nfloor_action = log\n", CHKPWD_RIGHT,
         CHKPWD_WRONG},
        {"[default]\nmemory = 64K\n[service mhkdf_chkpwd]\nfloor_memory = 33K\nfloor_action = "
         "deny\n",
         CHKPWD_DENIED, CHKPWD_WRONG},
        {"[default]\nmemory = 64K\nfloor_memory = 32K\nfloor_action = deny\n", CHKPWD_RIGHT,
         CHKPWD_WRONG},
        {"[default]\nmemory = 32K\nlanes = 1\nceiling_memory = 32K\n", CHKPWD_RIGHT, CHKPWD_WRONG},
        {"[default]\nmemory = 31K\nlanes = 1\nceiling_memory = 31K\n", CHKPWD_DENIED,
         CHKPWD_DENIED},
    };
    const char *hash = stage_hash_by(GOOD, "$mhkdf$m32K.t1.p1.c6$AAAAAAAAAAAAAAAAAAAAAA");

    (void)unused;
    setenv("MHKDF_TEST_UID", "1000", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int right, wrong;
        stage_account(hash, AGING);
        stage_put("mhkdf.conf", "%s", cases[i].conf);
        right = ask("bob", "nonull", GOOD, sizeof(GOOD) - 1);
        wrong = ask("bob", "nonull", BAD, sizeof(BAD) - 1);
        if (right != cases[i].answer || wrong != cases[i].when_wrong)
            fail_msg("case %zu: %d, %d; %s", i, right, wrong, stage_log());
    }
    assert_true(stage_logged("the hash of bob is below floor_memory; the password is to be"));
    assert_true(stage_logged("the hash of bob is below floor_memory\n"));
    /* An empty field is no hash that could be below. */
    stage_account("", AGING);
    stage_put("mhkdf.conf", "%s", cases[1].conf);
    assert_int_equal(ask("bob", "nullok", "", 0), CHKPWD_UNKNOWN);
}

/* Another process that has the pipe open doesn't matter. */
static void
program_needs_no_end_of_file(void **unused)
{
    static const struct {
        const char *hash, *password;
        size_t len;
        int answer;
    } cases[] = {
        {NULL, GOOD, sizeof(GOOD), CHKPWD_RIGHT}, {NULL, BAD, sizeof(BAD), CHKPWD_WRONG},
        {HASH_OF_NONE, "", 1, CHKPWD_RIGHT},      {NULL, &LONG_512[1], 512, CHKPWD_WRONG},
        {NULL, LONG_512, 512, CHKPWD_WRONG},
    };

    (void)unused;
    pipe_stays_open = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        stage_account(hash_of_case(cases[i].hash), AGING);
        assert_int_equal(ask("bob", "nullok", cases[i].password, cases[i].len), cases[i].answer);
    }
    stage_account(stage_hash_by(&LONG_512[1], "$mhkdf$m8K.t1.p1.c6$" SALT), AGING);
    assert_int_equal(ask("bob", "nullok", &LONG_512[1], 512), CHKPWD_RIGHT);
    pipe_stays_open = false;
}

#define CONF_256K "[default]\nmemory = 256K\nceiling_memory = 256K\n"
#define CONF_DENY CONF_256K "floor_memory = 256K\nfloor_action = deny\n"

/* To root, each refusal computes as much as a wrong password for a hash of the policy's cost, as
 * the module's own (test_policy.c). To others nothing is hidden: it is their own account. */
static void
program_hides(void **unused)
{
    static const struct {
        const char *name, *conf, *hash, *password;
        int answer;
        const char *whole; /* of a hash for nobody; "": none */
    } cases[] = {
        {"bob", CONF_256K, "$mhkdf$m64K.t1.p4.c6$" SALT "$" TAG, BAD, CHKPWD_WRONG,
         "a hash of 192K for nobody"},
        {"bob", CONF_256K, "$mhkdf$m256K.t1.p4.c6$" SALT "$" TAG, BAD, CHKPWD_WRONG, ""},
        {"bob", CONF_256K, "$mhkdf$m257K.t1.p4.c6$" SALT "$" TAG, BAD, CHKPWD_DENIED,
         "a hash of 256K for nobody"},
        {"bob", CONF_DENY, NULL, GOOD, CHKPWD_DENIED, "a hash of 248K for nobody"},
        {"bob", CONF_256K, NULL, GOOD, CHKPWD_RIGHT, ""},
        {"bob", CONF_256K, "!", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"bob", CONF_256K, "!$6$abc$def", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"bob", CONF_256K, "", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"bob", CONF_256K, "x", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"bob", CONF_256K, "$mhkdf$broken", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"bob", CONF_256K, "$nosuch$abc$def", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"bob", CONF_256K, "$mhkdf$m64K.t1.p4.c6.kgone$" SALT "$" TAG, BAD, CHKPWD_UNAVAILABLE,
         "a hash of 256K for nobody"},
        {"", CONF_256K, "*", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"alice", CONF_256K, "*", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        {"noshadow", CONF_256K, "*", BAD, CHKPWD_UNKNOWN, "a hash of 256K for nobody"},
        /* refused by the length alone, for every name */
        {"bob", CONF_256K, "!", LONG_512, CHKPWD_UNKNOWN, ""},
        {"bob", CONF_256K, "!", "", CHKPWD_UNKNOWN, ""},
        {"bob", CONF_256K, "", "", CHKPWD_UNKNOWN, ""},
        {"alice", CONF_256K, "", "", CHKPWD_UNKNOWN, ""},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t len = strlen(cases[i].password);
        int answer;
        stage_clear(NULL);
        stage_put("mhkdf.conf", "%s", cases[i].conf);
        stage_account(cases[i].hash != NULL ? cases[i].hash : stage_hash(GOOD), AGING);
        setenv("MHKDF_TEST_UID", "0", 1);
        answer = ask(cases[i].name, "nonull", cases[i].password, len);
        if (answer != cases[i].answer || !stage_logged(cases[i].whole) ||
            stage_logged("for nobody") != (cases[i].whole[0] != '\0'))
            fail_msg("case %zu: %d; %s", i, answer, stage_log());
        stage_put("log", "%s", "");
        setenv("MHKDF_TEST_UID", strcmp(cases[i].name, "noshadow") == 0 ? "1001" : "1000", 1);
        assert_int_equal(ask(cases[i].name, "nonull", cases[i].password, len), cases[i].answer);
        assert_false(stage_logged("for nobody"));
    }
}

/* Nor does it show where there is no memory to be had. */
static void
program_hides_without_memory(void **unused)
{
    static const struct {
        const char *name, *hash;
    } cases[] = {{"bob", "$mhkdf$m8M.t1.p4.c6$" SALT "$" TAG},
                 {"bob", "!"},
                 {"bob", ""},
                 {"bob", "x"},
                 {"", "*"}};

    (void)unused;
    stage_put("mhkdf.conf", "[default]\nmemory = 8M\narena = require\n");
    setenv("MHKDF_TEST_UID", "0", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        stage_account(cases[i].hash, AGING);
        assert_int_equal(ask(cases[i].name, "nonull", BAD, sizeof(BAD)), CHKPWD_BUSY);
    }
    assert_true(stage_logged("no memory for the password: the arena, which is required"));
}

/* Root's word for the service is believed, nobody else's. */
static void
program_knows_the_service(void **unused)
{
    static const char *const sshd[] = {"sshd", "0", "elsewhere"};
    static const char *const login[] = {"login", "0", "console"};
    static const char *const none[] = {"", "0", "elsewhere"};

    (void)unused;
    stage_put("mhkdf.conf", "[default]\nmemory = 64K\n[service mhkdf_chkpwd]\nmemory = 96K\n"
                            "[service sshd]\nmemory = 128K\nfloor_memory = 64K\n"
                            "floor_action = expire\n[user bob]\nmethod = mhkdf\n");
    stage_account(stage_hash(GOOD), AGING);
    setenv("MHKDF_TEST_UID", "0", 1);
    assert_int_equal(ask_for("", "nonull", sshd, GOOD, sizeof(GOOD)), CHKPWD_UNKNOWN);
    assert_true(stage_logged("a hash of 128K for nobody"));
    assert_int_equal(ask_for("", "nonull", login, GOOD, sizeof(GOOD)), CHKPWD_UNKNOWN);
    assert_true(stage_logged("a hash of 64K for nobody"));
    assert_int_equal(ask("", "nonull", GOOD, sizeof(GOOD)), CHKPWD_UNKNOWN);
    assert_true(stage_logged("a hash of 96K for nobody"));
    assert_int_equal(ask_for("bob", "nonull", none, GOOD, sizeof(GOOD)), CHKPWD_RIGHT);
    assert_int_equal(ask_for("bob", "nonull", sshd, GOOD, sizeof(GOOD)), CHKPWD_RIGHT_BELOW);
    assert_int_equal(ask_for("bob", "nonull", login, GOOD, sizeof(GOOD)), CHKPWD_RIGHT);
    assert_int_equal(ask("bob", "nonull", GOOD, sizeof(GOOD)), CHKPWD_RIGHT);
    setenv("MHKDF_TEST_UID", "1000", 1);
    assert_int_equal(ask_for("bob", "nonull", login, GOOD, sizeof(GOOD)), CHKPWD_REFUSED);
    assert_int_equal(ask("bob", "nonull", GOOD, sizeof(GOOD)), CHKPWD_RIGHT);
}

/* So is his word for who waits for the arena. */
static void
program_knows_the_console(void **unused)
{
    static const struct {
        const char *origin[3];
        int expected;
    } cases[] = {
        {{"login", "0", "console"}, CHKPWD_RIGHT},
        {{"login", "0", "elsewhere"}, CHKPWD_BUSY},
        {{"su", "1000", "console"}, CHKPWD_BUSY},
        {{"su", "4294967295", "console"}, CHKPWD_BUSY},
        {{"su", "4294967296", "console"}, CHKPWD_REFUSED},
        {{"su", "99999999999", "console"}, CHKPWD_REFUSED},
        {{"su", "", "console"}, CHKPWD_REFUSED},
        {{"su", "-1", "console"}, CHKPWD_REFUSED},
        {{"su", " 0", "console"}, CHKPWD_REFUSED},
        {{"su", "0x0", "console"}, CHKPWD_REFUSED},
    };
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    pid_t arena;

    (void)unused;
    stage_put("mhkdf.conf", "[default]\nwait = 50ms\n");
    stage_put("passwd", "root:x:0:0:root:/root:/bin/sh\n");
    stage_put("shadow", "root:%s:20000:0:99999:7:::\n",
              stage_hash_by(GOOD, "$mhkdf$m8M.t1.p1.c0$AAAAAAAAAAAAAAAAAAAAAA"));
    snprintf(path, sizeof(path), "%s/arena", stage.etc);
    setenv("MHKDF_TEST_ARENA", path, 1);
    setenv("MHKDF_TEST_UID", "0", 1);
    arena = stage_start_arena(path, ARENA_QUEUED);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc = ask_for("root", "nonull", cases[i].origin, GOOD, sizeof(GOOD));
        if (rc != cases[i].expected)
            fail_msg("case %zu: %d, %s", i, rc, stage_log());
    }
    kill(arena, SIGKILL);
    waitpid(arena, NULL, 0);
    unlink(path);
    unsetenv("MHKDF_TEST_ARENA");
}

/* What depends on a group about which nobody can tell refuses nobody here, either. */
static void
program_softens(void **unused)
{
    (void)unused;
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nceiling_memory = 33K\n"
                            "[group adm]\nmemory = 32K\nceiling_memory = 1M\n");
    stage_account(stage_hash_by(GOOD, "$mhkdf$m64K.t1.p1.c0$AAAAAAAAAAAAAAAAAAAAAA"), AGING);
    assert_int_equal(ask("bob", "nonull", GOOD, sizeof(GOOD)), CHKPWD_DENIED);
    setenv("MHKDF_TEST_NSS_ERROR", "bob:adm=5", 1);
    assert_int_equal(ask("bob", "nonull", GOOD, sizeof(GOOD)), CHKPWD_RIGHT);
    assert_true(stage_logged("can't say who is in group adm"));
    unsetenv("MHKDF_TEST_NSS_ERROR");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(answers_are_translated),
        STAGE_TEST(program_that_cant_be_started),
        STAGE_TEST(what_the_program_gets),
        STAGE_TEST(host_notices_nothing),
        STAGE_TEST(closed_descriptors),
        STAGE_TEST(root_asks_for_everyone),
        STAGE_TEST(floor_expires),
        STAGE_TEST(program_answers),
        STAGE_TEST(program_denies),
        STAGE_TEST(program_needs_no_end_of_file),
        STAGE_TEST(program_hides),
        STAGE_TEST(program_hides_without_memory),
        STAGE_TEST(program_knows_the_service),
        STAGE_TEST(program_knows_the_console),
        STAGE_TEST(program_softens),
        STAGE_TEST(no_new_privileges),
    };

    (void)argc;
    stage_enter(argv);
    return cmocka_run_group_tests(tests, stage_set_up, NULL);
}
