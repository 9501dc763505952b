/* SPDX-License-Identifier: BSD-2-Clause */
/* The PAM module as a client of the arena: who it says is behind it, and password changes. The
 * arena is one of the test's own, which always gives the same answer. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <security/pam_appl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcore/arena_protocol.h"
#include "tests/pam/stage.h"

#define OLD "S3cret old"
#define NEW "S3cret new"
#define AGING "20000:0:99999:7::"

struct fake {
    pid_t pid;
    int requests; /* what it was asked */
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
};

static void
serve(int listener, int requests, enum arena_type type)
{
    struct arena_reply reply = {.head = arena_head(type),
                                .position = type == ARENA_QUEUED,
                                .reason = type == ARENA_REFUSED ? ARENA_NOT_READY : 0};

    for (;;) {
        struct arena_request request;
        int fd = accept(listener, NULL, NULL);

        if (recv(fd, &request, sizeof(request), 0) != (ssize_t)sizeof(request) ||
            write(requests, &request, sizeof(request)) != (ssize_t)sizeof(request))
            _exit(1);
        (void)!send(fd, &reply, sizeof(reply), MSG_NOSIGNAL); /* closed when this ends */
    }
}

static void
fake_start(struct fake *fake, enum arena_type type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), ends[2];

    snprintf(fake->path, sizeof(fake->path), "%s/arena", stage.etc);
    memcpy(address.sun_path, fake->path, sizeof(address.sun_path));
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(pipe(ends), 0);
    fake->requests = ends[0];
    fake->pid = fork();
    assert_true(fake->pid >= 0);
    if (fake->pid == 0)
        serve(listener, ends[1], type);
    close(ends[1]);
    close(listener);
    setenv("MHKDF_TEST_ARENA", fake->path, 1);
}

/* Ends it; how often it was asked, and the last request. */
static int
fake_end(struct fake *fake, struct arena_request *last)
{
    int count = 0;

    kill(fake->pid, SIGKILL);
    waitpid(fake->pid, NULL, 0);
    while (read(fake->requests, last, sizeof(*last)) == (ssize_t)sizeof(*last))
        count++;
    close(fake->requests);
    unlink(fake->path);
    unsetenv("MHKDF_TEST_ARENA");
    return count;
}

static void
service(const char *type)
{
    char text[256];

    snprintf(text, sizeof(text), "%s required @ debug conf=%s/mhkdf.conf\n", type, stage.etc);
    stage_service(text);
}

static void
stage_borrower(void)
{
    service("auth");
    stage_account(stage_hash_by(OLD, "$mhkdf$m8M.t1.p1.c0$AAAAAAAAAAAAAAAAAAAAAA"), AGING);
}

/* The uid that the arena hears of. */
static uint32_t
uid_behind(const char *real_uid, const char *ruser, const char *rhost)
{
    struct arena_request request;
    struct fake fake;

    setenv("MHKDF_TEST_UID", real_uid, 1);
    stage.ruser = ruser;
    stage.rhost = rhost;
    stage.answers[0] = OLD;
    fake_start(&fake, ARENA_REFUSED);
    assert_int_equal(stage_authenticate(STAGE_USER, 0), PAM_SUCCESS);
    assert_int_equal(fake_end(&fake, &request), 1);
    assert_string_equal(request.service, "stage");
    return request.real_uid;
}

static void
says_who_is_behind(void **unused)
{
    static const struct {
        const char *real_uid, *ruser, *rhost;
        uint32_t expected;
    } cases[] = {
        {"1000", NULL, "", 1000},  {"1000", "root", "", 1000}, /* a program can't make itself root
                                                                */
        {"0", NULL, "", 0},        {"0", "", "", 0},           {"0", "root", "", 0},
        {"0", "bob", "", 1000},                             /* sudo */
        {"0", "bob", NULL, 1000},  {"0", "anna", "", 5004}, /* of a directory */
        {"0", "martha", "", 5006}, {"0", "bob", "far", 0},  /* sshd, rlogind: the name is somebody
                                                               else's to give */
    };

    (void)unused;
    stage_borrower();
    setenv("MHKDF_TEST_NSS", "anna,martha", 1);
    setenv("MHKDF_TEST_NSS_UID", "5000", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t uid = uid_behind(cases[i].real_uid, cases[i].ruser, cases[i].rhost);
        if (uid != cases[i].expected)
            fail_msg("case %zu: uid %u", i, (unsigned)uid);
    }
}

/* A directory that doesn't answer mustn't make one user of all of its users: one of them could keep
 * the slot of all. */
static void
users_whom_nobody_knows_are_told_apart(void **unused)
{
    uint32_t anna, martha;

    (void)unused;
    stage_borrower();
    setenv("MHKDF_TEST_NSS", "anna,martha", 1);
    setenv("MHKDF_TEST_NSS_ERROR", "anna=5", 1);
    anna = uid_behind("0", "anna", "");
    setenv("MHKDF_TEST_NSS_ERROR", "martha=5", 1);
    martha = uid_behind("0", "martha", "");
    assert_int_not_equal(anna, martha);
    assert_true(anna >= 0x80000000 && martha >= 0x80000000);
    setenv("MHKDF_TEST_NSS_ERROR", "anna=5", 1);
    assert_true(uid_behind("0", "anna", "") == anna);
    assert_true(uid_behind("0", "nobody-knows", "") != anna);
}

/* What a refusal takes in the arena is the same for a hash of another method as for a name that
 * isn't there: one slot, once, of the policy's size. */
static void
refusals_borrow_equally(void **unused)
{
    uint64_t size = 0;

    (void)unused;
    service("auth");
    stage_put("mhkdf.conf", "[default]\nmemory = 16M\n");
    stage_account(stage_hash_by(OLD, "$6$abcdefgh"), AGING);
    setenv("MHKDF_TEST_UID", "0", 1);
    stage.rhost = "";
    for (int i = 0; i < 2; i++) {
        struct arena_request request;
        struct fake fake;

        stage.answers[0] = NEW;
        fake_start(&fake, ARENA_REFUSED);
        assert_int_not_equal(stage_authenticate(i == 0 ? "alice" : STAGE_USER, 0), PAM_SUCCESS);
        assert_int_equal(fake_end(&fake, &request), 1);
        if (i == 0)
            size = request.size;
        assert_int_equal(request.size, size);
    }
    assert_true(size >= (uint64_t)16 * 1024 * 1024);
}

/* Two hashes: the old password's, and the new one's. */
static void
changes_passwords(void **unused)
{
    static const struct {
        enum arena_type type;
        const char *conf, *old_hash;
        int expected, requests;
        const char *logged;
    } cases[] = {
        {ARENA_REFUSED, "", "m8M.t1.p1", PAM_SUCCESS, 2, "password changed"},
        {ARENA_REFUSED, "arena = off\n", "m8M.t1.p1", PAM_SUCCESS, 0, "password changed"},
        {ARENA_REFUSED, "", "m8K.t1.p1", PAM_SUCCESS, 1, "password changed"},
        {ARENA_REFUSED, "arena = require\n", "m8K.t1.p1", PAM_AUTHTOK_ERR, 1,
         "not changed: the arena, which is required, is unavailable"},
        {ARENA_QUEUED, "wait = 50ms\n", "m8K.t1.p1", PAM_AUTHTOK_ERR, 1,
         "not changed: all of the arena is in use"},
    };

    (void)unused;
    service("password");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena_request request;
        char setting[128], old[256];
        struct fake fake;
        int rc, requests;

        snprintf(setting, sizeof(setting), "$mhkdf$%s.c0$AAAAAAAAAAAAAAAAAAAAAA",
                 cases[i].old_hash);
        snprintf(old, sizeof(old), "%s", stage_hash_by(OLD, setting));
        stage_account(old, AGING);
        stage_put("mhkdf.conf", "[default]\nmemory = 8M\nlanes = 1\n%s", cases[i].conf);
        stage.answers[0] = OLD;
        stage.answers[1] = stage.answers[2] = NEW;
        fake_start(&fake, cases[i].type);
        rc = stage_chauthtok(STAGE_USER, 0);
        requests = fake_end(&fake, &request);
        if (rc != cases[i].expected || requests != cases[i].requests ||
            !stage_logged(cases[i].logged))
            fail_msg("case %zu: %d, %d requests, %s", i, rc, requests, stage_log());
        assert_int_equal(strcmp(stage_field(2), old) == 0, rc != PAM_SUCCESS);
        assert_int_equal(stage_said("Try again later"), rc != PAM_SUCCESS);
    }
}

/* Once for a login, with what to do about it. */
static void
says_that_memory_isnt_locked(void **unused)
{
    static const char line[] = "(8192K) isn't locked and may go to swap: RLIMIT_MEMLOCK is 0K; "
                               "raise it (LimitMEMLOCK=, limits.conf), or use mhkdf-arenad";
    struct rlimit before, none;
    const char *first;

    (void)unused;
    service("auth");
    stage_account(stage_hash_by(OLD, "$mhkdf$m8M.t1.p1.c0$AAAAAAAAAAAAAAAAAAAAAA"), AGING);
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    none = before;
    none.rlim_cur = 0;
    stage.as_nobody = true; /* without CAP_IPC_LOCK */
    stage.answers[0] = OLD;
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    assert_int_equal(stage_authenticate(STAGE_USER, 0), PAM_SUCCESS);
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
    first = strstr(stage_log(), line);
    assert_non_null(first);
    assert_null(strstr(first + strlen(line), "RLIMIT_MEMLOCK"));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(says_who_is_behind),
        STAGE_TEST(users_whom_nobody_knows_are_told_apart),
        STAGE_TEST(refusals_borrow_equally),
        STAGE_TEST(changes_passwords),
        STAGE_TEST(says_that_memory_isnt_locked),
    };

    (void)argc;
    stage_enter(argv);
    return cmocka_run_group_tests(tests, stage_set_up, NULL);
}
