/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <sys/mman.h>

#include "libcore/memory.h"

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

int
memory_get(struct memory *memory, uint64_t size_kib)
{
    int saved = errno;
    void *base;

    memory->base = NULL;
    memory->size = 0;
    if (size_kib == 0 || size_kib > (SIZE_MAX / 2) / 1024)
        return ENOMEM;
    base = mmap(NULL, (size_t)size_kib * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (base == MAP_FAILED) {
        errno = saved;
        return ENOMEM;
    }
    memory->base = base;
    memory->size = (size_t)size_kib * 1024;
    advise(base, memory->size);
    errno = saved;
    return 0;
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
