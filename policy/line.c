/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/line.h"

#include <limits.h>
#include <string.h>

/* An id of 2^32-1 means "none". */
#define ID_MAX 4294967294UL

bool
line_name_is_valid(const char *name)
{
    /* '+' and '-' belong to NIS; '#' looks like a comment to whoever reads the file. */
    return name[0] != '\0' && strchr("+-#", name[0]) == NULL && strpbrk(name, ":\n") == NULL;
}

/* isspace(3) in any locale of the C library. */
static bool
is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A line as it is taken apart, up to its end or its first NUL, where the C library's strings end.
 */
struct rest {
    const char *text, *end;
};

static void
skip_blanks(struct rest *rest)
{
    while (rest->text < rest->end && is_blank(*rest->text))
        rest->text++;
}

/* A field that may hold anything, and the colon behind it, where there is one. */
static void
take_text(struct rest *rest, struct line_field *field)
{
    const char *colon = memchr(rest->text, ':', (size_t)(rest->end - rest->text));
    const char *end = colon != NULL ? colon : rest->end;

    field->text = rest->text;
    field->len = (size_t)(end - rest->text);
    rest->text = colon != NULL ? colon + 1 : end;
}

/* As strtoul(3) with base 10. *value: the number, or 0 where there is none. What follows it. */
static const char *
read_number(const char *text, const char *end, unsigned long *value)
{
    struct rest rest = {text, end};
    bool is_negative, fits = true;
    const char *digits;

    *value = 0;
    skip_blanks(&rest);
    is_negative = rest.text < end && *rest.text == '-';
    if (rest.text < end && (*rest.text == '-' || *rest.text == '+'))
        rest.text++;
    digits = rest.text;
    for (; rest.text < end && *rest.text >= '0' && *rest.text <= '9'; rest.text++) {
        unsigned long digit = (unsigned long)(*rest.text - '0');
        fits = fits && *value <= (ULONG_MAX - digit) / 10;
        *value = *value * 10 + digit;
    }
    if (!fits)
        *value = ULONG_MAX;
    else if (is_negative)
        *value = 0 - *value;
    return rest.text > digits ? rest.text : text;
}

/* A field that holds a number, or nothing. It may be the line's last, with no colon behind it. What
 * the C library takes for a number it takes here: blanks before it, a sign; but, since glibc 2.36,
 * nothing that needs more than 32 bits, as -1 does. */
static bool
take_number(struct rest *rest, struct line_field *field)
{
    unsigned long value;
    const char *end = read_number(rest->text, rest->end, &value);

    if (value > UINT32_MAX || (end < rest->end && *end != ':'))
        return false;
    field->text = rest->text;
    field->len = (size_t)(end - rest->text);
    rest->text = end < rest->end ? end + 1 : end;
    return true;
}

/* From the field number first to the last: each must begin before the line ends. */
static bool
take_days(struct rest *rest, struct line_field *fields, size_t first, size_t last)
{
    for (; first <= last; first++) {
        if (rest->text == rest->end || !take_number(rest, &fields[first]))
            return false;
    }
    return true;
}

/* The old form ends behind the fifth field, with or without a colon and blanks. The last field may
 * be left out; nothing may follow it. */
static bool
is_shadow(struct rest *rest, struct line_field fields[LINE_SHADOW_FIELDS])
{
    size_t i;

    for (i = 5; i < LINE_SHADOW_FIELDS; i++)
        fields[i] = (struct line_field){rest->end, 0};
    take_text(rest, &fields[1]);
    if (!take_days(rest, fields, 2, 4))
        return false;
    skip_blanks(rest);
    if (rest->text == rest->end)
        return true;
    if (!take_days(rest, fields, 5, 7))
        return false;
    return rest->text == rest->end ||
           (take_number(rest, &fields[8]) && rest->end == fields[8].text + fields[8].len);
}

static bool
take_id(struct rest *rest, struct line_field *field)
{
    unsigned long value;

    return take_number(rest, field) && field->len > 0 &&
           read_number(field->text, field->text + field->len, &value) != NULL && value <= ID_MAX;
}

/* The shell is all the rest, colons included; what is behind the ids may be left out. */
static bool
is_passwd(struct rest *rest, struct line_field fields[LINE_PASSWD_FIELDS])
{
    take_text(rest, &fields[1]);
    if (!take_id(rest, &fields[2]) || !take_id(rest, &fields[3]))
        return false;
    take_text(rest, &fields[4]);
    take_text(rest, &fields[5]);
    fields[6].text = rest->text;
    fields[6].len = (size_t)(rest->end - rest->text);
    return true;
}

/* Whether the line, behind blanks, begins with the name and a colon; rest is what follows. With
 * blanks in front and a NUL behind, glibc (2.36) moves the text without its end and reads some of
 * it twice; that is no line here. */
static bool
begins_with(const char *line, size_t len, const char *name, struct rest *rest)
{
    const char *nul = memchr(line, '\0', len);
    size_t name_len = strlen(name);

    rest->text = line;
    rest->end = nul != NULL ? nul : line + len;
    skip_blanks(rest);
    if ((rest->text > line && nul != NULL) || (size_t)(rest->end - rest->text) <= name_len ||
        rest->text[name_len] != ':' || memcmp(rest->text, name, name_len) != 0)
        return false;
    rest->text += name_len + 1;
    return true;
}

bool
line_name(const char *line, size_t len, char *name, size_t size)
{
    struct rest rest = {line, line + len};
    struct line_field field;

    skip_blanks(&rest);
    take_text(&rest, &field);
    if (field.len >= size || memchr(field.text, '\0', field.len) != NULL)
        return false;
    memcpy(name, field.text, field.len);
    name[field.len] = '\0';
    return line_name_is_valid(name);
}

bool
line_is_shadow_of(const char *line, size_t len, const char *name,
                  struct line_field fields[LINE_SHADOW_FIELDS])
{
    struct rest rest;

    if (!begins_with(line, len, name, &rest))
        return false;
    fields[0] = (struct line_field){rest.text - 1 - strlen(name), strlen(name)};
    return is_shadow(&rest, fields);
}

bool
line_is_passwd_of(const char *line, size_t len, const char *name,
                  struct line_field fields[LINE_PASSWD_FIELDS])
{
    struct rest rest;

    if (!begins_with(line, len, name, &rest))
        return false;
    fields[0] = (struct line_field){rest.text - 1 - strlen(name), strlen(name)};
    return is_passwd(&rest, fields);
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
line_days(const struct line_field *field)
{
    unsigned long value;

    if (read_number(field->text, field->text + field->len, &value) == field->text)
        return LINE_NO_DAYS;
    return (long)(int32_t)(uint32_t)value;
}

uint32_t
line_id(const struct line_field *field)
{
    unsigned long value;

    (void)read_number(field->text, field->text + field->len, &value);
    return (uint32_t)value;
}
