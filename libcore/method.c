/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stddef.h>
#include <string.h>

#include "libcore/method.h"

static const struct method METHODS[] = {
    {MHKDF_METHOD_MHKDF1, "$mhkdf$", "v=1$", MHKDF_PASSES_DEFAULT, MHKDF_CHAIN_DEFAULT},
    {MHKDF_METHOD_ARGON2ID, "$argon2id$", "v=19$", 3, 0},
    {MHKDF_METHOD_ARGON2D, "$argon2d$", "v=19$", 3, 0},
    {MHKDF_METHOD_ARGON2I, "$argon2i$", "v=19$", 3, 0},
};

#define METHOD_COUNT (sizeof METHODS / sizeof METHODS[0])

const struct method *
method_find(const char *string)
{
    for (size_t i = 0; i < METHOD_COUNT; i++)
        if (strncmp(string, METHODS[i].prefix, strlen(METHODS[i].prefix)) == 0)
            return &METHODS[i];
    return NULL;
}

const struct method *
method_get(enum mhkdf_method number)
{
    for (size_t i = 0; i < METHOD_COUNT; i++)
        if (METHODS[i].number == number)
            return &METHODS[i];
    return NULL;
}

int
mhkdf_is_ours(const char *string)
{
    return method_find(string) != NULL;
}
