/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/config.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/file.h"
#include "policy/size.h"

#define FILE_MAX ((size_t)1024 * 1024)

enum section { SECTION_DEFAULT, SECTION_ARENA, SECTION_COUNT };

static const char *const section_names[SECTION_COUNT] = {"default", "arena"};

/* The keys, in the order of struct state's seen: those of [default], then those of [arena]. */
enum key {
    KEY_MEMORY,
    KEY_PASSES,
    KEY_LANES,
    KEY_CHAIN,
    KEY_MIN_LENGTH,
    KEY_ARENA,
    KEY_WAIT,
    KEY_SLOTS,
    KEY_SLOT_SIZE,
    KEY_PAGES,
    KEY_LOCK,
    KEY_LEASE,
    KEY_RESERVE,
    KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
    "memory", "passes",    "lanes", "chain", "min_length", "arena",  "wait",
    "slots",  "slot_size", "pages", "lock",  "lease",      "reserve"};

/* From and up to, not including, which key a section has them, and how they are said. */
static const unsigned first_keys[SECTION_COUNT + 1] = {KEY_MEMORY, KEY_SLOTS, KEY_COUNT};
static const char *const known_keys[SECTION_COUNT] = {
    "memory, passes, lanes, chain, min_length, arena or wait",
    "slots, slot_size, pages, lock, lease or reserve"};

static const char *const use_names[] = {"try", "require", "off", NULL};
static const char *const pages_names[] = {"auto", "hugetlb", "thp", "plain", NULL};
static const char *const switch_names[] = {"no", "yes", NULL};

#define LEASE_MIN_MS 100

struct state {
    const char *path;
    struct file file;
    size_t next;                           /* offset of the line that is read next */
    unsigned line;                         /* number of the line that was read last */
    unsigned section_lines[SECTION_COUNT]; /* where each was; 0: not yet */
    unsigned seen[KEY_COUNT];
    int rc; /* of the first error, which ends the reading */
    struct config *config;
    struct config_error *error;
};

__attribute__((format(printf, 3, 4))) static void
fail(struct state *state, int rc, const char *format, ...)
{
    char *text = state->error->text;
    va_list args;
    int n;

    if (state->rc != 0)
        return;
    state->rc = rc;
    if (state->line > 0)
        n = snprintf(text, CONFIG_ERROR_SIZE, "%s:%u: ", state->path, state->line);
    else
        n = snprintf(text, CONFIG_ERROR_SIZE, "%s: ", state->path);
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

static void
set_number(struct state *state, enum key key, const char *value, uint32_t max, uint32_t *out)
{
    if (size_parse_number(value, max, out) != 0 || *out < 1) {
        fail(state, EINVAL, "%s: '%.40s', but a number from 1 to %u was expected", key_names[key],
             value, max);
    }
}

static void
set_size(struct state *state, enum key key, const char *value, uint32_t *out)
{
    if (size_parse_kib(value, out) != 0 || *out < 1) {
        fail(state, EINVAL,
             "%s: '%.40s', but a size with unit below 4096G was expected, such as 64M or 1G (K, M "
             "or G)",
             key_names[key], value);
    }
}

static void
set_time(struct state *state, enum key key, const char *value, uint32_t min_ms, uint32_t *out)
{
    if (size_parse_ms(value, out) != 0 || *out < min_ms) {
        fail(state, EINVAL,
             "%s: '%.40s', but a time with unit of at least %ums was expected, such as 500ms or "
             "10s",
             key_names[key], value, min_ms);
    }
}

/* One of a few words; its number goes to *out. */
static void
set_word(struct state *state, enum key key, const char *value, const char *const *words,
         unsigned *out)
{
    unsigned i;

    for (i = 0; words[i] != NULL; i++) {
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            return;
        }
    }
    fail(state, EINVAL, "%s: '%.40s', but %s%s%s%s%s%s%s was expected", key_names[key], value,
         words[0], i > 2 ? ", " : " or ", words[1], i > 3 ? ", " : (i > 2 ? " or " : ""),
         i > 2 ? words[2] : "", i > 3 ? " or " : "", i > 3 ? words[3] : "");
}

static void
set_arena_value(struct state *state, enum key key, const char *value)
{
    struct config_arena *arena = &state->config->arena;
    unsigned word = 0;

    switch (key) {
    case KEY_SLOTS:
        set_number(state, key, value, CONFIG_SLOTS_MAX, &arena->slots);
        break;
    case KEY_SLOT_SIZE:
        set_size(state, key, value, &arena->slot_kib);
        break;
    case KEY_PAGES:
        set_word(state, key, value, pages_names, &word);
        arena->pages = (enum config_pages)word;
        break;
    case KEY_LOCK:
        set_word(state, key, value, switch_names, &word);
        arena->lock = word != 0;
        break;
    case KEY_LEASE:
        set_time(state, key, value, LEASE_MIN_MS, &arena->lease_ms);
        break;
    default:
        if (size_parse_number(value, CONFIG_SLOTS_MAX - 1, &arena->reserve) != 0)
            fail(state, EINVAL, "reserve: '%.40s', but a number from 0 to %d was expected", value,
                 CONFIG_SLOTS_MAX - 1);
        break;
    }
}

static void
set_value(struct state *state, enum key key, const char *value)
{
    struct mhkdf_cost *cost = &state->config->cost;
    unsigned word = 0;

    switch (key) {
    case KEY_MEMORY:
        set_size(state, key, value, &cost->memory_kib);
        break;
    case KEY_PASSES:
        set_number(state, key, value, MHKDF_PASSES_MAX, &cost->passes);
        break;
    case KEY_LANES:
        set_number(state, key, value, MHKDF_LANES_MAX, &cost->lanes);
        break;
    case KEY_CHAIN:
        if (size_parse_number(value, 12, &cost->chain) != 0 ||
            (cost->chain != 0 && cost->chain != 3 && cost->chain != 6 && cost->chain != 12))
            fail(state, EINVAL, "chain: '%.40s', but 0, 3, 6 or 12 was expected", value);
        break;
    case KEY_MIN_LENGTH:
        set_number(state, key, value, MHKDF_CRYPT_PASSWORD_MAX, &state->config->min_length);
        break;
    case KEY_ARENA:
        set_word(state, key, value, use_names, &word);
        state->config->use = (enum config_use)word;
        break;
    case KEY_WAIT:
        set_time(state, key, value, 0, &state->config->wait_ms);
        break;
    default:
        set_arena_value(state, key, value);
        break;
    }
}

/* inih's handler: a key with its value. Sections were checked when their line was read. */
static int
handle_key(void *user, const char *section, const char *name, const char *value)
{
    struct state *state = user;
    unsigned key, in;

    if (state->rc != 0)
        return 0;
    for (in = 0; in < SECTION_COUNT && strcmp(section, section_names[in]) != 0; in++)
        continue;
    if (in == SECTION_COUNT) {
        fail(state, EINVAL, "%.40s: a key before the first section; [default] was expected", name);
        return 0;
    }
    for (key = first_keys[in]; key < first_keys[in + 1] && strcmp(name, key_names[key]) != 0; key++)
        continue;
    if (key == first_keys[in + 1]) {
        fail(state, EINVAL, "%.40s: unknown key in [%s]; %s was expected", name, section_names[in],
             known_keys[in]);
        return 0;
    }
    if (state->seen[key] != 0) {
        fail(state, EINVAL, "%s: given already in line %u", name, state->seen[key]);
        return 0;
    }
    state->seen[key] = state->line;
    set_value(state, (enum key)key, value);
    return state->rc == 0;
}

static void
check_section(struct state *state, const char *line, size_t len)
{
    unsigned in;

    for (in = 0; in < SECTION_COUNT; in++) {
        size_t name_len = strlen(section_names[in]);
        if (len == name_len + 2 && memcmp(line + 1, section_names[in], name_len) == 0 &&
            line[len - 1] == ']')
            break;
    }
    if (in == SECTION_COUNT) {
        fail(state, EINVAL, "'%.*s': unknown section; [default] or [arena] was expected",
             (int)(len < 40 ? len : 40), line);
    } else if (state->section_lines[in] != 0) {
        fail(state, EINVAL, "[%s]: given already in line %u", section_names[in],
             state->section_lines[in]);
    } else {
        state->section_lines[in] = state->line;
    }
}

static int
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* What inih would read differently from what the eye sees, or skip in silence, ends here: it takes
 * ':' for '=', leaves out what follows a ']', and continues a value on an indented line. */
static void
check_line(struct state *state, const char *line, size_t len)
{
    const char *equals = memchr(line, '=', len);

    if (memchr(line, '\0', len) != NULL) {
        fail(state, EINVAL, "a NUL byte, but text was expected");
    } else if (len == 0 || line[0] == '#') {
        return;
    } else if (line[0] == '[') {
        check_section(state, line, len);
    } else if (memchr(line, ';', len) != NULL) {
        fail(state, EINVAL, "a ';', but comments start with '#', on lines of their own");
    } else if (equals == NULL || equals == line ||
               memchr(line, ':', (size_t)(equals - line)) != NULL) {
        fail(state, EINVAL, "'%.*s', but 'key = value', '[section]' or '# comment' was expected",
             (int)(len < 40 ? len : 40), line);
    }
}

/* inih's reader, in the manner of fgets(): it counts the lines, which inih keeps to itself. */
static char *
read_line(char *out, int size, void *user)
{
    struct state *state = user;
    const char *line = state->file.data + state->next;
    const char *end;
    size_t len;

    if (state->rc != 0 || state->next >= state->file.len || size < 2)
        return NULL;
    end = memchr(line, '\n', state->file.len - state->next);
    len = end != NULL ? (size_t)(end - line) : state->file.len - state->next;
    state->next += len + (end != NULL);
    state->line++;
    while (len > 0 && is_blank(line[0])) {
        line++;
        len--;
    }
    while (len > 0 && is_blank(line[len - 1]))
        len--;
    check_line(state, line, len);
    if (len > 0 && line[0] == '#')
        len = 0;
    if (len >= (size_t)size - 1) {
        fail(state, EINVAL, "a line of %zu characters, but at most %d were expected", len,
             size - 2);
    }
    if (state->rc != 0)
        return NULL;
    memcpy(out, line, len);
    memcpy(out + len, "\n", 2);
    return out;
}

/* Of two keys that don't go together, the line of the later one is named. */
static void
blame(struct state *state, enum key a, enum key b)
{
    state->line = state->seen[a] > state->seen[b] ? state->seen[a] : state->seen[b];
}

static void
parse(struct state *state)
{
    const struct mhkdf_cost *cost = &state->config->cost;
    const struct config_arena *arena = &state->config->arena;
    int line = ini_parse_stream(read_line, state, handle_key, state);

    if (line > 0) {
        state->line = (unsigned)line;
        fail(state, EINVAL, "'key = value', '[section]' or '# comment' was expected");
    } else if (line < 0) {
        fail(state, ENOMEM, "out of memory");
    }
    if (state->rc == 0 && cost->memory_kib / 8 < cost->lanes) {
        blame(state, KEY_MEMORY, KEY_LANES);
        fail(state, EINVAL, "memory: %uK, but at least 8K for each of the %u lanes was expected",
             cost->memory_kib, cost->lanes);
    }
    if (state->rc == 0 && arena->reserve >= arena->slots) {
        blame(state, KEY_RESERVE, KEY_SLOTS);
        fail(state, EINVAL, "reserve: %u, but less than the number of slots, %u, was expected",
             arena->reserve, arena->slots);
    }
}

/* Who could write to this file could weaken what root's programs make. */
static void
check_file(struct state *state, int fd, uint32_t owner)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        fail(state, errno, "%m");
    else if (!S_ISREG(st.st_mode))
        fail(state, EINVAL, "not a regular file");
    else if (st.st_uid != owner)
        fail(state, EPERM, "owned by uid %ju, but root was expected", (uintmax_t)st.st_uid);
    else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        fail(state, EPERM, "mode %04o lets others write, but at most 0644 was expected",
             (unsigned)(st.st_mode & 07777));
}

static void
load(struct state *state, uint32_t owner, bool must_exist)
{
    int fd = open(state->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    int rc;

    if (fd < 0) {
        rc = errno;
        if (rc == ENOENT && lstat(state->path, &st) == 0)
            fail(state, rc, "a symbolic link to a file that doesn't exist");
        else if (rc != ENOENT || must_exist)
            fail(state, rc, "%m");
        return;
    }
    check_file(state, fd, owner);
    if (state->rc == 0) {
        rc = file_read(fd, FILE_MAX, &state->file);
        if (rc != 0)
            fail(state, rc, "%m");
    }
    close(fd);
    if (state->rc == 0 && state->file.len > 0)
        parse(state);
    file_free(&state->file);
}

void
config_builtin(struct config *config)
{
    config->cost.method = MHKDF_METHOD_MHKDF1;
    config->cost.memory_kib = MHKDF_MEMORY_DEFAULT_KIB;
    config->cost.passes = MHKDF_PASSES_DEFAULT;
    config->cost.lanes = MHKDF_LANES_DEFAULT;
    config->cost.chain = MHKDF_CHAIN_DEFAULT;
    config->min_length = 8;
    config->use = CONFIG_ARENA_TRY;
    config->wait_ms = 10000;
    config->arena.slots = 2;
    config->arena.slot_kib = 0;
    config->arena.pages = CONFIG_PAGES_AUTO;
    config->arena.lock = true;
    config->arena.lease_ms = 30000;
    config->arena.reserve = 1;
}

int
config_load(const char *path, uint32_t owner, bool must_exist, struct config *config,
            struct config_error *error)
{
    struct state state = {.path = path, .config = config, .error = error};

    error->text[0] = '\0';
    config_builtin(config);
    load(&state, owner, must_exist);
    if (state.rc != 0)
        config_builtin(config);
    return state.rc;
}
