/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/methods.h"

#include <crypt.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libcore/mhkdf.h"

#define COUNT_SHIFT 9 /* 2^(count+9) KiB */

static const struct methods_entry methods[] = {
    {"mhkdf", "$mhkdf$", MHKDF_METHOD_MHKDF1, 0, 0},
    {"argon2id", "$argon2id$", MHKDF_METHOD_ARGON2ID, 0, 0},
    {"argon2i", "$argon2i$", MHKDF_METHOD_ARGON2I, 0, 0},
    {"argon2d", "$argon2d$", MHKDF_METHOD_ARGON2D, 0, 0},
    {"yescrypt", "$y$", 0, 1, 11},
    {"gost-yescrypt", "$gy$", 0, 1, 11},
    {"sm3-yescrypt", "$sm3y$", 0, 1, 11},
    {"scrypt", "$7$", 0, 6, 11},
    {"bcrypt", "$2b$", 0, 0, 0},
    {"bcrypt-y", "$2y$", 0, 0, 0},
    {"bcrypt-a", "$2a$", 0, 0, 0},
    {"sha512crypt", "$6$", 0, 0, 0},
    {"sha256crypt", "$5$", 0, 0, 0},
    {"sm3crypt", "$sm3$", 0, 0, 0},
    {"sha1crypt", "$sha1", 0, 0, 0},
    {"sunmd5", "$md5", 0, 0, 0},
    {"md5crypt", "$1$", 0, 0, 0},
    {"bsdicrypt", "_", 0, 0, 0},
    {"descrypt", "", 0, 0, 0},
    {"nt", "$3$", 0, 0, 0},
};

#define COUNT (sizeof(methods) / sizeof(methods[0]))

const struct methods_entry *
methods_get(uint32_t number)
{
    return number < COUNT ? &methods[number] : NULL;
}

int
methods_find(const char *text, uint32_t *number)
{
    uint32_t i;

    for (i = 0; i < COUNT; i++) {
        if (strcmp(text, methods[i].name) == 0 ||
            (text[0] != '\0' && strcmp(text, methods[i].prefix) == 0)) {
            *number = i;
            return 0;
        }
    }
    return ENOENT;
}

bool
methods_is_there(const struct methods_entry *method)
{
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];

    return method->ours != 0 ||
           crypt_gensalt_rn(method->prefix, 0, NULL, 0, setting, sizeof(setting)) != NULL;
}

unsigned
methods_count(const struct methods_entry *method, uint32_t memory_kib)
{
    unsigned count = method->count_min;

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
    if (method->prefix[0] == '\0')
        return 8;
    return strncmp(method->prefix, "$2", 2) == 0 ? 72 : MHKDF_CRYPT_PASSWORD_MAX;
}
