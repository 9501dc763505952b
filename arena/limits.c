/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/limits.h"

#include <inttypes.h>
#include <stdio.h>

#include "libcore/headroom.h"

#define PATH_SIZE 1024

/* The number at the start of a file; UINT64_MAX where there is none. */
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

/* Slots are shared memory, all of which may be locked: free swap is of no use to them. */
void
limits_read(const char *root, struct limits *out)
{
    const struct headroom_question question = {
        .root = root, .is_shared = true, .enough_kib = UINT64_MAX};
    struct headroom headroom;
    uint64_t mib;

    headroom_read(&question, &headroom);
    mib = headroom.limit_kib / 1024;
    out->available = UINT64_MAX;
    out->what[0] = '\0';
    if (headroom.limit == HEADROOM_UNLIMITED)
        return;
    if (headroom.available_kib < UINT64_MAX / 1024)
        out->available = headroom.available_kib * 1024;
    if (headroom.limit == HEADROOM_MACHINE)
        (void)snprintf(out->what, sizeof(out->what),
                       "what this machine has available (%" PRIu64 "M)", mib);
    else
        (void)snprintf(out->what, sizeof(out->what), "the limit of the %s%s (%" PRIu64 "M)",
                       headroom.limit == HEADROOM_CGROUP ? "control group, " : "address space",
                       headroom.path, mib);
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
