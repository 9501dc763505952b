/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE 1024

void
log_line(int priority, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;
    size_t start, len;
    int n;

    if (getenv("JOURNAL_STREAM") != NULL)
        n = snprintf(line, sizeof(line), "<%d>", priority);
    else
        n = snprintf(line, sizeof(line), "mhkdf-arenad: ");
    start = n > 0 ? (size_t)n : 0;
    va_start(args, format);
    n = vsnprintf(line + start, sizeof(line) - start, format, args);
    va_end(args);
    if (n < 0)
        return;
    len = strlen(line);
    for (size_t i = start; i < len; i++)
        if (line[i] < ' ' || line[i] > '~')
            line[i] = '?';
    if (len == sizeof(line) - 1)
        len--;
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        return; /* there is nobody to be told */
}
