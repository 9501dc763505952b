/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libcore/memory.h"

#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* Newer than some C libraries. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

/* Advice only: a kernel that doesn't know one of them is as good as before. */
static void
advise(void *base, size_t size)
{
#ifdef MADV_DONTDUMP
    (void)madvise(base, size, MADV_DONTDUMP);
#endif
#ifdef MADV_WIPEONFORK
    (void)madvise(base, size, MADV_WIPEONFORK);
#endif
#ifdef MADV_HUGEPAGE
    (void)madvise(base, size, MADV_HUGEPAGE);
#endif
}

/* Plain mlock would fault all of it in, by this one thread. */
static int
lock(void *base, size_t size)
{
#ifdef SYS_mlock2
    return syscall(SYS_mlock2, base, size, MLOCK_ONFAULT) == 0;
#else
    (void)base;
    (void)size;
    return 0;
#endif
}

static void *
map(size_t size)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return base == MAP_FAILED ? NULL : base;
}

/* At a multiple of a huge page where that pays: what is too much in front and behind goes back. */
static void *
map_aligned(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t start, base;

    if (size < HUGE_PAGE)
        return map(size);
    size = (size + page - 1) / page * page;
    start = (uintptr_t)map(size + HUGE_PAGE);
    if (start == 0)
        return map(size);
    base = (start + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (base > start)
        (void)munmap((void *)start, base - start);
    if (base < start + HUGE_PAGE)
        (void)munmap((void *)(base + size), start + HUGE_PAGE - base);
    return (void *)base;
}

int
memory_get(struct memory *memory, uint64_t size_kib)
{
    int saved = errno;

    memory->base = NULL;
    memory->size = 0;
    memory->locked = 0;
    if (size_kib == 0 || size_kib > (SIZE_MAX / 2) / 1024)
        return ENOMEM;
    memory->base = map_aligned((size_t)size_kib * 1024);
    if (memory->base != NULL) {
        memory->size = (size_t)size_kib * 1024;
        advise(memory->base, memory->size);
        memory->locked = lock(memory->base, memory->size);
    }
    errno = saved;
    return memory->base != NULL ? 0 : ENOMEM;
}

void
memory_populate(void *start, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)start & ~(page - 1);
    int saved = errno;

    (void)madvise((void *)from, (uintptr_t)start + size - from, MADV_POPULATE_WRITE);
    errno = saved;
}

void
memory_unlock(struct memory *memory)
{
    int saved = errno;

    if (memory->locked)
        (void)munlock(memory->base, memory->size);
    memory->locked = 0;
    errno = saved;
}

void
memory_release(struct memory *memory)
{
    int saved = errno;

    if (memory->base != NULL)
        (void)munmap(memory->base, memory->size);
    memory->base = NULL;
    memory->size = 0;
    errno = saved;
}
