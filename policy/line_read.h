/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Finding an account's line in the open file passwd or shadow, line by line: however long the file
 * is, it takes LINE_READ_MAX bytes of the caller's and a few KiB of stack, so that no limit on
 * memory that a set-id program's user has set can make it fail. Thread-safe.
 */
#ifndef POLICY_LINE_READ_H
#define POLICY_LINE_READ_H

#include "policy/line.h"

/** Bytes of the longest line that an account may have. */
#define LINE_READ_MAX 16384

/**
 * Reads fd from where it stands to the end, also behind the line: time doesn't tell where that is.
 * The first well-formed line for name is kept in line, which fields point into. It may hold a
 * hash: the caller wipes it.
 *
 * 0; ENOENT: there is none (a longer one than LINE_READ_MAX doesn't count); errors of read(2).
 */
int line_read_shadow(int fd, const char *name, char line[LINE_READ_MAX],
                     struct line_field fields[LINE_SHADOW_FIELDS]);
int line_read_passwd(int fd, const char *name, char line[LINE_READ_MAX],
                     struct line_field fields[LINE_PASSWD_FIELDS]);

/** Shows each line that isn't longer to visit, without its newline, in line. 0, or an errno of
 * read(2). The caller wipes line. */
int line_read_each(int fd, char line[LINE_READ_MAX],
                   void (*visit)(void *ctx, const char *line, size_t len), void *ctx);

#endif
