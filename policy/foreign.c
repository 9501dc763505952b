/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/foreign.h"

#include <errno.h>
#include <string.h>

/* A block of scrypt and yescrypt is 128 r bytes, and there are N = 2^n_log2 of them. */
#define R_PER_KIB 8
#define N_LOG2_MAX 32

#define BCRYPT_SALT_LEN 22

static const char alphabet[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* The value of the next character, which is passed over; 64 where it isn't one of crypt's. */
static uint32_t
next_digit(const char **text)
{
    const char *at = **text == '\0' ? NULL : strchr(alphabet, **text);

    if (at == NULL)
        return 64;
    (*text)++;
    return (uint32_t)(at - alphabet);
}

/* yescrypt's numbers: the first digit says how many follow. Those below 48 stand alone; of the 16
 * left, half start two digits, half of the rest three, and so on. Later digits count for less. */
static int
next_number(const char **text, uint32_t min, uint64_t *number)
{
    uint32_t first = 0, last = 47, more = 0;
    uint32_t digit = next_digit(text);
    uint64_t value = min;

    if (digit > 63)
        return EINVAL;
    for (; digit > last; more++) {
        value += (uint64_t)(last + 1 - first) << (6 * more);
        first = last + 1;
        last = first + (62 - last) / 2;
    }
    value += (uint64_t)(digit - first) << (6 * more);
    while (more > 0) {
        digit = next_digit(text);
        if (digit > 63)
            return EINVAL;
        value += (uint64_t)digit << (6 * --more);
    }
    *number = value;
    return 0;
}

/* scrypt's: five digits, those that count least first. */
static int
next_fixed(const char **text, uint64_t *number)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 30; shift += 6) {
        uint32_t digit = next_digit(text);
        if (digit > 63)
            return EINVAL;
        value |= (uint64_t)digit << shift;
    }
    *number = value;
    return 0;
}

static uint64_t
product(uint64_t n_log2, uint64_t r)
{
    if (n_log2 > N_LOG2_MAX || r > UINT32_MAX)
        return UINT64_MAX;
    return (r << n_log2) / R_PER_KIB;
}

/* The size of what a string of these methods asks for. read_* moves *at, the start of parameters,
 * behind what it needs, and gives EINVAL where they can't be read. */
struct size {
    uint64_t n_log2, r;
};

static int
read_yescrypt(const char **at, struct size *size)
{
    uint64_t flavour;

    if (next_number(at, 0, &flavour) != 0 || next_number(at, 1, &size->n_log2) != 0 ||
        next_number(at, 1, &size->r) != 0)
        return EINVAL;
    return 0;
}

static int
read_scrypt(const char **at, struct size *size)
{
    size->n_log2 = next_digit(at);
    return size->n_log2 > 63 ? EINVAL : next_fixed(at, &size->r);
}

/* Whether string starts so; if it does, *rest is what follows. */
static int
starts(const char *string, const char *prefix, const char **rest)
{
    size_t len = strlen(prefix);

    if (strncmp(string, prefix, len) != 0)
        return 0;
    *rest = string + len;
    return 1;
}

uint64_t
foreign_memory_kib(const char *setting)
{
    struct size size;
    const char *at;
    int rc = EINVAL;

    if (starts(setting, "$y$", &at) || starts(setting, "$gy$", &at))
        rc = read_yescrypt(&at, &size);
    else if (starts(setting, "$7$", &at))
        rc = read_scrypt(&at, &size);
    return rc == 0 ? product(size.n_log2, size.r) : 0;
}

static int
check_yescrypt(const char *at)
{
    struct size size;

    return read_yescrypt(&at, &size) == 0 && strchr(at, '$') != NULL ? 0 : EINVAL;
}

static int
check_scrypt(const char *at)
{
    struct size size;
    uint64_t parallel;

    return read_scrypt(&at, &size) == 0 ? next_fixed(&at, &parallel) : EINVAL;
}

/* NN$ and the salt. */
static int
check_bcrypt(const char *at)
{
    if (at[0] < '0' || at[0] > '3' || at[1] < '0' || at[1] > '9' || at[2] != '$')
        return EINVAL;
    return strspn(at + 3, alphabet) >= BCRYPT_SALT_LEN ? 0 : EINVAL;
}

int
foreign_check(const char *setting)
{
    const char *at;

    if (starts(setting, "$y$", &at) || starts(setting, "$gy$", &at))
        return check_yescrypt(at);
    if (starts(setting, "$7$", &at))
        return check_scrypt(at);
    if (starts(setting, "$2a$", &at) || starts(setting, "$2b$", &at) ||
        starts(setting, "$2x$", &at) || starts(setting, "$2y$", &at))
        return check_bcrypt(at);
    if (starts(setting, "$5$rounds=", &at) || starts(setting, "$6$rounds=", &at))
        return *at >= '1' && *at <= '9' ? 0 : EINVAL;
    return 0;
}
