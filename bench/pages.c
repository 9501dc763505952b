/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "bench/pages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libcore/team.h"

#define HUGE_SIZE ((size_t)2 << 20)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

int
pages_map(struct pages *pages, uint64_t size_kib)
{
    size_t size, lead;
    char *base;

    pages->base = NULL;
    pages->size = 0;
    if (size_kib == 0 || size_kib > (SIZE_MAX / 2 - 2 * HUGE_SIZE) / 1024)
        return ENOMEM;
    size = ((size_t)size_kib * 1024 + HUGE_SIZE - 1) / HUGE_SIZE * HUGE_SIZE;
    base = mmap(NULL, size + HUGE_SIZE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return ENOMEM;
    lead = (HUGE_SIZE - (uintptr_t)base % HUGE_SIZE) % HUGE_SIZE;
    if (lead > 0)
        (void)munmap(base, lead);
    (void)munmap(base + lead + size, HUGE_SIZE - lead);
#ifdef MADV_HUGEPAGE
    (void)madvise(base + lead, size, MADV_HUGEPAGE);
#endif
    pages->base = base + lead;
    pages->size = size;
    return 0;
}

struct populate {
    struct pages *pages;
    int results[64]; /* of each member */
};

/* Before Linux 5.14. Where memory ends here, so does the process. */
static void
touch(char *base, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (size_t i = 0; i < size; i += page)
        *(volatile char *)(base + i) = 0;
}

/* A share of whole huge pages. */
static void
populate_share(struct team *team, unsigned member, void *ctx)
{
    struct populate *populate = ctx;
    size_t huge = populate->pages->size / HUGE_SIZE;
    size_t first = huge * member / team->members * HUGE_SIZE;
    size_t end = huge * (member + 1) / team->members * HUGE_SIZE;
    char *base = populate->pages->base;

    if (first == end || madvise(base + first, end - first, MADV_POPULATE_WRITE) == 0)
        return;
    if (errno == EINVAL)
        touch(base + first, end - first);
    else
        populate->results[member] = ENOMEM;
}

int
pages_populate(struct pages *pages, unsigned threads)
{
    struct populate populate = {.pages = pages};

    team_run(threads, populate_share, &populate);
    for (size_t i = 0; i < sizeof(populate.results) / sizeof(populate.results[0]); i++)
        if (populate.results[i] != 0)
            return populate.results[i];
    return 0;
}

void
pages_unmap(struct pages *pages)
{
    if (pages->base != NULL)
        (void)munmap(pages->base, pages->size);
    pages->base = NULL;
    pages->size = 0;
}

/* The number of a line "NAME:  N kB", or -1. */
static int
read_field(const char *line, const char *name, uint64_t *kib)
{
    size_t len = strlen(name);

    if (strncmp(line, name, len) != 0 || line[len] != ':')
        return -1;
    return sscanf(line + len + 1, "%" SCNu64, kib) == 1 ? 0 : -1;
}

int
pages_look(const struct pages *pages, uint64_t *resident_kib, uint64_t *huge_kib)
{
    uintptr_t start = (uintptr_t)pages->base, end = start + pages->size, from, to;
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    int inside = 0, found = 0;
    uint64_t kib;

    *resident_kib = *huge_kib = 0;
    if (file == NULL)
        return errno;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            inside = from >= start && to <= end; /* parts of it, where the kernel has split it */
        else if (inside && read_field(line, "Rss", &kib) == 0)
            *resident_kib += kib, found = 1;
        else if (inside && read_field(line, "AnonHugePages", &kib) == 0)
            *huge_kib += kib;
    }
    (void)fclose(file);
    return found ? 0 : ENOENT;
}
