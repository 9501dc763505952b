/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libcore/inner.h"

/* Methods whose setting is the hash up to, not including, its last `$`. */
static const char *const DOLLAR_PREFIXES[] = {"$1$", "$5$", "$6$", "$y$", "$gy$", "$7$", "$sha1$"};

#define DOLLAR_PREFIX_COUNT (sizeof DOLLAR_PREFIXES / sizeof DOLLAR_PREFIXES[0])
#define BCRYPT_SETTING 29 /* characters: $2b$NN$ and 22 of salt */
#define BSDI_SETTING 9    /* _ and 8 of count and salt */
#define DES_SETTING 2

static int
is_printable(const char *s)
{
    for (; *s != '\0'; s++)
        if (*s <= ' ' || *s > '~' || strchr(":;*!\\", *s) != NULL)
            return 0;
    return 1;
}

/* Whether s is made of count characters of the alphabet of traditional crypt, and no more. */
static int
is_crypt_digits(const char *s, size_t count)
{
    static const char digits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return strlen(s) == count && strspn(s, digits) == count;
}

static int
is_bcrypt(const char *s)
{
    return strlen(s) == BCRYPT_SETTING && s[0] == '$' && s[1] == '2' &&
           (s[2] == 'a' || s[2] == 'b' || s[2] == 'x' || s[2] == 'y') && s[3] == '$' &&
           s[4] >= '0' && s[4] <= '3' && s[5] >= '0' && s[5] <= '9' && s[6] == '$' &&
           is_crypt_digits(s + 7, BCRYPT_SETTING - 7);
}

int
inner_check_foreign(const char *setting)
{
    if (!is_printable(setting))
        return EINVAL;
    for (size_t i = 0; i < DOLLAR_PREFIX_COUNT; i++)
        if (strncmp(setting, DOLLAR_PREFIXES[i], strlen(DOLLAR_PREFIXES[i])) == 0)
            return 0;
    if (is_bcrypt(setting) || is_crypt_digits(setting, DES_SETTING))
        return 0;
    if (setting[0] == '_' && is_crypt_digits(setting + 1, BSDI_SETTING - 1))
        return 0;
    return EINVAL;
}
