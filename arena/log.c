/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/log.h"

#include <inttypes.h>
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

static bool
is_over(const struct log_limit *limit, uint64_t now_ms)
{
    return now_ms - limit->start_ms >= LOG_SPAN_MS;
}

/* A span begins with its first line. What the last one left out, if nobody has taken it yet, is
 * kept. */
bool
log_limit_allows(struct log_limit *limit, uint64_t now_ms)
{
    if (limit->written == 0 || is_over(limit, now_ms)) {
        limit->start_ms = now_ms;
        limit->written = 0;
    }
    if (limit->written < LOG_LINES_MAX) {
        limit->written++;
        return true;
    }
    limit->left_out++;
    return false;
}

void
log_limit_tell(struct log_limit *limit, uint64_t now_ms, bool at_the_end, const char *what)
{
    if (limit->left_out == 0 || (!at_the_end && !is_over(limit, now_ms)))
        return;
    log_line(LOG_WARNING, "%" PRIu64 " more %s", limit->left_out, what);
    limit->left_out = 0;
}

uint64_t
log_limit_deadline(const struct log_limit *limit)
{
    return limit->left_out == 0 ? UINT64_MAX : limit->start_ms + LOG_SPAN_MS;
}
