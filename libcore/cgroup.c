/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libcore/procfile.h"

#define LINE_SIZE PROCFILE_LINE_SIZE
#define PATH_SIZE 2048
#define FILE_NAME_MAX 32 /* of the files in a group's folder */

/* Bytes. Version 1 has no word for it: it says 2^63, less a page of up to 64 KiB. */
#define NO_LIMIT ((uint64_t)INT64_MAX - 65536)

struct version {
    const char *type;       /* of the file system */
    const char *controller; /* among its options; NULL: there are none */
    const char *usual;      /* where it is mounted, if nothing says so */
    const char *limit, *usage;
    const char *high;     /* NULL: there is none */
    const char *cache[2]; /* lines of memory.stat: page cache, */
    const char *busy[2];  /* and what of it has yet to be written */
};

static const struct version VERSION_1 = {"cgroup",
                                         "memory",
                                         "/sys/fs/cgroup/memory",
                                         "memory.limit_in_bytes",
                                         "memory.usage_in_bytes",
                                         NULL,
                                         {"total_inactive_file ", "total_active_file "},
                                         {"total_dirty ", "total_writeback "}};
static const struct version VERSION_2 = {"cgroup2",
                                         NULL,
                                         "/sys/fs/cgroup",
                                         "memory.max",
                                         "memory.current",
                                         "memory.high",
                                         {"inactive_file ", "active_file "},
                                         {"file_dirty ", "file_writeback "}};

struct work {
    const struct cgroup_question *question;
    const struct version *version;
    struct cgroup_room *out;
    char folder[PATH_SIZE + FILE_NAME_MAX]; /* of a group, with room for the name of a file in it */
    size_t len;                             /* of the folder's path */
};

static uint64_t
add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t
subtract(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- one group ----------------------------------------------------------------------- */

static void
read_fields(struct work *work, const char *name, struct procfile_field *fields, size_t count)
{
    (void)snprintf(work->folder + work->len, FILE_NAME_MAX, "/%s", name);
    procfile_fields("", work->folder, fields, count);
    work->folder[work->len] = '\0';
}

/* Bytes; UINT64_MAX: there is no such file, or no limit in it. */
static uint64_t
read_number(struct work *work, const char *name)
{
    struct procfile_field field = {"", UINT64_MAX, false};

    read_fields(work, name, &field, 1);
    return field.value < NO_LIMIT ? field.value : UINT64_MAX;
}

/* Of page cache, what can be dropped at once. */
static uint64_t
droppable(struct work *work)
{
    const struct version *version = work->version;
    struct procfile_field fields[] = {{version->cache[0], 0, false},
                                      {version->cache[1], 0, false},
                                      {version->busy[0], 0, false},
                                      {version->busy[1], 0, false}};

    read_fields(work, "memory.stat", fields, sizeof(fields) / sizeof(fields[0]));
    return subtract(add(fields[0].value, fields[1].value), add(fields[2].value, fields[3].value));
}

/* How much of what the group holds can go to swap. Where its swappiness is 0, somebody is killed
 * before anything goes there. */
static uint64_t
swap_of_group(struct work *work)
{
    uint64_t swap = work->question->swap_kib, swappiness = work->question->swappiness;
    uint64_t own = UINT64_MAX, limit, usage;

    if (swap == 0)
        return 0;
    if (work->version == &VERSION_1)
        own = read_number(work, "memory.swappiness");
    if (own != UINT64_MAX)
        swappiness = own;
    if (swappiness == 0)
        return 0;
    swap = swap > UINT64_MAX / 1024 ? UINT64_MAX : swap * 1024;
    if (work->version == &VERSION_1) /* its limit is one of memory and swap together */
        return swap;
    limit = read_number(work, "memory.swap.max");
    usage = read_number(work, "memory.swap.current");
    return limit != UINT64_MAX && usage != UINT64_MAX ? smaller(swap, subtract(limit, usage))
                                                      : swap;
}

/* The second limit of version 1: of memory and swap together, both of which count already. */
static uint64_t
room_of_both(struct work *work)
{
    uint64_t limit = UINT64_MAX, usage = UINT64_MAX;

    if (work->version == &VERSION_1)
        limit = read_number(work, "memory.memsw.limit_in_bytes");
    if (limit != UINT64_MAX)
        usage = read_number(work, "memory.memsw.usage_in_bytes");
    return usage != UINT64_MAX ? subtract(limit, usage) : UINT64_MAX;
}

/* The end of the path is what tells; strange bytes are for no log. */
static void
keep_path(struct work *work, const char *name)
{
    char *out = work->out->path;
    size_t len;

    (void)snprintf(work->folder + work->len, FILE_NAME_MAX, "/%s", name);
    len = strlen(work->folder);
    if (len < CGROUP_PATH_SIZE) {
        memcpy(out, work->folder, len + 1);
    } else {
        memcpy(out, "...", 3);
        memcpy(out + 3, work->folder + len - (CGROUP_PATH_SIZE - 4), CGROUP_PATH_SIZE - 3);
    }
    for (; *out != '\0'; out++)
        if (*out <= ' ' || *out > '~')
            *out = '?';
    work->folder[work->len] = '\0';
}

static void
read_group(struct work *work)
{
    const char *name = work->version->limit;
    uint64_t limit = read_number(work, name), high = UINT64_MAX;
    uint64_t usage, room, both;

    if (work->version->high != NULL && work->question->with_high)
        high = read_number(work, work->version->high);
    if (high < limit) {
        limit = high;
        name = work->version->high;
    }
    if (limit == UINT64_MAX)
        return;
    usage = read_number(work, work->version->usage);
    if (usage == UINT64_MAX)
        usage = 0;
    room = subtract(limit, usage);
    both = room_of_both(work);
    if (smaller(room, both) / 1024 < work->question->enough_kib) {
        uint64_t cache = smaller(droppable(work), usage);
        room = add(subtract(limit, usage - cache), swap_of_group(work));
        both = add(both, cache);
    }
    room = smaller(room, both);
    if (room / 1024 < work->out->available_kib) {
        work->out->available_kib = room / 1024;
        work->out->limit_kib = limit / 1024;
        keep_path(work, name);
    }
}

/* A group and all that it is in, as far as the mount shows them. group: its path below the mount.
 * false: it isn't there. */
static bool
read_groups(struct work *work, const char *mount, const char *group)
{
    size_t root_len = strlen(work->question->root), top;
    struct stat st;
    int n = snprintf(work->folder, PATH_SIZE, "%s%s%s", work->question->root, mount, group);

    if (n < 0 || n >= PATH_SIZE)
        return false;
    top = root_len + strlen(mount);
    work->len = (size_t)n;
    while (work->len > 0 && work->folder[work->len - 1] == '/')
        work->folder[--work->len] = '\0';
    if (stat(work->folder, &st) != 0 && errno != EOVERFLOW) /* its inode has 64 bits */
        return false;
    while (work->len >= top && work->len > root_len) {
        read_group(work);
        while (work->folder[work->len - 1] != '/')
            work->len--;
        work->folder[--work->len] = '\0';
    }
    return true;
}

/* ---- which group, and where ---------------------------------------------------------- */

/* Whether a list with commas between has this word. */
static bool
lists(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* The version that limits this process's memory, and its group's path there. false: not known. */
static bool
find_group(struct work *work, char group[LINE_SIZE])
{
    struct procfile file;
    char line[LINE_SIZE];

    work->version = NULL;
    if (!procfile_open(&file, work->question->root, "/proc/self/cgroup"))
        return false;
    while (work->version != &VERSION_1 && procfile_line(&file, line)) {
        char *controllers = strchr(line, ':'), *path;

        path = controllers == NULL ? NULL : strchr(++controllers, ':');
        if (path == NULL || path[1] != '/')
            continue;
        *path++ = '\0';
        if (lists(controllers, "memory"))
            work->version = &VERSION_1;
        else if (controllers[0] == '\0')
            work->version = &VERSION_2;
        else
            continue;
        memcpy(group, path, strlen(path) + 1);
    }
    procfile_close(&file);
    return work->version != NULL;
}

static int
octal(const char *at)
{
    int value = 0;

    for (int i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '7')
            return -1;
        value = value * 8 + (at[i] - '0');
    }
    return value;
}

/* The next word of a line, which is cut there; \040 and the like become what they stand for. */
static char *
next_word(char **at)
{
    char *word = *at, *end = *at + strcspn(*at, " "), *out = word;

    *at = *end == '\0' ? end : end + 1;
    for (const char *in = word; in < end; in++) {
        int byte = *in == '\\' ? octal(in + 1) : -1;
        *out++ = byte > 0 && byte < 256 ? (char)byte : *in;
        in += byte > 0 && byte < 256 ? 3 : 0;
    }
    *out = '\0';
    return word;
}

/* A line of mountinfo: whether it is a mount of this version, and if so of which part of the
 * hierarchy, and where. */
static bool
read_mount(char *line, const struct version *version, const char **part, const char **mount)
{
    char *at = line, *word;

    for (int i = 0; i < 3; i++)
        (void)next_word(&at);
    *part = next_word(&at);
    *mount = next_word(&at);
    do
        word = next_word(&at);
    while (word[0] != '\0' && strcmp(word, "-") != 0);
    if (strcmp(next_word(&at), version->type) != 0)
        return false;
    (void)next_word(&at);
    return version->controller == NULL || lists(next_word(&at), version->controller);
}

/* What is left of a group's path inside a part of the hierarchy; NULL: it isn't in there, or only
 * its way out of it can be seen. */
static const char *
inside(const char *group, const char *part)
{
    size_t len = strlen(part);
    const char *rest;

    while (len > 0 && part[len - 1] == '/')
        len--;
    if (strncmp(group, part, len) != 0 || (group[len] != '/' && group[len] != '\0'))
        return NULL;
    rest = group + len;
    for (const char *at = strstr(rest, "/.."); at != NULL; at = strstr(at + 1, "/.."))
        if (at[3] == '/' || at[3] == '\0')
            return NULL;
    return rest;
}

void
cgroup_read(const struct cgroup_question *question, struct cgroup_room *out)
{
    struct work work = {.question = question, .out = out};
    char group[LINE_SIZE], line[LINE_SIZE];
    const char *part, *mount, *rest;
    struct procfile file;
    bool done = false;

    out->available_kib = out->limit_kib = UINT64_MAX;
    out->path[0] = '\0';
    if (!find_group(&work, group))
        return;
    if (!procfile_open(&file, question->root, "/proc/self/mountinfo")) {
        rest = inside(group, "/");
        if (rest != NULL)
            (void)read_groups(&work, work.version->usual, rest);
        return;
    }
    while (!done && procfile_line(&file, line)) {
        if (!read_mount(line, work.version, &part, &mount))
            continue;
        rest = inside(group, part);
        done = rest != NULL && read_groups(&work, mount, rest);
    }
    procfile_close(&file);
}
