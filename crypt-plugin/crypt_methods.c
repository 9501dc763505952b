/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "crypt-plugin/crypt_methods.h"

#include <crypt.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* mhkdf.conf isn't read here: these are its built-in values. */
#define ARENA_WAIT_MS 10000
#define ARENA_SOCKET "/run/mhkdf/arena.sock"

struct other_methods {
    crypt_methods_rn *crypt_rn; /* may be NULL */
};

/* What a wrapped hash is made of. The caller's struct crypt_data is in use, its stack may be small,
 * and the library keeps none per thread: so the inner one is allocated. */
static int
hash_inner(void *ctx, const char *phrase, const char *setting, char *out)
{
    const struct other_methods *others = ctx;
    struct crypt_data *data = NULL;
    const char *hash;
    int rc = EINVAL;

    if (others->crypt_rn == NULL)
        goto out;
    rc = ENOMEM;
    data = calloc(1, sizeof(*data));
    if (data == NULL)
        goto out;
    errno = 0;
    hash = others->crypt_rn(phrase, setting, data, (int)sizeof(*data));
    if (hash == NULL) {
        rc = errno == ENOMEM ? ENOMEM : EINVAL;
        goto out;
    }
    memcpy(out, hash, sizeof(data->output));
    rc = 0;
out:
    if (data != NULL)
        mhkdf_wipe(data, sizeof(*data));
    free(data);
    return rc;
}

/* Whether this process may ask for memory of mhkdf-arenad: root's may, and those with the group
 * that the socket belongs to, if it is root's socket. Others needn't try. */
static int
may_use_arena(void)
{
    struct stat st;

    if (stat(ARENA_SOCKET, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != 0)
        return 0;
    return geteuid() == 0 || getegid() == st.st_gid;
}

/* Root at a terminal, in rescue mode say, is never sent away because of others. */
static void
use_arena(struct mhkdf_arena *arena, struct mhkdf_env *env)
{
    if (may_use_arena()) {
        arena->service = "crypt";
        arena->real_uid = getuid();
        arena->wait_ms = ARENA_WAIT_MS;
        arena->private_when_busy = getuid() == 0 && isatty(STDIN_FILENO);
        env->arena = arena;
    }
}

int
crypt_methods_hash(const char *phrase, size_t phrase_len, const char *setting,
                   crypt_methods_rn *crypt_rn, char out[MHKDF_STRING_SIZE])
{
    struct other_methods others = {crypt_rn};
    struct mhkdf_env env = {.foreign_crypt = hash_inner, .ctx = &others};
    struct mhkdf_arena arena = {.socket = ARENA_SOCKET};
    int saved = errno;
    int rc = ERANGE;

    out[0] = '\0';
    if (phrase_len <= MHKDF_CRYPT_PASSWORD_MAX) {
        use_arena(&arena, &env);
        rc = mhkdf_crypt(phrase, phrase_len, setting, &env, out);
    }
    errno = saved;
    return rc;
}

int
crypt_methods_gensalt(const char *prefix, unsigned long count, const uint8_t *rbytes,
                      size_t rbytes_len, char *output, size_t output_size)
{
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    size_t size = output_size < sizeof(setting) ? output_size : sizeof(setting);
    int rc = EINVAL;

    if (rbytes != NULL && rbytes_len <= INT_MAX)
        rc = mhkdf_gensalt(prefix, count, rbytes, rbytes_len, setting, size);
    if (rc == 0)
        memcpy(output, setting, strlen(setting) + 1);
    return rc;
}
