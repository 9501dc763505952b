/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Reader of the committed vector files: one record a line, fields separated by one space; lines
 * that start with # and empty lines are comments. Include after cmocka.h.
 */
#ifndef TESTS_UNIT_VECTORS_H
#define TESTS_UNIT_VECTORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VECTORS_LINE_SIZE 8192
#define VECTORS_FIELDS_MAX 12

struct vectors {
    FILE *file;
    unsigned long line_number;
    char line[VECTORS_LINE_SIZE];
    char *fields[VECTORS_FIELDS_MAX];
    int count;
};

/** Opens a file of tests/vectors/; fails the test where it can't. */
static inline void
vectors_open(struct vectors *vectors, const char *name)
{
    const char *source = getenv("MHKDF_SRCDIR");
    char path[4096];

    memset(vectors, 0, sizeof *vectors);
    (void)snprintf(path, sizeof path, "%s/tests/vectors/%s", source == NULL ? "." : source, name);
    vectors->file = fopen(path, "r");
    if (vectors->file == NULL)
        fail_msg("%s: can't be read", path);
}

/** Reads the next record into fields and count; 0 at the end, where the file is closed. */
static inline int
vectors_next(struct vectors *vectors)
{
    char *save, *field;

    vectors->count = 0;
    while (fgets(vectors->line, sizeof vectors->line, vectors->file) != NULL) {
        vectors->line_number++;
        if (vectors->line[0] == '#' || vectors->line[0] == '\n')
            continue;
        for (field = strtok_r(vectors->line, " \n", &save); field != NULL;
             field = strtok_r(NULL, " \n", &save)) {
            assert_in_range(vectors->count, 0, VECTORS_FIELDS_MAX - 1);
            vectors->fields[vectors->count++] = field;
        }
        return 1;
    }
    (void)fclose(vectors->file);
    return 0;
}

/** A field that is a decimal number. */
static inline uint32_t
vectors_number(const struct vectors *vectors, int field)
{
    char *end;
    unsigned long value = strtoul(vectors->fields[field], &end, 10);

    assert_true(*end == '\0');
    return (uint32_t)value;
}

#endif
