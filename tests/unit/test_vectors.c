/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of tests/vectors/, which an independent model made. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "libcore/derive.h"
#include "libcore/mhkdf.h"
#include "tests/unit/hex.h"
#include "tests/unit/vectors.h"

#define BYTES_MAX 4096

/* Each record with another number of threads, so that all are met with all kinds of records. */
static unsigned
threads_for(const struct vectors *vectors, uint32_t lanes)
{
    return (unsigned)(vectors->line_number % lanes) + 1;
}

static void
mhkdf1(void **state)
{
    struct vectors vectors;
    uint8_t password[BYTES_MAX], salt[MHKDF_SALT_MAX], key[MHKDF_KEY_MAX], tag[MHKDF_TAG_MAX];
    unsigned records = 0;

    (void)state;
    vectors_open(&vectors, "mhkdf1.vec");
    while (vectors_next(&vectors)) {
        struct mhkdf_cost cost = {MHKDF_METHOD_MHKDF1, vectors_number(&vectors, 0),
                                  vectors_number(&vectors, 1), vectors_number(&vectors, 2),
                                  vectors_number(&vectors, 3)};
        struct mhkdf_input input = {.password = password,
                                    .salt = salt,
                                    .key = key,
                                    .wrapped = vectors_number(&vectors, 4) != 0};
        size_t tag_len = vectors_number(&vectors, 5);

        assert_int_equal(vectors.count, 10);
        input.password_len = hex_decode(vectors.fields[6], password, sizeof password);
        input.salt_len = hex_decode(vectors.fields[7], salt, sizeof salt);
        input.key_len = hex_decode(vectors.fields[8], key, sizeof key);
        assert_int_equal(
            mhkdf_derive(&cost, &input, threads_for(&vectors, cost.lanes), tag, tag_len), 0);
        hex_assert_equal(tag, tag_len, vectors.fields[9]);
        records++;
    }
    assert_in_range(records, 300, 10000);
}

static enum fill_method
argon2_method(const char *name)
{
    if (strcmp(name, "argon2d") == 0)
        return FILL_ARGON2D;
    if (strcmp(name, "argon2i") == 0)
        return FILL_ARGON2I;
    assert_string_equal(name, "argon2id");
    return FILL_ARGON2ID;
}

static void
argon2(void **state)
{
    struct vectors vectors;
    uint8_t password[BYTES_MAX], salt[BYTES_MAX], secret[BYTES_MAX], extra[BYTES_MAX];
    uint8_t tag[BYTES_MAX];
    unsigned records = 0;

    (void)state;
    vectors_open(&vectors, "argon2.vec");
    while (vectors_next(&vectors)) {
        struct derive in = {.method = argon2_method(vectors.fields[0]),
                            .version = 0x13,
                            .memory_kib = vectors_number(&vectors, 1),
                            .passes = vectors_number(&vectors, 2),
                            .lanes = vectors_number(&vectors, 3),
                            .password = password,
                            .salt = salt,
                            .secret = secret,
                            .associated = extra};
        uint32_t tag_len = vectors_number(&vectors, 4);
        const struct mhkdf_env env = {.threads = threads_for(&vectors, in.lanes)};

        assert_int_equal(vectors.count, 10);
        in.password_len = (uint32_t)hex_decode(vectors.fields[5], password, sizeof password);
        in.salt_len = (uint32_t)hex_decode(vectors.fields[6], salt, sizeof salt);
        in.secret_len = (uint32_t)hex_decode(vectors.fields[7], secret, sizeof secret);
        in.associated_len = (uint32_t)hex_decode(vectors.fields[8], extra, sizeof extra);
        assert_int_equal(derive_tag(&in, &env, tag, tag_len), 0);
        hex_assert_equal(tag, tag_len, vectors.fields[9]);
        records++;
    }
    assert_in_range(records, 60, 10000);
}

/* Site keys and foreign hashes that strings.vec brings along. */
struct surroundings {
    struct {
        char id[MHKDF_KEY_ID_MAX + 1];
        uint8_t key[MHKDF_KEY_MAX];
        size_t key_len;
    } keys[8];
    size_t key_count;
    struct {
        char password[512];
        char setting[MHKDF_STRING_SIZE];
        char hash[MHKDF_STRING_SIZE];
    } older[16];
    size_t older_count;
};

static int
find_key(void *ctx, const char *key_id, uint8_t *key, size_t *key_len)
{
    const struct surroundings *around = ctx;

    for (size_t i = 0; i < around->key_count; i++) {
        if (strcmp(around->keys[i].id, key_id) == 0) {
            memcpy(key, around->keys[i].key, around->keys[i].key_len);
            *key_len = around->keys[i].key_len;
            return 0;
        }
    }
    return ENOKEY;
}

static int
foreign_crypt(void *ctx, const char *phrase, const char *setting, char *out)
{
    const struct surroundings *around = ctx;

    for (size_t i = 0; i < around->older_count; i++) {
        if (strcmp(around->older[i].password, phrase) == 0 &&
            strcmp(around->older[i].setting, setting) == 0) {
            memcpy(out, around->older[i].hash, sizeof around->older[i].hash);
            return 0;
        }
    }
    return EINVAL;
}

static void
add_key(struct surroundings *around, const struct vectors *vectors)
{
    size_t i = around->key_count++;

    assert_in_range(i, 0, 7);
    strncpy(around->keys[i].id, vectors->fields[1], MHKDF_KEY_ID_MAX);
    around->keys[i].key_len = hex_decode(vectors->fields[2], around->keys[i].key, MHKDF_KEY_MAX);
}

static void
add_older(struct surroundings *around, const struct vectors *vectors)
{
    size_t i = around->older_count++;

    assert_in_range(i, 0, 15);
    (void)hex_decode(vectors->fields[1], (uint8_t *)around->older[i].password, 511);
    strncpy(around->older[i].setting, vectors->fields[2], MHKDF_STRING_SIZE - 1);
    strncpy(around->older[i].hash, vectors->fields[3], MHKDF_STRING_SIZE - 1);
}

static int
error_number(const char *result)
{
    if (strcmp(result, "EINVAL") == 0)
        return EINVAL;
    if (strcmp(result, "ERANGE") == 0)
        return ERANGE;
    if (strcmp(result, "ENOKEY") == 0)
        return ENOKEY;
    return 0;
}

static const char *
decode_setting(const char *field, char *buffer, size_t size)
{
    size_t len;

    if (strncmp(field, "x:", 2) != 0)
        return strcmp(field, "-") == 0 ? "" : field;
    len = hex_decode(field + 2, (uint8_t *)buffer, size - 1);
    buffer[len] = '\0';
    return buffer;
}

static void
check_verify(const void *password, size_t password_len, const char *hash,
             const struct mhkdf_env *env)
{
    char other[MHKDF_STRING_SIZE];
    size_t last = strlen(hash) - 2; /* the last character may have unused bits */

    assert_int_equal(mhkdf_verify(password, password_len, hash, env), 0);
    strcpy(other, hash);
    other[last] = other[last] == 'A' ? 'B' : 'A';
    assert_int_equal(mhkdf_verify(password, password_len, other, env), EKEYREJECTED);
}

static void
check_hash(const struct vectors *vectors, struct surroundings *around)
{
    struct mhkdf_env env = {.find_key = find_key, .foreign_crypt = foreign_crypt, .ctx = around};
    char setting_buffer[VECTORS_LINE_SIZE], out[MHKDF_STRING_SIZE];
    const char *setting = decode_setting(vectors->fields[2], setting_buffer, sizeof setting_buffer);
    const char *expected = vectors->fields[3];
    uint8_t password[BYTES_MAX];
    size_t password_len = hex_decode(vectors->fields[1], password, sizeof password);
    int error = error_number(expected);
    int got;

    assert_int_equal(vectors->count, 4);
    got = mhkdf_crypt(password, password_len, setting, &env, out);
    if (got != error || (error == 0 && strcmp(out, expected) != 0))
        fail_msg("strings.vec:%lu: %d, \"%s\" instead of %s", vectors->line_number, got, out,
                 expected);
    if (error != 0) {
        assert_string_equal(out, "");
        assert_int_not_equal(mhkdf_verify(password, password_len, setting, &env), 0);
        return;
    }
    assert_int_equal(mhkdf_crypt(password, password_len, expected, &env, out), 0);
    assert_string_equal(out, expected);
    if (vectors->line_number % 4 == 0)
        check_verify(password, password_len, expected, &env);
}

static void
check_gensalt(const struct vectors *vectors)
{
    uint8_t rbytes[BYTES_MAX];
    size_t rbytes_len = hex_decode(vectors->fields[3], rbytes, sizeof rbytes);
    unsigned long count = strtoul(vectors->fields[2], NULL, 10);
    size_t size = vectors_number(vectors, 4);
    const char *expected = vectors->fields[5];
    char out[MHKDF_STRING_SIZE];
    int error = error_number(expected);

    assert_int_equal(vectors->count, 6);
    assert_in_range(size, 0, sizeof out);
    memset(out, '#', sizeof out);
    if (mhkdf_gensalt(vectors->fields[1], count, rbytes, rbytes_len, out, size) != error)
        fail_msg("strings.vec:%lu: not %s", vectors->line_number, expected);
    if (error == 0)
        assert_string_equal(out, expected);
    else if (size > 0)
        assert_string_equal(out, "");
    for (size_t i = size; i < sizeof out; i++)
        assert_int_equal(out[i], '#');
}

static void
strings(void **state)
{
    static struct surroundings around;
    struct vectors vectors;
    unsigned hashes = 0, gensalts = 0;

    (void)state;
    vectors_open(&vectors, "strings.vec");
    while (vectors_next(&vectors)) {
        if (strcmp(vectors.fields[0], "key") == 0) {
            add_key(&around, &vectors);
        } else if (strcmp(vectors.fields[0], "older") == 0) {
            add_older(&around, &vectors);
        } else if (strcmp(vectors.fields[0], "hash") == 0) {
            check_hash(&vectors, &around);
            hashes++;
        } else {
            assert_string_equal(vectors.fields[0], "gensalt");
            check_gensalt(&vectors);
            gensalts++;
        }
    }
    assert_in_range(hashes, 400, 10000);
    assert_in_range(gensalts, 50, 10000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mhkdf1),
        cmocka_unit_test(argon2),
        cmocka_unit_test(strings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
