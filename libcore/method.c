/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stddef.h>
#include <string.h>

#include "libcore/base64.h"
#include "libcore/method.h"

/* $mhkdf$m64M.t1.p4.c6.kID.wB64$... */
static const struct method_form MHKDF_FORM = {
    .memory = "m",
    .passes = ".t",
    .lanes = ".p",
    .chain = ".c",
    .key_id = ".k",
    .inner = ".w",
    .alphabet = BASE64_CRYPT,
    .has_units = true,
    .is_text = true,
};

/* $argon2id$v=19$m=65536,t=3,p=4$... */
static const struct method_form PHC_FORM = {
    .memory = "v=19$m=",
    .passes = ",t=",
    .lanes = ",p=",
    .alphabet = BASE64_STANDARD,
};

static const struct method METHODS[] = {
    {MHKDF_METHOD_MHKDF1, "$mhkdf$", &MHKDF_FORM, MHKDF_PASSES_DEFAULT, MHKDF_CHAIN_DEFAULT},
    {MHKDF_METHOD_ARGON2ID, "$argon2id$", &PHC_FORM, MHKDF_PASSES_ARGON2, 0},
    {MHKDF_METHOD_ARGON2D, "$argon2d$", &PHC_FORM, MHKDF_PASSES_ARGON2, 0},
    {MHKDF_METHOD_ARGON2I, "$argon2i$", &PHC_FORM, MHKDF_PASSES_ARGON2, 0},
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
