/* SPDX-License-Identifier: BSD-2-Clause */
/* The methods $mhkdf$, $argon2id$, $argon2d$ and $argon2i$ of libcrypt: libxcrypt's names for what
 * libcore does. crypt-plugin/graft of mhkdf put this file here; it is part of no other build. */
#include "crypt-port.h"

#if INCLUDE_mhkdf || INCLUDE_argon2id || INCLUDE_argon2d || INCLUDE_argon2i

#include <errno.h>

#include "crypt-plugin/crypt_methods.h"

static_assert(MHKDF_STRING_SIZE == CRYPT_OUTPUT_SIZE, "strings of another size than libcrypt's");
static_assert(MHKDF_CRYPT_PASSWORD_MAX == CRYPT_MAX_PASSPHRASE_SIZE - 1,
              "phrases of another length than libcrypt's");

/* libxcrypt has put a failure token into output; it stays there if anything fails. */
static void
hash_ours(const char *phrase, size_t phrase_len, const char *setting, uint8_t *output,
          size_t output_size, char *scratch, size_t scratch_size)
{
    int error = ERANGE;

    if (output_size < MHKDF_STRING_SIZE || scratch_size < MHKDF_STRING_SIZE)
        goto out;
    error = crypt_methods_hash(phrase, phrase_len, setting, crypt_rn, scratch);
    if (error == 0)
        memcpy(output, scratch, strlen(scratch) + 1);
    mhkdf_wipe(scratch, MHKDF_STRING_SIZE);
out:
    if (error != 0)
        errno = error;
}

static void
gensalt_ours(const char *prefix, unsigned long count, const uint8_t *rbytes, size_t nrbytes,
             uint8_t *output, size_t output_size)
{
    int error = crypt_methods_gensalt(prefix, count, rbytes, nrbytes, (char *)output, output_size);

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
