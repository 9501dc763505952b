/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/unshadowed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libcore/mhkdf.h"
#include "policy/line.h"

#define BUFFER_SIZE 8192
#define LINE_SIZE 4096
#define SEARCHES_MAX 64 /* from the start of shadow, for names that aren't next there */

/* A file of lines, and the first two fields of the last one that was read. */
struct lines {
    FILE *file;
    char buffer[BUFFER_SIZE]; /* it may hold hashes */
    char line[LINE_SIZE];
    char *name, *second; /* within line */
};

static int
lines_open(struct lines *lines, const char *etc_dir, const char *name)
{
    int n = snprintf(lines->line, sizeof(lines->line), "%s/%s", etc_dir, name);

    lines->file = NULL;
    if (n < 0 || (size_t)n >= sizeof(lines->line))
        return ENAMETOOLONG;
    lines->file = fopen(lines->line, "re");
    if (lines->file == NULL)
        return errno;
    (void)setvbuf(lines->file, lines->buffer, _IOFBF, sizeof(lines->buffer));
    return 0;
}

static void
lines_close(struct lines *lines)
{
    if (lines->file != NULL)
        (void)fclose(lines->file);
    mhkdf_wipe(lines, sizeof(*lines));
}

/* The rest of a line that is longer than any should be. */
static void
skip_rest(FILE *file)
{
    int c;

    do
        c = getc(file);
    while (c != EOF && c != '\n');
}

/* The next line that has two fields. */
static bool
lines_next(struct lines *lines)
{
    while (fgets(lines->line, sizeof(lines->line), lines->file) != NULL) {
        char *colon = strchr(lines->line, ':');
        if (strchr(lines->line, '\n') == NULL)
            skip_rest(lines->file);
        if (colon == NULL)
            continue;
        *colon = '\0';
        lines->name = lines->line;
        lines->second = colon + 1;
        lines->second[strcspn(lines->second, ":\n")] = '\0';
        return true;
    }
    return false;
}

static bool
is_shadowed(const struct lines *passwd)
{
    return line_name_is_valid(passwd->name) &&
           (strcmp(passwd->second, "x") == 0 || (strncmp(passwd->second, "##", 2) == 0 &&
                                                 strcmp(passwd->second + 2, passwd->name) == 0));
}

/* As a rule the names are in the same order in both files. */
static bool
has_line(struct lines *shadow, const char *name, int *searches)
{
    if (lines_next(shadow) && strcmp(shadow->name, name) == 0)
        return true;
    if (--*searches < 0)
        return true;
    rewind(shadow->file);
    while (lines_next(shadow))
        if (strcmp(shadow->name, name) == 0)
            return true;
    return false;
}

int
unshadowed_find(const char *etc_dir, char name[UNSHADOWED_NAME_SIZE])
{
    struct lines passwd, shadow = {.file = NULL};
    int searches = SEARCHES_MAX;
    int rc = lines_open(&passwd, etc_dir, "passwd");

    if (rc == 0)
        rc = lines_open(&shadow, etc_dir, "shadow");
    if (rc != 0)
        goto out;
    rc = ENOENT;
    while (rc == ENOENT && searches >= 0 && lines_next(&passwd)) {
        if (is_shadowed(&passwd) && strlen(passwd.name) < UNSHADOWED_NAME_SIZE &&
            !has_line(&shadow, passwd.name, &searches)) {
            strcpy(name, passwd.name);
            rc = 0;
        }
    }
out:
    lines_close(&shadow);
    lines_close(&passwd);
    return rc;
}
