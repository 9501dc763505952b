/* SPDX-License-Identifier: BSD-2-Clause */
/* The string codec against hostile strings: whatever isn't refused is re-encoded byte for byte. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libcore/mhkdf.h"

#define SALT "AgICAgICAgICAgICAgICAg"
#define TAG "KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM"
/* $6$saltstring in Base64 */
#define INNER_SHA512 "JDYkc2FsdHN0cmluZw"

/* A well-formed string of each kind. */
static const char *const GOOD[] = {
    "$mhkdf$m64K.t2.p4.c6$" SALT "$" TAG,
    "$mhkdf$m64K.t2.p4.c12$" SALT,
    "$mhkdf$m64K.t2.p4.c0$" SALT "$",
    "$mhkdf$m64K.t2.p4.c6.kmain2026B$" SALT "$" TAG,
    "$mhkdf$m64K.t2.p4.c3.w" INNER_SHA512 "$" SALT "$" TAG,
    "$mhkdf$m64K.t2.p4.c6.ka.w" INNER_SHA512 "$" SALT,
    "$mhkdf$m4294967295K.t16777215.p64.c6$........",
    "$mhkdf$m4095G.t1.p1.c0$" SALT SALT "./AZaz09./AZaz09.../$" TAG,
    "$argon2id$v=19$m=65536,t=3,p=4$" SALT "$" TAG,
    "$argon2d$v=19$m=4294967295,t=16777215,p=64$" SALT,
    "$argon2i$v=19$m=8,t=1,p=1$" SALT "$",
};
#define GOOD_COUNT (sizeof GOOD / sizeof GOOD[0])

/*
 * Every string of this test passes through here, from the end of a page behind which nothing is
 * mapped. Nothing may be read there, and nothing may be allocated for a string that is refused.
 */
static char *guarded_end;
static int mappings;

void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);

void *
__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    mappings++;
    return __real_mmap(at, size, protection, flags, fd, offset);
}

static int
set_up(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages =
        __real_mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    guarded_end = pages + page;
    return 0;
}

static const char *
guarded(const char *string)
{
    size_t size = strlen(string) + 1;

    assert_in_range(size, 1, 4096);
    return memcpy(guarded_end - size, string, size);
}

static void
assert_zero(const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++)
        assert_int_equal(p[i], 0);
}

/* Refused, by all functions, with nothing computed: or re-encoded. Returns what mhkdf_parse said.
 */
static int
check(const char *original)
{
    const char *string = guarded(original);
    struct mhkdf_setting setting;
    char out[MHKDF_STRING_SIZE];
    int error = mhkdf_parse(string, &setting);

    if (error == 0) {
        size_t len = strlen(string);
        if (string[len - 1] == '$') /* the one thing that parsing drops */
            len--;
        assert_int_equal(mhkdf_encode(&setting, out, sizeof out), 0);
        if (strlen(out) != len || memcmp(out, string, len) != 0)
            fail_msg("\"%s\" became \"%s\"", string, out);
        return 0;
    }
    assert_true(error == EINVAL || error == ERANGE);
    assert_zero(&setting, sizeof setting);
    mappings = 0;
    memset(out, '#', sizeof out);
    assert_int_equal(mhkdf_crypt("p", 1, string, NULL, out), error);
    assert_string_equal(out, "");
    assert_int_equal(mhkdf_verify("p", 1, string, NULL), error);
    assert_int_equal(mappings, 0);
    return error;
}

static void
good_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOOD_COUNT; i++)
        assert_int_equal(check(GOOD[i]), 0);
}

static void
every_truncation(void **state)
{
    char string[MHKDF_STRING_SIZE];

    (void)state;
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        for (size_t len = 0; len < strlen(GOOD[i]); len++) {
            memcpy(string, GOOD[i], len);
            string[len] = '\0';
            (void)check(string);
        }
    }
}

static void
every_replacement(void **state)
{
    char string[MHKDF_STRING_SIZE];

    (void)state;
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        for (size_t at = 0; at < strlen(GOOD[i]); at++) {
            strcpy(string, GOOD[i]);
            for (int c = 1; c < 256; c++) {
                string[at] = (char)c;
                (void)check(string);
            }
        }
    }
}

static void
every_insertion_and_deletion(void **state)
{
    static const char inserted[] = "0$,=+- A\t\n";
    char string[2 * MHKDF_STRING_SIZE];

    (void)state;
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        for (size_t at = 0; at <= strlen(GOOD[i]); at++) {
            for (const char *c = inserted; *c != '\0'; c++) {
                (void)snprintf(string, sizeof string, "%.*s%c%s", (int)at, GOOD[i], *c,
                               GOOD[i] + at);
                (void)check(string);
            }
            if (at < strlen(GOOD[i])) {
                (void)snprintf(string, sizeof string, "%.*s%s", (int)at, GOOD[i], GOOD[i] + at + 1);
                (void)check(string);
            }
        }
    }
}

static void
malformed(void **state)
{
    static const char *const strings[] = {
        "", "$", "*0", "!$mhkdf$m64K.t2.p4.c6$" SALT "$" TAG, "$mhkdf$", "$mhkdf$m",
        /* the form of before December 2026, and Argon2's */
        "$mhkdf$v=1$m=64,t=2,p=4,c=6$" SALT, "$mhkdf$v=1$m64K.t2.p4.c6$" SALT,
        "$mhkdf$m=64,t=2,p=4,c=6$" SALT, "$mhkdf$m64K,t2,p4,c6$" SALT,
        "$argon2id$v=16$m=64,t=2,p=4$" SALT, "$argon2id$m=64,t=2,p=4$" SALT,
        "$argon2id$v=19$m=64,t=2,p=4,c=6$" SALT, "$argon2id$v=19$m=64,t=2,p=4,k=a$" SALT,
        "$argon2id$v=19$m=64,t=2,p=4,w=" INNER_SHA512 "$" SALT,
        "$argon2id$v=19$m=64,t=2,p=4,data=AAAA$" SALT, "$argon2id$v=19$m=64K,t=2,p=4$" SALT,
        "$argon2id$m64K.t2.p4$" SALT,
        /* memory: no unit, not the largest, unknown, beyond 32 and 64 bits */
        "$mhkdf$m64.t2.p4.c6$" SALT, "$mhkdf$mK.t2.p4.c6$" SALT, "$mhkdf$m1024K.t2.p4.c6$" SALT,
        "$mhkdf$m65536K.t2.p4.c6$" SALT, "$mhkdf$m1024M.t2.p4.c6$" SALT,
        "$mhkdf$m1048576K.t2.p4.c6$" SALT, "$mhkdf$m64k.t2.p4.c6$" SALT,
        "$mhkdf$m1T.t2.p4.c6$" SALT, "$mhkdf$m64KiB.t2.p4.c6$" SALT, "$mhkdf$m0K.t2.p4.c6$" SALT,
        "$mhkdf$m0M.t2.p4.c6$" SALT, "$mhkdf$m0G.t2.p4.c6$" SALT, "$mhkdf$m4096G.t2.p4.c6$" SALT,
        "$mhkdf$m4194304M.t2.p4.c6$" SALT, "$mhkdf$m4194305M.t2.p4.c6$" SALT,
        "$mhkdf$m4294967295G.t2.p4.c6$" SALT, "$mhkdf$m4294967297K.t2.p4.c6$" SALT,
        "$mhkdf$m4294967360K.t2.p4.c6$" SALT, "$mhkdf$m18446744073709551681K.t2.p4.c6$" SALT,
        /* leading zeros, signs, spaces, overflow */
        "$mhkdf$m064K.t2.p4.c6$" SALT, "$mhkdf$m64K.t02.p4.c6$" SALT, "$mhkdf$m64K.t2.p04.c6$" SALT,
        "$mhkdf$m64K.t2.p4.c06$" SALT, "$mhkdf$m64K.t2.p4.c00$" SALT, "$mhkdf$m+64K.t2.p4.c6$" SALT,
        "$mhkdf$m-64K.t2.p4.c6$" SALT, "$mhkdf$m 64K.t2.p4.c6$" SALT,
        "$mhkdf$m0x40K.t2.p4.c6$" SALT, "$mhkdf$m64K.t4294967298.p4.c6$" SALT,
        "$mhkdf$m64K.t2.p4294967300.c6$" SALT, "$mhkdf$m64K.t2.p4.c4294967302$" SALT,
        /* out of range */
        "$mhkdf$m31K.t2.p4.c6$" SALT, "$mhkdf$m64K.t0.p4.c6$" SALT,
        "$mhkdf$m64K.t16777216.p4.c6$" SALT, "$mhkdf$m64K.t2.p0.c6$" SALT,
        "$mhkdf$m64M.t2.p65.c6$" SALT, "$mhkdf$m64K.t2.p4.c1$" SALT, "$mhkdf$m64K.t2.p4.c24$" SALT,
        /* missing, doubled, reordered parameters */
        "$mhkdf$t2.p4.c6$" SALT, "$mhkdf$m64K.p4.c6$" SALT, "$mhkdf$m64K.t2.c6$" SALT,
        "$mhkdf$m64K.t2.p4$" SALT, "$mhkdf$m64K.m64K.t2.p4.c6$" SALT,
        "$mhkdf$m64K.t2.p4.c6.c6$" SALT, "$mhkdf$t2.m64K.p4.c6$" SALT, "$mhkdf$m64K.t2.c6.p4$" SALT,
        "$mhkdf$m64K.t2.p4.c6.$" SALT, "$mhkdf$m64K..t2.p4.c6$" SALT, "$mhkdf$m.t2.p4.c6$" SALT,
        "$mhkdf$m64Kt2p4c6$" SALT,
        /* key ids */
        "$mhkdf$m64K.t2.p4.c6.k$" SALT, "$mhkdf$m64K.t2.p4.c6.k12345678901234567$" SALT,
        "$mhkdf$m64K.t2.p4.c6.ka.b$" SALT, "$mhkdf$m64K.t2.p4.c6.ka.kb$" SALT,
        "$mhkdf$m64K.t2.p4.c6.ka-b$" SALT, "$mhkdf$m64K.t2.p4.c6.ka_b$" SALT,
        "$mhkdf$m64K.t2.p4.c6.ka/b$" SALT, "$mhkdf$m64K.t2.p4.c6.ka.$" SALT,
        /* salts of 7 and 65 characters, or bytes, tags of 15 and 65 */
        "$mhkdf$m64K.t2.p4.c6$", "$mhkdf$m64K.t2.p4.c6$AAAAAAA", "$mhkdf$m64K.t2.p4.c6$" TAG SALT,
        "$argon2id$v=19$m=64,t=2,p=4$AAAAAAAAAA",
        "$argon2id$v=19$m=64,t=2,p=4$" SALT SALT SALT "AAAAAAAAAAAAAAAAAAAAA",
        "$mhkdf$m64K.t2.p4.c6$" SALT "$AAAAAAAAAAAAAAAAAAAA",
        "$mhkdf$m64K.t2.p4.c6$" SALT "$" TAG TAG "A",
        /* salts: not crypt's alphabet; for Argon2 padding, wrong alphabet, length, unused bits */
        "$mhkdf$m64K.t2.p4.c6$" SALT "==", "$mhkdf$m64K.t2.p4.c6$AgICAgICAgICAgICAgICA+",
        "$mhkdf$m64K.t2.p4.c6$AgICAgICAgICAgICAgICA-",
        "$mhkdf$m64K.t2.p4.c6$AgICAgICA,gICAgICAgICA", "$argon2id$v=19$m=64,t=2,p=4$" SALT "==",
        "$argon2id$v=19$m=64,t=2,p=4$AgICAgICAgICAgICAgICA.",
        "$argon2id$v=19$m=64,t=2,p=4$AgICAgICAgICAgICA",
        "$argon2id$v=19$m=64,t=2,p=4$AgICAgICAgICAgICAgICAh",
        /* tags: the other alphabet, unused bits */
        "$mhkdf$m64K.t2.p4.c6$" SALT "$KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJx+",
        "$mhkdf$m64K.t2.p4.c6$" SALT "$KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxN",
        "$argon2id$v=19$m=64,t=2,p=4$" SALT "$KYLe0rmxhTPdfNE6S.M76IM88d4uOM33lsOlWyYWJxM",
        /* what follows */
        "$mhkdf$m64K.t2.p4.c6$" SALT "$" TAG "$", "$mhkdf$m64K.t2.p4.c6$" SALT "$$",
        "$mhkdf$m64K.t2.p4.c6$" SALT "$" TAG ":", "$mhkdf$m64K.t2.p4.c6$" SALT "$" TAG "\n",
        /* wraps: k behind w, empty, unknown, our own with a tag or a last `$`, not printable */
        "$mhkdf$m64K.t2.p4.c6.w" INNER_SHA512 ".ka$" SALT, "$mhkdf$m64K.t2.p4.c6.w$" SALT,
        "$mhkdf$m64K.t2.p4.c6.wJDMk$" SALT,                /* $3$ */
        "$mhkdf$m64K.t2.p4.c6.wJG1kNSxyb3VuZHM9MSQ$" SALT, /* $md5,rounds=1$ */
        "$mhkdf$m64K.t2.p4.c6.wJDYkc2FsdCBzdHI$" SALT,     /* $6$salt str */
        "$mhkdf$m64K.t2.p4.c6.wJDYkc2FsdABzdHI$" SALT,     /* $6$salt NUL str */
        "$mhkdf$m64K.t2.p4.c6.wYQ$" SALT,                  /* a */
        "$mhkdf$m64K.t2.p4.c6.wYWJj$" SALT,                /* abc */
    };

    (void)state;
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        if (check(strings[i]) != EINVAL)
            fail_msg("\"%s\" was not refused", strings[i]);
}

/* Wraps setting in one more level; out is MHKDF_STRING_SIZE bytes. */
static int
wrap(const char *inner, char *out)
{
    struct mhkdf_setting setting = {
        .cost = {MHKDF_METHOD_MHKDF1, 8, 1, 1, 0}, .salt = "saltsalt", .salt_len = 8};

    assert_in_range(strlen(inner), 0, MHKDF_STRING_SIZE - 1);
    strcpy(setting.inner, inner);
    return mhkdf_encode(&setting, out, MHKDF_STRING_SIZE);
}

static void
wraps_two_deep_and_no_deeper(void **state)
{
    char once[MHKDF_STRING_SIZE], twice[MHKDF_STRING_SIZE], thrice[MHKDF_STRING_SIZE];

    (void)state;
    assert_int_equal(wrap("ab", once), 0);
    assert_int_equal(check(once), 0);
    assert_int_equal(wrap(once, twice), 0);
    assert_int_equal(check(twice), 0);
    assert_int_equal(wrap(twice, thrice), EINVAL);
    assert_int_equal(wrap("$mhkdf$m8K.t1.p1.c0$AAAAAAAAAAA$", twice), EINVAL);
    assert_int_equal(wrap("$mhkdf$m8K.t1.p1.c0$AAAAAAAAAAA$" TAG, twice), EINVAL);
}

/* A string of exactly len characters, with a wrapped setting that fills it up. */
static void
string_of_length(char *out, size_t len, size_t tag_len)
{
    static const char head[] = "$mhkdf$m64K.t1.p1.c0.w";
    size_t tail_len = 1 + 22 + (tag_len > 0 ? 1 + (tag_len * 4 + 2) / 3 : 0);
    size_t inner_len = len - strlen(head) - tail_len;
    char *p = out + strlen(head);

    assert_int_not_equal(inner_len % 4, 1);
    memcpy(out, head, sizeof head);
    memset(p, 'A', inner_len);
    for (size_t i = 0; i < inner_len; i++) /* "$6$aaa..." */
        p[i] = "JDYkYWFh"[i < 4 ? i : 4 + i % 4];
    if (inner_len % 4 != 0) /* no unused bits */
        p[inner_len - 1] = inner_len % 4 == 2 ? 'Q' : 'E';
    p += inner_len;
    p += sprintf(p, "$%s", SALT);
    if (tag_len > 0) {
        *p++ = '$';
        memset(p, 'A', (tag_len * 4 + 2) / 3);
        p += (tag_len * 4 + 2) / 3;
    }
    *p = '\0';
    assert_int_equal(strlen(out), len);
}

static void
length_383_and_384(void **state)
{
    char string[512];
    struct mhkdf_setting setting;

    (void)state;
    string_of_length(string, 383, 32);
    assert_int_equal(check(string), 0);
    assert_int_equal(mhkdf_parse(string, &setting), 0);
    string_of_length(string, 384, 48);
    assert_int_equal(check(string), ERANGE);
    string_of_length(string, 383 - 44, 0); /* as a setting: the tag makes it 383 */
    assert_int_equal(check(string), 0);
    string_of_length(string, 383 - 43, 0);
    assert_int_equal(check(string), ERANGE);
    string[strlen(string) - 1] = '+'; /* malformed is said before too long */
    assert_int_equal(check(string), EINVAL);
}

static void
encode_refuses(void **state)
{
    const struct mhkdf_setting good = {
        .cost = {MHKDF_METHOD_MHKDF1, 64, 1, 4, 6}, .salt = "saltsaltsaltsalt", .salt_len = 16};
    struct mhkdf_setting bad;
    char out[MHKDF_STRING_SIZE];
    size_t len;

    (void)state;
    assert_int_equal(mhkdf_encode(&good, out, sizeof out), 0);
    len = strlen(out);
    for (size_t size = 0; size <= len + 1; size++) {
        memset(out, '#', sizeof out);
        assert_int_equal(mhkdf_encode(&good, out, size), size <= len ? ERANGE : 0);
        assert_int_equal(out[size], '#');
        if (size > 0)
            assert_int_equal(out[0], size <= len ? '\0' : '$');
    }

#define REFUSED(change)                                                \
    do {                                                               \
        bad = good;                                                    \
        change;                                                        \
        assert_int_equal(mhkdf_encode(&bad, out, sizeof out), EINVAL); \
        assert_string_equal(out, "");                                  \
    } while (0)
    REFUSED(bad.cost.method = (enum mhkdf_method)0);
    REFUSED(bad.cost.memory_kib = 31);
    REFUSED(bad.cost.passes = 0);
    REFUSED(bad.cost.lanes = 65);
    REFUSED(bad.cost.chain = 5);
    REFUSED(bad.salt_len = 7);
    REFUSED(bad.salt_len = 65);
    REFUSED(bad.salt[15] = '+');
    REFUSED(bad.salt[0] = '\0');
    REFUSED(bad.salt[7] = 0xe4);
    REFUSED(bad.tag_len = 15);
    REFUSED(bad.tag_len = 65);
    REFUSED(bad.key_id[0] = '$');
    REFUSED(bad.key_id[0] = '-');
    REFUSED(memset(bad.key_id, 'a', sizeof bad.key_id));
    REFUSED(memset(bad.inner, 'a', sizeof bad.inner));
    REFUSED(strcpy(bad.inner, "$3$"));
    REFUSED(bad.cost.method = MHKDF_METHOD_ARGON2ID);
    REFUSED((bad.cost.method = MHKDF_METHOD_ARGON2ID, bad.cost.chain = 0, bad.key_id[0] = 'a'));
#undef REFUSED
}

static void
derive_refuses(void **state)
{
    struct mhkdf_cost cost = {MHKDF_METHOD_MHKDF1, 8, 1, 1, 6};
    struct mhkdf_input input = {.salt = "saltsalt", .salt_len = 8};
    uint8_t tag[MHKDF_TAG_MAX + 1];

    (void)state;
    mappings = 0;
    for (size_t len = 0; len < MHKDF_TAG_MIN; len++)
        assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, len), EINVAL);
    assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, MHKDF_TAG_MAX + 1), EINVAL);
    input.salt_len = 7;
    assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, 32), EINVAL);
    input.salt_len = 8;
    input.key_len = 65;
    assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, 32), EINVAL);
    input.key_len = 0;
    assert_int_equal(mhkdf_derive(&cost, &input, 1, NULL, 0), EINVAL);
#if SIZE_MAX > UINT32_MAX
    input.password_len = (size_t)UINT32_MAX + 1;
    assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, 32), EINVAL);
    input.password_len = 0;
#endif
    cost = (struct mhkdf_cost){MHKDF_METHOD_ARGON2ID, 8, 1, 1, 0};
    input.key = "k";
    input.key_len = 1;
    assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, 32), EINVAL);
    input.key_len = 0;
    input.wrapped = 1;
    assert_int_equal(mhkdf_derive(&cost, &input, 1, tag, 32), EINVAL);
    assert_int_equal(mappings, 0);
}

static void
verify_needs_a_tag(void **state)
{
    (void)state;
    mappings = 0;
    assert_int_equal(mhkdf_verify("p", 1, "$mhkdf$m8K.t1.p1.c0$" SALT, NULL), EINVAL);
    assert_int_equal(mhkdf_verify("p", 1, "$mhkdf$m8K.t1.p1.c0$" SALT "$", NULL), EINVAL);
    assert_int_equal(mappings, 0);
}

static void
password_length_and_keys(void **state)
{
    static const char setting[] = "$mhkdf$m8K.t1.p1.c0$" SALT;
    static const char keyed[] = "$mhkdf$m8K.t1.p1.c0.ka$" SALT;
    char password[600], out[MHKDF_STRING_SIZE];

    (void)state;
    memset(password, 'p', sizeof password);
    assert_int_equal(mhkdf_crypt(password, 511, setting, NULL, out), 0);
    mappings = 0;
    assert_int_equal(mhkdf_crypt(password, 512, setting, NULL, out), ERANGE);
    assert_string_equal(out, "");
    assert_int_equal(mhkdf_crypt(password, 1, keyed, NULL, out), ENOKEY);
    assert_string_equal(out, "");
    assert_int_equal(mhkdf_crypt(password, 512, keyed, NULL, out), ERANGE);
    /* what can't be computed here is refused before anything is */
    assert_int_equal(
        mhkdf_crypt(password, 1, "$mhkdf$m8K.t1.p1.c0.w" INNER_SHA512 "$" SALT, NULL, out), EINVAL);
    assert_int_equal(mappings, 0);
}

/* What callbacks may get wrong. */
static int callback_result;
static size_t callback_key_len;
static const char *callback_hash;

static int
wrong_key(void *ctx, const char *key_id, uint8_t *key, size_t *key_len)
{
    (void)ctx;
    (void)key_id;
    memset(key, 'k', MHKDF_KEY_MAX);
    if (callback_key_len != 0)
        *key_len = callback_key_len;
    return callback_result;
}

static int
wrong_crypt(void *ctx, const char *phrase, const char *setting, char *out)
{
    (void)ctx;
    (void)phrase;
    (void)setting;
    if (callback_hash == NULL)
        memset(out, 'a', MHKDF_STRING_SIZE);
    else
        strcpy(out, callback_hash);
    return callback_result;
}

static void
callbacks_gone_wrong(void **state)
{
    static const char keyed[] = "$mhkdf$m8K.t1.p1.c0.ka$" SALT;
    static const char wrapped[] = "$mhkdf$m8K.t1.p1.c0.w" INNER_SHA512 "$" SALT;
    static const char wrapped_hash[] = "$mhkdf$m8K.t1.p1.c0.w" INNER_SHA512 "$" SALT "$" TAG;
    const struct mhkdf_env env = {.find_key = wrong_key, .foreign_crypt = wrong_crypt};
    char out[MHKDF_STRING_SIZE];

    (void)state;
    callback_result = 0;
    callback_key_len = MHKDF_KEY_MAX + 1;
    assert_int_equal(mhkdf_crypt("p", 1, keyed, &env, out), ENOKEY);
    callback_key_len = 0; /* it forgot to say */
    assert_int_equal(mhkdf_crypt("p", 1, keyed, &env, out), ENOKEY);
    callback_key_len = MHKDF_KEY_MAX;
    assert_int_equal(mhkdf_crypt("p", 1, keyed, &env, out), 0);

    callback_hash = "*0";
    assert_int_equal(mhkdf_crypt("p", 1, wrapped, &env, out), EINVAL);
    callback_hash = "";
    assert_int_equal(mhkdf_crypt("p", 1, wrapped, &env, out), EINVAL);
    callback_hash = NULL; /* without an end */
    assert_int_equal(mhkdf_crypt("p", 1, wrapped, &env, out), EINVAL);
    assert_string_equal(out, "");
    callback_hash = "$6$saltstring$h";
    assert_int_equal(mhkdf_crypt("p", 1, wrapped, &env, out), 0);
    assert_int_equal(mhkdf_crypt("a\0b", 3, wrapped, &env, out), EINVAL);

    /* only the comparison may say that the password is wrong */
    callback_result = EKEYREJECTED;
    assert_int_equal(mhkdf_verify("p", 1, wrapped_hash, &env), EINVAL);
    callback_result = -5;
    assert_int_equal(mhkdf_verify("p", 1, wrapped_hash, &env), EINVAL);
    callback_result = EACCES;
    assert_int_equal(mhkdf_verify("p", 1, wrapped_hash, &env), EACCES);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_ones),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_replacement),
        cmocka_unit_test(every_insertion_and_deletion),
        cmocka_unit_test(malformed),
        cmocka_unit_test(wraps_two_deep_and_no_deeper),
        cmocka_unit_test(length_383_and_384),
        cmocka_unit_test(encode_refuses),
        cmocka_unit_test(derive_refuses),
        cmocka_unit_test(verify_needs_a_tag),
        cmocka_unit_test(password_length_and_keys),
        cmocka_unit_test(callbacks_gone_wrong),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
