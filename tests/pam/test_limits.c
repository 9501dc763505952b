/* SPDX-License-Identifier: BSD-2-Clause */
/* The user of a set-id program has set limits before he started it: by them nothing is accepted
 * that mhkdf.conf denies, and no other module is asked. Root's own limits cost no login. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "tests/pam/stage.h"

#ifdef __GLIBC__
typedef __rlimit_resource_t resource; /* an enumeration */
#else
typedef int resource;
#endif

#define GOOD STAGE_SECRET
#define AGING "20000:0:99999:7::"
#define SECTIONS 1000
#define DENY "[default]\nmemory = 32K\nfloor_memory = 16K\nfloor_action = deny\n"

static void
alone(void)
{
    stage_service("auth required @\npassword required @\n");
}

/* ---- limits that can be raised ------------------------------------------------------- */

static struct rlimit wide, narrow;
static unsigned prompts_with_narrow;

/* From the first prompt on but one file can be open: enough for libpam and to read, too little to
 * change shadow. In no prompt is the limit another one: the host could start a program for its user
 * then. */
static void
narrow_descriptors(unsigned prompt)
{
    struct rlimit now;

    if (prompt == 0)
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &narrow), 0);
    getrlimit(RLIMIT_NOFILE, &now);
    prompts_with_narrow += now.rlim_cur == narrow.rlim_cur && now.rlim_max == narrow.rlim_max;
}

static void
begin_narrow(void)
{
    int first = dup(0);

    assert_true(first >= 0);
    close(first);
    alone();
    getrlimit(RLIMIT_NOFILE, &wide);
    narrow = (struct rlimit){(rlim_t)first + 1, wide.rlim_max};
    prompts_with_narrow = 0;
    stage.on_prompt = narrow_descriptors;
}

static void
end_narrow(void)
{
    struct rlimit after;

    stage.on_prompt = NULL;
    getrlimit(RLIMIT_NOFILE, &after);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &wide), 0);
    assert_int_equal(after.rlim_cur, narrow.rlim_cur);
    assert_int_equal(after.rlim_max, narrow.rlim_max);
}

static int
log_in(const char *password)
{
    stage.answers[0] = password;
    return stage_authenticate(STAGE_USER, 0);
}

/* The hash is replaced, too, which takes a child and some descriptors. */
static void
login_and_upgrade(void **unused)
{
    char before[MHKDF_STRING_SIZE];

    (void)unused;
    stage_account(stage_hash(GOOD), AGING);
    snprintf(before, sizeof(before), "%s", stage_field(2));
    begin_narrow();
    assert_int_equal(log_in(GOOD), PAM_SUCCESS);
    end_narrow();
    assert_int_equal(prompts_with_narrow, 1);
    assert_string_not_equal(stage_field(2), before);
    begin_narrow();
    assert_int_equal(log_in("another one"), PAM_AUTH_ERR);
    end_narrow();
}

static void
password_change(void **unused)
{
    (void)unused;
    stage_account(stage_hash(GOOD), AGING);
    begin_narrow();
    stage.answers[0] = GOOD;
    stage.answers[1] = stage.answers[2] = "a new one for bob";
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
    end_narrow();
    assert_int_equal(prompts_with_narrow, 3);
    assert_int_equal(log_in("a new one for bob"), PAM_SUCCESS);
}

static void
broken_config_and_unknown_names(void **unused)
{
    (void)unused;
    stage_account(stage_hash(GOOD), AGING);
    stage_put("mhkdf.conf", "[default]\nmemory = lots\n");
    begin_narrow();
    assert_int_equal(log_in(GOOD), PAM_SUCCESS);
    end_narrow();
    begin_narrow();
    stage.answers[0] = GOOD;
    assert_int_equal(stage_authenticate("alice", 0), PAM_USER_UNKNOWN);
    end_narrow();
}

/* Root's limits are as they were all the time: the login goes on, as far as it gets. */
static void
roots_limits_stay(void **unused)
{
    char before[MHKDF_STRING_SIZE];

    (void)unused;
    stage_account(stage_hash(GOOD), AGING);
    snprintf(before, sizeof(before), "%s", stage_field(2));
    setenv("MHKDF_TEST_UID", "0", 1);
    begin_narrow();
    assert_int_equal(log_in(GOOD), PAM_SUCCESS);
    end_narrow();
    assert_string_equal(stage_field(2), before);
    assert_true(stage_logged("isn't upgraded: Too many open files"));
}

/* ---- limits that can't --------------------------------------------------------------- */

/* What a group is denied isn't accepted either where nobody can tell, for want of something here,
 * whether the user is in it. A server that fails is another matter, and root's limits are, too. */
static void
groups_that_cant_be_read_for_want_of_memory(void **unused)
{
    static const struct {
        const char *uid, *fails;
        int expected;
    } cases[] = {
        {"1000", "bob:adm=12", PAM_SYSTEM_ERR}, {"1000", "bob:adm=23", PAM_SYSTEM_ERR},
        {"1000", "bob:adm=24", PAM_SYSTEM_ERR}, {"1000", "bob:adm=11", PAM_SUCCESS},
        {"1000", "bob:adm=5", PAM_SUCCESS},     {"0", "bob:adm=12", PAM_SUCCESS},
    };

    (void)unused;
    alone();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        stage_account(stage_hash(GOOD), AGING);
        stage_put("mhkdf.conf", "[default]\nmemory = 32K\n[group staff]\nthreads = 1\n"
                                "[group adm]\nfloor_memory = 16K\nfloor_action = deny\n");
        setenv("MHKDF_TEST_UID", cases[i].uid, 1);
        setenv("MHKDF_TEST_NSS_ERROR", cases[i].fails, 1);
        rc = log_in(GOOD);
        if (rc != cases[i].expected)
            fail_msg("case %zu: %d, %s", i, rc, stage_log());
    }
}

/* Root changes passwords then, and is told nothing of a broken file. */
static void
password_change_without_groups(void **unused)
{
    (void)unused;
    alone();
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\n[group adm]\nmin_length = 12\n");
    setenv("MHKDF_TEST_NSS_ERROR", "bob:adm=12", 1);
    stage_account(stage_hash(GOOD), AGING);
    setenv("MHKDF_TEST_UID", "1000", 1);
    stage.answers[0] = GOOD;
    stage.answers[1] = stage.answers[2] = "a new one for bob";
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    setenv("MHKDF_TEST_UID", "0", 1);
    stage.answers[0] = stage.answers[1] = "a new one for bob";
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
}

#if !TEST_IS_SANITIZED
/* What a login gives in a process that can't raise it. */
static int
log_in_limited(resource which, void (*limit)(unsigned))
{
    struct rlimit before;
    int rc;

    setenv("MHKDF_TEST_KEEP_LIMITS", "1", 1);
    getrlimit(which, &before);
    stage.on_prompt = limit;
    rc = log_in(GOOD);
    stage.on_prompt = NULL;
    assert_int_equal(setrlimit(which, &before), 0);
    return rc;
}

/* libpam itself, as sanitizers have it, fails without a descriptor for the audit log. */
static void
no_descriptors(unsigned prompt)
{
    struct rlimit none;

    (void)prompt;
    getrlimit(RLIMIT_NOFILE, &none);
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void
want_of_descriptors_ends_it_for_users(void **unused)
{
    static const struct {
        const char *uid, *ruser, *rhost;
        int expected;
    } cases[] = {
        {"1000", NULL, NULL, PAM_SYSTEM_ERR},       {"1000", "root", NULL, PAM_SYSTEM_ERR},
        {"1000", NULL, "host", PAM_SYSTEM_ERR}, /* sudo's real uid is 0 */
        {"0", "bob", NULL, PAM_SYSTEM_ERR},         {"0", NULL, NULL, PAM_AUTHINFO_UNAVAIL},
        {"0", "bob", "host", PAM_AUTHINFO_UNAVAIL},
    };
    size_t i;

    (void)unused;
    alone();
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        stage_account(stage_hash(GOOD), AGING);
        setenv("MHKDF_TEST_UID", cases[i].uid, 1);
        stage.ruser = cases[i].ruser;
        stage.rhost = cases[i].rhost;
        rc = log_in_limited(RLIMIT_NOFILE, no_descriptors);
        if (rc != cases[i].expected)
            fail_msg("case %zu: %d", i, rc);
    }
}

static rlim_t more_kib; /* beside what the process has already */

/* Of memory that malloc can get. */
static void
little_memory(unsigned prompt)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    struct rlimit limit;
    const char *found;

    (void)prompt;
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    found = strstr(text, "VmData:");
    assert_non_null(found);
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = (strtoul(found + 7, NULL, 10) + more_kib) * 1024;
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
}

static void
put_many_sections(void)
{
    static char text[SECTIONS * 64];
    size_t len = (size_t)snprintf(text, sizeof(text), "%s", DENY);
    unsigned i;

    for (i = 0; i < SECTIONS; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "[service s%u]\nmemory = 32K\n", i);
    stage_put("mhkdf.conf", "%s", text);
}

/* A file that can't be read for want of memory isn't a broken one, which has no floor. Also at each
 * size at which something else fails. */
static void
want_of_memory_denies_what_the_file_denies(void **unused)
{
    unsigned ended = 0, denied = 0, accepted_of_root = 0;

    (void)unused;
    alone();
    put_many_sections();
    stage_account(stage_hash(GOOD), AGING);
    for (more_kib = 0; more_kib <= 1024; more_kib += 32) {
        int rc;
        setenv("MHKDF_TEST_UID", "1000", 1);
        rc = log_in_limited(RLIMIT_DATA, little_memory);
        ended += rc == PAM_SYSTEM_ERR;
        denied += rc == PAM_PERM_DENIED;
        if (rc != PAM_SYSTEM_ERR && rc != PAM_PERM_DENIED && rc != PAM_BUF_ERR)
            fail_msg("%lu KiB: %d; %s", (unsigned long)more_kib, rc, stage_log());
        setenv("MHKDF_TEST_UID", "0", 1);
        accepted_of_root += log_in_limited(RLIMIT_DATA, little_memory) == PAM_SUCCESS;
    }
    print_message("# %u ended, %u denied; of root %u accepted\n", ended, denied, accepted_of_root);
    assert_true(ended > 0 && denied > 0 && accepted_of_root > 0);
    assert_true(stage_logged("Cannot allocate memory"));
    assert_true(stage_logged("this ends here: Cannot allocate memory"));
}

/* A hash for which there is no memory isn't left to a module that may have some. */
static void
hash_without_memory(void **unused)
{
    char setting[MHKDF_STRING_SIZE];

    (void)unused;
    alone();
    assert_int_equal(mhkdf_gensalt("$mhkdf$", 0, "sixteen bytes...", 16, setting, sizeof(setting)),
                     0);
    stage_account(stage_hash_by(GOOD, setting), AGING);
    more_kib = 16 * 1024;
    assert_int_equal(log_in_limited(RLIMIT_DATA, little_memory), PAM_SYSTEM_ERR);
    assert_int_equal(log_in(GOOD), PAM_SUCCESS);
}

/* What is denied stays so where the time that a refusal takes can't be computed. */
static void
denied_without_memory(void **unused)
{
    (void)unused;
    alone();
    stage_account(stage_hash_by(GOOD, "$6$rounds=1000$abcdefgh"), AGING);
    stage_put("mhkdf.conf", "[default]\nmemory = 64M\nfloor_memory = 1M\nfloor_action = deny\n");
    more_kib = 16 * 1024;
    setenv("MHKDF_TEST_UID", "0", 1);
    assert_int_equal(log_in_limited(RLIMIT_DATA, little_memory), PAM_PERM_DENIED);
}
#endif

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(login_and_upgrade),
        STAGE_TEST(password_change),
        STAGE_TEST(broken_config_and_unknown_names),
        STAGE_TEST(roots_limits_stay),
        STAGE_TEST(groups_that_cant_be_read_for_want_of_memory),
        STAGE_TEST(password_change_without_groups),
#if !TEST_IS_SANITIZED
        STAGE_TEST(want_of_descriptors_ends_it_for_users),
        STAGE_TEST(want_of_memory_denies_what_the_file_denies),
        STAGE_TEST(hash_without_memory),
        STAGE_TEST(denied_without_memory),
#endif
    };

    (void)argc;
#ifdef __GLIBC__
    /* what is given back isn't kept, so that each attempt needs new memory */
    mallopt(M_MMAP_THRESHOLD, 65536);
    mallopt(M_TRIM_THRESHOLD, 0);
#endif
    stage_enter(argv);
    return cmocka_run_group_tests(tests, stage_set_up, NULL);
}
