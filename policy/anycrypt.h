/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * crypt(3) over every method there is: ours through libcore, so that a libcrypt without them is no
 * obstacle, every other one through the system's libcrypt. Wrapped hashes (SPEC.md section 5) meet
 * both. No site key is known here: a string that names one is ENOKEY.
 *
 * password, setting and hash are NUL-terminated; a password of more than MHKDF_CRYPT_PASSWORD_MAX
 * (511) bytes is never cut, but ERANGE, before anything is computed.
 *
 * There are no limits of cost here: whoever hands in a string that he didn't make himself checks it
 * first (our methods: mhkdf_parse), since it decides how much memory and time is used.
 *
 * What any method needs in memory is taken only where there is room for it (libcore/headroom.h);
 * free swap counts when a password is verified, not for a new hash.
 *
 * Thread-safe. Memory: what the method needs, and 32 KiB of heap for a foreign one. Everything that
 * a password or hash went through is wiped.
 */
#ifndef POLICY_ANYCRYPT_H
#define POLICY_ANYCRYPT_H

#include "libcore/mhkdf.h"

/** What a string asks for. */
struct anycrypt_needs {
    uint64_t memory_kib; /* of the level that takes the most, since they come one after the other;
                            UINT64_MAX: beyond all reason; 0: next to nothing, or not known */
    char key_id[MHKDF_KEY_ID_MAX + 1]; /* the outermost level's that has one; "" if none has */
};

/**
 * What is wrong with a setting or hash that can be seen without a password, levels that are wrapped
 * in it included, as anycrypt_hash would say it: 0, EINVAL, ERANGE, ENOSYS or ENOKEY. Nothing is
 * computed, so what only libcrypt's own methods can tell about their settings stays open.
 *
 * needs (may be NULL) gets what all levels ask for, as far as they could be read.
 */
int anycrypt_check(const char *setting, struct anycrypt_needs *needs);

/**
 * Hashes password with setting, or with a hash in its place, and writes the string and its NUL to
 * out.
 *
 * 0; EINVAL: not a setting (a failure token such as "*0" included); ERANGE: the password or the
 * string is too long; ENOSYS: a method that the system's libcrypt doesn't have; ENOKEY: a site key
 * is needed; ENOMEM. On failure out is an empty string.
 */
int anycrypt_hash(const char *password, const char *setting, char out[MHKDF_STRING_SIZE]);

/**
 * The same with resources, which may be NULL, and so may their members: arena, report, threads and
 * without_swap count. The arena and threads are for our methods; where there is no room for another
 * one's memory, report says so, too. Besides, as mhkdf_crypt: EBUSY, ECONNREFUSED.
 */
int anycrypt_hash_in(const char *password, const char *setting, const struct mhkdf_env *resources,
                     char out[MHKDF_STRING_SIZE]);

/**
 * Verifies password against hash; the comparison takes a time that doesn't depend on either.
 *
 * 0: it matches; EKEYREJECTED: it doesn't. Otherwise nothing is known about the password: EINVAL
 * for a string that no password can match (a setting without a hash, a locked or cut one); the rest
 * as anycrypt_hash.
 */
int anycrypt_verify(const char *password, const char *hash);

/** The same with resources, as anycrypt_hash_in. */
int anycrypt_verify_in(const char *password, const char *hash, const struct mhkdf_env *resources);

#endif
