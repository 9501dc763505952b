/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/methods.h"

#include <crypt.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libcore/mhkdf.h"
#include "policy/shortage.h"

#define COUNT_SHIFT 9 /* 2^(count+9) KiB */

/* What takes no memory takes about as long as a $y$ of 64M: some 0.2 s. The rounds of $5$ and $6$
 * are near those of passlib 1.7 (535,000 and 656,000). */
#define BCRYPT_COST 12
#define SHACRYPT_ROUNDS 500000

static const struct methods_entry methods[] = {
    {"mhkdf", "$mhkdf$", MHKDF_METHOD_MHKDF1, 0, 0, 0, MHKDF_PASSES_DEFAULT},
    {"argon2id", "$argon2id$", MHKDF_METHOD_ARGON2ID, 0, 0, 0, MHKDF_PASSES_ARGON2},
    {"yescrypt", "$y$", 0, 1, 11, 0, 0},
    {"gost-yescrypt", "$gy$", 0, 1, 11, 0, 0},
    {"scrypt", "$7$", 0, 6, 11, 0, 0},
    {"bcrypt", "$2b$", 0, 0, 0, BCRYPT_COST, 0},
    {"sha512crypt", "$6$", 0, 0, 0, SHACRYPT_ROUNDS, 0},
    {"sha256crypt", "$5$", 0, 0, 0, SHACRYPT_ROUNDS, 0},
};

#define FAST "it is computed so fast that guessing it costs nothing"
#define OTHER_FORM "it is another form of bcrypt for hashes that exist; write bcrypt"
#define IMPORTED "it is for hashes made elsewhere; write argon2id"
#define BY_NAME "a method is named, not given by its prefix"

/* Methods that libcrypt or libcore verifies, and that nobody should choose. */
static const struct {
    const char *name, *why;
} refused[] = {
    {"argon2i", IMPORTED},
    {"argon2d", IMPORTED},
    {"bcrypt-a", OTHER_FORM},
    {"bcrypt-x", OTHER_FORM},
    {"bcrypt-y", OTHER_FORM},
    {"descrypt", "it looks at 8 characters of a password only"},
    {"bigcrypt", "it hashes each 8 characters of a password by themselves"},
    {"bsdicrypt", FAST},
    {"md5crypt", FAST},
    {"sunmd5", FAST},
    {"sha1crypt", FAST},
    {"sm3crypt", "only a few libraries verify it"},
    {"sm3-yescrypt", "only a few libraries verify it; write yescrypt"},
    {"nt", FAST " (it has no salt either)"},
};

#define COUNT (sizeof(methods) / sizeof(methods[0]))

const struct methods_entry *
methods_get(uint32_t number)
{
    return number < COUNT ? &methods[number] : NULL;
}

int
methods_find(const char *name, uint32_t *number, const char **why)
{
    uint32_t i;

    *why = NULL;
    for (i = 0; i < COUNT; i++) {
        if (strcmp(name, methods[i].name) == 0) {
            *number = i;
            return 0;
        }
    }
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strcmp(name, refused[i].name) == 0)
            *why = refused[i].why;
    }
    if (name[0] == '$')
        *why = BY_NAME;
    return ENOENT;
}

int
methods_check(const struct methods_entry *method)
{
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];

    errno = 0;
    if (method->ours != 0 ||
        crypt_gensalt_rn(method->prefix, 0, NULL, 0, setting, sizeof(setting)) != NULL)
        return 0;
    return shortage_is(errno) ? errno : ENOSYS;
}

unsigned
methods_count(const struct methods_entry *method, uint32_t memory_kib)
{
    unsigned count = method->count_min;

    if (method->count_max == 0)
        return method->count;
    while (count < method->count_max && memory_kib >> (count + 1 + COUNT_SHIFT) != 0)
        count++;
    return count;
}

uint32_t
methods_memory_kib(const struct methods_entry *method, uint32_t memory_kib)
{
    if (method->ours != 0)
        return memory_kib;
    if (method->count_max == 0)
        return 0;
    return (uint32_t)1 << (methods_count(method, memory_kib) + COUNT_SHIFT);
}

size_t
methods_length_max(const struct methods_entry *method)
{
    return strncmp(method->prefix, "$2", 2) == 0 ? 72 : MHKDF_CRYPT_PASSWORD_MAX;
}
