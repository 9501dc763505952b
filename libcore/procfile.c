/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 2304
#define READ_MAX (1 << 20) /* bytes of one file that are looked at */

bool
procfile_open(struct procfile *file, const char *root, const char *name)
{
    char path[PATH_SIZE];
    size_t root_len = strlen(root), len = strlen(name);

    if (root_len >= sizeof(path) || len >= sizeof(path) - root_len)
        return false;
    memcpy(path, root, root_len);
    memcpy(path + root_len, name, len + 1);
    file->at = file->end = file->total = 0;
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return file->fd >= 0;
}

void
procfile_close(struct procfile *file)
{
    (void)close(file->fd);
}

static bool
fill(struct procfile *file)
{
    ssize_t n;

    if (file->total > READ_MAX)
        return false;
    do
        n = read(file->fd, file->bytes, sizeof(file->bytes));
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    file->at = 0;
    file->end = (size_t)n;
    file->total += (size_t)n;
    return true;
}

bool
procfile_line(struct procfile *file, char line[PROCFILE_LINE_SIZE])
{
    size_t len = 0;
    bool any = false;

    while (file->at < file->end || fill(file)) {
        char c = file->bytes[file->at++];
        any = true;
        if (c == '\n')
            break;
        if (len < PROCFILE_LINE_SIZE)
            line[len++] = c;
    }
    line[len < PROCFILE_LINE_SIZE ? len : 0] = '\0';
    return any;
}

/* A decimal number after blanks. false: there is none ("max"), or it is beyond 64 bits. */
static bool
read_digits(const char *text, uint64_t *number)
{
    uint64_t value = 0;

    while (*text == ' ' || *text == '\t')
        text++;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

static bool
read_field(const char *line, struct procfile_field *field)
{
    size_t len = strlen(field->name);

    return !field->is_found && strncmp(line, field->name, len) == 0 &&
           read_digits(line + len, &field->value);
}

void
procfile_fields(const char *root, const char *name, struct procfile_field *fields, size_t count)
{
    struct procfile file;
    char line[PROCFILE_LINE_SIZE];
    size_t left = count;

    if (!procfile_open(&file, root, name))
        return;
    while (left > 0 && procfile_line(&file, line)) {
        for (size_t i = 0; i < count; i++) {
            if (read_field(line, &fields[i])) {
                fields[i].is_found = true;
                left--;
                break;
            }
        }
    }
    procfile_close(&file);
}
