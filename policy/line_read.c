/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/line_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libcore/mhkdf.h"

#define CHUNK_SIZE 4096

typedef bool is_line_of(const char *line, size_t len, const char *name, struct line_field *fields);

/* A search through a file, of which the line that is being read is kept. */
struct search {
    const char *name;
    bool name_is_valid; /* else no line is its own, but all are read */
    is_line_of *is_line_of;
    char *line;
    size_t len; /* of line, so far; above LINE_READ_MAX: it is too long */
    struct line_field *fields;
    bool found; /* line stays */
    void (*visit)(void *ctx, const char *line,
                  size_t len); /* NULL: the line of name is looked for */
    void *ctx;
};

static void
append(struct search *search, const char *text, size_t len)
{
    if (search->len > LINE_READ_MAX || len > LINE_READ_MAX - search->len) {
        search->len = LINE_READ_MAX + 1;
        return;
    }
    memcpy(search->line + search->len, text, len);
    search->len += len;
}

static void
end_line(struct search *search)
{
    if (search->visit != NULL && search->len <= LINE_READ_MAX)
        search->visit(search->ctx, search->line, search->len);
    search->found = search->name_is_valid && search->len <= LINE_READ_MAX &&
                    search->is_line_of(search->line, search->len, search->name, search->fields);
    search->len = search->found ? search->len : 0;
}

static void
take(struct search *search, const char *text, size_t len)
{
    while (len > 0 && !search->found) {
        const char *end = memchr(text, '\n', len);
        size_t taken = end != NULL ? (size_t)(end - text) : len;
        append(search, text, taken);
        if (end != NULL) {
            end_line(search);
            taken++;
        }
        text += taken;
        len -= taken;
    }
}

static int
read_all(int fd, struct search *search)
{
    char chunk[CHUNK_SIZE];
    ssize_t got;
    int rc = 0;

    do {
        got = read(fd, chunk, sizeof(chunk));
        if (got > 0)
            take(search, chunk, (size_t)got);
        else if (got < 0 && errno != EINTR)
            rc = errno;
    } while (rc == 0 && got != 0);
    if (rc == 0 && !search->found && search->len > 0)
        end_line(search);
    mhkdf_wipe(chunk, sizeof(chunk));
    return rc;
}

static int
find(int fd, struct search *search)
{
    int rc;

    search->name_is_valid = line_name_is_valid(search->name);
    rc = read_all(fd, search);
    return rc == 0 && !search->found ? ENOENT : rc;
}

int
line_read_shadow(int fd, const char *name, char line[LINE_READ_MAX],
                 struct line_field fields[LINE_SHADOW_FIELDS])
{
    struct search search = {
        .name = name, .is_line_of = line_is_shadow_of, .line = line, .fields = fields};

    return find(fd, &search);
}

int
line_read_passwd(int fd, const char *name, char line[LINE_READ_MAX],
                 struct line_field fields[LINE_PASSWD_FIELDS])
{
    struct search search = {
        .name = name, .is_line_of = line_is_passwd_of, .line = line, .fields = fields};

    return find(fd, &search);
}

int
line_read_each(int fd, char line[LINE_READ_MAX],
               void (*visit)(void *ctx, const char *line, size_t len), void *ctx)
{
    struct search search = {.line = line, .visit = visit, .ctx = ctx};

    return read_all(fd, &search);
}
