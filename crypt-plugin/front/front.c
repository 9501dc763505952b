/* SPDX-License-Identifier: BSD-2-Clause */
/* A libcrypt in front of the distribution's: strings of our methods are computed here, all others
 * go to the library behind, with the caller's own arguments. What a caller sees of ours is what
 * libxcrypt would do if it had the methods: its lib/crypt.c is the model of each function here. */
#include <config.h>

#include <crypt.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crypt-plugin/crypt_methods.h"
#include "crypt-plugin/front/original.h"
#include "libcore/mhkdf.h"

_Static_assert(MHKDF_STRING_SIZE == CRYPT_OUTPUT_SIZE, "strings of another size than libcrypt's");
_Static_assert(MHKDF_CRYPT_PASSWORD_MAX == CRYPT_MAX_PASSPHRASE_SIZE - 1,
               "phrases of another length than libcrypt's");

#define RANDOM_BYTES 16 /* of a setting of ours */

static int
is_ours(const char *setting)
{
    return setting != NULL && mhkdf_is_ours(setting);
}

/* What can't be a hash, nor the setting that was given. */
static void
write_failure_token(const char *setting, char *output, int size)
{
    if (size >= 3)
        memcpy(output, setting != NULL && strncmp(setting, "*0", 2) == 0 ? "*1" : "*0", 3);
    else if (size == 2)
        memcpy(output, "*", 2);
    else if (size == 1)
        output[0] = '\0';
}

/* Hashes into output, CRYPT_OUTPUT_SIZE bytes, which gets a failure token if anything fails;
 * setting may be in output. scratch: as many bytes, that are wiped. 1 or, with errno, 0. */
static int
hash_ours(const char *phrase, const char *setting, char *output, char *scratch)
{
    int error = EINVAL;

    if (phrase != NULL)
        error =
            crypt_methods_hash(phrase, strlen(phrase), setting, original_get()->crypt_rn, scratch);
    if (error == 0)
        memcpy(output, scratch, MHKDF_STRING_SIZE);
    else
        write_failure_token("", output, CRYPT_OUTPUT_SIZE);
    mhkdf_wipe(scratch, MHKDF_STRING_SIZE);
    if (error != 0)
        errno = error;
    return error == 0;
}

/* Why there is nothing for another method where there is no library behind: what libxcrypt says of
 * a method that it doesn't have, unless it is for want of memory or descriptors. */
static int
why_missing(void)
{
    int shortage = original_get()->shortage;

    return shortage != 0 ? shortage : EINVAL;
}

/* The same for a setting of another method where there is no library behind. */
static void
fail_other(const char *phrase, const char *setting, char *output, int size)
{
    int too_long = phrase != NULL && setting != NULL && strlen(phrase) >= CRYPT_MAX_PASSPHRASE_SIZE;

    write_failure_token(setting, output, size < CRYPT_OUTPUT_SIZE ? size : CRYPT_OUTPUT_SIZE);
    errno = too_long ? ERANGE : why_missing();
}

/* libxcrypt may be configured to return NULL in place of failure tokens. What it does with a
 * setting that is always wrong tells how this one is. */
static int
wants_tokens(const struct original *original, struct crypt_data *data)
{
    int saved = errno;
    int wants = original->crypt_r == NULL || original->crypt_r("", "*", data) != NULL;

    errno = saved;
    return wants;
}

__attribute__((used)) static char *
front_crypt_r(const char *phrase, const char *setting, struct crypt_data *data)
{
    const struct original *original = original_get();

    if (is_ours(setting)) {
        if (hash_ours(phrase, setting, data->output, data->internal))
            return data->output;
        return wants_tokens(original, data) ? data->output : NULL;
    }
    if (original->crypt_r != NULL)
        return original->crypt_r(phrase, setting, data);
    fail_other(phrase, setting, data->output, CRYPT_OUTPUT_SIZE);
    return data->output;
}

__attribute__((used)) static char *
front_crypt(const char *phrase, const char *setting)
{
    static struct crypt_data data;
    const struct original *original = original_get();

    if (original->crypt != NULL && !is_ours(setting))
        return original->crypt(phrase, setting);
    return front_crypt_r(phrase, setting, &data);
}

__attribute__((used)) static char *
front_crypt_rn(const char *phrase, const char *setting, void *data, int size)
{
    const struct original *original = original_get();
    struct crypt_data *whole = data;

    if (!is_ours(setting)) {
        if (original->crypt_rn != NULL)
            return original->crypt_rn(phrase, setting, data, size);
        fail_other(phrase, setting, data, size);
        if (size < (int)sizeof(*whole))
            errno = ERANGE;
        return NULL;
    }
    if (size < (int)sizeof(*whole)) {
        write_failure_token("", data, size);
        errno = ERANGE;
        return NULL;
    }
    return hash_ours(phrase, setting, whole->output, whole->internal) ? whole->output : NULL;
}

__attribute__((used)) static char *
front_crypt_ra(const char *phrase, const char *setting, void **data, int *size)
{
    const struct original *original = original_get();

    if (!is_ours(setting) && original->crypt_ra != NULL)
        return original->crypt_ra(phrase, setting, data, size);
    if (*data == NULL || *size < (int)sizeof(struct crypt_data)) {
        void *larger = realloc(*data, sizeof(struct crypt_data));
        if (larger == NULL)
            return NULL;
        *data = larger;
        *size = (int)sizeof(struct crypt_data);
    }
    return front_crypt_rn(phrase, setting, *data, *size);
}

/* As libxcrypt: random bytes that the caller doesn't give come from the system. */
static int
gensalt_ours(const char *prefix, unsigned long count, const char *rbytes, int nrbytes, char *output,
             int output_size)
{
    uint8_t random[RANDOM_BYTES];
    int error = 0;

    if (output_size < 3) {
        error = ERANGE;
    } else if (rbytes == NULL) {
        error = mhkdf_random(random, sizeof(random));
        rbytes = (const char *)random;
        nrbytes = (int)sizeof(random);
    }
    if (error == 0)
        error = crypt_methods_gensalt(prefix, count, (const uint8_t *)rbytes, (size_t)nrbytes,
                                      output, (size_t)output_size);
    if (error != 0)
        write_failure_token("", output, output_size);
    mhkdf_wipe(random, sizeof(random));
    return error;
}

__attribute__((used)) static char *
front_crypt_gensalt_rn(const char *prefix, unsigned long count, const char *rbytes, int nrbytes,
                       char *output, int output_size)
{
    const struct original *original = original_get();
    int error;

    if (is_ours(prefix)) {
        error = gensalt_ours(prefix, count, rbytes, nrbytes, output, output_size);
    } else if (original->crypt_gensalt_rn != NULL) {
        return original->crypt_gensalt_rn(prefix, count, rbytes, nrbytes, output, output_size);
    } else {
        write_failure_token("", output, output_size);
        error = output_size < 3 ? ERANGE : why_missing();
    }
    if (error == 0)
        return output;
    errno = error;
    return NULL;
}

__attribute__((used)) static char *
front_crypt_gensalt(const char *prefix, unsigned long count, const char *rbytes, int nrbytes)
{
    static char output[CRYPT_GENSALT_OUTPUT_SIZE];
    const struct original *original = original_get();

    if (original->crypt_gensalt != NULL && !is_ours(prefix))
        return original->crypt_gensalt(prefix, count, rbytes, nrbytes);
    return front_crypt_gensalt_rn(prefix, count, rbytes, nrbytes, output, (int)sizeof(output));
}

__attribute__((used)) static char *
front_crypt_gensalt_ra(const char *prefix, unsigned long count, const char *rbytes, int nrbytes)
{
    const struct original *original = original_get();
    char *output, *result;

    if (original->crypt_gensalt_ra != NULL && !is_ours(prefix))
        return original->crypt_gensalt_ra(prefix, count, rbytes, nrbytes);
    output = malloc(CRYPT_GENSALT_OUTPUT_SIZE);
    if (output == NULL)
        return NULL;
    result =
        front_crypt_gensalt_rn(prefix, count, rbytes, nrbytes, output, CRYPT_GENSALT_OUTPUT_SIZE);
    if (result == NULL)
        free(output);
    return result;
}

/* As of any method, the prefix is looked at, and which characters there are. */
__attribute__((used)) static int
front_crypt_checksalt(const char *setting)
{
    const struct original *original = original_get();
    const char *c;

    if (is_ours(setting)) {
        for (c = setting; *c > 0x20 && *c < 0x7f && strchr("!*:;\\", *c) == NULL; c++)
            continue;
        return *c == '\0' ? CRYPT_SALT_OK : CRYPT_SALT_INVALID;
    }
    return original->crypt_checksalt != NULL ? original->crypt_checksalt(setting)
                                             : CRYPT_SALT_INVALID;
}

/* The default stays the distribution's. */
__attribute__((used)) static const char *
front_crypt_preferred_method(void)
{
    const struct original *original = original_get();

    return original->crypt_preferred_method != NULL ? original->crypt_preferred_method() : NULL;
}

/* DES as a cipher. Where there is none libxcrypt leaves nothing of the block either. */

static void
fail_encrypt(char *block)
{
    mhkdf_wipe(block, 64);
    (void)mhkdf_random(block, 64);
    errno = ENOSYS;
}

__attribute__((used)) static void
front_encrypt(char *block, int edflag)
{
    const struct original *original = original_get();

    if (original->encrypt != NULL)
        original->encrypt(block, edflag);
    else
        fail_encrypt(block);
}

__attribute__((used)) static void
front_encrypt_r(char *block, int edflag, struct crypt_data *data)
{
    const struct original *original = original_get();

    if (original->encrypt_r != NULL)
        original->encrypt_r(block, edflag, data);
    else
        fail_encrypt(block);
}

__attribute__((used)) static void
front_setkey(const char *key)
{
    const struct original *original = original_get();

    if (original->setkey != NULL)
        original->setkey(key);
    else
        errno = ENOSYS;
}

__attribute__((used)) static void
front_setkey_r(const char *key, struct crypt_data *data)
{
    const struct original *original = original_get();

    if (original->setkey_r != NULL)
        original->setkey_r(key, data);
    else
        errno = ENOSYS;
}

/* Names of older libraries for the same. */
#define front_fcrypt front_crypt
#define front_xcrypt front_crypt
#define front_xcrypt_r front_crypt_r
#define front_xcrypt_gensalt front_crypt_gensalt
#define front_crypt_gensalt_r front_crypt_gensalt_rn
#define front_xcrypt_gensalt_r front_crypt_gensalt_rn

/* The names and versions that the library behind has, made by map_symbols. A name of its own for
 * each, since assemblers differ in whether one may have several versions. */
#define ORIGINAL(name, version)
#define EXPORT(name, number, symbol) EXPORT_AS(front_##name, export_##number, symbol)
#define EXPORT_AS(function, alias_name, symbol) EXPORT_ALIAS(function, alias_name, symbol)
#define EXPORT_ALIAS(function, alias_name, symbol)                            \
    extern __typeof__(function) alias_name __attribute__((alias(#function))); \
    __asm__(".symver " #alias_name ", " symbol);
#include "crypt-plugin/front/symbols.h"
