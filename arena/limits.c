/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 1024
#define LINE_SIZE 1024
#define FILE_SIZE (PATH_SIZE + 64)

struct files {
    const char *mount; /* where the hierarchy is */
    const char *limit; /* in each group's folder */
    const char *current;
    const char *stat;
    const char *cache; /* the line of stat with what can be dropped at once */
};

static const struct files VERSION_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                       "memory.usage_in_bytes", "memory.stat",
                                       "total_inactive_file "};
static const struct files VERSION_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                       "memory.stat", "inactive_file "};

/* The number at the start of a file; UINT64_MAX where there is none ("max"). */
static uint64_t
read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    uint64_t value = UINT64_MAX;

    if (file == NULL)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &value) != 1)
        value = UINT64_MAX;
    (void)fclose(file);
    return value;
}

/* The number behind a word that starts a line; 0 where there is none. */
static uint64_t
read_line(const char *path, const char *word)
{
    FILE *file = fopen(path, "re");
    char line[LINE_SIZE];
    uint64_t value = 0;

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, word, strlen(word)) == 0) {
            value = strtoull(line + strlen(word), NULL, 10);
            break;
        }
    (void)fclose(file);
    return value;
}

static void
lower(struct limits *out, uint64_t available, const char *what, const char *path, uint64_t limit)
{
    if (available >= out->available)
        return;
    out->available = available;
    (void)snprintf(out->what, sizeof(out->what), "%s%.300s (%" PRIu64 "M)", what, path,
                   limit / 1024 / 1024);
}

static void
read_group(const char *folder, const struct files *files, struct limits *out)
{
    char path[FILE_SIZE], stat[FILE_SIZE];
    uint64_t limit, current, cache;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, files->current);
    current = read_number(path);
    (void)snprintf(stat, sizeof(stat), "%s/%s", folder, files->stat);
    cache = read_line(stat, files->cache);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, files->limit);
    limit = read_number(path);
    if (limit == UINT64_MAX)
        return;
    if (current == UINT64_MAX)
        current = 0;
    current -= cache < current ? cache : current;
    lower(out, limit > current ? limit - current : 0, "the limit of the control group, ", path,
          limit);
}

/* A group and all that it is in. */
static void
read_groups(const char *root, const char *group, const struct files *files, struct limits *out)
{
    char folder[PATH_SIZE];
    size_t mount_len;
    char *slash;
    int n = snprintf(folder, sizeof(folder), "%s%s", root, files->mount);

    if (n < 0 || (size_t)n + strlen(group) >= sizeof(folder))
        return;
    mount_len = (size_t)n;
    strcpy(folder + mount_len, group);
    for (;;) {
        read_group(folder, files, out);
        slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < mount_len)
            return;
        *slash = '\0';
    }
}

void
limits_read(const char *root, struct limits *out)
{
    char path[PATH_SIZE], line[LINE_SIZE];
    uint64_t kib;
    FILE *file;

    out->available = UINT64_MAX;
    out->what[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    kib = read_line(path, "MemAvailable:");
    if (kib > 0)
        lower(out, kib * 1024, "what this machine has available", "", kib * 1024);

    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof(line), file) != NULL) {
        char *controllers = strchr(line, ':'), *group;

        line[strcspn(line, "\n")] = '\0';
        group = controllers == NULL ? NULL : strchr(++controllers, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        if (controllers[0] == '\0')
            read_groups(root, group, &VERSION_2, out);
        else if (strcmp(controllers, "memory") == 0)
            read_groups(root, group, &VERSION_1, out);
    }
    (void)fclose(file);
}

uint64_t
limits_free_hugetlb(const char *root)
{
    static const char folder[] = "/sys/kernel/mm/hugepages/hugepages-2048kB";
    char path[PATH_SIZE];
    uint64_t free_pages, reserved;

    (void)snprintf(path, sizeof(path), "%s%s/free_hugepages", root, folder);
    free_pages = read_number(path);
    (void)snprintf(path, sizeof(path), "%s%s/resv_hugepages", root, folder);
    reserved = read_number(path);
    if (free_pages == UINT64_MAX || reserved == UINT64_MAX || reserved > free_pages)
        return 0;
    return (free_pages - reserved) * 2 * 1024 * 1024;
}
