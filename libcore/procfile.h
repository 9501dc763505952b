/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Files of numbers that the kernel makes, in /proc and of cgroups, read without allocating
 * anything. What they hold isn't trusted: lines of any length, any bytes, no end.
 */
#ifndef LIBCORE_PROCFILE_H
#define LIBCORE_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of the longest line and its NUL. */
#define PROCFILE_LINE_SIZE 2048

struct procfile {
    int fd;
    size_t at, end, total;
    char bytes[1024];
};

/** Opens root and name, one behind the other. false: there is no such file, or no descriptor. */
bool procfile_open(struct procfile *file, const char *root, const char *name);

/** The next line, without its end; an empty one in place of one that is too long. false: the end.
 */
bool procfile_line(struct procfile *file, char line[PROCFILE_LINE_SIZE]);

void procfile_close(struct procfile *file);

/** A number behind a name that starts a line ("MemFree:"); "": a line that starts with it. */
struct procfile_field {
    const char *name;
    uint64_t value; /* stays as it was where there is no such number, or one beyond 64 bits */
    bool is_found;
};

/** Reads the fields of a file, each where it comes first, until all are found. */
void procfile_fields(const char *root, const char *name, struct procfile_field *fields,
                     size_t count);

#endif
