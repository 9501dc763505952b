/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/service_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pam/place.h"
#include "policy/file.h"

#define BLANKS " \t\n"
#define FILE_MAX ((size_t)1 << 20)
#define DEPTH_MAX 16 /* libpam's, for substacks */
#define FILES_MAX 64 /* libpam has no limit: files that include each other are its end */

struct reader {
    service_file_visit *visit;
    void *ctx;
    unsigned files_left;
    bool has_module;
};

/* Takes the next word off *text; in brackets it may have blanks, and "\]" is a bracket. NULL: none
 * is left. */
static char *
next_word(char **text)
{
    char *word = *text + strspn(*text, BLANKS);
    char *in, *out;

    if (*word == '\0')
        return NULL;
    in = word + (*word == '[');
    if (*word == '[') {
        word = in;
        for (out = in; *in != '\0' && *in != ']'; in++) {
            if (in[0] == '\\' && in[1] == ']')
                in++;
            *out++ = *in;
        }
    } else {
        in += strcspn(in, BLANKS);
        out = in;
    }
    *text = *in != '\0' ? in + 1 : in;
    *out = '\0';
    return word;
}

/* Takes the next line off *text, put together in place where it goes on after a backslash. Lines
 * that say nothing are passed over, also between the two. NULL: none is left. */
static char *
next_line(char **text)
{
    char *line = NULL, *out = NULL, *in = *text;

    while (*in != '\0') {
        char *piece = in + strspn(in, BLANKS);
        size_t len = strcspn(piece, "#\n");
        bool is_cut = piece[len] == '#';

        in = piece + len + strcspn(piece + len, "\n");
        in += *in == '\n';
        if (len == 0)
            continue;
        if (line == NULL)
            line = out = piece;
        while (!is_cut && len > 0 && strchr(BLANKS, piece[len - 1]) != NULL)
            len--;
        memmove(out, piece, len);
        out += len;
        if (is_cut || out[-1] != '\\')
            break;
        out[-1] = ' ';
    }
    *text = in;
    if (line != NULL)
        *out = '\0';
    return line;
}

/* The file of this name: a path, or in the first folder that has it. -1: it can't be opened. */
static int
open_file(const char *name)
{
    char path[PATH_MAX];
    const char *folder;
    unsigned i;
    int fd = -1;

    if (name[0] == '/')
        return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    for (i = 0; fd < 0 && (folder = place_pam_folder(i)) != NULL; i++) {
        int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (n >= 0 && (size_t)n < sizeof(path))
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    }
    return fd;
}

static int
read_file(const char *name, struct file *out)
{
    struct stat st;
    int fd = open_file(name);
    int rc = -1;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        rc = file_read(fd, FILE_MAX, out);
    close(fd);
    return rc;
}

static void
visit_module(struct reader *reader, char *path, const char *arguments)
{
    char *name = strrchr(path, '/');
    char *ending;

    name = name != NULL ? name + 1 : path;
    ending = strrchr(name, '.');
    if (ending != NULL)
        *ending = '\0';
    reader->has_module = true;
    reader->visit(reader->ctx, name, arguments);
}

/* What the line includes, a file's name; NULL: nothing, and a module that it has was visited. */
static const char *
read_line(struct reader *reader, char *line)
{
    char *type = next_word(&line), *control, *path;

    if (type == NULL)
        return NULL;
    if (strcasecmp(type, "@include") == 0) /* Debian's own; for all types */
        return next_word(&line);
    if (type[0] == '-')
        type++;
    if (strcasecmp(type, "password") != 0)
        return NULL;
    control = next_word(&line);
    path = next_word(&line);
    if (control == NULL || path == NULL)
        return NULL;
    if (strcasecmp(control, "include") == 0 || strcasecmp(control, "substack") == 0)
        return path;
    visit_module(reader, path, line);
    return NULL;
}

static void
read_service(struct reader *reader, const char *name, unsigned depth) // NOLINT(misc-no-recursion)
{
    struct file file = {0};
    const char *included;
    char *text, *line;

    if (depth == DEPTH_MAX || reader->files_left == 0)
        return;
    reader->files_left--;
    if (read_file(name, &file) != 0)
        return;
    text = file.data;
    while ((line = next_line(&text)) != NULL) {
        included = read_line(reader, line);
        if (included != NULL)
            read_service(reader, included, depth + 1);
    }
    file_free(&file);
}

/* libpam takes folders off the name that a program starts with, but not off one that is set later.
 */
static bool
is_file_name(const char *service)
{
    return service != NULL && service[0] != '\0' && strchr(service, '/') == NULL &&
           strlen(service) <= NAME_MAX;
}

void
service_file_each_password(const char *service, service_file_visit *visit, void *ctx)
{
    struct reader reader = {.visit = visit, .ctx = ctx, .files_left = FILES_MAX};

    if (!is_file_name(service))
        return;
    read_service(&reader, service, 0);
    if (!reader.has_module)
        read_service(&reader, "other", 0);
}
