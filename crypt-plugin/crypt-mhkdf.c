/* SPDX-License-Identifier: BSD-2-Clause */
/* The methods $mhkdf$, $argon2id$, $argon2d$ and $argon2i$ of libcrypt: libxcrypt's names for what
 * libcore does. crypt-plugin/graft of mhkdf put this file here; it is part of no other build. */
#include "crypt-port.h"

#if INCLUDE_mhkdf || INCLUDE_argon2id || INCLUDE_argon2d || INCLUDE_argon2i

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcore/mhkdf.h"

static_assert(MHKDF_STRING_SIZE == CRYPT_OUTPUT_SIZE, "strings of another size than libcrypt's");
static_assert(MHKDF_CRYPT_PASSWORD_MAX == CRYPT_MAX_PASSPHRASE_SIZE - 1,
              "phrases of another length than libcrypt's");

/* What a wrapped hash is made of. The caller's struct crypt_data is in use, its stack may be small,
 * and the library keeps none per thread: so the inner one is allocated. */
static int
hash_foreign(void *ctx, const char *phrase, const char *setting, char *out)
{
    struct crypt_data *data = NULL;
    const char *hash;
    int rc = ENOMEM;

    (void)ctx;
    data = calloc(1, sizeof(*data));
    if (data == NULL)
        goto out;
    errno = 0;
    hash = crypt_rn(phrase, setting, data, (int)sizeof(*data));
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

/* mhkdf.conf isn't read here: these are its built-in values. */
#define ARENA_WAIT_MS 10000
#define ARENA_SOCKET "/run/mhkdf/arena.sock"

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
    int saved = errno;

    if (may_use_arena()) {
        arena->service = "crypt";
        arena->real_uid = getuid();
        arena->wait_ms = ARENA_WAIT_MS;
        arena->private_when_busy = getuid() == 0 && isatty(STDIN_FILENO);
        env->arena = arena;
    }
    errno = saved;
}

/* libxcrypt has put a failure token into output; it stays there if anything fails. */
static void
hash_ours(const char *phrase, size_t phrase_len, const char *setting, uint8_t *output,
          size_t output_size, char *scratch, size_t scratch_size)
{
    struct mhkdf_env env = {.foreign_crypt = hash_foreign};
    struct mhkdf_arena arena = {.socket = ARENA_SOCKET};
    int error = ERANGE;

    if (output_size < MHKDF_STRING_SIZE || scratch_size < MHKDF_STRING_SIZE)
        goto out;
    use_arena(&arena, &env);
    error = mhkdf_crypt(phrase, phrase_len, setting, &env, scratch);
    if (error == 0)
        memcpy(output, scratch, strlen(scratch) + 1);
    mhkdf_wipe(scratch, MHKDF_STRING_SIZE);
out:
    if (error != 0)
        errno = error;
}

/* The number of bytes was an int before: a negative one is no large one. */
static void
gensalt_ours(const char *prefix, unsigned long count, const uint8_t *rbytes, size_t nrbytes,
             uint8_t *output, size_t output_size)
{
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    int error = EINVAL;

    if (rbytes == NULL || nrbytes > INT_MAX)
        goto out;
    error =
        mhkdf_gensalt(prefix, count, rbytes, nrbytes, setting, MIN(output_size, sizeof(setting)));
    if (error == 0)
        memcpy(output, setting, strlen(setting) + 1);
out:
    if (error != 0)
        errno = error;
}

/* crypt-hashes.h, which libxcrypt makes from hashes.conf, declares and renames these. */
#define METHOD(name, prefix)                                                                    \
    void crypt_##name##_rn(const char *phrase, size_t phrase_len, const char *setting,          \
                           size_t ARG_UNUSED(setting_len), uint8_t *output, size_t output_size, \
                           void *scratch, size_t scratch_size)                                  \
    {                                                                                           \
        hash_ours(phrase, phrase_len, setting, output, output_size, scratch, scratch_size);     \
    }                                                                                           \
    void gensalt_##name##_rn(unsigned long count, const uint8_t *rbytes, size_t nrbytes,        \
                             uint8_t *output, size_t output_size)                               \
    {                                                                                           \
        gensalt_ours(prefix, count, rbytes, nrbytes, output, output_size);                      \
    }

#if INCLUDE_mhkdf
METHOD(mhkdf, "$mhkdf$")
#endif
#if INCLUDE_argon2id
METHOD(argon2id, "$argon2id$")
#endif
#if INCLUDE_argon2d
METHOD(argon2d, "$argon2d$")
#endif
#if INCLUDE_argon2i
METHOD(argon2i, "$argon2i$")
#endif

#endif
