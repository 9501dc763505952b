/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tools/size.h"

#include <errno.h>

/* Reads the digits that text starts with and moves it behind them. The number is kept at 2^32 once
 * it is above 2^32 - 1, so that a text of any length can be looked at to its end. */
static int
read_digits(const char **text, uint64_t *number)
{
    const char *p = *text;
    uint64_t n = 0;

    if (*p < '0' || *p > '9' || (p[0] == '0' && p[1] >= '0' && p[1] <= '9'))
        return EINVAL;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (uint64_t)(*p - '0');
        if (n > UINT32_MAX)
            n = (uint64_t)UINT32_MAX + 1;
    }
    *text = p;
    *number = n;
    return 0;
}

static int
narrow(uint64_t number, uint32_t *out)
{
    if (number > UINT32_MAX)
        return ERANGE;
    *out = (uint32_t)number;
    return 0;
}

int
size_parse_number(const char *text, uint32_t *number)
{
    uint64_t n;

    if (read_digits(&text, &n) != 0 || *text != '\0')
        return EINVAL;
    return narrow(n, number);
}

int
size_parse(const char *text, uint32_t *kib)
{
    uint64_t n;

    if (read_digits(&text, &n) != 0 || text[0] == '\0' || text[1] != '\0')
        return EINVAL;
    switch (text[0]) {
    case 'K':
        break;
    case 'M':
        n <<= 10;
        break;
    case 'G':
        n <<= 20;
        break;
    default:
        return EINVAL;
    }
    return narrow(n, kib);
}
