/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Lines of passwd and shadow: fields between colons, looked at in place. Thread-safe.
 */
#ifndef POLICY_LINE_H
#define POLICY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_SHADOW_FIELDS 9 /* name, hash, last_change, min, max, warn, inactive, expire, flag */
#define LINE_PASSWD_FIELDS 7 /* name, hash, uid, gid, gecos, home, shell */

/** A piece of a file in memory; not NUL-terminated. */
struct line_field {
    const char *text;
    size_t len;
};

/** Whether the files can hold an account of this name, and NSS doesn't give it a meaning. */
bool line_name_is_valid(const char *name);

/**
 * Finds the first line of data that is a well-formed line of shadow for name, and takes it apart.
 * Whether there is one.
 */
bool line_find_shadow(const char *data, size_t len, const char *name,
                      struct line_field fields[LINE_SHADOW_FIELDS]);

/** Whether line, len bytes without the newline, is a well-formed line for name; takes it apart. */
bool line_is_shadow_of(const char *line, size_t len, const char *name,
                       struct line_field fields[LINE_SHADOW_FIELDS]);
bool line_is_passwd_of(const char *line, size_t len, const char *name,
                       struct line_field fields[LINE_PASSWD_FIELDS]);

/** The number in a field that one of the functions above has checked; empty: none. */
long line_number(const struct line_field *field, long none);

#endif
