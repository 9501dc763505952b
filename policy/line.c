/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/line.h"

#include <string.h>

/* Within a 32-bit long, and more days or ids than there are. An id of 2^32-1 means "none". */
#define NUMBER_MAX 2147483647L
#define ID_MAX 4294967294UL

bool
line_name_is_valid(const char *name)
{
    /* '+' and '-' belong to NIS; '#' looks like a comment to whoever reads the file. */
    return name[0] != '\0' && strchr("+-#", name[0]) == NULL && strpbrk(name, ":\n") == NULL;
}

static bool
is_number(const struct line_field *field, unsigned long max)
{
    unsigned long value = 0;
    size_t i;

    for (i = 0; i < field->len; i++) {
        unsigned long digit = (unsigned long)(unsigned char)field->text[i] - '0';
        if (digit > 9 || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    return true;
}

/* A number of days, empty, or -1, which the C library reads like an empty one. */
static bool
is_days(const struct line_field *field)
{
    if (field->len == 2 && memcmp(field->text, "-1", 2) == 0)
        return true;
    return is_number(field, (unsigned long)NUMBER_MAX);
}

static bool
split(const char *text, size_t len, struct line_field *fields, size_t count)
{
    size_t i;

    if (memchr(text, '\0', len) != NULL)
        return false;
    for (i = 0; i < count; i++) {
        const char *colon = memchr(text, ':', len);
        size_t field_len = colon != NULL ? (size_t)(colon - text) : len;
        if ((colon == NULL) != (i == count - 1))
            return false;
        fields[i].text = text;
        fields[i].len = field_len;
        if (colon != NULL)
            field_len++;
        text += field_len;
        len -= field_len;
    }
    return true;
}

static bool
is_shadow(const struct line_field *fields)
{
    size_t i;

    for (i = 2; i < LINE_SHADOW_FIELDS; i++) {
        if (!is_days(&fields[i]))
            return false;
    }
    return true;
}

static bool
is_passwd(const struct line_field *fields)
{
    return fields[2].len > 0 && is_number(&fields[2], ID_MAX) && fields[3].len > 0 &&
           is_number(&fields[3], ID_MAX);
}

static bool
is_of(const char *line, size_t len, const char *name, struct line_field *fields, size_t count,
      bool (*is_right)(const struct line_field *))
{
    size_t name_len = strlen(name);

    return len > name_len && line[name_len] == ':' && memcmp(line, name, name_len) == 0 &&
           split(line, len, fields, count) && is_right(fields);
}

bool
line_is_shadow_of(const char *line, size_t len, const char *name,
                  struct line_field fields[LINE_SHADOW_FIELDS])
{
    return is_of(line, len, name, fields, LINE_SHADOW_FIELDS, is_shadow);
}

bool
line_is_passwd_of(const char *line, size_t len, const char *name,
                  struct line_field fields[LINE_PASSWD_FIELDS])
{
    return is_of(line, len, name, fields, LINE_PASSWD_FIELDS, is_passwd);
}

bool
line_find_shadow(const char *data, size_t len, const char *name,
                 struct line_field fields[LINE_SHADOW_FIELDS])
{
    if (!line_name_is_valid(name))
        return false;
    while (len > 0) {
        const char *end = memchr(data, '\n', len);
        size_t line_len = end != NULL ? (size_t)(end - data) : len;
        if (line_is_shadow_of(data, line_len, name, fields))
            return true;
        if (end != NULL)
            line_len++;
        data += line_len;
        len -= line_len;
    }
    return false;
}

long
line_number(const struct line_field *field, long none)
{
    unsigned long value = 0;
    size_t i;

    if (field->len == 0 || field->text[0] == '-')
        return none;
    for (i = 0; i < field->len; i++)
        value = value * 10 + ((unsigned long)(unsigned char)field->text[i] - '0');
    return (long)value;
}
