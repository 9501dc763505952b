/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/size.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Digits from text on; *end is what follows them. */
static int
digits(const char *text, uint32_t max, uint32_t *out, const char **end)
{
    uint64_t value = 0;
    const char *p;

    for (p = text; *p >= '0' && *p <= '9'; p++) {
        if (value <= UINT32_MAX)
            value = value * 10 + (uint64_t)(*p - '0');
    }
    *end = p;
    if (p == text)
        return EINVAL;
    if (value > max)
        return ERANGE;
    *out = (uint32_t)value;
    return 0;
}

int
size_parse_number(const char *text, uint32_t max, uint32_t *out)
{
    const char *end;
    uint32_t value = 0;
    int rc = digits(text, max, &value, &end);

    if (*end != '\0')
        return EINVAL;
    if (rc == 0)
        *out = value;
    return rc;
}

int
size_parse_kib(const char *text, uint32_t *kib)
{
    const char *end;
    uint32_t value = 0;
    unsigned shift;
    int rc = digits(text, UINT32_MAX, &value, &end);

    switch (*end) {
    case 'K':
        shift = 0;
        break;
    case 'M':
        shift = 10;
        break;
    case 'G':
        shift = 20;
        break;
    default:
        return EINVAL;
    }
    if (end[1] != '\0' || rc == EINVAL)
        return EINVAL;
    if (rc != 0 || value > UINT32_MAX >> shift)
        return ERANGE;
    *kib = value << shift;
    return 0;
}

int
size_parse_ms(const char *text, uint32_t *ms)
{
    const char *end;
    uint32_t value = 0, factor = 1;
    int rc = digits(text, INT32_MAX, &value, &end);

    if (rc == EINVAL)
        return EINVAL;
    if (strcmp(end, "s") == 0)
        factor = 1000;
    else if (strcmp(end, "ms") != 0)
        return EINVAL;
    if (rc != 0 || value > INT32_MAX / factor)
        return ERANGE;
    *ms = value * factor;
    return 0;
}
