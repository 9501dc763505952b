/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client SOCKET UID WAIT_MS MEMORY_KIB [require] [private] [cancel]: hashes once with memory of the
 * arena at SOCKET, and prints: result, where the memory was from, its pages, why not from the
 * arena, the string, and what it left behind (descriptors, mappings, threads): "0 0 0". With cancel
 * it does so in a thread that somebody has cancelled. For the tests.
 */
#include <config.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcore/mhkdf.h"

#define PATIENCE_MS 10000

struct count {
    int descriptors, mappings, threads;
};

static int
entries(const char *directory)
{
    DIR *dir = opendir(directory);
    int count = 0;

    if (dir == NULL)
        return -1;
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count;
}

/* Mappings of slots alone: those of a C library with caches come and go. */
static int
mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1024];
    int count = 0;

    if (maps == NULL)
        return -1;
    while (fgets(line, sizeof(line), maps) != NULL)
        count += strstr(line, "memfd:") != NULL;
    (void)fclose(maps);
    return count;
}

static void
take_count(struct count *count)
{
    count->descriptors = entries("/proc/self/fd");
    count->mappings = mappings();
    count->threads = entries("/proc/self/task");
}

struct hashing {
    const char *setting;
    const struct mhkdf_env *env;
    char *out;
    int rc;
};

static void *
hash(void *arg)
{
    struct hashing *hashing = arg;

    hashing->rc = mhkdf_crypt("password", 8, hashing->setting, hashing->env, hashing->out);
    return NULL;
}

static void *
hash_cancelled(void *arg)
{
    (void)pthread_cancel(pthread_self());
    return hash(arg);
}

static void
run_thread(void *(*work)(void *), void *arg)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, work, arg) == 0)
        (void)pthread_join(thread, NULL);
}

int
main(int argc, char **argv)
{
    struct mhkdf_arena arena = {.service = "test"};
    struct mhkdf_memory_report report = {0};
    struct mhkdf_env env = {.arena = &arena, .report = &report};
    struct count before, after;
    char setting[MHKDF_STRING_SIZE], out[MHKDF_STRING_SIZE];
    struct hashing hashing = {setting, &env, out, -1};
    struct mhkdf_setting parts = {
        .cost = {MHKDF_METHOD_MHKDF1, 0, 1, 2, 6}, .salt = "saltsalt", .salt_len = 8};
    int cancel = 0, rc;

    if (argc < 5)
        return 2;
    arena.socket = argv[1];
    arena.real_uid = (uint32_t)strtoul(argv[2], NULL, 10);
    arena.wait_ms = (uint32_t)strtoul(argv[3], NULL, 10);
    for (int i = 5; i < argc; i++) {
        arena.require |= strcmp(argv[i], "require") == 0;
        arena.private_when_busy |= strcmp(argv[i], "private") == 0;
        cancel |= strcmp(argv[i], "cancel") == 0;
    }
    parts.cost.memory_kib = (uint32_t)strtoul(argv[4], NULL, 10);
    if (mhkdf_encode(&parts, setting, sizeof(setting)) != 0)
        return 2;
    (void)mhkdf_crypt("p", 1, setting, NULL, out); /* whatever is made only once */
    take_count(&before);
    if (cancel)
        run_thread(hash_cancelled, &hashing);
    else
        (void)hash(&hashing);
    rc = hashing.rc;
    take_count(&after);
    /* A thread that has been joined is listed for a moment longer. */
    for (int i = 0; i < PATIENCE_MS && after.threads > before.threads; i++) {
        (void)usleep(1000);
        take_count(&after);
    }
    printf("%d %d %d %d %s %d %d %d\n", rc, report.from, report.pages, report.arena_error,
           rc == 0 ? out : "-", after.descriptors - before.descriptors,
           after.mappings - before.mappings, after.threads - before.threads);
    return 0;
}
