/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the file. The keys are in config_keys.c, what must go together in config_rules.c. */
#include <config.h>

#include "policy/config.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/config_keys.h"
#include "policy/config_reader.h"
#include "policy/file.h"

#define FILE_MAX ((size_t)1024 * 1024)
#define NAME_MAX_LEN 128

/* Numbers of the two sections that are always there. */
enum { SECTION_DEFAULT, SECTION_ARENA, FIRST_SECTIONS };

void
config_fail(struct config_reader *reader, int rc, const char *format, ...)
{
    char *text = reader->error->text;
    va_list args;
    int n;

    if (reader->rc != 0)
        return;
    reader->rc = rc;
    if (reader->line > 0)
        n = snprintf(text, CONFIG_ERROR_SIZE, "%.256s:%u: ", reader->path, reader->line);
    else
        n = snprintf(text, CONFIG_ERROR_SIZE, "%.256s: ", reader->path);
    if (n < 0 || n >= CONFIG_ERROR_SIZE)
        return;
    va_start(args, format);
    errno = rc; /* for %m */
    vsnprintf(text + n, CONFIG_ERROR_SIZE - (size_t)n, format, args);
    va_end(args);
    /* What is quoted from the file may go to a terminal or a log. */
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
            *text = '?';
    }
}

/* inih's handler: a key with its value. Sections were checked when their line was read. */
static int
handle_key(void *user, const char *section_name, const char *name, const char *value)
{
    struct config_reader *reader = user;
    struct config_section *section = NULL;
    char text[320], title[CONFIG_TITLE_SIZE];
    enum config_key key;
    int rc;

    (void)section_name; /* cut where it is long */
    if (reader->rc != 0)
        return 0;
    if (reader->current == SIZE_MAX) {
        config_fail(reader, EINVAL, "%.40s: a key before the first section; [default] was expected",
                    name);
        return 0;
    }
    section = &reader->config->sections[reader->current];
    key = config_keys_find(section->kind, name);
    if (key == CONFIG_KEY_COUNT) {
        config_keys_list(section->kind, text, sizeof(text));
        config_fail(reader, EINVAL, "%.40s: unknown key in %s; %s was expected", name,
                    config_keys_title(section, title), text);
    } else if (section->lines[key] != 0) {
        config_fail(reader, EINVAL, "%s: given already in line %u", name, section->lines[key]);
    } else {
        rc = config_keys_parse(key, value, &section->values[key], text, sizeof(text));
        if (rc == EINVAL)
            config_fail(reader, EINVAL, "%s: '%.40s', but %s was expected", name, value, text);
        else if (rc != 0)
            config_fail(reader, rc, "%s: libcrypt can't be asked for '%.40s': %m", name, value);
        section->lines[key] = reader->line;
    }
    return reader->rc == 0;
}

/* Appends a section in which nothing is set. name may be NULL. Its memory grows by doubling. */
static int
add_section(struct config *config, enum config_kind kind, const char *name, size_t name_len)
{
    struct config_section *section;

    if ((config->count & (config->count - 1)) == 0) {
        size_t size = config->count == 0 ? 1 : 2 * config->count;
        section = realloc(config->sections, size * sizeof(*section));
        if (section == NULL)
            return ENOMEM;
        config->sections = section;
    }
    section = &config->sections[config->count];
    memset(section, 0, sizeof(*section));
    section->kind = kind;
    if (name != NULL) {
        section->name = strndup(name, name_len);
        if (section->name == NULL)
            return ENOMEM;
    }
    config->count++;
    return 0;
}

/* Makes the section that starts in this line the current one. */
static void
enter_section(struct config_reader *reader, enum config_kind kind, const char *name, size_t len)
{
    struct config *config = reader->config;
    char title[CONFIG_TITLE_SIZE];
    size_t i;
    int rc = 0;

    for (i = 0; i < config->count; i++) {
        const struct config_section *section = &config->sections[i];
        if (section->kind == kind && (name == NULL || (strlen(section->name) == len &&
                                                       memcmp(section->name, name, len) == 0)))
            break;
    }
    if (i >= CONFIG_SECTIONS_MAX)
        config_fail(reader, EINVAL, "more than %d sections", CONFIG_SECTIONS_MAX);
    else if (i == config->count)
        rc = add_section(config, kind, name, len);
    if (rc != 0)
        config_fail(reader, rc, "%m");
    if (reader->rc != 0)
        return;
    if (config->sections[i].line != 0)
        config_fail(reader, EINVAL, "%s: given already in line %u",
                    config_keys_title(&config->sections[i], title), config->sections[i].line);
    config->sections[i].line = reader->line;
    reader->current = i;
}

/* Why a name of a section can't be one; NULL if it can. PAM knows services in lower case only. */
static const char *
check_name(enum config_kind kind, const char *name, size_t len)
{
    size_t i;

    if (len == 0)
        return "a name was expected behind it";
    if (len > NAME_MAX_LEN)
        return "a shorter name was expected";
    for (i = 0; i < len; i++) {
        if ((unsigned char)name[i] <= 0x20 || name[i] == 0x7f || strchr("[];#:,", name[i]) != NULL)
            return "one name without blanks and other odd characters was expected";
        if (kind == CONFIG_IN_SERVICE && name[i] >= 'A' && name[i] <= 'Z')
            return "a service's name in lower case was expected, as PAM has it";
    }
    return NULL;
}

static int
is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

static void
check_section(struct config_reader *reader, const char *line, size_t len)
{
    static const char *const named[] = {
        [CONFIG_IN_SERVICE] = "service ", [CONFIG_IN_GROUP] = "group ", [CONFIG_IN_USER] = "user "};
    const char *text = line + 1, *wrong;
    unsigned kind;

    if (is_word(line, len, "[default]")) {
        enter_section(reader, CONFIG_IN_DEFAULT, NULL, 0);
        return;
    }
    if (is_word(line, len, "[arena]")) {
        enter_section(reader, CONFIG_IN_ARENA, NULL, 0);
        return;
    }
    for (kind = CONFIG_IN_SERVICE; kind <= CONFIG_IN_USER; kind++) {
        size_t skip = strlen(named[kind]);
        if (len < skip + 2 || memcmp(text, named[kind], skip) != 0 || line[len - 1] != ']')
            continue;
        wrong = check_name((enum config_kind)kind, text + skip, len - skip - 2);
        if (wrong != NULL)
            config_fail(reader, EINVAL, "'%.*s': %s", (int)(len < 40 ? len : 40), line, wrong);
        else
            enter_section(reader, (enum config_kind)kind, text + skip, len - skip - 2);
        return;
    }
    config_fail(reader, EINVAL,
                "'%.*s': unknown section; [default], [service NAME], [user NAME], [group NAME] or "
                "[arena] was expected",
                (int)(len < 40 ? len : 40), line);
}

static int
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* What inih would read differently from what the eye sees, or skip in silence, ends here: it takes
 * ':' for '=', leaves out what follows a ']', and continues a value on an indented line. */
static void
check_line(struct config_reader *reader, const char *line, size_t len)
{
    const char *equals = memchr(line, '=', len);

    if (memchr(line, '\0', len) != NULL) {
        config_fail(reader, EINVAL, "a NUL byte, but text was expected");
    } else if (len == 0 || line[0] == '#') {
        return;
    } else if (line[0] == '[') {
        check_section(reader, line, len);
    } else if (memchr(line, ';', len) != NULL) {
        config_fail(reader, EINVAL, "a ';', but comments start with '#', on lines of their own");
    } else if (equals == NULL || equals == line ||
               memchr(line, ':', (size_t)(equals - line)) != NULL) {
        config_fail(reader, EINVAL,
                    "'%.*s', but 'key = value', '[section]' or '# comment' was expected",
                    (int)(len < 40 ? len : 40), line);
    }
}

/* inih's reader, in the manner of fgets(): it counts the lines, which inih keeps to itself. */
static char *
read_line(char *out, int size, void *user)
{
    struct config_reader *reader = user;
    const char *line = reader->file.data + reader->next;
    const char *end;
    size_t len;

    if (reader->rc != 0 || reader->next >= reader->file.len || size < 2)
        return NULL;
    end = memchr(line, '\n', reader->file.len - reader->next);
    len = end != NULL ? (size_t)(end - line) : reader->file.len - reader->next;
    reader->next += len + (end != NULL);
    reader->line++;
    while (len > 0 && is_blank(line[0])) {
        line++;
        len--;
    }
    while (len > 0 && is_blank(line[len - 1]))
        len--;
    if (len > 0 && line[0] == '#' && memchr(line, '\0', len) == NULL)
        len = 0;
    if (len >= (size_t)size - 1) {
        config_fail(reader, EINVAL, "a line of %zu characters, but at most %d were expected", len,
                    size - 2);
    }
    check_line(reader, line, len);
    if (reader->rc != 0)
        return NULL;
    memcpy(out, line, len);
    memcpy(out + len, "\n", 2);
    return out;
}

static void
parse(struct config_reader *reader)
{
    int line = ini_parse_stream(read_line, reader, handle_key, reader);

    if (line > 0) {
        reader->line = (unsigned)line;
        config_fail(reader, EINVAL, "'key = value', '[section]' or '# comment' was expected");
    } else if (line < 0) {
        config_fail(reader, ENOMEM, "out of memory");
    }
    if (reader->rc == 0)
        config_rules_check(reader);
}

/* Who could write to this file could weaken what root's programs make. */
static void
check_file(struct config_reader *reader, int fd, uint32_t owner)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        config_fail(reader, errno, "%m");
    else if (!S_ISREG(st.st_mode))
        config_fail(reader, EINVAL, "not a regular file");
    else if (st.st_uid != owner)
        config_fail(reader, EPERM, "owned by uid %ju, but root was expected", (uintmax_t)st.st_uid);
    else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        config_fail(reader, EPERM, "mode %04o lets others write, but at most 0644 was expected",
                    (unsigned)(st.st_mode & 07777));
}

/* Whether there is a file of the reader's path, which then was read. */
static bool
read_file(struct config_reader *reader, uint32_t owner)
{
    int fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    int rc;

    if (fd < 0) {
        rc = errno;
        if (rc == ENOENT && lstat(reader->path, &st) != 0)
            return false;
        if (rc == ENOENT)
            config_fail(reader, rc, "a symbolic link to a file that doesn't exist");
        config_fail(reader, rc, "%m");
        return true;
    }
    check_file(reader, fd, owner);
    if (reader->rc == 0) {
        rc = file_read(fd, FILE_MAX, &reader->file);
        if (rc != 0)
            config_fail(reader, rc, "%m");
    }
    close(fd);
    if (reader->rc == 0 && reader->file.len > 0)
        parse(reader);
    file_free(&reader->file);
    return true;
}

/* The sections that are always there, with the built-in values. */
static int
add_builtin(struct config *config)
{
    unsigned key, i;
    int rc = add_section(config, CONFIG_IN_DEFAULT, NULL, 0);

    if (rc == 0)
        rc = add_section(config, CONFIG_IN_ARENA, NULL, 0);
    for (i = 0; rc == 0 && i < FIRST_SECTIONS; i++) {
        for (key = 0; key < CONFIG_KEY_COUNT; key++)
            config->sections[i].values[key] = config_keys_builtin((enum config_key)key);
    }
    return rc;
}

static void
fill_arena(struct config *config)
{
    struct config_section builtin[FIRST_SECTIONS] = {{0}};
    const struct config_section *sections = config->sections;
    const uint32_t *values;
    unsigned key;

    for (key = 0; sections == NULL && key < CONFIG_KEY_COUNT; key++) {
        builtin[SECTION_DEFAULT].values[key] = config_keys_builtin((enum config_key)key);
        builtin[SECTION_ARENA].values[key] = config_keys_builtin((enum config_key)key);
    }
    if (sections == NULL)
        sections = builtin;
    values = sections[SECTION_ARENA].values;
    config->arena.slots = values[CONFIG_KEY_SLOTS];
    config->arena.slot_kib = values[CONFIG_KEY_SLOT_SIZE];
    if (config->arena.slot_kib == 0)
        config->arena.slot_kib = sections[SECTION_DEFAULT].values[CONFIG_KEY_MEMORY];
    config->arena.pages = (enum config_pages)values[CONFIG_KEY_PAGES];
    config->arena.lock = values[CONFIG_KEY_LOCK] != 0;
    config->arena.lease_ms = values[CONFIG_KEY_LEASE];
    config->arena.reserve = values[CONFIG_KEY_RESERVE];
}

/* Reads the first of the files that is there. */
static int
load(const char *const *paths, size_t count, uint32_t owner, bool must_exist, struct config *config,
     struct config_error *error)
{
    struct config_reader reader = {
        .config = config, .error = error, .path = paths[0], .current = SIZE_MAX};
    bool found = false;
    size_t i;
    int rc;

    error->text[0] = '\0';
    memset(config, 0, sizeof(*config));
    rc = add_builtin(config);
    if (rc != 0)
        config_fail(&reader, rc, "%m");
    for (i = 0; reader.rc == 0 && !found && i < count; i++) {
        reader.path = paths[i];
        found = read_file(&reader, owner);
    }
    if (!found && must_exist)
        config_fail(&reader, ENOENT, "%m");
    if (reader.rc != 0) {
        config_free(config);
        config->is_fallback = true;
    }
    fill_arena(config);
    return reader.rc;
}

int
config_load(const char *path, uint32_t owner, bool must_exist, struct config *config,
            struct config_error *error)
{
    return load(&path, 1, owner, must_exist, config, error);
}

int
config_load_either(const char *path, const char *vendor, uint32_t owner, struct config *config,
                   struct config_error *error)
{
    const char *const paths[] = {path, vendor};

    return load(paths, 2, owner, false, config, error);
}

const char *
config_vendor_path(void)
{
    return CONFIG_VENDOR_PATH;
}

void
config_free(struct config *config)
{
    size_t i;

    for (i = 0; i < config->count; i++)
        free(config->sections[i].name);
    free(config->sections);
    config->sections = NULL;
    config->count = 0;
}
