/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "libcore/headroom.h"
#include "libcore/source.h"

/* A smaller hash is done before the daemon has answered, and makes no machine run out. */
#define ARENA_MIN_KIB 4096

static uint64_t
clock_ms(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t
lock_limit_kib(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return (uint64_t)limit.rlim_cur / 1024;
}

static int
get_private(struct source *source, uint64_t size_kib, const struct mhkdf_env *env,
            struct mhkdf_memory_report *report)
{
    const struct headroom_need need = {.size_kib = size_kib,
                                       .without_swap = env->without_swap != 0};
    bool needs_swap;
    int error = headroom_check(&need, &needs_swap, report);

    if (error == 0)
        error = memory_get(&source->own, size_kib);
    if (error != 0)
        return error;
    if (needs_swap)
        memory_unlock(&source->own);
    source->base = source->own.base;
    report->from = MHKDF_MEMORY_PRIVATE;
    report->locked = source->own.locked;
    report->in_swap = needs_swap;
    report->lock_limit_kib = lock_limit_kib();
    return 0;
}

static int
get_from_arena(struct source *source, uint64_t size_kib, const struct mhkdf_arena *arena,
               struct mhkdf_memory_report *report)
{
    uint64_t start_ms = clock_ms();
    int error = ENOMEM;

    if (size_kib <= (SIZE_MAX / 4) / 1024)
        error = arena_get(&source->lease, arena, (size_t)size_kib * 1024);
    report->waited_ms = (uint32_t)(clock_ms() - start_ms);
    report->arena_error = error;
    if (error != 0)
        return error;
    source->base = source->lease.base;
    report->from = MHKDF_MEMORY_ARENA;
    report->pages = source->lease.pages;
    return 0;
}

int
source_get(struct source *source, uint64_t size_kib, const struct mhkdf_env *env)
{
    struct mhkdf_memory_report unwanted;
    struct mhkdf_memory_report *report = env->report != NULL ? env->report : &unwanted;
    const struct mhkdf_arena *arena = env->arena;
    int error;

    memset(source, 0, sizeof *source);
    memset(report, 0, sizeof *report);
    report->size_kib = size_kib;
    if (arena == NULL || size_kib < ARENA_MIN_KIB)
        return get_private(source, size_kib, env, report);
    error = get_from_arena(source, size_kib, arena, report);
    if (error == 0 || (error == EBUSY && !arena->private_when_busy) ||
        (error == ECONNREFUSED && arena->require))
        return error;
    return get_private(source, size_kib, env, report);
}

void
source_release(struct source *source)
{
    arena_release(&source->lease);
    memory_release(&source->own);
    source->base = NULL;
}
