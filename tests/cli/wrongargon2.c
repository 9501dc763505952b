/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libargon2 that takes its memory and gives tags that are not Argon2's: they change from call to
 * call where passes is 3; it refuses where passes is 4, and asks for too much where passes is 5.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    uint32_t passes, memory_kib, lanes, threads, version;
    int (*allocate)(uint8_t **memory, size_t size);
    void (*release)(uint8_t *memory, size_t size);
    uint32_t flags;
};

__attribute__((visibility("default"))) int argon2_ctx(struct context *context, int type);

int
argon2_ctx(struct context *context, int type)
{
    static uint8_t calls;
    size_t size = (size_t)context->memory_kib * 1024;
    uint8_t *memory;

    if (context->passes == 4)
        return -1;
    if (context->allocate(&memory, context->passes == 5 ? SIZE_MAX / 2 : size) != 0)
        return -22;
    memset(memory, 1, size);
    context->release(memory, size);
    memset(context->out, type + 1, context->out_len);
    calls++;
    if (context->passes == 3)
        context->out[0] = calls;
    return 0;
}
