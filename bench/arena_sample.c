/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena_sample SOURCE MEMORY_KIB LANES THREADS [N]: one login's worth of work, for bench/arena and
 * bench/storm. SOURCE is the path of the arena's socket, or "private"; or "warm": N hashes in
 * memory that is there before the clock starts, each after a pause, as a login comes after one; or
 * "cold": the same, but the caches hold nothing of that memory. Prints, for each hash, the
 * milliseconds from the start of main() (warm, cold: of the hash) until it is verified, those
 * that were waited for the arena, where the memory was from, and its pages.
 */
#include <config.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcore/derive.h"
#include "libcore/memory.h"
#include "libcore/mhkdf.h"

#define WAIT_MS 60000
#define CACHES_KIB (256 * 1024)
#define PAUSE_MS 200 /* bench/arena makes as long a one before the others */

static double
clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Writes more than the caches hold. */
static void
chill(const struct memory *other)
{
    memset(other->base, 1, other->size);
    __asm__ __volatile__("" ::"r"(other->base) : "memory");
}

static int
hash_warm(int cold, uint32_t memory_kib, uint32_t lanes, unsigned threads, int runs)
{
    struct derive in = {.method = FILL_MHKDF1,
                        .version = 0x13,
                        .memory_kib = memory_kib,
                        .passes = 1,
                        .lanes = lanes,
                        .chain = 6,
                        .password = "password",
                        .password_len = 8,
                        .salt = "0123456789abcdef",
                        .salt_len = 16};
    struct derive_means means = {.kernel = derive_kernel(&in), .threads = threads};
    struct memory memory, other;
    uint8_t tag[32];

    if (memory_get(&memory, derive_size_kib(&in)) != 0 || memory_get(&other, CACHES_KIB) != 0)
        return 1;
    means.memory = memory.base;
    (void)derive_with(&in, &means, tag, sizeof(tag));
    for (int i = 0; i < runs; i++) {
        double start;
        if (cold)
            chill(&other);
        (void)poll(NULL, 0, PAUSE_MS);
        start = clock_ms();
        (void)derive_with(&in, &means, tag, sizeof(tag));
        printf("%.3f 0 %s -\n", clock_ms() - start, cold ? "cold" : "warm");
        (void)fflush(stdout);
    }
    memory_release(&memory);
    memory_release(&other);
    return 0;
}

static const char *
name_of_pages(int pages)
{
    return pages == MHKDF_PAGES_HUGETLB ? "hugetlb"
           : pages == MHKDF_PAGES_THP   ? "thp"
           : pages == MHKDF_PAGES_PLAIN ? "plain"
                                        : "-";
}

int
main(int argc, char **argv)
{
    double start = clock_ms();
    struct mhkdf_arena arena = {.service = "bench", .wait_ms = WAIT_MS};
    struct mhkdf_memory_report report;
    struct mhkdf_env env = {.report = &report};
    char setting[MHKDF_STRING_SIZE], out[MHKDF_STRING_SIZE];
    uint32_t memory_kib, lanes;
    int rc;

    if (argc < 5)
        return 2;
    memory_kib = (uint32_t)strtoul(argv[2], NULL, 10);
    lanes = (uint32_t)strtoul(argv[3], NULL, 10);
    env.threads = (unsigned)strtoul(argv[4], NULL, 10);
    if (strcmp(argv[1], "warm") == 0 || strcmp(argv[1], "cold") == 0)
        return hash_warm(argv[1][0] == 'c', memory_kib, lanes, env.threads,
                         argc > 5 ? atoi(argv[5]) : 1);
    arena.socket = argv[1];
    arena.real_uid = (uint32_t)getuid();
    if (strcmp(argv[1], "private") != 0)
        env.arena = &arena;
    (void)snprintf(setting, sizeof(setting),
                   "$mhkdf$v=1$m=%lu,t=1,p=%lu,c=6$MDEyMzQ1Njc4OWFiY2RlZg",
                   (unsigned long)memory_kib, (unsigned long)lanes);
    rc = mhkdf_crypt("password", 8, setting, &env, out);
    printf("%.3f %lu %s %s\n", clock_ms() - start, (unsigned long)report.waited_ms,
           report.from == MHKDF_MEMORY_ARENA ? "arena" : "private", name_of_pages(report.pages));
    return rc == 0 ? 0 : 1;
}
