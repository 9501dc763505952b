/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Lines of passwd and shadow: fields between colons, looked at in place, as the C library (glibc
 * 2.36) reads them: whom pam_unix would let in by a line is an account here too. Blanks in front of
 * a line or a number, and a sign, are allowed; a number that needs more than 32 bits, as -1 does,
 * makes the line malformed; a NUL ends it. Of shadow, five fields are enough, of passwd four.
 * Thread-safe.
 */
#ifndef POLICY_LINE_H
#define POLICY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_SHADOW_FIELDS 9 /* name, hash, last_change, min, max, warn, inactive, expire, flag */
#define LINE_PASSWD_FIELDS 7 /* name, hash, uid, gid, gecos, home, shell */
#define LINE_NO_DAYS (-1L)

/** A piece of a file in memory; not NUL-terminated. Where the line has no such field: empty, at the
 * line's end. */
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

/** Copies the name that a line is of, without the blanks in front. false: it has none that an
 * account can have, or of size bytes or more. */
bool line_name(const char *line, size_t len, char *name, size_t size);

/** The number in a field of shadow, from the third on, that one of the functions above has checked.
 * Above 2^31 it is negative, as for the C library. LINE_NO_DAYS: there is none. */
long line_days(const struct line_field *field);

/** The number in a field of passwd, the third or fourth, that was checked likewise. */
uint32_t line_id(const struct line_field *field);

#endif
