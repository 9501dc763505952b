/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/headroom.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_SIZE 2048
#define PATH_SIZE 2048
#define FILE_NAME_MAX 32   /* of the files in a group's folder */
#define READ_MAX (1 << 20) /* bytes of one file that are looked at */

/* What a hash takes besides its memory: page tables, the stacks of threads, and what the process
 * and the kernel (which charges groups in advance) need meanwhile. */
#define RESERVE_KIB 1024
#define RESERVE_PART 64

/* ---- numbers ------------------------------------------------------------------------- */

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

/* ---- files --------------------------------------------------------------------------- */

struct reader {
    int fd;
    size_t at, end, total;
    char bytes[1024];
};

static bool
reader_open(struct reader *reader, const char *path)
{
    reader->at = reader->end = reader->total = 0;
    reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return reader->fd >= 0;
}

static void
reader_close(struct reader *reader)
{
    (void)close(reader->fd);
}

static bool
reader_fill(struct reader *reader)
{
    ssize_t n;

    if (reader->total > READ_MAX)
        return false;
    do
        n = read(reader->fd, reader->bytes, sizeof(reader->bytes));
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    reader->at = 0;
    reader->end = (size_t)n;
    reader->total += (size_t)n;
    return true;
}

/* The next line, without its end; an empty one in place of what is too long. */
static bool
reader_line(struct reader *reader, char line[LINE_SIZE])
{
    size_t len = 0;
    bool any = false;

    while (reader->at < reader->end || reader_fill(reader)) {
        char c = reader->bytes[reader->at++];
        any = true;
        if (c == '\n')
            break;
        if (len < LINE_SIZE)
            line[len++] = c;
    }
    line[len < LINE_SIZE ? len : 0] = '\0';
    return any;
}

/* A line that has a name, and a number behind it. */
struct field {
    const char *name;
    uint64_t value; /* what it was before, where there is no such line */
    bool is_found;
};

static bool
read_field(const char *line, struct field *field)
{
    size_t len = strlen(field->name);

    return !field->is_found && strncmp(line, field->name, len) == 0 &&
           read_digits(line + len, &field->value);
}

/* Reads until all are found. */
static void
read_fields(const char *path, struct field *fields, size_t count)
{
    struct reader reader;
    char line[LINE_SIZE];
    size_t left = count;

    if (!reader_open(&reader, path))
        return;
    while (left > 0 && reader_line(&reader, line)) {
        for (size_t i = 0; i < count; i++) {
            if (read_field(line, &fields[i])) {
                fields[i].is_found = true;
                left--;
                break;
            }
        }
    }
    reader_close(&reader);
}

/* ---- one question -------------------------------------------------------------------- */

struct work {
    const struct headroom_question *question;
    uint64_t swap_kib; /* free, of the machine; 0: it doesn't count */
    uint64_t swappiness;
    struct headroom *out;
    char folder[PATH_SIZE + FILE_NAME_MAX]; /* of a group, and the name of a file in it */
};

static const char *
root_of(const struct work *work)
{
    return work->question->root != NULL ? work->question->root : "";
}

/* true: this limit leaves less than all before. */
static bool
lower(struct work *work, uint64_t available_kib, enum headroom_limit limit, uint64_t limit_kib)
{
    if (available_kib >= work->out->available_kib)
        return false;
    work->out->available_kib = available_kib;
    work->out->limit = limit;
    work->out->limit_kib = limit_kib;
    work->out->path[0] = '\0';
    return true;
}

/* Paths of root's that don't fit are of no file. */
static bool
join(char *path, size_t size, const char *root, const char *name)
{
    size_t root_len = strlen(root), len = strlen(name);

    if (root_len >= size || len >= size - root_len)
        return false;
    memcpy(path, root, root_len);
    memcpy(path + root_len, name, len + 1);
    return true;
}

static void
read_fields_of(struct work *work, const char *name, struct field *fields, size_t count)
{
    if (join(work->folder, sizeof(work->folder), root_of(work), name))
        read_fields(work->folder, fields, count);
}

static void
read_machine(struct work *work)
{
    struct field fields[] = {{"MemAvailable:", 0, false}, {"SwapFree:", 0, false}};
    struct field swappiness = {"", 60, false};

    read_fields_of(work, "/proc/meminfo", fields, work->question->with_swap ? 2 : 1);
    if (fields[1].value > 0)
        read_fields_of(work, "/proc/sys/vm/swappiness", &swappiness, 1);
    work->swap_kib = fields[1].value;
    work->swappiness = swappiness.value;
    if (fields[0].is_found)
        (void)lower(work, add(fields[0].value, work->swap_kib), HEADROOM_MACHINE,
                    add(fields[0].value, work->swap_kib));
}

/* What the process has already is looked up only where there is a limit. */
static void
read_limits(struct work *work)
{
    struct field fields[] = {{"VmSize:", 0, false}, {"VmData:", 0, false}};
    struct rlimit as = {RLIM_INFINITY, RLIM_INFINITY}, data = {RLIM_INFINITY, RLIM_INFINITY};

    (void)getrlimit(RLIMIT_AS, &as);
    if (!work->question->is_shared)
        (void)getrlimit(RLIMIT_DATA, &data);
    if (as.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY)
        return;
    read_fields_of(work, "/proc/self/status", fields, 2);
    if (fields[0].is_found && as.rlim_cur != RLIM_INFINITY)
        (void)lower(work, subtract((uint64_t)as.rlim_cur / 1024, fields[0].value), HEADROOM_AS,
                    (uint64_t)as.rlim_cur / 1024);
    if (fields[1].is_found && data.rlim_cur != RLIM_INFINITY)
        (void)lower(work, subtract((uint64_t)data.rlim_cur / 1024, fields[1].value), HEADROOM_DATA,
                    (uint64_t)data.rlim_cur / 1024);
}

/* ---- memory cgroups ------------------------------------------------------------------ */

struct version {
    const char *type;       /* of the file system */
    const char *controller; /* among its options; NULL: there are none */
    const char *usual;      /* where it is mounted, where nothing says so */
    const char *limit, *usage, *high;
    const char *cache[2],
        *busy[2]; /* lines of memory.stat: page cache, and what is to be written */
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

/* Bytes. Version 1 has no word for it: it says 2^63, less a page of up to 64 KiB. */
#define NO_LIMIT ((uint64_t)INT64_MAX - 65536)

/* Makes work->folder the path of one of its files until the NUL is put back at len. */
static void
name_file(struct work *work, size_t len, const char *name)
{
    work->folder[len] = '/';
    (void)snprintf(work->folder + len + 1, FILE_NAME_MAX - 1, "%s", name);
}

/* Bytes; UINT64_MAX: there is no such file, or no limit in it. */
static uint64_t
read_file(struct work *work, size_t len, const char *name)
{
    struct field field = {"", UINT64_MAX, false};

    name_file(work, len, name);
    read_fields(work->folder, &field, 1);
    work->folder[len] = '\0';
    return field.value;
}

/* Page cache of the group that can be dropped at once, in bytes. */
static uint64_t
droppable(struct work *work, size_t len, const struct version *version)
{
    struct field fields[] = {{version->cache[0], 0, false},
                             {version->cache[1], 0, false},
                             {version->busy[0], 0, false},
                             {version->busy[1], 0, false}};

    name_file(work, len, "memory.stat");
    read_fields(work->folder, fields, sizeof(fields) / sizeof(fields[0]));
    work->folder[len] = '\0';
    return subtract(add(fields[0].value, fields[1].value), add(fields[2].value, fields[3].value));
}

/* Limits of version 1 are of memory and swap together, those of version 2 of swap alone. */
static uint64_t
add_swap_1(struct work *work, size_t len, uint64_t cache, uint64_t room, uint64_t swap)
{
    uint64_t limit = read_file(work, len, "memory.memsw.limit_in_bytes");
    uint64_t usage = read_file(work, len, "memory.memsw.usage_in_bytes");
    uint64_t swappiness = read_file(work, len, "memory.swappiness");

    if (swappiness == 0 || (swappiness == UINT64_MAX && work->swappiness == 0))
        return room;
    room = add(room, swap);
    if (limit == UINT64_MAX || usage == UINT64_MAX)
        return room;
    return smaller(room, subtract(limit, subtract(usage, cache)));
}

static uint64_t
add_swap_2(struct work *work, size_t len, uint64_t room, uint64_t swap)
{
    uint64_t limit = read_file(work, len, "memory.swap.max");
    uint64_t usage = read_file(work, len, "memory.swap.current");

    if (work->swappiness == 0)
        return room;
    if (limit != UINT64_MAX && usage != UINT64_MAX)
        swap = smaller(swap, subtract(limit, usage));
    return add(room, swap);
}

/* What a group has room for if some of what it holds goes to swap, in bytes. room: without swap. In
 * a group whose swappiness is 0 somebody is killed before anything goes there. */
static uint64_t
add_swap(struct work *work, size_t len, const struct version *version, uint64_t cache,
         uint64_t room)
{
    uint64_t swap = work->swap_kib > UINT64_MAX / 1024 ? UINT64_MAX : work->swap_kib * 1024;

    if (swap == 0)
        return room;
    return version == &VERSION_1 ? add_swap_1(work, len, cache, room, swap)
                                 : add_swap_2(work, len, room, swap);
}

/* The end of the path is what tells; strange bytes are for no log. */
static void
keep_path(struct work *work, size_t len, const char *name)
{
    const char *path = work->folder;
    size_t path_len, size = sizeof(work->out->path);
    char *out = work->out->path;

    name_file(work, len, name);
    path_len = strlen(path);
    if (path_len >= size) {
        memcpy(out, "...", 3);
        memcpy(out + 3, path + path_len - (size - 4), size - 3);
    } else {
        memcpy(out, path, path_len + 1);
    }
    for (; *out != '\0'; out++)
        if (*out <= ' ' || *out > '~')
            *out = '?';
    work->folder[len] = '\0';
}

/* The group whose folder is work->folder, len bytes. */
static void
read_group(struct work *work, size_t len, const struct version *version)
{
    uint64_t limit = read_file(work, len, version->limit), high = UINT64_MAX, usage, room;
    const char *name = version->limit;

    if (version->high != NULL && !work->question->with_swap)
        high = read_file(work, len, version->high);
    if (high < limit) {
        limit = high;
        name = version->high;
    }
    if (limit >= NO_LIMIT)
        return;
    usage = read_file(work, len, version->usage);
    if (usage == UINT64_MAX)
        usage = 0;
    room = subtract(limit, usage);
    if (room / 1024 < work->question->enough_kib && room / 1024 < work->out->available_kib) {
        uint64_t cache = smaller(droppable(work, len, version), usage);
        room = add_swap(work, len, version, cache, subtract(limit, usage - cache));
    }
    if (lower(work, room / 1024, HEADROOM_CGROUP, limit / 1024))
        keep_path(work, len, name);
}

/* A group and all that it is in, as far as the mount shows them. group: its path below the mount.
 * false: it isn't there. */
static bool
read_groups(struct work *work, const char *mount, const char *group, const struct version *version)
{
    size_t root_len = strlen(root_of(work)), mount_len, len;
    struct stat st;

    if (!join(work->folder, PATH_SIZE, root_of(work), mount))
        return false;
    mount_len = strlen(work->folder);
    if (!join(work->folder + mount_len, PATH_SIZE - mount_len, group, ""))
        return false;
    len = strlen(work->folder);
    while (len > root_len + 1 && work->folder[len - 1] == '/')
        work->folder[--len] = '\0';
    if (stat(work->folder, &st) != 0)
        return false;
    while (len >= mount_len && len > root_len) {
        read_group(work, len, version);
        while (len > 0 && work->folder[len - 1] != '/')
            len--;
        if (len > 0)
            len--;
        work->folder[len] = '\0';
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

/* The group's path in the hierarchy that has its memory's limits; NULL: it isn't known. */
static const struct version *
find_group(struct work *work, char group[LINE_SIZE])
{
    const struct version *version = NULL;
    struct reader reader;
    char line[LINE_SIZE];

    if (!join(work->folder, sizeof(work->folder), root_of(work), "/proc/self/cgroup") ||
        !reader_open(&reader, work->folder))
        return NULL;
    while (version != &VERSION_1 && reader_line(&reader, line)) {
        char *controllers = strchr(line, ':'), *path;

        path = controllers == NULL ? NULL : strchr(++controllers, ':');
        if (path == NULL || path[1] != '/')
            continue;
        *path++ = '\0';
        if (lists(controllers, "memory"))
            version = &VERSION_1;
        else if (controllers[0] == '\0')
            version = &VERSION_2;
        else
            continue;
        memcpy(group, path, strlen(path) + 1);
    }
    reader_close(&reader);
    return version;
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

static void
read_cgroups(struct work *work)
{
    char group[LINE_SIZE], line[LINE_SIZE];
    const struct version *version = find_group(work, group);
    const char *part, *mount, *rest;
    struct reader reader;
    bool done = false;

    if (version == NULL)
        return;
    if (!join(work->folder, sizeof(work->folder), root_of(work), "/proc/self/mountinfo") ||
        !reader_open(&reader, work->folder)) {
        rest = inside(group, "/");
        if (rest != NULL)
            (void)read_groups(work, version->usual, rest, version);
        return;
    }
    while (!done && reader_line(&reader, line)) {
        if (!read_mount(line, version, &part, &mount))
            continue;
        rest = inside(group, part);
        done = rest != NULL && read_groups(work, mount, rest, version);
    }
    reader_close(&reader);
}

/* ---- the answer ---------------------------------------------------------------------- */

void
headroom_read(const struct headroom_question *question, struct headroom *out)
{
    struct work work = {.question = question, .out = out};
    int saved = errno, cancel_state;

    out->available_kib = out->limit_kib = UINT64_MAX;
    out->limit = HEADROOM_UNLIMITED;
    out->path[0] = '\0';
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    read_limits(&work);
    read_machine(&work);
    read_cgroups(&work);
    (void)pthread_setcancelstate(cancel_state, NULL);
    errno = saved;
}

void
headroom_describe(const struct headroom *headroom, char *out, size_t size)
{
    static const char *const names[] = {
        [HEADROOM_UNLIMITED] = "no limit",   [HEADROOM_MACHINE] = "MemAvailable of this machine",
        [HEADROOM_CGROUP] = "memory cgroup", [HEADROOM_AS] = "RLIMIT_AS",
        [HEADROOM_DATA] = "RLIMIT_DATA",
    };
    const char *name = names[headroom->limit];

    switch (headroom->limit) {
    case HEADROOM_UNLIMITED:
    case HEADROOM_MACHINE:
        (void)snprintf(out, size, "%s", name);
        break;
    case HEADROOM_CGROUP:
        (void)snprintf(out, size, "%s = %" PRIu64 "K", headroom->path, headroom->limit_kib);
        break;
    case HEADROOM_AS:
    case HEADROOM_DATA:
        (void)snprintf(out, size, "%s = %" PRIu64 "K", name, headroom->limit_kib);
        break;
    }
}

int
headroom_check(const struct headroom_need *need, bool *needs_swap,
               struct mhkdf_memory_report *report)
{
    uint64_t size_kib = need->size_kib;
    uint64_t needed_kib = add(add(size_kib, size_kib / RESERVE_PART), RESERVE_KIB);
    struct headroom_question question = {.root = need->root, .enough_kib = needed_kib};
    struct headroom headroom;

    if (needs_swap != NULL)
        *needs_swap = false;
    if (size_kib < HEADROOM_MIN_KIB)
        return 0;
    headroom_read(&question, &headroom);
    if (headroom.available_kib < needed_kib && !need->without_swap) {
        question.with_swap = true;
        headroom_read(&question, &headroom);
        if (needs_swap != NULL)
            *needs_swap = true;
    }
    if (headroom.available_kib >= needed_kib)
        return 0;
    if (report != NULL) {
        report->needed_kib = needed_kib;
        report->available_kib = headroom.available_kib;
        headroom_describe(&headroom, report->limit, sizeof(report->limit));
    }
    return ENOMEM;
}

void
headroom_explain(const struct mhkdf_memory_report *report, char *out, size_t size)
{
    if (report->needed_kib == 0)
        (void)snprintf(out, size, "not enough memory");
    else
        (void)snprintf(
            out, size, "not enough memory: %" PRIu64 "M needed, %" PRIu64 "M available (%s)",
            add(report->needed_kib, 1023) / 1024, report->available_kib / 1024, report->limit);
}
