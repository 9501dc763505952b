/* SPDX-License-Identifier: BSD-2-Clause */
/* Our own library, with memory that is ready or, as in a login, with memory of its own. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/engine.h"
#include "libcore/bytes.h"
#include "libcore/derive.h"
#include "libcore/kernel.h"

#define X_SIZE 10 /* bytes: "mhkdf1" and LE32(c) */
#define ARGON2_VERSION 0x13

static const enum fill_method methods[] = {FILL_MHKDF1, FILL_ARGON2D, FILL_ARGON2I, FILL_ARGON2ID};
static const enum engine_function functions[] = {ENGINE_MHKDF1, ENGINE_ARGON2D, ENGINE_ARGON2I,
                                                 ENGINE_ARGON2ID};

/* x: room for X_SIZE bytes, which must live as long as what is returned. */
static struct derive
input_of(const struct engine *engine, uint8_t x[X_SIZE])
{
    const struct engine_cost *cost = &engine->cost;
    int is_mhkdf1 = engine->function == ENGINE_MHKDF1;

    memcpy(x, "mhkdf1", 6);
    bytes_store32(x + 6, cost->chain);
    return (struct derive){.method = methods[engine->number],
                           .version = ARGON2_VERSION,
                           .memory_kib = cost->memory_kib,
                           .passes = cost->passes,
                           .lanes = cost->lanes,
                           .chain = cost->chain,
                           .password = engine_password,
                           .password_len = ENGINE_PASSWORD_SIZE,
                           .salt = engine_salt,
                           .salt_len = ENGINE_SALT_SIZE,
                           .associated = x,
                           .associated_len = is_mhkdf1 ? X_SIZE : 0};
}

static int
is_portable(const char *kernel)
{
    return strcmp(kernel, kernel_name(NULL)) == 0;
}

/* The kernel that was asked for; NULL where it is the portable code or none was named. */
static const struct kernel *
find_kernel(const char *name)
{
    for (const struct kernel *const *k = kernel_all; name != NULL && *k != NULL; k++)
        if (strcmp(name, (*k)->name) == 0)
            return *k;
    return NULL;
}

static void
list_kernels(char *text, size_t size)
{
    for (const struct kernel *const *k = kernel_all; *k != NULL; k++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%s, ", (*k)->name);
    }
}

static int
check_kernel(const struct engine *engine, char error[ENGINE_ERROR_SIZE])
{
    const char *name = engine->cost.kernel;
    const struct kernel *kernel = find_kernel(name);
    int mode = kernel_mode_of(methods[engine->number], engine->cost.chain);
    char list[256] = "";

    if (name == NULL || is_portable(name))
        return 0;
    if (kernel == NULL) {
        list_kernels(list, sizeof(list));
        (void)snprintf(error, ENGINE_ERROR_SIZE,
                       "\"%.60s\": there is no kernel \"%.31s\" in this build; %sor portable was "
                       "expected",
                       engine->name, name, list);
        return EINVAL;
    }
    if (kernel->is_supported() && kernel_agrees(kernel, (enum kernel_mode)mode))
        return 0;
    (void)snprintf(error, ENGINE_ERROR_SIZE, "\"%.60s\": kernel \"%.31s\" %s", engine->name, name,
                   kernel->is_supported() ? "doesn't give what the portable code gives"
                                          : "can't run on this machine");
    return EINVAL;
}

static int
open_ours(struct engine *engine, const char *argument, char error[ENGINE_ERROR_SIZE])
{
    struct engine_cost *cost = &engine->cost;
    uint8_t x[X_SIZE];
    struct derive in;

    if (argument != NULL) {
        (void)snprintf(error, ENGINE_ERROR_SIZE,
                       "\"%.60s\": nothing was expected after the colon; \",KEY=VALUE\" sets what "
                       "differs from the options",
                       engine->name);
        return EINVAL;
    }
    engine->function = functions[engine->number];
    if (engine->function != ENGINE_MHKDF1)
        cost->chain = 0;
    if (check_kernel(engine, error) != 0)
        return EINVAL;
    if (cost->threads > cost->lanes)
        cost->threads = cost->lanes;
    in = input_of(engine, x);
    engine->size_kib = derive_size_kib(&in);
    engine->written_kib = (uint64_t)engine_used_kib(cost) * cost->passes;
    return 0;
}

static int
hash_ours(struct engine *engine, void *memory, uint8_t tag[ENGINE_TAG_SIZE])
{
    uint8_t x[X_SIZE];
    struct derive in = input_of(engine, x);
    struct derive_means means = {.kernel = engine->cost.kernel == NULL
                                               ? derive_kernel(&in)
                                               : find_kernel(engine->cost.kernel),
                                 .threads = engine->cost.threads,
                                 .memory = memory};

    (void)snprintf(engine->code, sizeof(engine->code), "%s", kernel_name(means.kernel));
    return derive_with(&in, &means, tag, ENGINE_TAG_SIZE);
}

static const char *const names[] = {"mhkdf", "argon2d", "argon2i", "argon2id", NULL};

const struct engine_kind engine_ours = {names, open_ours, hash_ours, NULL};
