/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <string.h>

#include "libcore/mhkdf.h"

void
mhkdf_wipe(void *buf, size_t len)
{
    if (len == 0)
        return;
    memset(buf, 0, len);
    /* The compiler must believe that somebody reads the zeros. */
    __asm__ __volatile__("" : : "r"(buf) : "memory");
}

int
mhkdf_equal(const void *a, const void *b, size_t len)
{
    const volatile unsigned char *x = a;
    const volatile unsigned char *y = b;
    unsigned char difference = 0;

    for (size_t i = 0; i < len; i++)
        difference = (unsigned char)(difference | (x[i] ^ y[i]));
    return difference == 0;
}
