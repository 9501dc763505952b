/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena_sample SOURCE MEMORY_KIB LANES THREADS [SOCKET]: one login's worth of work, for bench/arena
 * and bench/storm. SOURCE is "private"; or "arena", of which the socket is SOCKET; or "warm": a
 * second hash in memory of the arena's that it has borrowed before and keeps, which no login can do
 * faster. After a pause, it prints the milliseconds until it is verified, those that were waited
 * for the arena, where the memory was from, and its pages.
 */
#include <config.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcore/derive.h"
#include "libcore/mhkdf.h"
#include "libcore/source.h"

#define WAIT_MS 60000
#define PAUSE_MS 200

static double
clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int
hash_warm(uint32_t memory_kib, uint32_t lanes, unsigned threads, const struct mhkdf_arena *arena)
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
    struct mhkdf_memory_report report;
    const struct mhkdf_env env = {.arena = arena, .report = &report};
    struct source source;
    uint8_t tag[32];
    double start;

    if (source_get(&source, derive_size_kib(&in), &env) != 0)
        return 1;
    means.memory = source.base;
    (void)derive_with(&in, &means, tag, sizeof(tag));
    (void)poll(NULL, 0, PAUSE_MS);
    start = clock_ms();
    (void)derive_with(&in, &means, tag, sizeof(tag));
    printf("%.3f 0 %s -\n", clock_ms() - start,
           report.from == MHKDF_MEMORY_ARENA ? "warm" : "private");
    source_release(&source);
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
    double start;
    struct mhkdf_arena arena = {.service = "bench", .wait_ms = WAIT_MS};
    struct mhkdf_memory_report report;
    struct mhkdf_env env = {.report = &report};
    struct mhkdf_setting parts = {
        .cost = {MHKDF_METHOD_MHKDF1, 0, 1, 0, 6}, .salt = "saltsalt", .salt_len = 8};
    char setting[MHKDF_STRING_SIZE], out[MHKDF_STRING_SIZE];
    uint32_t memory_kib, lanes;
    int rc;

    if (argc < 5)
        return 2;
    memory_kib = (uint32_t)strtoul(argv[2], NULL, 10);
    lanes = (uint32_t)strtoul(argv[3], NULL, 10);
    env.threads = (unsigned)strtoul(argv[4], NULL, 10);
    arena.socket = argc > 5 ? argv[5] : NULL;
    arena.real_uid = (uint32_t)getuid();
    if (strcmp(argv[1], "warm") == 0)
        return hash_warm(memory_kib, lanes, env.threads, &arena);
    if (strcmp(argv[1], "arena") == 0)
        env.arena = &arena;
    parts.cost.memory_kib = memory_kib;
    parts.cost.lanes = lanes;
    if (mhkdf_encode(&parts, setting, sizeof(setting)) != 0)
        return 2;
    (void)poll(NULL, 0, PAUSE_MS); /* whoever started this has something to do meanwhile */
    start = clock_ms();
    rc = mhkdf_crypt("password", 8, setting, &env, out);
    printf("%.3f %lu %s %s\n", clock_ms() - start, (unsigned long)report.waited_ms,
           report.from == MHKDF_MEMORY_ARENA ? "arena" : "private", name_of_pages(report.pages));
    return rc == 0 ? 0 : 1;
}
