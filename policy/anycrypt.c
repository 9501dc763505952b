/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/anycrypt.h"

#include <crypt.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libcore/headroom.h"
#include "policy/foreign.h"

/* A whole hash of traditional DES; bigcrypt's are longer, and their length depends on the password.
 */
#define DES_HASH_LEN 13

/* The characters that libxcrypt refuses in any setting. '*' is where failure tokens start, '!' and
 * '*' are what locks an account. */
static int
has_bad_character(const char *setting)
{
    for (; *setting != '\0'; setting++) {
        unsigned char c = (unsigned char)*setting;
        if (c <= 0x20 || c >= 0x7f || strchr("!*:;\\", c) != NULL)
            return 1;
    }
    return 0;
}

/* Whether as much memory as this setting needs isn't to be had. */
static int
lacks_memory(const char *setting)
{
    uint64_t kib = foreign_memory_kib(setting);
    void *base;

    if (kib == 0 || kib == UINT64_MAX)
        return 0;
    if (kib > SIZE_MAX / 2 / 1024)
        return 1;
    base =
        mmap(NULL, (size_t)kib * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return 1;
    (void)munmap(base, (size_t)kib * 1024);
    return 0;
}

/* Whether libcrypt has the method of a setting: 0, EINVAL or ENOSYS. It doesn't tell what it can't
 * read from a method that it lacks; what looks like a method's prefix, or like a DES hash, is worth
 * the difference. */
static int
find_method(const char *setting)
{
    int known = crypt_checksalt(setting);

    if (known != CRYPT_SALT_INVALID && known != CRYPT_SALT_METHOD_DISABLED)
        return 0;
    if (setting[0] != '$' && setting[0] != '_' && strlen(setting) < DES_HASH_LEN)
        return EINVAL;
    return ENOSYS;
}

/* Why crypt_r failed. EINVAL is also what it says for a method that it lacks, and where yescrypt or
 * scrypt found no memory. */
static int
refusal(const char *setting, int error)
{
    int rc;

    if (error != 0 && error != EINVAL)
        return error;
    rc = find_method(setting);
    if (rc == 0)
        rc = lacks_memory(setting) ? ENOMEM : EINVAL;
    return rc;
}

/* How the hash of a foreign method is to be computed. */
struct foreign {
    bool without_swap;
    struct mhkdf_memory_report *report; /* may be NULL */
};

/* Whether there is room for what libcrypt will take: 0, or ENOMEM. Memory beyond all reason is left
 * to libcrypt, which refuses such settings. */
static int
check_room(const struct foreign *foreign, const char *setting)
{
    const struct headroom_need need = {.size_kib = foreign_memory_kib(setting),
                                       .without_swap = foreign->without_swap};
    struct mhkdf_memory_report report;
    int rc;

    if (need.size_kib == UINT64_MAX)
        return 0;
    memset(&report, 0, sizeof(report));
    rc = headroom_check(&need, NULL, &report);
    if (rc == 0 || find_method(setting) != 0)
        return 0;
    if (foreign->report != NULL)
        *foreign->report = report;
    return rc;
}

static int
foreign_crypt(void *ctx, const char *phrase, const char *setting, char *out)
{
    struct crypt_data *data = NULL;
    const char *hash;
    size_t len;
    int rc = EINVAL;

    if (setting[0] == '\0' || has_bad_character(setting))
        goto out;
    rc = ERANGE;
    if (strlen(phrase) > MHKDF_CRYPT_PASSWORD_MAX || strlen(setting) >= MHKDF_STRING_SIZE)
        goto out;
    rc = check_room(ctx, setting);
    if (rc != 0)
        goto out;
    rc = ENOMEM;
    data = calloc(1, sizeof(*data));
    if (data == NULL)
        goto out;
    errno = 0;
    hash = crypt_r(phrase, setting, data);
    if (hash == NULL || hash[0] == '*') {
        rc = refusal(setting, errno);
        goto out;
    }
    rc = ERANGE;
    len = strlen(hash);
    if (len >= MHKDF_STRING_SIZE)
        goto out;
    memcpy(out, hash, len + 1);
    rc = 0;
out:
    if (data != NULL)
        mhkdf_wipe(data, sizeof(*data));
    free(data);
    return rc;
}

/* Fills foreign in, too, to which the result points. Nothing is reported yet. */
static struct mhkdf_env
with_foreign(const struct mhkdf_env *resources, bool is_new, struct foreign *foreign)
{
    struct mhkdf_env env = {.foreign_crypt = foreign_crypt, .ctx = foreign};

    if (resources != NULL) {
        env.arena = resources->arena;
        env.report = resources->report;
        env.threads = resources->threads;
        env.without_swap = resources->without_swap;
    }
    if (env.report != NULL)
        memset(env.report, 0, sizeof(*env.report));
    foreign->without_swap = is_new || env.without_swap != 0;
    foreign->report = env.report;
    return env;
}

static int
check_foreign(const char *setting)
{
    int rc;

    if (setting[0] == '\0' || has_bad_character(setting))
        return EINVAL;
    if (strlen(setting) >= MHKDF_STRING_SIZE)
        return ERANGE;
    rc = find_method(setting);
    return rc == 0 ? foreign_check(setting) : rc;
}

/* Adds one of our levels to needs. inner, which may be string, gets the setting it wraps, or "". */
static int
survey(const char *string, struct anycrypt_needs *needs, char inner[MHKDF_STRING_SIZE])
{
    struct mhkdf_setting level;
    int rc = mhkdf_parse(string, &level);

    if (rc == 0) {
        if (needs->key_id[0] == '\0')
            memcpy(needs->key_id, level.key_id, sizeof(needs->key_id));
        if (needs->memory_kib < level.cost.memory_kib)
            needs->memory_kib = level.cost.memory_kib;
        memcpy(inner, level.inner, MHKDF_STRING_SIZE);
    }
    mhkdf_wipe(&level, sizeof(level));
    return rc;
}

int
anycrypt_check(const char *setting, struct anycrypt_needs *needs)
{
    struct anycrypt_needs all = {0, ""};
    char inner[MHKDF_STRING_SIZE] = "";
    const char *level = setting;
    int rc = 0;

    while (rc == 0 && mhkdf_is_ours(level)) {
        rc = survey(level, &all, inner);
        level = inner;
    }
    if (rc == 0 && all.key_id[0] != '\0') {
        rc = ENOKEY;
    } else if (rc == 0 && (level == setting || level[0] != '\0')) {
        uint64_t kib = foreign_memory_kib(level);
        if (all.memory_kib < kib)
            all.memory_kib = kib;
        rc = check_foreign(level);
    }
    if (needs != NULL)
        *needs = all;
    return rc;
}

int
anycrypt_hash(const char *password, const char *setting, char out[MHKDF_STRING_SIZE])
{
    return anycrypt_hash_in(password, setting, NULL, out);
}

int
anycrypt_hash_in(const char *password, const char *setting, const struct mhkdf_env *resources,
                 char out[MHKDF_STRING_SIZE])
{
    struct foreign foreign;
    struct mhkdf_env with = with_foreign(resources, true, &foreign);

    out[0] = '\0';
    if (mhkdf_is_ours(setting))
        return mhkdf_crypt(password, strlen(password), setting, &with, out);
    return foreign_crypt(&foreign, password, setting, out);
}

/* What a foreign method made of a password, against what is stored. */
static int
compare(const char *made, const char *hash)
{
    size_t len = strlen(hash);

    if (strlen(made) == len)
        return mhkdf_equal(made, hash, len) ? 0 : EKEYREJECTED;
    if (hash[0] != '$' && hash[0] != '_' && len >= DES_HASH_LEN)
        return EKEYREJECTED;
    return EINVAL;
}

int
anycrypt_verify(const char *password, const char *hash)
{
    return anycrypt_verify_in(password, hash, NULL);
}

int
anycrypt_verify_in(const char *password, const char *hash, const struct mhkdf_env *resources)
{
    struct foreign foreign;
    struct mhkdf_env with = with_foreign(resources, false, &foreign);
    char made[MHKDF_STRING_SIZE] = "";
    int rc;

    if (mhkdf_is_ours(hash))
        return mhkdf_verify(password, strlen(password), hash, &with);
    rc = foreign_crypt(&foreign, password, hash, made);
    if (rc == 0)
        rc = compare(made, hash);
    mhkdf_wipe(made, sizeof(made));
    return rc;
}
