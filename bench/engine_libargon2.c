/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference implementation of Argon2, loaded when it is asked for: no package depends on it.
 * Its memory comes from the same mappings as ours.
 */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine.h"
#include "bench/pages.h"

#define ARGON2_VERSION 0x13

/* The interface of libargon2.so.1, declared here so that no header of it is needed. */
struct context {
    uint8_t *out;
    uint32_t out_len;
    uint8_t *password;
    uint32_t password_len;
    uint8_t *salt;
    uint32_t salt_len;
    uint8_t *secret;
    uint32_t secret_len;
    uint8_t *associated;
    uint32_t associated_len;
    uint32_t passes;
    uint32_t memory_kib;
    uint32_t lanes;
    uint32_t threads;
    uint32_t version;
    int (*allocate)(uint8_t **memory, size_t size);
    void (*release)(uint8_t *memory, size_t size);
    uint32_t flags;
};

struct library {
    void *handle;
    int (*hash)(struct context *context, int type);
};

/* What its allocators hand out; they get no context. */
static void *ready;
static struct pages fresh;
static int fresh_failed;

static int
allocate_ready(uint8_t **memory, size_t size)
{
    (void)size;
    *memory = ready;
    return 0;
}

static void
release_ready(uint8_t *memory, size_t size)
{
    (void)memory;
    (void)size;
}

static int
allocate_fresh(uint8_t **memory, size_t size)
{
    fresh_failed = pages_map(&fresh, size / 1024 + (size % 1024 != 0)) != 0;
    if (fresh_failed)
        return -1;
    *memory = fresh.base;
    return 0;
}

static void
release_fresh(uint8_t *memory, size_t size)
{
    (void)memory;
    (void)size;
    pages_unmap(&fresh);
}

static void
close_library(struct engine *engine)
{
    struct library *library = engine->own;

    if (library != NULL && library->handle != NULL)
        (void)dlclose(library->handle);
    free(library);
    engine->own = NULL;
}

/* Where the code is, and whether it wipes: a build that shows this switch has it put off. */
static void
look_at(struct engine *engine, const struct library *library)
{
    int *wipes = dlsym(library->handle, "FLAG_clear_internal_memory");
    Dl_info info;

    if (dladdr((void *)(uintptr_t)library->hash, &info) == 0 || info.dli_fname == NULL)
        info.dli_fname = "libargon2";
    (void)snprintf(engine->code, sizeof(engine->code), "%.500s", info.dli_fname);
    engine->wipes = wipes == NULL;
    if (wipes != NULL)
        *wipes = 0;
}

/* The loader takes a library that has the same soname and is there already for one that is asked
 * for by this name alone: so that one comes first. */
static void *
load_file(const char *path)
{
    static int default_loaded;

    if (!default_loaded) /* for the rest of the process */
        default_loaded = dlopen(ENGINE_LIBARGON2_DEFAULT, RTLD_NOW | RTLD_LOCAL) != NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int
load(struct engine *engine, const char *path, char error[ENGINE_ERROR_SIZE])
{
    struct library *library = calloc(1, sizeof(*library));
    const char *reason;

    if (library == NULL) {
        (void)snprintf(error, ENGINE_ERROR_SIZE, "not enough memory");
        return EINVAL;
    }
    engine->own = library;
    library->handle = load_file(path);
    if (library->handle != NULL)
        *(void **)&library->hash = dlsym(library->handle, "argon2_ctx");
    if (library->hash != NULL) {
        look_at(engine, library);
        return 0;
    }
    reason = dlerror();
    (void)snprintf(error, ENGINE_ERROR_SIZE,
                   "\"%.60s\": libargon2 can't be loaded (Debian: libargon2-1): %.400s",
                   engine->name, reason == NULL ? path : reason);
    close_library(engine);
    return EINVAL;
}

static int
open_libargon2(struct engine *engine, const char *argument, char error[ENGINE_ERROR_SIZE])
{
    static const enum engine_function functions[] = {ENGINE_ARGON2D, ENGINE_ARGON2D, ENGINE_ARGON2I,
                                                     ENGINE_ARGON2ID};
    struct engine_cost *cost = &engine->cost;

    engine->function = functions[engine->number];
    cost->chain = 0;
    cost->kernel = NULL;
    if (cost->threads > cost->lanes)
        cost->threads = cost->lanes;
    engine->size_kib = engine_used_kib(cost);
    engine->written_kib = engine->size_kib * cost->passes;
    return load(engine, argument == NULL ? engine_libargon2_path : argument, error);
}

static int
hash_libargon2(struct engine *engine, void *memory, uint8_t tag[ENGINE_TAG_SIZE])
{
    const struct library *library = engine->own;
    const struct engine_cost *cost = &engine->cost;
    uint8_t password[ENGINE_PASSWORD_SIZE], salt[ENGINE_SALT_SIZE];
    struct context context = {.out = tag,
                              .out_len = ENGINE_TAG_SIZE,
                              .password = password,
                              .password_len = sizeof(password),
                              .salt = salt,
                              .salt_len = sizeof(salt),
                              .passes = cost->passes,
                              .memory_kib = cost->memory_kib,
                              .lanes = cost->lanes,
                              .threads = cost->threads,
                              .version = ARGON2_VERSION,
                              .allocate = memory == NULL ? allocate_fresh : allocate_ready,
                              .release = memory == NULL ? release_fresh : release_ready};
    int rc;

    memcpy(password, engine_password, sizeof(password));
    memcpy(salt, engine_salt, sizeof(salt));
    ready = memory;
    fresh_failed = 0;
    rc = library->hash(&context, (int)engine->function - ENGINE_ARGON2D);
    pages_unmap(&fresh); /* where it hasn't given it back */
    return rc == 0 ? 0 : fresh_failed ? ENOMEM : EINVAL;
}

static const char *const names[] = {"libargon2", "libargon2d", "libargon2i", "libargon2id", NULL};

const struct engine_kind engine_libargon2 = {names, open_libargon2, hash_libargon2, close_library};
