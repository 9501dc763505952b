/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "policy/anycrypt.h"
#include "policy/foreign.h"
#include "tests/lib/sanitized.h"

#define HELLO "Hello world!"
#define SALT_16_02 "AgICAgICAgICAgICAgICAg"
#define PASSWORD_32_01 "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1"
/* SPEC.md section 7, "c = 6". */
#define MHKDF_HASH "$mhkdf$m64K.t2.p4.c6$" SALT_16_02 "$KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM"
/* SPEC.md section 7, argon2id with m = 1100. */
#define ARGON2ID_HASH \
    "$argon2id$v=19$m=1100,t=2,p=2$" SALT_16_02 "$ZNqlvXKbvwy8MPpoG24adKIhEHqcFFb20zxFPUeCKas"

#define SHA512_SETTING "$6$saltstring"
#define SHA512_HASH                                                                  \
    SHA512_SETTING                                                                   \
    "$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEO" \
    "faS35inz1"

struct known {
    const char *password;
    const char *setting;
    const char *hash;
    const char *prefix; /* of the method, for libcrypts that lack it */
};

static const struct known known[] = {
    {PASSWORD_32_01, "$mhkdf$m64K.t2.p4.c6$" SALT_16_02, MHKDF_HASH, ""},
    {PASSWORD_32_01, "$argon2id$v=19$m=1100,t=2,p=2$" SALT_16_02, ARGON2ID_HASH, ""},
    {HELLO, SHA512_SETTING, SHA512_HASH, "$6$"},
    {HELLO, "$5$saltstring", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5", "$5$"},
    {"password", "$1$salt", "$1$salt$qJH7.N4xYta3aEG/dfqo/0", "$1$"},
    {"U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.",
     "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$2a$"},
    {HELLO, "ab", "abMbH7WsHr7wQ", "ab"},
};

static int
libcrypt_lacks(const char *prefix)
{
    int rc = prefix[0] == '\0' ? CRYPT_SALT_OK : crypt_checksalt(prefix);
    return rc == CRYPT_SALT_INVALID || rc == CRYPT_SALT_METHOD_DISABLED;
}

static void
test_known_answers(void **state)
{
    char out[MHKDF_STRING_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const struct known *k = &known[i];
        if (libcrypt_lacks(k->prefix)) {
            print_message("# this libcrypt lacks %s\n", k->prefix);
            continue;
        }
        assert_int_equal(anycrypt_hash(k->password, k->setting, out), 0);
        assert_string_equal(out, k->hash);
        assert_int_equal(anycrypt_hash(k->password, k->hash, out), 0);
        assert_string_equal(out, k->hash);
        assert_int_equal(anycrypt_verify(k->password, k->hash), 0);
        assert_int_equal(anycrypt_verify("another", k->hash), EKEYREJECTED);
        assert_int_equal(anycrypt_verify("", k->hash), EKEYREJECTED);
    }
}

static void
test_system_default_method(void **state)
{
    char setting[CRYPT_GENSALT_OUTPUT_SIZE], out[MHKDF_STRING_SIZE];

    (void)state;
    assert_non_null(crypt_gensalt_rn(NULL, 0, NULL, 0, setting, sizeof(setting)));
    assert_int_equal(anycrypt_hash("secret", setting, out), 0);
    assert_int_equal(anycrypt_verify("secret", out), 0);
    assert_int_equal(anycrypt_verify("Secret", out), EKEYREJECTED);
}

static void
test_last_character_counts(void **state)
{
    char hash[] = SHA512_HASH;

    (void)state;
    hash[sizeof(hash) - 2] = '2';
    assert_int_equal(anycrypt_verify(HELLO, hash), EKEYREJECTED);
}

static void
test_unusable_strings(void **state)
{
    static const char *const bad[] = {
        "",
        "*",
        "*0",
        "*1",
        "!",
        "!!",
        "x",
        "!" SHA512_HASH,
        "!" MHKDF_HASH,
        SHA512_HASH ":",
        SHA512_HASH "\n",
        "$6$salt string$abc",
        "$6$salt\xc3\xa4$abc",
        "$mhkdf$",
        "$mhkdf$v=1$m=64,t=2,p=4,c=6$" SALT_16_02,
        "$argon2id$v=16$m=1100,t=2,p=2$" SALT_16_02,
    };
    char out[MHKDF_STRING_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        memset(out, 'x', sizeof(out));
        assert_int_equal(anycrypt_hash("", bad[i], out), EINVAL);
        assert_string_equal(out, "");
        assert_int_equal(anycrypt_verify("", bad[i]), EINVAL);
        assert_int_equal(anycrypt_check(bad[i], NULL), EINVAL);
    }
}

static void
test_no_tag_is_no_hash(void **state)
{
    char cut[] = SHA512_HASH;

    (void)state;
    cut[sizeof(cut) - 2] = '\0';
    assert_int_equal(anycrypt_verify(HELLO, cut), EINVAL);
    assert_int_equal(anycrypt_verify(HELLO, SHA512_SETTING), EINVAL);
    assert_int_equal(anycrypt_verify(HELLO, SHA512_SETTING "$"), EINVAL);
    assert_int_equal(anycrypt_verify(HELLO, "ab"), EINVAL);
    assert_int_equal(anycrypt_verify(HELLO, "$mhkdf$m64K.t2.p4.c6$" SALT_16_02), EINVAL);
    assert_int_equal(anycrypt_verify(HELLO, "$mhkdf$m64K.t2.p4.c6$" SALT_16_02 "$"), EINVAL);
}

static void
test_missing_method(void **state)
{
    char out[MHKDF_STRING_SIZE] = "x";

    (void)state;
    assert_int_equal(anycrypt_hash("a", "$nosuch$salt", out), ENOSYS);
    assert_string_equal(out, "");
    assert_int_equal(anycrypt_verify("a", "$nosuch$salt$hash"), ENOSYS);
}

static void
test_missing_key(void **state)
{
    char out[MHKDF_STRING_SIZE] = "x";
    static const char setting[] = "$mhkdf$m64K.t2.p4.c6.ksite1$" SALT_16_02;

    (void)state;
    assert_int_equal(anycrypt_hash("a", setting, out), ENOKEY);
    assert_string_equal(out, "");
}

static void
test_password_length(void **state)
{
    static const char *const settings[] = {"$mhkdf$m8K.t1.p1.c0$" SALT_16_02, "$6$salt"};
    char password[MHKDF_CRYPT_PASSWORD_MAX + 2], out[MHKDF_STRING_SIZE];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        memset(password, 'p', sizeof(password));
        password[MHKDF_CRYPT_PASSWORD_MAX + 1] = '\0';
        assert_int_equal(anycrypt_hash(password, settings[i], out), ERANGE);
        assert_string_equal(out, "");
        assert_int_equal(anycrypt_verify(password, i == 0 ? MHKDF_HASH : SHA512_HASH), ERANGE);
        password[MHKDF_CRYPT_PASSWORD_MAX] = '\0';
        assert_int_equal(anycrypt_hash(password, settings[i], out), 0);
        assert_int_equal(anycrypt_verify(password, out), 0);
        password[MHKDF_CRYPT_PASSWORD_MAX - 1] = '\0';
        assert_int_equal(anycrypt_verify(password, out), EKEYREJECTED);
    }
}

static void
test_long_foreign_string(void **state)
{
    char setting[MHKDF_STRING_SIZE + 1], out[MHKDF_STRING_SIZE];

    (void)state;
    memset(setting, 'a', sizeof(setting));
    memcpy(setting, "$6$", 3);
    setting[MHKDF_STRING_SIZE] = '\0';
    assert_int_equal(anycrypt_hash("a", setting, out), ERANGE);
    assert_int_equal(anycrypt_verify("a", setting), ERANGE);
    assert_int_equal(anycrypt_check(setting, NULL), ERANGE);
}

/* SPEC.md section 5, put together here by hand: h = crypt(P, s), and h hashed in place of P. */
static void
test_wrapped_foreign_hash(void **state)
{
    struct mhkdf_setting wrap = {.cost = {MHKDF_METHOD_MHKDF1, 64, 1, 1, 6},
                                 .salt = "saltsaltsaltsalt",
                                 .salt_len = 16,
                                 .tag_len = 32,
                                 .inner = SHA512_SETTING};
    struct mhkdf_input input = {.password = SHA512_HASH,
                                .password_len = sizeof(SHA512_HASH) - 1,
                                .salt = wrap.salt,
                                .salt_len = 16,
                                .wrapped = 1};
    char hash[MHKDF_STRING_SIZE], out[MHKDF_STRING_SIZE];

    (void)state;
    assert_int_equal(mhkdf_derive(&wrap.cost, &input, 1, wrap.tag, wrap.tag_len), 0);
    assert_int_equal(mhkdf_encode(&wrap, hash, sizeof(hash)), 0);
    assert_int_equal(anycrypt_verify(HELLO, hash), 0);
    assert_int_equal(anycrypt_verify("Hello world", hash), EKEYREJECTED);
    assert_int_equal(anycrypt_hash(HELLO, hash, out), 0);
    assert_string_equal(out, hash);

    memcpy(wrap.inner, "$y$bad", sizeof("$y$bad"));
    assert_int_equal(mhkdf_encode(&wrap, hash, sizeof(hash)), 0);
    assert_int_equal(anycrypt_verify(HELLO, hash), EINVAL);
}

/* Settings that crypt_gensalt makes, and the memory that crypt(5) and yescrypt's sources name. */
static void
test_foreign_memory(void **state)
{
    static const struct {
        const char *setting;
        uint64_t kib;
    } cases[] = {
        {"$y$j9T$salt$hash", 16384}, /* N = 4096, r = 32 */
        {"$gy$j9T$salt$hash", 16384},
        {"$y$j75$salt$hash", 1024},    /* N = 1024, r = 8 */
        {"$y$jFT$salt$hash", 1048576}, /* N = 2^18, r = 32 */
        {"$y$j9k.$", 512 * 49},        /* r = 49, the first number of two digits */
        {"$y$j9k/$", 512 * 50},
        {"$7$BU..../....salt$hash", 32768}, /* N = 2^13, r = 32 */
        {"$y$jzzzzzzT$", UINT64_MAX},
        {"$7$zU..../....", UINT64_MAX},
        {"$y$", 0},
        {"$y$j", 0},
        {"$y$j9", 0},
        {"$y$j9$", 0},
        {"$y$j9k", 0},
        {"$7$", 0},
        {"$7$BU...", 0},
        {"$6$rounds=999999999$salt", 0},
        {"", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(foreign_memory_kib(cases[i].setting), cases[i].kib);
}

/* What libcrypt takes must not be refused beforehand. */
static void
test_shape_of_what_libcrypt_takes(void **state)
{
    static const char *const methods[] = {"$y$",  "$gy$", "$7$", "$2b$",    "$2a$",      "$2x$",
                                          "$2y$", "$6$",  "$5$", "$1$",     "$md5",      "$sha1",
                                          "$3$",  "_",    "",    "$mhkdf$", "$argon2id$"};
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        for (unsigned long count = 0; count <= 12; count++) {
            if (libcrypt_lacks(methods[i]) ||
                crypt_gensalt_rn(methods[i], count, NULL, 0, setting, sizeof(setting)) == NULL)
                continue;
            assert_int_equal(anycrypt_check(setting, NULL), 0);
        }
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (libcrypt_lacks(known[i].prefix))
            continue;
        assert_int_equal(anycrypt_check(known[i].setting, NULL), 0);
        assert_int_equal(anycrypt_check(known[i].hash, NULL), 0);
    }
}

/* Sanitizers reserve more address space than the limit of the next test. (cmocka's skip() is no way
 * out: its TAP says "not ok" then.) */
#if !TEST_IS_SANITIZED
/* libcrypt itself says EINVAL then. */
static void
test_no_memory_for_a_foreign_hash(void **state)
{
    static const char setting[] = "$y$jFT$cW69xh5Rejo13toRM4cnB.";
    struct rlimit before, small;
    char out[MHKDF_STRING_SIZE] = "x";
    int hashed, verified;

    (void)state;
    if (libcrypt_lacks("$y$"))
        return;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = 512UL * 1024 * 1024; /* half of what it needs */
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    hashed = anycrypt_hash("a", setting, out);
    verified = anycrypt_verify("a", setting);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(hashed, ENOMEM);
    assert_string_equal(out, "");
    assert_int_equal(verified, ENOMEM);
}
#endif

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_system_default_method),
        cmocka_unit_test(test_last_character_counts),
        cmocka_unit_test(test_unusable_strings),
        cmocka_unit_test(test_no_tag_is_no_hash),
        cmocka_unit_test(test_missing_method),
        cmocka_unit_test(test_missing_key),
        cmocka_unit_test(test_password_length),
        cmocka_unit_test(test_long_foreign_string),
        cmocka_unit_test(test_wrapped_foreign_hash),
        cmocka_unit_test(test_foreign_memory),
        cmocka_unit_test(test_shape_of_what_libcrypt_takes),
#if !TEST_IS_SANITIZED
        cmocka_unit_test(test_no_memory_for_a_foreign_hash),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
