/* SPDX-License-Identifier: BSD-2-Clause */
/* The system's crypt(3): crypt:PREFIX[:COUNT], count as for crypt_gensalt(3). */
#include <config.h>

#include <crypt.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine.h"
#include "policy/size.h"

struct method {
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    struct crypt_data data;
};

static void
close_crypt(struct engine *engine)
{
    free(engine->own);
    engine->own = NULL;
}

static int
wrong_argument(const struct engine *engine, char error[ENGINE_ERROR_SIZE])
{
    (void)snprintf(error, ENGINE_ERROR_SIZE,
                   "\"%.60s\": a prefix, and perhaps a count as for crypt_gensalt(3), that this "
                   "system's libcrypt knows was expected, such as crypt:$y$:5 or crypt:$6$:100000",
                   engine->name);
    return EINVAL;
}

/* PREFIX[:COUNT] */
static int
make_setting(const char *argument, char *setting, size_t size)
{
    char prefix[32], random[32];
    const char *colon = strchr(argument, ':');
    size_t len = colon == NULL ? strlen(argument) : (size_t)(colon - argument);
    uint32_t count = 0;

    if (len == 0 || len >= sizeof(prefix) ||
        (colon != NULL && size_parse_number(colon + 1, UINT32_MAX, &count) != 0))
        return EINVAL;
    memcpy(prefix, argument, len);
    prefix[len] = '\0';
    memset(random, engine_salt[0], sizeof(random));
    if (crypt_gensalt_rn(prefix, count, random, sizeof(random), setting, (int)size) == NULL)
        return EINVAL;
    return setting[0] == '*' ? EINVAL : 0;
}

static int
open_crypt(struct engine *engine, const char *argument, char error[ENGINE_ERROR_SIZE])
{
    struct method *method;
    Dl_info info;

    engine->function = ENGINE_CRYPT;
    engine->cost.threads = engine->cost.lanes = engine->cost.passes = 1;
    engine->cost.chain = engine->cost.memory_kib = 0;
    engine->cost.kernel = NULL;
    if (argument == NULL)
        return wrong_argument(engine, error);
    method = calloc(1, sizeof(*method));
    if (method == NULL) {
        (void)snprintf(error, ENGINE_ERROR_SIZE, "not enough memory");
        return EINVAL;
    }
    engine->own = method;
    if (make_setting(argument, method->setting, sizeof(method->setting)) != 0) {
        close_crypt(engine);
        return wrong_argument(engine, error);
    }
    if (dladdr((void *)(uintptr_t)crypt_rn, &info) == 0 || info.dli_fname == NULL)
        info.dli_fname = "libcrypt";
    (void)snprintf(engine->code, sizeof(engine->code), "%.500s", info.dli_fname);
    return 0;
}

static int
hash_crypt(struct engine *engine, void *memory, uint8_t tag[ENGINE_TAG_SIZE])
{
    struct method *method = engine->own;
    char phrase[ENGINE_PASSWORD_SIZE + 1];
    const char *hash;
    size_t len;

    (void)memory;
    memcpy(phrase, engine_password, ENGINE_PASSWORD_SIZE);
    phrase[ENGINE_PASSWORD_SIZE] = '\0';
    errno = 0;
    hash = crypt_rn(phrase, method->setting, &method->data, (int)sizeof(method->data));
    if (hash == NULL || hash[0] == '*')
        return errno == ENOMEM ? ENOMEM : EINVAL;
    len = strlen(hash); /* the end of the string tells hashes apart well enough */
    memset(tag, 0, ENGINE_TAG_SIZE);
    memcpy(tag, hash + (len > ENGINE_TAG_SIZE ? len - ENGINE_TAG_SIZE : 0),
           len > ENGINE_TAG_SIZE ? ENGINE_TAG_SIZE : len);
    return 0;
}

static const char *const names[] = {"crypt", NULL};

const struct engine_kind engine_crypt = {names, open_crypt, hash_crypt, close_crypt};
