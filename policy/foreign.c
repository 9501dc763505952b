/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/foreign.h"

#include <errno.h>
#include <string.h>

/* A block of scrypt and yescrypt is 128 r bytes, and there are N = 2^n_log2 of them. */
#define R_PER_KIB 8
#define N_LOG2_MAX 32

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

static uint64_t
yescrypt_kib(const char *parameters)
{
    uint64_t flavour, n_log2, r;

    if (next_number(&parameters, 0, &flavour) != 0 || next_number(&parameters, 1, &n_log2) != 0 ||
        next_number(&parameters, 1, &r) != 0)
        return 0;
    return product(n_log2, r);
}

static uint64_t
scrypt_kib(const char *parameters)
{
    uint64_t r;
    uint32_t n_log2 = next_digit(&parameters);

    if (n_log2 > 63 || next_fixed(&parameters, &r) != 0)
        return 0;
    return product(n_log2, r);
}

uint64_t
foreign_memory_kib(const char *setting)
{
    if (strncmp(setting, "$y$", 3) == 0)
        return yescrypt_kib(setting + 3);
    if (strncmp(setting, "$gy$", 4) == 0)
        return yescrypt_kib(setting + 4);
    if (strncmp(setting, "$7$", 3) == 0)
        return scrypt_kib(setting + 3);
    return 0;
}
