/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "libcore/derive.h"
#include "libcore/mhkdf.h"
#include "libcore/stack.h"

#define LEVELS_MAX 3 /* a string, and up to two settings of ours inside it */

/* One setting of ours of a string, with its site key. */
struct level {
    struct mhkdf_setting setting;
    uint8_t key[MHKDF_KEY_MAX];
    size_t key_len;
};

/* A string taken apart to the innermost of our methods, and the password on its way outwards. */
struct work {
    struct level levels[LEVELS_MAX]; /* the string itself first */
    int count;
    char phrase[MHKDF_CRYPT_PASSWORD_MAX + 1]; /* for foreign_crypt */
    char hash[MHKDF_STRING_SIZE];              /* what the level inside gave */
};

static const struct mhkdf_env NO_ENV;

static int
find_key(struct level *level, const struct mhkdf_env *env)
{
    if (level->setting.key_id[0] == '\0')
        return 0;
    level->key_len = SIZE_MAX; /* a callback must say how long it is */
    if (env->find_key == NULL ||
        env->find_key(env->ctx, level->setting.key_id, level->key, &level->key_len) != 0)
        return ENOKEY;
    return level->key_len > MHKDF_KEY_MAX ? ENOKEY : 0;
}

/* Everything that can be known to be wrong before anything is computed, in the order of mhkdf.h. */
static int
prepare(struct work *work, const void *password, size_t password_len, const char *string,
        const struct mhkdf_env *env)
{
    const char *inner = string;
    int error;

    memset(work, 0, sizeof *work);
    if (password_len > MHKDF_CRYPT_PASSWORD_MAX)
        return ERANGE;
    do {
        struct mhkdf_setting *setting = &work->levels[work->count].setting;
        if ((error = mhkdf_parse(inner, setting)) != 0)
            return error;
        work->count++;
        inner = setting->inner;
    } while (work->count < LEVELS_MAX && mhkdf_is_ours(inner));

    if (inner[0] != '\0') {
        if (env->foreign_crypt == NULL)
            return EINVAL;
        if (password_len > 0 && memchr(password, '\0', password_len) != NULL)
            return EINVAL;
    }
    for (int i = 0; i < work->count; i++)
        if ((error = find_key(&work->levels[i], env)) != 0)
            return error;
    return 0;
}

/* The innermost step of a wrapped hash: work->hash = crypt(password, setting). */
static int
hash_foreign(struct work *work, const void *password, size_t password_len, const char *setting,
             const struct mhkdf_env *env)
{
    int error;

    if (password_len > 0)
        memcpy(work->phrase, password, password_len);
    work->phrase[password_len] = '\0';
    error = env->foreign_crypt(env->ctx, work->phrase, setting, work->hash);
    if (error != 0)
        return error < 0 || error == EKEYREJECTED ? EINVAL : error;
    if (memchr(work->hash, '\0', sizeof work->hash) == NULL || work->hash[0] == '*' ||
        work->hash[0] == '\0')
        return EINVAL;
    return 0;
}

static int
derive_level(struct level *level, const void *password, size_t password_len,
             const struct mhkdf_env *env)
{
    struct mhkdf_setting *setting = &level->setting;
    struct mhkdf_input input = {.password = password,
                                .password_len = password_len,
                                .salt = setting->salt,
                                .salt_len = setting->salt_len,
                                .key = level->key,
                                .key_len = level->key_len,
                                .wrapped = setting->inner[0] != '\0'};

    if (setting->tag_len == 0)
        setting->tag_len = MHKDF_TAG_DEFAULT;
    return derive_in(&setting->cost, &input, env, setting->tag, setting->tag_len);
}

/* Computes all levels from the inside; the tag of the string itself ends in work->levels[0]. */
static int
compute(struct work *work, const void *password, size_t password_len, const struct mhkdf_env *env)
{
    const struct mhkdf_setting *innermost = &work->levels[work->count - 1].setting;
    int error;

    if (innermost->inner[0] != '\0') {
        error = hash_foreign(work, password, password_len, innermost->inner, env);
        if (error != 0)
            return error;
        password = work->hash;
        password_len = strlen(work->hash);
    }
    for (int i = work->count - 1; i >= 0; i--) {
        if ((error = derive_level(&work->levels[i], password, password_len, env)) != 0)
            return error;
        if (i == 0)
            break;
        if ((error = mhkdf_encode(&work->levels[i].setting, work->hash, sizeof work->hash)) != 0)
            return error;
        password = work->hash;
        password_len = strlen(work->hash);
    }
    return 0;
}

int
mhkdf_crypt(const void *password, size_t password_len, const char *setting,
            const struct mhkdf_env *env, char *out)
{
    struct mhkdf_env mine = env != NULL ? *env : NO_ENV;
    struct work work;
    int error;

    out[0] = '\0';
    error = prepare(&work, password, password_len, setting, &mine);
    if (work.levels[0].setting.tag_len == 0)
        mine.without_swap = 1; /* a new hash */
    if (error == 0)
        error = compute(&work, password, password_len, &mine);
    if (error == 0)
        error = mhkdf_encode(&work.levels[0].setting, out, MHKDF_STRING_SIZE);
    mhkdf_wipe(&work, sizeof work);
    stack_wipe();
    return error;
}

int
mhkdf_verify(const void *password, size_t password_len, const char *hash,
             const struct mhkdf_env *env)
{
    struct work work;
    uint8_t expected[MHKDF_TAG_MAX];
    const struct mhkdf_setting *computed = &work.levels[0].setting;
    int error;

    if (env == NULL)
        env = &NO_ENV;
    error = prepare(&work, password, password_len, hash, env);
    memcpy(expected, computed->tag, sizeof expected);
    if (error != EINVAL && computed->cost.lanes != 0 && computed->tag_len == 0)
        error = EINVAL; /* a setting: well-formed, but nothing to compare with */
    if (error == 0)
        error = compute(&work, password, password_len, env);
    if (error == 0 && !mhkdf_equal(expected, computed->tag, computed->tag_len))
        error = EKEYREJECTED;
    mhkdf_wipe(expected, sizeof expected);
    mhkdf_wipe(&work, sizeof work);
    stack_wipe();
    return error;
}
