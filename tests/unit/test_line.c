/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of passwd and shadow, beside the C library, which reads the same files for pam_unix. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pwd.h>
#include <shadow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/line.h"

#define NAME "bob"
#define LINE_MAX_LEN 256
#define CASES 200000U

static FILE *
open_text(const char *text, size_t len)
{
    static char copy[LINE_MAX_LEN + 1];
    FILE *f;

    assert_true(len < sizeof(copy));
    memcpy(copy, text, len);
    copy[len] = '\n';
    f = fmemopen(copy, len + 1, "r");
    assert_non_null(f);
    return f;
}

static bool
is_text(const struct line_field *field, const char *text)
{
    return field->len == strlen(text) && memcmp(field->text, text, field->len) == 0;
}

/* What differs from what glibc 2.36 reads; NULL: nothing. */
static const char *
shadow_differs(const char *text, size_t len)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    bool is_ours = line_is_shadow_of(text, len, NAME, fields), is_theirs;
    FILE *f = open_text(text, len);
    const struct spwd *entry = fgetspent(f);
    const char *wrong = NULL;

    is_theirs = entry != NULL && strcmp(entry->sp_namp, NAME) == 0;
    if (is_ours != is_theirs)
        wrong = is_ours ? "only ours" : "only theirs";
    else if (is_ours && !is_text(&fields[1], entry->sp_pwdp))
        wrong = "the hash";
    else if (is_ours &&
             (line_days(&fields[2]) != entry->sp_lstchg || line_days(&fields[3]) != entry->sp_min ||
              line_days(&fields[4]) != entry->sp_max || line_days(&fields[5]) != entry->sp_warn ||
              line_days(&fields[6]) != entry->sp_inact ||
              line_days(&fields[7]) != entry->sp_expire))
        wrong = "a number";
    fclose(f);
    return wrong;
}

static const char *
passwd_differs(const char *text, size_t len)
{
    struct line_field fields[LINE_PASSWD_FIELDS];
    bool is_ours = line_is_passwd_of(text, len, NAME, fields), is_theirs;
    FILE *f = open_text(text, len);
    const struct passwd *entry = fgetpwent(f);
    const char *wrong = NULL;

    /* Nobody can have the uid or gid 2^32-1. */
    is_theirs = entry != NULL && strcmp(entry->pw_name, NAME) == 0 && entry->pw_uid != UINT32_MAX &&
                entry->pw_gid != UINT32_MAX;
    if (is_ours != is_theirs)
        wrong = is_ours ? "only ours" : "only theirs";
    else if (is_ours &&
             (!is_text(&fields[1], entry->pw_passwd) || !is_text(&fields[4], entry->pw_gecos) ||
              !is_text(&fields[5], entry->pw_dir) || !is_text(&fields[6], entry->pw_shell)))
        wrong = "a text";
    else if (is_ours &&
             (line_id(&fields[2]) != entry->pw_uid || line_id(&fields[3]) != entry->pw_gid))
        wrong = "an id";
    fclose(f);
    return wrong;
}

/* Text with its length, since it may hold NULs. */
#define TEXT(text) (text), sizeof(text) - 1

struct odd {
    const char *text;
    size_t len;
    bool is_line;
};

static const struct odd odd_shadow[] = {
    {TEXT("bob:x:1:0:9:7:::"), true},
    {TEXT("bob::1:0:9:7:::"), true},
    {TEXT("bob:x:::::::"), true},
    {TEXT("bob:x:::::::4294967295"), true},
    {TEXT("bob:x:::::::4294967296"), false},
    {TEXT("bob:x:1:0:9:7:3:5:0"), true},
    {TEXT("bob:x:1:0:9:7:3:5:0:"), false},
    {TEXT("bob:x:1:0:9:7:3:5::"), false},
    {TEXT("bob:x:1:0:9:7:3:5: "), false},
    /* the old form, and what is between the two */
    {TEXT("bob:x:1:0:9"), true},
    {TEXT("bob:x:1:0:9:"), true},
    {TEXT("bob:x:1:0:9: \t"), true},
    {TEXT("bob:x:1:0:9:\r"), true},
    {TEXT("bob:x:1:0:9\r"), false},
    {TEXT("bob:x:::"), false},
    {TEXT("bob:x::::"), true},
    {TEXT("bob:x:1:0:"), false},
    {TEXT("bob:x:1:0"), false},
    {TEXT("bob:x:1"), false},
    {TEXT("bob:x:"), false},
    {TEXT("bob:x"), false},
    {TEXT("bob:"), false},
    {TEXT("bob"), false},
    {TEXT("bob:x:1:0:9:7"), false},
    {TEXT("bob:x:1:0:9:7:"), false},
    {TEXT("bob:x:1:0:9:7::"), false},
    {TEXT("bob:x:1:0:9:7::5"), true},
    {TEXT("bob:x:1:0:9: :::"), true},
    {TEXT("bob:x:1:0:9: 7:::"), true},
    /* blanks */
    {TEXT(" bob:x:1:0:9:7:::"), true},
    {TEXT("\t\v\f\r bob:x:1:0:9:7:::"), true},
    {TEXT("bob :x:1:0:9:7:::"), false},
    {TEXT("bob:x: 1:\t0:  9:7:::"), true},
    {TEXT("bob:x:1 :0:9:7:::"), false},
    {TEXT("bob:x:1:0:9:7:::\r"), false},
    /* numbers */
    {TEXT("bob:x:+19000:0:9:7:::"), true},
    {TEXT("bob:x:+:0:9:7:::"), false},
    {TEXT("bob:x:+ 1:0:9:7:::"), false},
    {TEXT("bob:x:-1:0:9:7:::"), false},
    {TEXT("bob:x:1:0:9:7:-1::"), false},
    {TEXT("bob:x:1:0:9:7:::-1"), false},
    {TEXT("bob:x:-0:0:9:7:::"), true},
    {TEXT("bob:x:2147483647:0:9:7:::"), true},
    {TEXT("bob:x:2147483648:0:9:7:::"), true},
    {TEXT("bob:x:4294967295:0:9:7:::"), true},
    {TEXT("bob:x:4294967296:0:9:7:::"), false},
    {TEXT("bob:x:18446744073709551615:0:9:7:::"), false},
    {TEXT("bob:x:18446744073709551616:0:9:7:::"), false},
    {TEXT("bob:x:99999999999999999999999999:0:9:7:::"), false},
    {TEXT("bob:x:0x10:0:9:7:::"), false},
    {TEXT("bob:x:00010:0:9:7:::"), true},
    {TEXT("bob:x:a:0:9:7:::"), false},
    /* NUL */
    {TEXT("bob:x:1:0:9:7:::\0junk:"), true},
    {TEXT("bob:x:1:0:9\0:junk"), true},
    {TEXT("bob:x:1\0:0:9:7:::"), false},
    {TEXT("bob\0:x:1:0:9:7:::"), false},
    {TEXT("\0bob:x:1:0:9:7:::"), false},
    /* others' */
    {TEXT("#bob:x:1:0:9:7:::"), false},
    {TEXT("bobby:x:1:0:9:7:::"), false},
    {TEXT("bo:x:1:0:9:7:::"), false},
    {TEXT(""), false},
};

static const struct odd odd_passwd[] = {
    {TEXT("bob:x:1000:1000:a,b:/home/bob:/bin/sh"), true},
    {TEXT("bob:x:1000:1000:::"), true},
    {TEXT("bob:x:1000:1000"), true},
    {TEXT("bob:x:1000:1000:"), true},
    {TEXT("bob:x:1000:1000:a"), true},
    {TEXT("bob:x:1000:1000:a:/home"), true},
    {TEXT("bob:x:1000:1000:a:/home:/bin/sh:more:colons"), true},
    {TEXT("bob:x:1000:"), false},
    {TEXT("bob:x:1000"), false},
    {TEXT("bob:x::1000:::"), false},
    {TEXT("bob:x:1000::::"), false},
    {TEXT(" bob:x:+1000: 01000:::"), true},
    {TEXT("bob:x:-1:1000:::"), false},
    {TEXT("bob:x:4294967294:4294967294:::"), true},
    {TEXT("bob:x:4294967295:1000:::"), false},
    {TEXT("bob:x:1000:4294967295:::"), false},
    {TEXT("bob:x:4294967296:1000:::"), false},
    {TEXT("bob:x:1000 :1000:::"), false},
    {TEXT("bob:x:1000:1000\0:::"), true},
    {TEXT("#bob:x:1000:1000:::"), false},
    {TEXT("\xc2\xa0"
          "bob:x:1000:1000:::"),
     false},
};

static void
odd_lines_are_read_as_by_the_c_library(void **unused)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    const struct odd *odd;
    const char *wrong;

    (void)unused;
    for (odd = odd_shadow; odd < odd_shadow + sizeof(odd_shadow) / sizeof(odd_shadow[0]); odd++) {
        wrong = shadow_differs(odd->text, odd->len);
        if (wrong != NULL || line_is_shadow_of(odd->text, odd->len, NAME, fields) != odd->is_line)
            fail_msg("shadow: %s: %s", odd->text, wrong != NULL ? wrong : "unexpected");
    }
    for (odd = odd_passwd; odd < odd_passwd + sizeof(odd_passwd) / sizeof(odd_passwd[0]); odd++) {
        wrong = passwd_differs(odd->text, odd->len);
        if (wrong != NULL || line_is_passwd_of(odd->text, odd->len, NAME, fields) != odd->is_line)
            fail_msg("passwd: %s: %s", odd->text, wrong != NULL ? wrong : "unexpected");
    }
}

/* Of these random lines are made. */
static const struct {
    const char *text;
    size_t len;
} pieces[] = {
    {TEXT(":")},
    {TEXT(":")},
    {TEXT(":")},
    {TEXT("::")},
    {TEXT(":0:")},
    {TEXT(":1:")},
    {TEXT("0")},
    {TEXT("19000")},
    {TEXT("99999")},
    {TEXT("7")},
    {TEXT("+5")},
    {TEXT("-1")},
    {TEXT("-0")},
    {TEXT(" 3")},
    {TEXT("4 ")},
    {TEXT("2147483648")},
    {TEXT("4294967295")},
    {TEXT("4294967296")},
    {TEXT("99999999999999999999")},
    {TEXT(" ")},
    {TEXT("\t")},
    {TEXT("\r")},
    {TEXT("\0")},
    {TEXT("x")},
    {TEXT("$y$j9T$a$b")},
    {TEXT("#")},
    {TEXT("-")},
};

static uint32_t
random_below(uint32_t bound)
{
    static uint64_t state = 1; /* each run is the same */

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % bound;
}

static size_t
make_random_line(char out[LINE_MAX_LEN])
{
    static const char *const starts[] = {NAME ":x:1:0:9:", NAME ":x:", NAME ":",
                                         " " NAME ":x:1:", NAME ":x:1:0:9:7:"};
    const char *start = starts[random_below(sizeof(starts) / sizeof(starts[0]))];
    size_t len = strlen(start);
    uint32_t count = random_below(9);

    memcpy(out, start, len);
    for (; count > 0; count--) {
        uint32_t piece = random_below(sizeof(pieces) / sizeof(pieces[0]));
        memcpy(out + len, pieces[piece].text, pieces[piece].len);
        len += pieces[piece].len;
    }
    return len;
}

static void
random_lines_are_read_as_by_the_c_library(void **unused)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    unsigned shadow_lines = 0, passwd_lines = 0;
    char line[LINE_MAX_LEN];

    (void)unused;
    for (unsigned i = 0; i < CASES; i++) {
        size_t len = make_random_line(line);
        const char *wrong;
        if (line[0] == ' ' && memchr(line, '\0', len) != NULL)
            continue;
        wrong = shadow_differs(line, len);
        if (wrong == NULL)
            wrong = passwd_differs(line, len);
        if (wrong != NULL)
            fail_msg("%.*s: %s", (int)len, line, wrong);
        shadow_lines += line_is_shadow_of(line, len, NAME, fields);
        passwd_lines += line_is_passwd_of(line, len, NAME, fields);
    }
    print_message("# %u lines of shadow, %u of passwd\n", shadow_lines, passwd_lines);
    assert_true(shadow_lines > CASES / 100);
    assert_true(passwd_lines > CASES / 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_lines_are_read_as_by_the_c_library),
        cmocka_unit_test(random_lines_are_read_as_by_the_c_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
