/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of mhkdf.conf, fed with anything: an entry for libFuzzer, and what must hold then. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/config.h"
#include "tests/fuzz/fuzz.h"

/* Also without assertions, and in a way that fuzzers notice. */
static void
need(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "not true: %s\n", what);
        abort();
    }
}

static bool
in_group(void *ctx, const char *group)
{
    (void)ctx;
    return strlen(group) % 2 == 0;
}

static void
check_error(int rc, const struct config_error *error)
{
    size_t len = strnlen(error->text, CONFIG_ERROR_SIZE);

    need(len < CONFIG_ERROR_SIZE, "the error ends");
    need((rc == 0) == (len == 0), "there is an error or there is none");
    for (size_t i = 0; i < len; i++)
        need(error->text[i] >= 0x20 && error->text[i] < 0x7f, "the error is one printable line");
}

/* Whatever is accepted can be used. */
static void
check_policy(const struct config *config, const struct config_policy *policy)
{
    const struct mhkdf_cost *cost = &policy->cost;
    struct mhkdf_setting setting = {.cost = *cost, .salt = "saltsalt", .salt_len = 8};
    char string[MHKDF_STRING_SIZE];

    need(policy->method != NULL, "there is a method");
    need(mhkdf_encode(&setting, string, sizeof(string)) == 0, "the cost makes a string");
    need(policy->min_length >= 1 && policy->min_length <= MHKDF_CRYPT_PASSWORD_MAX, "min_length");
    need(policy->floor_action <= CONFIG_DENY && policy->use <= CONFIG_ARENA_OFF, "words");
    need(cost->memory_kib <= policy->ceiling_kib, "a new hash is below the ceiling");
    need(cost->passes <= policy->ceiling_passes, "and its passes");
    need(policy->floor_action == CONFIG_LOG || cost->memory_kib >= policy->floor_kib,
         "and isn't denied, nor due at once");
    need(policy->slots_max <= CONFIG_SLOTS_MAX && policy->wait_ms <= INT32_MAX, "numbers");
    need(config->arena.reserve < config->arena.slots, "reserve");
    need(config->arena.slots <= CONFIG_SLOTS_MAX && config->arena.slot_kib > 0, "slots");
}

int
fuzz_one(const uint8_t *data, size_t size)
{
    static const struct config_who who[] = {
        {"sshd", "bob", false, in_group, NULL}, {"su", "root", true, in_group, NULL},
        {NULL, NULL, false, NULL, NULL},        {"a", "a", false, in_group, NULL},
        {"login", "anna", false, NULL, NULL},
    };
    struct config_policy policy;
    struct config_error error;
    struct config config;
    char path[32];
    int fd = memfd_create("mhkdf.conf", 0);
    int rc;

    need(fd >= 0 && fchmod(fd, 0600) == 0, "a file in memory");
    need(write(fd, data, size) == (ssize_t)size, "that is written");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    rc = config_load(path, (uint32_t)geteuid(), true, &config, &error);
    close(fd);
    check_error(rc, &error);
    need(config.is_fallback == (rc != 0), "the fallback");
    for (size_t i = 0; i < sizeof(who) / sizeof(who[0]); i++) {
        memset(&policy, 0xff, sizeof(policy));
        config_look_up(&config, &who[i], &policy);
        check_policy(&config, &policy);
    }
    config_free(&config);
    return rc;
}

#ifdef FUZZ_WITH_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)fuzz_one(data, size);
    return 0;
}
#endif
