/* SPDX-License-Identifier: BSD-2-Clause */
/* New hashes, and what root gets where libcrypt is as it may be: libcrypt's functions are replaced
 * (--wrap). */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <crypt.h>
#include <errno.h>
#include <string.h>

#include "policy/anycrypt.h"
#include "policy/loaded.h"
#include "policy/newhash.h"

/* The libcrypt of the moment. */
static bool accepts_ours;  /* crypt_checksalt says yes */
static bool computes_ours; /* crypt_r has the method */
static bool computes_well; /* and what it gives is right */
static bool is_current;    /* it is the file that programs started now get */
static bool has_yescrypt;
static bool prefers_ours;
static bool has_others;
static unsigned crypts;

int __real_crypt_checksalt(const char *setting);
int __wrap_crypt_checksalt(const char *setting);
char *__real_crypt_r(const char *phrase, const char *setting, struct crypt_data *data);
char *__wrap_crypt_r(const char *phrase, const char *setting, struct crypt_data *data);
char *__real_crypt_gensalt_rn(const char *prefix, unsigned long count, const char *rbytes,
                              int nrbytes, char *output, int size);
char *__wrap_crypt_gensalt_rn(const char *prefix, unsigned long count, const char *rbytes,
                              int nrbytes, char *output, int size);
bool __wrap_loaded_is_current(void (*function)(void));

bool
__wrap_loaded_is_current(void (*function)(void))
{
    assert_true(function == (void (*)(void))crypt_r);
    return is_current;
}

int
__wrap_crypt_checksalt(const char *setting)
{
    if (mhkdf_is_ours(setting))
        return accepts_ours ? CRYPT_SALT_OK : CRYPT_SALT_INVALID;
    return __real_crypt_checksalt(setting);
}

char *
__wrap_crypt_r(const char *phrase, const char *setting, struct crypt_data *data)
{
    crypts++;
    if (!mhkdf_is_ours(setting))
        return __real_crypt_r(phrase, setting, data);
    if (!computes_ours)
        return NULL;
    if (mhkdf_crypt(phrase, strlen(phrase), setting, NULL, data->output) != 0)
        return NULL;
    if (!computes_well)
        data->output[strlen(data->output) - 2] ^= 1;
    return data->output;
}

char *
__wrap_crypt_gensalt_rn(const char *prefix, unsigned long count, const char *rbytes, int nrbytes,
                        char *output, int size)
{
    if (prefix == NULL && prefers_ours) {
        assert_int_equal(mhkdf_gensalt("$mhkdf$", count, NULL, 0, output, (size_t)size), 0);
        return output;
    }
    if (prefix != NULL && strcmp(prefix, "$y$") == 0 && !has_yescrypt)
        return NULL;
    if ((prefix == NULL || strcmp(prefix, "$y$") != 0) && !has_others)
        return NULL;
    /* A cheaper one than the default is enough for a test. */
    if (prefix != NULL)
        count = strcmp(prefix, "$y$") == 0 ? 1 : 1000;
    return __real_crypt_gensalt_rn(prefix, count, rbytes, nrbytes, output, size);
}

static struct config_policy policy = {.cost = {MHKDF_METHOD_MHKDF1, 64, 2, 2, 3}};
#define OURS "$mhkdf$m64K.t2.p2.c3$"

static int
set_up(void **unused)
{
    (void)unused;
    policy.method = methods_get(METHODS_MHKDF);
    accepts_ours = computes_ours = computes_well = false;
    is_current = has_yescrypt = has_others = true;
    prefers_ours = false;
    crypts = 0;
    return 0;
}

static void
make(bool for_root, const char *prefix, const char *reason)
{
    char hash[MHKDF_STRING_SIZE];
    const char *why = "unset";

    assert_int_equal(newhash_make("password", &policy, for_root, NULL, hash, &why), 0);
    assert_memory_equal(hash, prefix, strlen(prefix));
    assert_int_equal(anycrypt_verify("password", hash), 0);
    assert_int_equal(anycrypt_verify("passwort", hash), EKEYREJECTED);
    if (reason == NULL)
        assert_null(why);
    else
        assert_non_null(strstr(why, reason));
}

static void
others_get_ours_whatever_libcrypt_has(void **unused)
{
    char one[MHKDF_STRING_SIZE], two[MHKDF_STRING_SIZE];
    const char *why;

    (void)unused;
    make(false, OURS, NULL);
    assert_int_equal(crypts, 0);
    assert_int_equal(newhash_make("password", &policy, false, NULL, one, &why), 0);
    assert_int_equal(newhash_make("password", &policy, false, NULL, two, &why), 0);
    assert_string_not_equal(one, two);
}

static void
root_gets_yescrypt_without_the_method(void **unused)
{
    (void)unused;
    make(true, "$y$", "doesn't know the method");
}

static void
root_gets_ours_with_the_method(void **unused)
{
    (void)unused;
    accepts_ours = computes_ours = computes_well = true;
    make(true, OURS, NULL);
    assert_int_equal(crypts, 1);
}

static void
root_gets_yescrypt_if_the_method_is_broken(void **unused)
{
    (void)unused;
    accepts_ours = computes_ours = true;
    make(true, "$y$", "computes the method differently");
    computes_ours = false;
    make(true, "$y$", "computes the method differently");
}

/* The system's was replaced since this process was started. */
static void
root_gets_yescrypt_if_libcrypt_is_another_by_now(void **unused)
{
    (void)unused;
    accepts_ours = computes_ours = computes_well = true;
    is_current = false;
    make(true, "$y$", "the one that this process has loaded");
    make(false, OURS, NULL);
}

static void
root_gets_something_without_yescrypt(void **unused)
{
    char hash[MHKDF_STRING_SIZE];
    const char *why;

    (void)unused;
    has_yescrypt = false;
    make(true, "$", "doesn't know");
    prefers_ours = true;
    make(true, "$6$", "doesn't know");
    has_others = false;
    assert_int_equal(newhash_make("password", &policy, true, NULL, hash, &why), ENOSYS);
    assert_string_equal(hash, "");
}

static void
long_passwords_are_refused(void **unused)
{
    char password[MHKDF_CRYPT_PASSWORD_MAX + 2];
    char hash[MHKDF_STRING_SIZE];
    const char *why;

    (void)unused;
    memset(password, 'p', sizeof(password));
    password[sizeof(password) - 1] = '\0';
    assert_int_equal(newhash_make(password, &policy, false, NULL, hash, &why), ERANGE);
    assert_string_equal(hash, "");
    assert_int_equal(newhash_make(password, &policy, true, NULL, hash, &why), ERANGE);
    password[MHKDF_CRYPT_PASSWORD_MAX] = '\0';
    assert_int_equal(newhash_make(password, &policy, false, NULL, hash, &why), 0);
    assert_int_equal(newhash_make(password, &policy, true, NULL, hash, &why), 0);
}

/* A method that doesn't look at all of a password makes no hash of it. */
static void
cut_passwords_are_refused(void **unused)
{
    static const struct {
        const char *method;
        size_t max;
    } cases[] = {{"bcrypt", 72}};
    char password[74], hash[MHKDF_STRING_SIZE];
    const char *why;
    uint32_t number;
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(methods_find(cases[i].method, &number, &why), 0);
        policy.method = methods_get(number);
        memset(password, 'p', sizeof(password));
        password[cases[i].max + 1] = '\0';
        assert_int_equal(newhash_make(password, &policy, false, NULL, hash, &why), ERANGE);
        assert_string_equal(hash, "");
        password[cases[i].max] = '\0';
        assert_int_not_equal(newhash_make(password, &policy, false, NULL, hash, &why), ERANGE);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(others_get_ours_whatever_libcrypt_has, set_up),
        cmocka_unit_test_setup(root_gets_yescrypt_without_the_method, set_up),
        cmocka_unit_test_setup(root_gets_ours_with_the_method, set_up),
        cmocka_unit_test_setup(root_gets_yescrypt_if_the_method_is_broken, set_up),
        cmocka_unit_test_setup(root_gets_yescrypt_if_libcrypt_is_another_by_now, set_up),
        cmocka_unit_test_setup(root_gets_something_without_yescrypt, set_up),
        cmocka_unit_test_setup(long_passwords_are_refused, set_up),
        cmocka_unit_test_setup(cut_passwords_are_refused, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
