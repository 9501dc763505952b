/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "bench/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libcore/mhkdf.h"
#include "policy/size.h"

#define CHAIN_MAX 12
#define KIB_PER_LANE_MIN 8
#define SLICES 4

const uint8_t engine_password[ENGINE_PASSWORD_SIZE] = {'p', 'a', 's', 's', 'w', 'o', 'r', 'd'};
const uint8_t engine_salt[ENGINE_SALT_SIZE] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
const char *engine_libargon2_path = ENGINE_LIBARGON2_DEFAULT;

static const struct engine_kind *const kinds[] = {&engine_ours, &engine_libargon2, &engine_crypt,
                                                  &engine_limit};

static int
find_kind(struct engine *engine, const char *name, char error[ENGINE_ERROR_SIZE])
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (unsigned i = 0; kinds[k]->names[i] != NULL; i++) {
            if (strcmp(name, kinds[k]->names[i]) == 0) {
                engine->kind = kinds[k];
                engine->number = i;
                return 0;
            }
        }
    }
    (void)snprintf(error, ENGINE_ERROR_SIZE,
                   "\"%.40s\" is no engine; mhkdf, argon2d, argon2i, argon2id, libargon2d, "
                   "libargon2i, libargon2id, crypt:PREFIX, copy or random was expected",
                   name);
    return EINVAL;
}

/* One KEY=VALUE of a specification. */
static int
read_key(struct engine *engine, const char *key, const char *value, char error[ENGINE_ERROR_SIZE])
{
    struct engine_cost *cost = &engine->cost;
    uint32_t threads = 0;
    int rc = EINVAL;

    if (strcmp(key, "m") == 0) {
        rc = size_parse_kib(value, &cost->memory_kib);
        if (rc == EINVAL)
            rc = size_parse_number(value, UINT32_MAX, &cost->memory_kib);
    } else if (strcmp(key, "t") == 0) {
        rc = size_parse_number(value, MHKDF_PASSES_MAX, &cost->passes);
    } else if (strcmp(key, "p") == 0) {
        rc = size_parse_number(value, MHKDF_LANES_MAX, &cost->lanes);
    } else if (strcmp(key, "c") == 0) {
        rc = size_parse_number(value, CHAIN_MAX, &cost->chain);
    } else if (strcmp(key, "threads") == 0) {
        rc = size_parse_number(value, ENGINE_THREADS_MAX, &threads);
        cost->threads = threads;
    } else if (strcmp(key, "kernel") == 0) {
        rc = strlen(value) < sizeof(engine->kernel) ? 0 : EINVAL;
        if (rc == 0)
            memcpy(engine->kernel, value, strlen(value) + 1);
        cost->kernel = engine->kernel;
    } else {
        (void)snprintf(error, ENGINE_ERROR_SIZE,
                       "\"%.60s\": there is no \"%.20s\"; m, t, p, c, threads or kernel was "
                       "expected",
                       engine->name, key);
        return EINVAL;
    }
    if (rc != 0)
        (void)snprintf(error, ENGINE_ERROR_SIZE, "\"%.60s\": %s can't be \"%.40s\"", engine->name,
                       key, value);
    return rc == 0 ? 0 : EINVAL;
}

/* NAME[:ARGUMENT][,KEY=VALUE ...]; text is taken apart in place. */
static int
read_specification(struct engine *engine, char *text, const char **argument,
                   char error[ENGINE_ERROR_SIZE])
{
    char *rest = strchr(text, ','), *colon;
    int rc;

    if (rest != NULL)
        *rest++ = '\0';
    colon = strchr(text, ':');
    if (colon != NULL)
        *colon++ = '\0';
    *argument = colon;
    rc = find_kind(engine, text, error);
    if (rc == 0 && engine->cost.passes == 0)
        engine->cost.passes =
            strstr(text, "argon2") != NULL ? MHKDF_PASSES_ARGON2 : MHKDF_PASSES_DEFAULT;
    while (rc == 0 && rest != NULL) {
        char *key = rest, *value = strchr(key, '=');

        rest = strchr(key, ',');
        if (rest != NULL)
            *rest++ = '\0';
        if (value == NULL || (rest != NULL && value > rest)) {
            (void)snprintf(error, ENGINE_ERROR_SIZE,
                           "\"%.60s\": \"%.40s\" is no KEY=VALUE, such as c=3", engine->name, key);
            return EINVAL;
        }
        *value++ = '\0';
        rc = read_key(engine, key, value, error);
    }
    return rc;
}

int
engine_is_fill(const struct engine *engine)
{
    return engine->function != ENGINE_CRYPT && engine->function != ENGINE_LIMIT;
}

/* The ranges of SPEC.md section 2, which hold for libargon2 too. */
static int
check_cost(const struct engine *engine, char error[ENGINE_ERROR_SIZE])
{
    const struct engine_cost *cost = &engine->cost;
    const char *wrong = NULL;

    if (cost->threads < 1 || cost->threads > ENGINE_THREADS_MAX)
        wrong = "threads must be from 1 to 64";
    else if (cost->lanes < 1 || cost->lanes > MHKDF_LANES_MAX)
        wrong = "lanes must be from 1 to 64";
    else if (cost->passes < 1 || cost->passes > MHKDF_PASSES_MAX)
        wrong = "passes must be from 1 to 16777215";
    else if (cost->chain != 0 && cost->chain != 3 && cost->chain != 6 && cost->chain != 12)
        wrong = "the chain must be 0, 3, 6 or 12";
    else if (cost->memory_kib < KIB_PER_LANE_MIN * cost->lanes)
        wrong = "memory must be at least 8 KiB a lane";
    if (wrong == NULL)
        return 0;
    (void)snprintf(error, ENGINE_ERROR_SIZE, "\"%.60s\": %s", engine->name, wrong);
    return EINVAL;
}

uint32_t
engine_used_kib(const struct engine_cost *cost)
{
    return cost->memory_kib / (SLICES * cost->lanes) * (SLICES * cost->lanes);
}

int
engine_open(struct engine *engine, const char *specification, const struct engine_cost *defaults,
            const char *libargon2, char error[ENGINE_ERROR_SIZE])
{
    char text[ENGINE_NAME_SIZE];
    const char *argument;

    memset(engine, 0, sizeof(*engine));
    if (strlen(specification) >= sizeof(text)) {
        (void)snprintf(error, ENGINE_ERROR_SIZE,
                       "\"%.40s...\" is too long; at most %zu characters were expected",
                       specification, sizeof(text) - 1);
        return EINVAL;
    }
    memcpy(text, specification, strlen(specification) + 1);
    memcpy(engine->name, text, sizeof(text));
    engine->cost = *defaults;
    engine_libargon2_path = libargon2 == NULL ? ENGINE_LIBARGON2_DEFAULT : libargon2;
    if (read_specification(engine, text, &argument, error) != 0 || check_cost(engine, error) != 0)
        return EINVAL;
    return engine->kind->open(engine, argument, error);
}

int
engine_hash(struct engine *engine, void *memory, uint8_t tag[ENGINE_TAG_SIZE])
{
    return engine->kind->hash(engine, memory, tag);
}

void
engine_close(struct engine *engine)
{
    if (engine->kind != NULL && engine->kind->close != NULL)
        engine->kind->close(engine);
    engine->kind = NULL;
}

int
engine_is_same(const struct engine *a, const struct engine *b)
{
    return engine_is_fill(a) && a->function == b->function &&
           a->cost.memory_kib == b->cost.memory_kib && a->cost.passes == b->cost.passes &&
           a->cost.lanes == b->cost.lanes && a->cost.chain == b->cost.chain;
}
