/* SPDX-License-Identifier: BSD-2-Clause */
/* What mhkdf.conf does to logins: upgrades, floors, ceilings, and answers that take their time. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <crypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/anycrypt.h"
#include "policy/lock.h"
#include "tests/pam/stage.h"

#define AGING "20000:1:99999:7:30:30000"
#define GOOD "S3cret word"
#define BAD "S3cret wort"
#define NEW "S3cret and new"
#define SALT "AAAAAAAAAAAAAAAAAAAAAA"
#define TAG "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/* One answer alone, without pam_unix. */
static void
alone(void)
{
    stage_service("auth required @ debug\naccount required pam_permit.so\n"
                  "account [success=ok new_authtok_reqd=ok ignore=ignore default=bad] @ debug\n"
                  "password required @ debug\n");
}

static int
try_as(const char *user, const char *password)
{
    memset(stage.answers, 0, sizeof(stage.answers));
    stage.answers[0] = password;
    return stage_authenticate(user, 0);
}

static int
try_password(const char *password)
{
    return try_as(STAGE_USER, password);
}

static unsigned
count(const char *text)
{
    const char *at = stage_log();
    unsigned n = 0;

    while ((at = strstr(at, text)) != NULL) {
        n++;
        at++;
    }
    return n;
}

static void
assert_hash_is(const char *prefix, const char *password)
{
    const char *hash = stage_field(2);

    if (strncmp(hash, prefix, strlen(prefix)) != 0)
        fail_msg("%s, but %s", hash, prefix);
    assert_int_equal(anycrypt_verify(password, hash), 0);
}

static void
assert_aging_is_kept(void)
{
    static const char *const fields[] = {"20000", "1", "99999", "7", "30", "30000", ""};

    for (unsigned i = 0; i < 7; i++)
        assert_string_equal(stage_field(3 + i), fields[i]);
}

#define DENY "floor_memory = 16K\nfloor_action = deny\n"
#define AT_32K "$mhkdf$m32K.t1.p4.c6$"

static void
weak_hashes_are_upgraded(void **unused)
{
    static const char *const settings[] = {
        "$mhkdf$m31K.t1.p1.c6$" SALT,
        "$mhkdf$m32K.t1.p1.c3$" SALT,
        "$mhkdf$m32K.t1.p1.c6.wJDYkcm91bmRzPTEwMDAkYWI$" SALT, /* $6$rounds=1000$ab */
        "$argon2id$v=19$m=32,t=1,p=4$" SALT,
        "$argon2i$v=19$m=8,t=1,p=1$" SALT,
        "$6$rounds=1000$abcdefgh",
        "$5$rounds=1000$abcdefgh",
        "$1$abcdefgh",
        "$2b$04$abcdefghijklmnopqrstuu",
    };
    char upgraded[MHKDF_STRING_SIZE];
    size_t i;

    (void)unused;
    alone();
    for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *hash = stage_hash_by(GOOD, settings[i]);
        stage_clear(NULL);
        stage_account(hash, AGING);
        assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
        assert_string_equal(stage_field(2), hash);
        assert_int_equal(try_password(GOOD), PAM_SUCCESS);
        assert_hash_is(AT_32K, GOOD);
        assert_aging_is_kept();
        assert_true(stage_logged("the hash of bob has been upgraded\n"));
        /* Once is enough. */
        snprintf(upgraded, sizeof(upgraded), "%s", stage_field(2));
        assert_int_equal(try_password(GOOD), PAM_SUCCESS);
        assert_string_equal(stage_field(2), upgraded);
        assert_int_equal(count("upgraded"), 1);
        assert_string_equal(stage.said, "P:Password: |P:Password: |P:Password: |");
    }
}

/* With yescrypt, which takes 1M at least. */
static void
upgrade_to_another_method(void **unused)
{
    (void)unused;
    alone();
    stage_put("mhkdf.conf", "[default]\nmethod = yescrypt\nmemory = 1M\n");
    stage_account(stage_hash_by(GOOD, "$6$rounds=1000$abcdefgh"), AGING);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_hash_is("$y$j75$", GOOD);
    assert_aging_is_kept();
    stage_put("mhkdf.conf", "[default]\nmethod = sha512crypt\n");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_hash_is("$y$j75$", GOOD);
    assert_int_equal(count("upgraded"), 1);
}

static void
strong_hashes_stay(void **unused)
{
    static const char *const settings[] = {
        "$mhkdf$m32K.t1.p1.c6$" SALT,
        "$mhkdf$m33K.t1.p1.c0$" SALT,
        "$mhkdf$m8K.t1.p1.c12$" SALT,
        "$mhkdf$m16K.t3.p1.c6$" SALT,
        "$argon2id$v=19$m=64,t=1,p=1$" SALT,
        "$y$j75$abcdefghijklmnopqrstu.",
        "$mhkdf$m64K.t1.p1.c6.wJDYkcm91bmRzPTEwMDAkYWI$" SALT,
    };
    size_t i;

    (void)unused;
    alone();
    for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *hash = stage_hash_by(GOOD, settings[i]);
        stage_account(hash, AGING);
        assert_int_equal(try_password(GOOD), PAM_SUCCESS);
        assert_string_equal(stage_field(2), hash);
    }
    assert_int_equal(count("the hash of"), 0);
}

/* Two services that want different things of the same user. */
static void
services_do_not_quarrel(void **unused)
{
    static const struct {
        const char *one, *two;
        unsigned changes;
    } cases[] = {
        {"memory = 32K", "memory = 64K", 2},
        {"memory = 64K", "memory = 32K", 1},
        {"memory = 32K\nchain = 12", "memory = 64K", 1},
        {"memory = 64K\npasses = 1", "memory = 32K\npasses = 3", 1},
        {"method = argon2id\nmemory = 32K\npasses = 1", "memory = 32K", 2},
        {"method = argon2id\nmemory = 32K", "memory = 32K", 1}, /* 3 passes */
        {"method = argon2id\nmemory = 64K\npasses = 3", "memory = 32K", 1},
        {"lanes = 1\nmemory = 32K", "lanes = 4\nmemory = 32K", 1},
        {"method = sha512crypt", "method = sha256crypt", 1},
        {"method = sha512crypt", "memory = 64K", 2},
    };
    size_t i;
    unsigned turn;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char last[MHKDF_STRING_SIZE] = "";
        unsigned changes = 0;
        stage_clear(NULL);
        stage_put("mhkdf.conf", "[service one]\n%s\n[service two]\n%s\n", cases[i].one,
                  cases[i].two);
        stage_account(stage_hash_by(GOOD, "$1$abcdefgh"), AGING);
        for (turn = 0; turn < 8; turn++) {
            stage.service = turn % 2 == 0 ? "one" : "two";
            alone();
            assert_int_equal(try_password(GOOD), PAM_SUCCESS);
            if (strcmp(stage_field(2), last) != 0)
                changes++;
            snprintf(last, sizeof(last), "%s", stage_field(2));
        }
        if (changes != cases[i].changes || count("has been upgraded") != changes)
            fail_msg("case %zu: %u changes", i, changes);
        assert_int_equal(anycrypt_verify(GOOD, last), 0);
        assert_aging_is_kept();
    }
}

static void
upgrade_can_be_off(void **unused)
{
    static const char *const sections[] = {"default", "service stage", "group adm", "user bob"};
    const char *hash = stage_hash_by(GOOD, "$1$abcdefgh");
    size_t i;

    (void)unused;
    alone();
    setenv("MHKDF_TEST_GROUPS", "anna:wheel,bob:adm", 1);
    for (i = 0; i < 4; i++) {
        stage_put("mhkdf.conf", "[%s]\nupgrade = no\n", sections[i]);
        stage_account(hash, AGING);
        assert_int_equal(try_password(GOOD), PAM_SUCCESS);
        assert_string_equal(stage_field(2), hash);
    }
    stage_put("mhkdf.conf",
              "[service login]\nupgrade = no\n[group wheel]\nupgrade = no\n[user anna]\n"
              "upgrade = no\n[default]\nmemory = 32K\n");
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_hash_is(AT_32K, GOOD);
}

/* Nobody can tell whether bob is in a group: the login goes on, and what depends on that group
 * refuses and replaces nothing. */
static void
groups_about_which_nobody_can_tell(void **unused)
{
    static const struct {
        const char *conf, *fails;
        int expected;
        bool upgraded;
    } cases[] = {
        /* what the group has no say in */
        {"[group adm]\nthreads = 1\n", "bob:adm=5", PAM_SUCCESS, true},
        {"[group adm]\nmemory = 32K\nupgrade = yes\n", "bob:adm=5", PAM_SUCCESS, true},
        {"[group adm]\nmemory = 64K\n[user bob]\nmemory = 32K\n", "bob:adm=5", PAM_SUCCESS, true},
        {"[group adm]\nthreads = 1\n[service stage]\n" DENY, "bob:adm=11", PAM_PERM_DENIED, false},
        {"[group adm]\nfloor_action = log\n[user bob]\n" DENY, "bob:adm=11", PAM_PERM_DENIED,
         false},
        {"[group adm]\nthreads = 1\n[service stage]\nceiling_passes = 1\n", "bob:adm=5",
         PAM_SUCCESS, true},
        /* what it has */
        {"[group adm]\nmemory = 64K\n", "bob:adm=5", PAM_SUCCESS, false},
        {"[group adm]\nupgrade = no\n", "bob:adm=5", PAM_SUCCESS, false},
        {"[group adm]\npasses = 2\n", "bob:adm=5", PAM_SUCCESS, false},
        {"[group adm]\nchain = 12\n", "bob:adm=5", PAM_SUCCESS, false},
        {"[group adm]\nmethod = argon2id\n", "bob:adm=5", PAM_SUCCESS, false},
        {"[service stage]\n" DENY "[group adm]\nfloor_action = log\n", "bob:adm=11", PAM_SUCCESS,
         true},
        {"[service stage]\n" DENY "[group adm]\nfloor_memory = 0K\n", "bob:adm=11", PAM_SUCCESS,
         true},
        {"[group adm]\n" DENY, "bob:adm=11", PAM_SUCCESS, true},
        {"[service stage]\narena = require\n[group adm]\narena = off\n", "bob:adm=11", PAM_SUCCESS,
         true},
        {"[group adm]\nmethod = sha512crypt\n", "bob:adm=11", PAM_SUCCESS, false},
        {"[group adm]\narena = require\n", "bob:adm=11", PAM_SUCCESS, true},
        /* one of several: what comes before it is known, and may be his */
        {"[group wheel]\nmemory = 64K\n[group adm]\nupgrade = no\n", "bob:adm=5", PAM_SUCCESS,
         false},
        {"[group staff]\nthreads = 1\n[group adm]\nupgrade = no\n", "bob:adm=5", PAM_SUCCESS, true},
        {"[group adm]\nupgrade = no\n[group staff]\nthreads = 1\n", "bob:adm=5", PAM_SUCCESS,
         false},
        {"[group adm]\nthreads = 2\n[group staff]\nupgrade = no\n", "bob:adm=5", PAM_SUCCESS,
         false},
    };
    const char *hash = stage_hash_by(GOOD, "$1$abcdefgh");

    (void)unused;
    alone();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned told;
        int rc;
        stage_clear(NULL);
        setenv("MHKDF_TEST_GROUPS", "bob:staff", 1);
        setenv("MHKDF_TEST_NSS_ERROR", cases[i].fails, 1);
        stage_put("mhkdf.conf", "[default]\nmemory = 32K\nmin_length = 4\n%s", cases[i].conf);
        stage_account(hash, AGING);
        rc = try_password(GOOD);
        told = count("the name service can't say who is in group adm");
        if (rc != cases[i].expected || stage_logged("expected") ||
            (strcmp(stage_field(2), hash) != 0) != cases[i].upgraded ||
            told != (strstr(cases[i].conf, "[group staff]\nthreads = 1\n[group adm]") == NULL))
            fail_msg("case %zu: %d, %s, %s", i, rc, stage_field(2), stage_log());
    }
}

/* The same with ceilings, and with an arena that isn't there. */
static void
limits_about_which_nobody_can_tell(void **unused)
{
    static const struct {
        const char *conf;
        int expected;
    } cases[] = {
        {"ceiling_passes = 1\n[group adm]\nthreads = 1\n", PAM_PERM_DENIED},
        {"ceiling_passes = 1\n[group adm]\nceiling_passes = 2\n", PAM_SUCCESS},
        {"ceiling_passes = 2\n[group adm]\nceiling_passes = 1\n", PAM_SUCCESS},
        {"ceiling_memory = 32K\n[group adm]\nthreads = 1\n", PAM_PERM_DENIED},
        {"ceiling_memory = 32K\n[group adm]\nceiling_memory = 64K\n", PAM_SUCCESS},
        {"ceiling_memory = 64K\n[group adm]\nceiling_memory = 32K\n", PAM_SUCCESS},
        {"arena = require\n[group adm]\nthreads = 1\n", PAM_SYSTEM_ERR},
        {"arena = require\n[group adm]\narena = require\n", PAM_SYSTEM_ERR},
        {"arena = require\n[group adm]\narena = try\n", PAM_SUCCESS},
        {"arena = require\n[group adm]\narena = off\n", PAM_SUCCESS},
        {"arena = try\n[group adm]\narena = require\n", PAM_SUCCESS},
    };
    const char *small = stage_hash_by(GOOD, "$mhkdf$m64K.t2.p1.c6$" SALT);
    const char *large = stage_hash_by(GOOD, "$mhkdf$m8M.t1.p1.c6$" SALT);

    (void)unused;
    alone();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        stage_clear(NULL);
        setenv("MHKDF_TEST_NSS_ERROR", "bob:adm=5", 1);
        stage_put("mhkdf.conf", "[default]\nmemory = 32K\n%s", cases[i].conf);
        stage_account(cases[i].conf[0] == 'a' ? large : small, AGING);
        rc = try_password(GOOD);
        if (rc != cases[i].expected || stage_logged("expected"))
            fail_msg("case %zu: %d, %s", i, rc, stage_log());
    }
}

/* One of very many groups, of which the user is in none; then nobody can tell about the last. */
static void
very_many_groups(void **unused)
{
    char *conf = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&conf, &size);
    int rc;

    (void)unused;
    assert_non_null(file);
    fprintf(file, "[default]\nmemory = 32K\nceiling_passes = 1\n");
    for (int i = 1; i < 1023; i++)
        fprintf(file, "[group g%d]\nceiling_passes = 2\n", i);
    fclose(file);
    alone();
    stage_put("mhkdf.conf", "%s", conf);
    free(conf);
    stage_account(stage_hash_by(GOOD, "$mhkdf$m64K.t2.p1.c6$" SALT), AGING);
    setenv("MHKDF_TEST_GROUPS", "bob:staff", 1);
    rc = try_password(GOOD);
    if (rc != PAM_PERM_DENIED || stage_logged("sections"))
        fail_msg("%d: %s", rc, stage_log());
    setenv("MHKDF_TEST_GROUPS", "bob:g1022", 1);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    setenv("MHKDF_TEST_GROUPS", "bob:staff", 1);
    setenv("MHKDF_TEST_NSS_ERROR", "bob:g1022=5", 1);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_true(stage_logged("who is in group g1022"));
}

/* A name of which nobody can tell whether it is an account of another source isn't surely one of
 * nobody, and is left to the other modules at once. */
static void
names_about_which_nobody_can_tell(void **unused)
{
    (void)unused;
    alone();
    stage_account("*", AGING);
    setenv("MHKDF_TEST_NSS_ERROR", "carol=5", 1);
    assert_int_equal(try_as("carol", BAD), PAM_USER_UNKNOWN);
    assert_int_equal(count("for nobody"), 0);
    assert_int_equal(count("the name service can't say whether there is such an account"), 1);
    assert_false(stage_logged("carol"));
    assert_int_equal(try_as("erin", BAD), PAM_USER_UNKNOWN);
    assert_int_equal(count("for nobody"), 1);
}

static void
failed_upgrade_is_logged_once(void **unused)
{
    const char *hash = stage_hash_by(GOOD, "$1$abcdefgh");
    char path[128];
    struct lock lock;

    (void)unused;
    alone();
    stage_account(hash, AGING);
    assert_int_equal(lock_take(stage.etc, 1000, &lock), 0);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    lock_release(&lock);
    assert_string_equal(stage_field(2), hash);
    assert_int_equal(count("the hash of bob isn't upgraded: shadow is locked: "), 1);
    assert_int_equal(count("upgraded"), 1);
    /* What is in the way of the new file. */
    stage_clear(NULL);
    snprintf(path, sizeof(path), "%s/nshadow", stage.etc);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_int_equal(rmdir(path), 0);
    assert_string_equal(stage_field(2), hash);
    assert_int_equal(count("the hash of bob isn't upgraded: "), 1);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_hash_is(AT_32K, GOOD);
}

/* A password that was only looked at in part isn't known. */
static void
unseen_parts_are_not_believed(void **unused)
{
#define S71 "S3cret5678901234567890123456789012345678901234567890123456789012345678"
    static const struct {
        const char *setting, *password, *also; /* what the old method takes for it */
        bool is_upgraded;
    } cases[] = {
        {"ab", "S3cret78", NULL, true},
        {"ab", "S3cret789", "S3cret78x", false},
        {"ab", "S3cret\xc3\xbc", NULL, false},
        {"$2b$04$abcdefghijklmnopqrstuu", S71 "12", NULL, true},
        {"$2b$04$abcdefghijklmnopqrstuu", S71 "123", S71 "12x", false},
        /* both of them, wrapped */
        {"$mhkdf$m8K.t1.p1.c6.wYWI$" SALT, "S3cret78", NULL, true},
        {"$mhkdf$m8K.t1.p1.c6.wYWI$" SALT, "S3cret789", "S3cret78x", false},
        {"$mhkdf$m8K.t1.p1.c6.wJDJiJDA0JGFiY2RlZmdoaWprbG1ub3BxcnN0dXU$" SALT, S71 "123", S71 "12x",
         false},
    };
    size_t i;

    (void)unused;
    alone();
    assert_int_equal(strlen(S71), 70);
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *hash = stage_hash_by(cases[i].password, cases[i].setting);
        stage_clear(NULL);
        stage_account(hash, AGING);
        if (cases[i].also != NULL)
            assert_int_equal(try_password(cases[i].also), PAM_SUCCESS);
        assert_int_equal(try_password(cases[i].password), PAM_SUCCESS);
        if ((strcmp(stage_field(2), hash) != 0) != cases[i].is_upgraded)
            fail_msg("case %zu: %s", i, stage_field(2));
        assert_int_equal(stage_logged("the hash of bob stays: its method doesn't look at all"),
                         !cases[i].is_upgraded);
    }
    /* Nor is a new hash made that would look at less. */
    stage_put("mhkdf.conf", "[default]\nmethod = bcrypt\n");
    stage_account(stage_hash_by(S71 "123", "$6$rounds=1000$abcdefgh"), AGING);
    assert_int_equal(try_password(S71 "123"), PAM_SUCCESS);
    assert_hash_is("$6$", S71 "123");
    assert_int_equal(try_password(S71 "124"), PAM_AUTH_ERR);
}

static bool
libcrypt_knows_ours(void)
{
    return crypt_checksalt(AT_32K SALT) == CRYPT_SALT_OK;
}

/* sulogin couldn't verify it. */
static void
root_is_upgraded_to_what_libcrypt_knows(void **unused)
{
    char line[2 * MHKDF_STRING_SIZE];

    (void)unused;
    alone();
    stage_put("passwd", "root:x:0:0:root:/root:/bin/sh\n");
    snprintf(line, sizeof(line), "root:%s:20000:0:99999:7:::\n",
             stage_hash_by(GOOD, "$6$rounds=1000$abcdefgh"));
    stage_put("shadow", "%s", line);
    assert_int_equal(try_as("root", GOOD), PAM_SUCCESS);
    assert_int_equal(stage_logged("the hash of root (uid 0) stays: the system's libcrypt"),
                     !libcrypt_knows_ours());
    assert_int_equal(stage_logged("upgraded"), libcrypt_knows_ours());
    stage_put("mhkdf.conf", "[default]\nmethod = yescrypt\nmemory = 1M\n[user root]\n"
                            "upgrade = yes\n");
    stage_put("shadow", "%s", line);
    assert_int_equal(try_as("root", GOOD), PAM_SUCCESS);
    assert_true(stage_logged("the hash of root has been upgraded"));
}

static void
hash_in_passwd_stays(void **unused)
{
    (void)unused;
    alone();
    stage_account("*", AGING);
    assert_int_equal(try_as("unshadowed", "S3cret"), PAM_SUCCESS);
    assert_int_equal(count("the hash of"), 0);
}

static void
floor_denies(void **unused)
{
    const char *below = stage_hash_by(GOOD, "$mhkdf$m31K.t1.p1.c12$" SALT);
    const char *above = stage_hash_by(GOOD, "$mhkdf$m32K.t1.p1.c12$" SALT);

    (void)unused;
    alone();
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nfloor_memory = 32K\nfloor_action = deny\n");
    stage_account(below, AGING);
    stage_put("mhkdf.conf", "[default]\nmemory = 256K\nfloor_memory = 32K\nfloor_action = deny\n");
    assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
    assert_false(stage_logged("denied"));
    assert_int_equal(count("a hash of 225K for nobody"), 1);
    assert_int_equal(try_password(GOOD), PAM_PERM_DENIED);
    /* It takes no less time than with a wrong password. */
    assert_int_equal(count("a hash of 225K for nobody"), 2);
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nfloor_memory = 32K\nfloor_action = deny\n");
    assert_true(stage_logged("login of bob denied: the password is right, but its hash is below"));
    assert_string_equal(stage_field(2), below);
    stage_account(above, AGING);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    /* Root isn't locked out, unless by his own section. */
    stage_put("passwd", "root:x:0:0:root:/root:/bin/sh\n");
    stage_put("shadow", "root:%s:20000:0:99999:7:::\n", below);
    assert_int_equal(try_as("root", GOOD), PAM_SUCCESS);
    stage_put("mhkdf.conf", "[user root]\nmemory = 32K\nfloor_memory = 32K\nfloor_action = deny\n");
    assert_int_equal(try_as("root", GOOD), PAM_PERM_DENIED);
}

static void
floor_expires(void **unused)
{
    const char *below = stage_hash_by(GOOD, "$6$rounds=1000$abcdefgh");
    int auth = -1, change = -1;

    (void)unused;
    alone();
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nfloor_memory = 16K\nfloor_action = expire\n"
                            "upgrade = no\n");
    stage_account(below, "20000:99999:99999:7::");
    /* cron, and a public key */
    assert_int_equal(stage_login(STAGE_USER, NULL, NULL), PAM_SUCCESS);
    stage.answers[0] = BAD;
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_SUCCESS);
    assert_int_equal(auth, PAM_AUTH_ERR);
    stage.answers[0] = GOOD;
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_NEW_AUTHTOK_REQD);
    assert_int_equal(auth, PAM_SUCCESS);
    assert_string_equal(stage_field(2), below);
    /* It can be changed then, though fewer days have passed than there should, and is due no more.
     */
    stage.answers[1] = GOOD;
    stage.answers[2] = stage.answers[3] = NEW;
    assert_int_equal(stage_login(STAGE_USER, &auth, &change), PAM_SUCCESS);
    assert_int_equal(change, PAM_SUCCESS);
    assert_hash_is(AT_32K, NEW);
    stage.answers[0] = NEW;
    assert_int_equal(stage_login(STAGE_USER, &auth, &change), PAM_SUCCESS);
    assert_int_equal(auth, PAM_SUCCESS);
    /* An upgrade makes it unnecessary. */
    stage_clear(NULL);
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nfloor_memory = 16K\nfloor_action = expire\n");
    stage_account(below, AGING);
    stage.answers[0] = GOOD;
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_SUCCESS);
    assert_hash_is(AT_32K, GOOD);
    assert_false(stage_logged("floor"));
}

/* What was found out about one user isn't held against another, who is set behind us. */
static void
floor_is_for_its_user_only(void **unused)
{
    int auth = -1;

    (void)unused;
    stage_service("auth required @ debug\n"
                  "auth required " TEST_WRAPPER_MODULES "/pam_set_items.so\n"
                  "account required pam_permit.so\n"
                  "account [success=ok new_authtok_reqd=ok ignore=ignore default=bad] @ debug\n");
    stage_put("mhkdf.conf", "[default]\nmemory = 32K\nfloor_memory = 16K\nfloor_action = expire\n"
                            "upgrade = no\n");
    stage_account(stage_hash_by(GOOD, "$6$rounds=1000$abcdefgh"), AGING);
    stage.answers[0] = GOOD;
    setenv("PAM_USER", STAGE_USER, 1);
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_NEW_AUTHTOK_REQD);
    setenv("PAM_USER", "toor", 1);
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_SUCCESS);
    unsetenv("PAM_USER");
}

static void
floor_logs(void **unused)
{
    int auth = -1;

    (void)unused;
    alone();
    stage_put("mhkdf.conf", "[default]\nfloor_memory = 1G\nmemory = 32K\n");
    stage_account(stage_hash_by(GOOD, "$1$abcdefgh"), AGING);
    stage.answers[0] = GOOD;
    assert_int_equal(stage_login(STAGE_USER, &auth, NULL), PAM_SUCCESS);
    assert_int_equal(auth, PAM_SUCCESS);
    assert_int_equal(count("the hash of bob is below floor_memory\n"), 1);
    assert_hash_is(AT_32K, GOOD);
}

static void
ceiling_denies_unread(void **unused)
{
    static const char *const hashes[] = {
        "$mhkdf$m4294967295K.t1.p64.c6$" SALT "$" TAG,
        "$mhkdf$m65K.t1.p4.c6$" SALT "$" TAG,
        "$mhkdf$m8K.t4.p1.c6$" SALT "$" TAG,
        "$argon2i$v=19$m=8,t=16777215,p=1$" SALT "$" TAG,
        /* $2b$31$..., $6$rounds=999999999$ab and a $mhkdf$ of 4 TiB, wrapped */
        "$mhkdf$m8K.t1.p1.c6.wJDJiJDMxJGFiY2RlZmdoaWprbG1ub3BxcnN0dXU$" SALT "$" TAG,
        "$mhkdf$m8K.t1.p1.c6.wJDYkcm91bmRzPTk5OTk5OTk5OSRhYg$" SALT "$" TAG,
        "$mhkdf$m8K.t1.p1.c6.w"
        "JG1oa2RmJG00Mjk0OTY3Mjk1Sy50MS5wNC5jNiRBQUFBQUFBQUFBQUFBQUFBQUFBQUFB$" SALT "$" TAG,
        "$2b$31$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyzabcde",
        "$6$rounds=999999999$ab$x",
        "$y$jFT$abcdefghijklmnopqrstu.$x",
        "$7$zU..../....abcdefgh$x",
    };
    size_t i;

    (void)unused;
    alone();
    for (i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        stage_clear(NULL);
        stage_put("mhkdf.conf", "[default]\nmemory = 64K\nceiling_memory = 64K\n"
                                "ceiling_passes = 3\n");
        stage_account(hashes[i], AGING);
        if (try_password(GOOD) != PAM_PERM_DENIED)
            fail_msg("%s", hashes[i]);
        assert_int_equal(count("the hash of bob is refused: "), 1);
        assert_int_equal(count("a hash of 64K for nobody"), 1);
        assert_int_equal(count("memory: "), 1);
        /* Not as the old password either. */
        stage.answers[1] = stage.answers[2] = NEW;
        assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_PERM_DENIED);
        assert_string_equal(stage_field(2), hashes[i]);
    }
    /* Root only by his own section. */
    stage_put("passwd", "root:x:0:0:root:/root:/bin/sh\n");
    stage_put("shadow", "root:%s:20000:0:99999:7:::\n",
              stage_hash_by(GOOD, "$mhkdf$m65K.t1.p1.c12$" SALT));
    assert_int_equal(try_as("root", GOOD), PAM_SUCCESS);
    stage_put("mhkdf.conf", "[default]\nmemory = 64K\n[user root]\nceiling_memory = 64K\n");
    assert_int_equal(try_as("root", GOOD), PAM_PERM_DENIED);
}

/* What is computed for whom, so that all refusals take the same time. */
static void
refusals_take_their_time(void **unused)
{
    static const struct {
        const char *user, *field, *password;
        int expected;
        const char *whole; /* of a hash for nobody, or of two; "": none */
    } cases[] = {
        {"bob", "$mhkdf$m64K.t1.p4.c6$" SALT "$" TAG, BAD, PAM_AUTH_ERR, "a hash of 192K"},
        {"bob", "$mhkdf$m256K.t1.p4.c6$" SALT "$" TAG, BAD, PAM_AUTH_ERR, ""},
        {"bob", "$mhkdf$m64K.t4.p4.c6$" SALT "$" TAG, BAD, PAM_AUTH_ERR, ""},
        {"bob", "$mhkdf$m512K.t1.p4.c0$" SALT "$" TAG, BAD, PAM_AUTH_ERR, ""},
        {"bob", "$argon2id$v=19$m=64,t=2,p=4$" SALT "$" TAG, BAD, PAM_AUTH_ERR, "a hash of 128K"},
        {"bob", "!", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        {"bob", "*", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        {"bob", "!$6$abc$def", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        {"bob", "x", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        {"bob", "$mhkdf$m64K.t1.p4.c6$" SALT, BAD, PAM_USER_UNKNOWN, "a hash of"},
        {"bob", "$mhkdf$v=1$m=64,t=1,p=4,c=6$" SALT "$" TAG, BAD, PAM_USER_UNKNOWN,
         "a hash of 256K"},
        {"bob", "$nosuch$abc$def", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        {"bob", "$mhkdf$m64K.t1.p4.c6.kgone$" SALT "$" TAG, BAD, PAM_AUTHINFO_UNAVAIL,
         "a hash of 256K"},
        {"alice", "*", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        {"+", "*", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        {"noshadow", "*", BAD, PAM_USER_UNKNOWN, "a hash of 256K"},
        /* of another source */
        {"carol", "*", BAD, PAM_USER_UNKNOWN, ""},
        {"dave", "*", BAD, PAM_USER_UNKNOWN, ""},
    };
    size_t i;

    (void)unused;
    alone();
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        stage_clear(NULL);
        setenv("MHKDF_TEST_NSS", "carol,noshadow,bob,dave", 1);
        stage_put("mhkdf.conf", "[default]\nmemory = 256K\n");
        stage_account(cases[i].field, AGING);
        rc = try_as(cases[i].user, cases[i].password);
        if (rc != cases[i].expected ||
            count("for nobody") != (unsigned)(cases[i].whole[0] != '\0') ||
            !stage_logged(cases[i].whole) || stage_logged("wasn't computed"))
            fail_msg("case %zu: %d, %s", i, rc, stage_log());
        assert_in_range(stage.delay_us, 1000000, 3000000);
        /* A password that can't be right is refused at once, for everyone. */
        stage_clear(NULL);
        stage_put("mhkdf.conf", "[default]\nmemory = 256K\n");
        stage.answers[0] = "";
        assert_int_not_equal(stage_authenticate(cases[i].user, PAM_DISALLOW_NULL_AUTHTOK),
                             PAM_SUCCESS);
        assert_false(stage_logged("for nobody"));
    }
}

/* Another method's hash is topped up by the time that it took. */
static void
other_methods_are_topped_up(void **unused)
{
    static const char *const settings[] = {"$6$rounds=9999$abcdefgh",
                                           "$2b$06$abcdefghijklmnopqrstuu",
                                           "$y$j75$abcdefghijklmnopqrstu."};
    size_t i;

    (void)unused;
    alone();
    for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        stage_clear(NULL);
        stage_put("mhkdf.conf", "[default]\nmemory = 16M\n");
        stage_account(stage_hash_by(GOOD, settings[i]), AGING);
        assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
        /* By one hash, of the policy's cost: all that comes with it comes once. */
        assert_int_equal(count("a hash of 16384K for nobody, but for "), 1);
        assert_int_equal(count("for nobody"), 1);
        assert_int_equal(count("memory: 16"), 1);
    }
    /* And where the policy itself asks for one. */
    stage_clear(NULL);
    stage_put("mhkdf.conf", "[default]\nmethod = yescrypt\nmemory = 1M\n");
    assert_int_equal(try_as("alice", BAD), PAM_USER_UNKNOWN);
    assert_int_equal(count("a hash of 1024K for nobody"), 1);
    assert_false(stage_logged("wasn't computed"));
    stage_account(stage_hash_by(GOOD, "$y$j75$abcdefghijklmnopqrstu."), AGING);
    assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
    assert_int_equal(count("for nobody"), 1); /* as before: there is nothing to add */
    stage_clear(NULL);
    stage_put("mhkdf.conf", "[default]\nmethod = sha512crypt\n");
    stage_account(stage_hash_by(GOOD, "$6$abcdefgh"), AGING);
    assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
    assert_int_equal(count("for nobody"), 0);
    stage_account(stage_hash_by(GOOD, "$1$abcdefgh"), AGING);
    assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
    assert_int_equal(count("for nobody"), 1);
}

/* Where an account has no line in shadow, pam_unix runs its helper twice for it: so do the others'
 * refusals. Where there is none, nobody does. */
static void
helpers_of_pam_unix_are_run_for_all(void **unused)
{
    static const struct {
        const char *user, *options;
        unsigned runs;
    } cases[] = {
        {"bob", "unix_behind nullok", 2},
        {"alice", "unix_behind nullok", 2},
        {"noshadow", "unix_behind nullok", 0}, /* for which pam_unix will do it */
        {"bob", "nullok", 0},
        {"alice", "nullok", 0},
    };
    char path[512];

    (void)unused;
    if (geteuid() != 0) {
        print_message("# only root can try this\n");
        return;
    }
    stage_put("unix_chkpwd",
              "#!/bin/sh\necho \"run: $*, $(/usr/bin/tr '\\0' 0)\" >>'%s/log'\nexit 9\n",
              stage.etc);
    snprintf(path, sizeof(path), "%s/unix_chkpwd", stage.etc);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("MHKDF_TEST_UNIX_CHKPWD", path, 1);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = i % (sizeof(cases) / sizeof(cases[0]));
        bool is_there = i == n;
        char service[128];
        stage_clear(NULL);
        stage_put("mhkdf.conf", "[default]\nmemory = 32K\n");
        stage_account("!", AGING);
        if (!is_there)
            stage_put("passwd", "root:x:0:0::/:/bin/sh\nbob:x:1000:1000::/:/bin/sh\n");
        if (!is_there)
            stage_put("shadow", "bob:!:1::::::\nroot:!:1::::::\n");
        snprintf(service, sizeof(service), "auth required @ debug %s\n", cases[n].options);
        stage_service(service);
        assert_int_not_equal(try_as(cases[n].user, BAD), PAM_SUCCESS);
        if (count("run: noshadow nullok, 0\n") != (is_there ? cases[n].runs : 0) ||
            count("run: ") != count("run: noshadow"))
            fail_msg("case %zu: %s", i, stage_log());
    }
    unsetenv("MHKDF_TEST_UNIX_CHKPWD");
}

static void
delay_can_be_left_out(void **unused)
{
    (void)unused;
    stage_service("auth required @ debug nodelay\n");
    stage_account(stage_hash(GOOD), AGING);
    assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
    assert_int_equal(stage.delay_us, 0);
    assert_int_equal(try_as("alice", BAD), PAM_USER_UNKNOWN);
    assert_int_equal(stage.delay_us, 0);
    assert_false(stage_logged("unknown option"));
}

/* A login goes on, and nothing is done that the administrator may not have wanted. */
static void
broken_config_changes_nothing(void **unused)
{
    static const char *const texts[] = {
        "[default]\nmemory = lots\n",
        "[default]\nmemory = 32K\nceiling_memory = 16K\n",
        "[service stage]\nmemory = 1G\n[user bob]\nceiling_memory = 512M\n",
    };
    const char *hash = stage_hash_by(GOOD, "$1$abcdefgh");
    char path[128];
    size_t i;

    (void)unused;
    alone();
    snprintf(path, sizeof(path), "%s/mhkdf.conf", stage.etc);
    for (i = 0; i <= sizeof(texts) / sizeof(texts[0]); i++) {
        stage_clear(NULL);
        if (i < 3)
            stage_put("mhkdf.conf", "%s", texts[i]);
        else
            assert_int_equal(chmod(path, 0666), 0);
        stage_account(hash, AGING);
        assert_int_equal(try_password(GOOD), PAM_SUCCESS);
        assert_int_equal(try_password(BAD), PAM_AUTH_ERR);
        assert_string_equal(stage_field(2), hash);
        assert_true(stage_logged("mhkdf.conf:") || stage_logged("lets others write"));
        /* Not even with a hash that the built-in ceiling is below. */
        stage_account(stage_hash_by(GOOD, "$mhkdf$m8K.t65.p1.c0$" SALT), AGING);
        assert_int_equal(try_password(GOOD), PAM_SUCCESS);
        /* A change says why not, unless nobody wants to hear it. */
        stage.said[0] = '\0';
        assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
        assert_true(stage_said("E:Passwords can't be changed while this is wrong: /"));
        stage.said[0] = '\0';
        assert_int_equal(stage_chauthtok(STAGE_USER, PAM_SILENT), PAM_AUTHTOK_ERR);
        assert_string_equal(stage.said, "");
        chmod(path, 0644);
    }
}

/* A set-id program is in a folder of its user's choice. */
static void
relative_path_is_broken_config(void **unused)
{
    const char *hash = stage_hash_by(GOOD, "$1$abcdefgh");
    char before[4096];

    (void)unused;
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(stage.etc), 0);
    stage_service("auth required @ conf=mhkdf.conf\npassword required @ conf=mhkdf.conf\n");
    stage_account(hash, AGING);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_string_equal(stage_field(2), hash);
    assert_true(stage_logged("conf=mhkdf.conf: an absolute path was expected\n"));
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    assert_true(stage_said("E:Passwords can't be changed while this is wrong: conf=mhkdf.conf: "));
    assert_int_equal(chdir(before), 0);
}

static void
vendor_file_counts_without_another(void **unused)
{
    char path[128];

    (void)unused;
    alone();
    snprintf(path, sizeof(path), "%s/mhkdf.conf", stage.etc);
    stage_put("vendor.conf", "[default]\nmemory = 40K\n");
    stage_account(stage_hash(GOOD), AGING);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_hash_is(AT_32K, GOOD);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(try_password(GOOD), PAM_SUCCESS);
    assert_hash_is("$mhkdf$m40K.", GOOD);
    snprintf(path, sizeof(path), "%s/vendor.conf", stage.etc);
    assert_int_equal(unlink(path), 0);
}

static void
new_password_by_other_methods(void **unused)
{
    static const struct {
        const char *method, *prefix;
    } cases[] = {
        {"argon2id", "$argon2id$v=19$m=1024,t=3,p=4$"},
        {"argon2id\npasses = 1", "$argon2id$v=19$m=1024,t=1,p=4$"},
        {"yescrypt", "$y$j75$"},
        {"bcrypt", "$2b$12$"},
        {"sha512crypt", "$6$rounds=500000$"},
        {"sha256crypt", "$5$rounds=500000$"},
        {"mhkdf", "$mhkdf$m1M."},
    };
    char longer[74];
    size_t i;

    (void)unused;
    alone();
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        stage_put("mhkdf.conf", "[default]\nmemory = 1M\nmethod = %s\n", cases[i].method);
        stage_account(stage_hash(GOOD), AGING);
        stage.answers[0] = GOOD;
        stage.answers[1] = stage.answers[2] = NEW;
        assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
        assert_hash_is(cases[i].prefix, NEW);
        assert_int_equal(count("mhkdf.conf, line 2: memory doesn't count for method = "),
                         cases[i].prefix[1] == '2' || cases[i].prefix[1] == '5' ||
                             cases[i].prefix[1] == '6');
        stage_clear(NULL);
    }
    stage_put("mhkdf.conf", "[default]\nmethod = bcrypt\n");
    stage_account(stage_hash(GOOD), AGING);
    memset(longer, 'p', 73);
    longer[73] = '\0';
    stage.answers[0] = GOOD;
    stage.answers[1] = stage.answers[2] = stage.answers[3] = stage.answers[4] = longer;
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_AUTHTOK_ERR);
    assert_true(stage_said("E:You must choose a shorter password, of at most 72 bytes.|"));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(weak_hashes_are_upgraded),
        STAGE_TEST(upgrade_to_another_method),
        STAGE_TEST(strong_hashes_stay),
        STAGE_TEST(services_do_not_quarrel),
        STAGE_TEST(upgrade_can_be_off),
        STAGE_TEST(groups_about_which_nobody_can_tell),
        STAGE_TEST(limits_about_which_nobody_can_tell),
        STAGE_TEST(very_many_groups),
        STAGE_TEST(names_about_which_nobody_can_tell),
        STAGE_TEST(failed_upgrade_is_logged_once),
        STAGE_TEST(unseen_parts_are_not_believed),
        STAGE_TEST(root_is_upgraded_to_what_libcrypt_knows),
        STAGE_TEST(hash_in_passwd_stays),
        STAGE_TEST(floor_denies),
        STAGE_TEST(floor_expires),
        STAGE_TEST(floor_is_for_its_user_only),
        STAGE_TEST(floor_logs),
        STAGE_TEST(ceiling_denies_unread),
        STAGE_TEST(refusals_take_their_time),
        STAGE_TEST(other_methods_are_topped_up),
        STAGE_TEST(helpers_of_pam_unix_are_run_for_all),
        STAGE_TEST(delay_can_be_left_out),
        STAGE_TEST(broken_config_changes_nothing),
        STAGE_TEST(relative_path_is_broken_config),
        STAGE_TEST(vendor_file_counts_without_another),
        STAGE_TEST(new_password_by_other_methods),
    };

    (void)argc;
    stage_enter(argv);
    return cmocka_run_group_tests(tests, stage_set_up, NULL);
}
