/* SPDX-License-Identifier: BSD-2-Clause */
/* The warning at a password change where a history of passwords stands in the service's file and
 * can't work. The module reads the files of services in the test's folder; the stack that libpam
 * runs is another one. */
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
#include "tests/pam/stage.h"

#define AGING "20000:0:99999:7::"
#define OLD "S3cret old"
#define NEW "S3cret new"

#define COMMAS "method = argon2id\nmemory = 32K\npasses = 1\n"
#define YESCRYPT "method = yescrypt\n"
#define OURS "memory = 32K\n"

#define BY_COMMAS                                                                                  \
    "password history of bob doesn't work: pam_pwhistory separates hashes by commas, and the new " \
    "hash has some; write method = mhkdf into mhkdf.conf, or take pam_pwhistory out of the "       \
    "service stage\n"
#define BY_LIBCRYPT "the libcrypt that is loaded can't verify the new hash"
#define BY_UNIX "remember= of pam_unix doesn't count"

#define PWHISTORY "password requisite pam_pwhistory.so remember=5 use_authtok\n"

/* The system's libcrypt may have our methods or not. */
static bool
libcrypt_is_ours(void)
{
    char setting[64];

    return crypt_gensalt_rn("$mhkdf$", 1, "0123456789abcdef", 16, setting, sizeof(setting)) != NULL;
}

static void
forget_files(void)
{
    static const char *const names[] = {"pam.d/stage", "pam.d/other",        "pam.d/one",
                                        "pam.d/two",   "vendor-pam.d/stage", "vendor-pam.d/two",
                                        "outside"};
    char path[256];
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", stage.etc, names[i]);
        unlink(path);
    }
}

static int
set_up(void **state)
{
    static const char *const folders[] = {"pam.d", "vendor-pam.d"};
    char path[256];
    size_t i;

    if (stage_set_up(state) != 0)
        return 1;
    for (i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", stage.etc, folders[i]);
        if (mkdir(path, 0755) != 0)
            return 1;
    }
    return 0;
}

/* A change that succeeds; how many warnings were logged. */
static unsigned
change(const char *conf)
{
    const char *line;
    unsigned count = 0;

    stage_put("log", "%s", "");
    stage_put("mhkdf.conf", "[default]\n%s", conf);
    stage_service("password required @\n");
    stage_account(stage_hash(OLD), AGING);
    stage.answers[0] = OLD;
    stage.answers[1] = stage.answers[2] = NEW;
    assert_int_equal(stage_chauthtok(STAGE_USER, 0), PAM_SUCCESS);
    assert_int_equal(anycrypt_verify(NEW, stage_field(2)), 0);
    for (line = stage_log(); (line = strstr(line, "password history of bob")) != NULL; line++)
        count++;
    return count;
}

static void
commas(void **unused)
{
    (void)unused;
    forget_files();
    stage_put("pam.d/stage", PWHISTORY);
    assert_int_equal(change(COMMAS), 1);
    assert_true(stage_logged(BY_COMMAS));
    assert_int_equal(change(YESCRYPT), 0);
}

static void
libcrypt(void **unused)
{
    (void)unused;
    forget_files();
    stage_put("pam.d/stage", PWHISTORY);
    if (libcrypt_is_ours()) {
        assert_int_equal(change(OURS), 0);
    } else {
        assert_int_equal(change(OURS), 1);
        assert_true(stage_logged(BY_LIBCRYPT));
        assert_true(stage_logged("run mhkdf-libcrypt enable, or write method = yescrypt"));
    }
}

static void
remember_of_pam_unix(void **unused)
{
    (void)unused;
    forget_files();
    stage_put("pam.d/stage", "password [success=1 default=ignore] pam_mhkdf.so\n"
                             "password required pam_unix.so obscure remember=5 yescrypt\n");
    assert_int_equal(change(COMMAS), 1);
    assert_true(stage_logged(BY_UNIX));
    assert_true(stage_logged("write method = mhkdf"));
    assert_int_equal(change(YESCRYPT), 1);
    assert_true(stage_logged(BY_UNIX));
    assert_false(stage_logged("write method = mhkdf"));
    stage_put("pam.d/stage", "password required pam_unix.so obscure yescrypt\n");
    assert_int_equal(change(COMMAS), 0);
}

static void
one_warning_for_all_reasons(void **unused)
{
    (void)unused;
    forget_files();
    stage_put("pam.d/stage", PWHISTORY PWHISTORY "password required pam_unix.so remember=5\n");
    assert_int_equal(change(COMMAS), 1);
    assert_true(stage_logged(BY_COMMAS));
}

/* Texts in which pam_pwhistory is at work, by libpam's rules. */
static void
lines_that_count(void **unused)
{
    static const char *const texts[] = {
        "-password optional pam_pwhistory.so",
        "  PASSWORD\t[success=ok default=die]\tpam_pwhistory.so",
        ("password [success=ok user_unknown=ignore \\]=x default=die] "
         "/lib/security/pam_pwhistory.so"),
        "password requisite pam_pwhistory.so # remember=0",
        "password \\\n  # between\n\n requisite \\  \n pam_pwhistory.so\n",
        "auth required pam_deny.so\npassword requisite pam_pwhistory.so remember=00",
        "password requisite pam_pwhistory.so remember=5 \\",
    };
    size_t i;

    (void)unused;
    forget_files();
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        stage_put("pam.d/stage", "%s", texts[i]);
        if (change(COMMAS) != 1)
            fail_msg("no warning by: %s", texts[i]);
    }
}

static void
lines_that_do_not_count(void **unused)
{
    static const char *const texts[] = {
        "",
        "\\",
        "password",
        "password requisite",
        "password [requisite",
        "password requisite pam_pwhistory.so remember=0",
        "password requisite pam_pwhistory.so [remember=0]",
        "password requisite pam_pwhistory2.so",
        "password requisite pam_deny.so pam_pwhistory.so remember=5",
        "# password requisite pam_pwhistory.so",
        "auth requisite pam_pwhistory.so",
        "auth required pam_deny.so \\\npassword requisite pam_pwhistory.so",
        "password required pam_unix.so # remember=5",
        "auth required pam_unix.so remember=5",
        "@include",
        "password include",
    };
    size_t i;

    (void)unused;
    forget_files();
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        stage_put("pam.d/stage", "%s", texts[i]);
        if (change(COMMAS) != 0)
            fail_msg("a warning by: %s", texts[i]);
    }
}

static void
includes(void **unused)
{
    static const char *const texts[] = {"@include one", "password include one",
                                        "password substack one\n", "password include two"};
    char text[256];
    size_t i;

    (void)unused;
    forget_files();
    stage_put("pam.d/one", "%s", "@include two\n");
    stage_put("vendor-pam.d/two", "%s", "auth required pam_deny.so\n" PWHISTORY);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        stage_put("pam.d/stage", "%s", texts[i]);
        assert_int_equal(change(COMMAS), 1);
    }
    stage_put("pam.d/stage", "%s", "auth include two\n");
    assert_int_equal(change(COMMAS), 0);
    stage_put("pam.d/stage", "%s", "password include absent\n@include pam.d\n");
    assert_int_equal(change(COMMAS), 0);
    stage_put("outside", PWHISTORY);
    snprintf(text, sizeof(text), "password include %s/outside", stage.etc);
    stage_put("pam.d/stage", "%s", text);
    assert_int_equal(change(COMMAS), 1);
}

static void
includes_without_end(void **unused)
{
    (void)unused;
    forget_files();
    stage_put("pam.d/stage", "%s", "@include one\n@include one\npassword include stage\n");
    stage_put("pam.d/one", "%s", "@include stage\n@include stage\n@include one\n");
    assert_int_equal(change(COMMAS), 0);
}

static void
where_the_file_is(void **unused)
{
    (void)unused;
    forget_files();
    assert_int_equal(change(COMMAS), 0);
    stage_put("vendor-pam.d/stage", PWHISTORY);
    assert_int_equal(change(COMMAS), 1);
    /* The administrator's file hides the vendor's. */
    stage_put("pam.d/stage", "password required pam_deny.so\n");
    assert_int_equal(change(COMMAS), 0);
    /* "other" counts where the service has no line for passwords. */
    stage_put("pam.d/other", PWHISTORY);
    assert_int_equal(change(COMMAS), 0);
    stage_put("pam.d/stage", "auth required pam_deny.so\n");
    assert_int_equal(change(COMMAS), 1);
    assert_true(stage_logged("the service stage\n"));
    forget_files();
    stage_put("pam.d/other", PWHISTORY);
    assert_int_equal(change(COMMAS), 1);
}

static void
files_that_cannot_be_read(void **unused)
{
    char path[256];

    (void)unused;
    forget_files();
    snprintf(path, sizeof(path), "%s/pam.d/stage", stage.etc);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(change(COMMAS), 0);
    unlink(path);
    assert_int_equal(symlink(path, path), 0);
    assert_int_equal(change(COMMAS), 0);
    unlink(path);
    stage_put("pam.d/stage", PWHISTORY);
    assert_int_equal(truncate(path, 2 << 20), 0);
    assert_int_equal(change(COMMAS), 0);
    assert_int_equal(truncate(path, 2000), 0);
    assert_int_equal(change(COMMAS), 1);
}

/* PAM_SERVICE may be set to anything after pam_start, by the program or another module. */
static void
service_names(void **unused)
{
    static const char *const names[] = {"../outside", "./stage", "/stage", ".", "..", ""};
    char longest[5000];
    size_t i;

    (void)unused;
    forget_files();
    stage_put("outside", PWHISTORY);
    stage_put("pam.d/stage", PWHISTORY);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        stage.renamed = names[i];
        assert_int_equal(change(COMMAS), 0);
    }
    stage.renamed = longest;
    assert_int_equal(change(COMMAS), 0);
    stage.renamed = "stage";
    assert_int_equal(change(COMMAS), 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(commas),
        STAGE_TEST(libcrypt),
        STAGE_TEST(remember_of_pam_unix),
        STAGE_TEST(one_warning_for_all_reasons),
        STAGE_TEST(lines_that_count),
        STAGE_TEST(lines_that_do_not_count),
        STAGE_TEST(includes),
        STAGE_TEST(includes_without_end),
        STAGE_TEST(where_the_file_is),
        STAGE_TEST(files_that_cannot_be_read),
        STAGE_TEST(service_names),
    };

    (void)argc;
    stage_enter(argv);
    return cmocka_run_group_tests(tests, set_up, NULL);
}
