/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/config_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/config.h"
#include "policy/methods.h"
#include "policy/size.h"

enum type { NUMBER, SIZE, TIME, WORD, CHAIN, METHOD };

#define POLICY                                                                   \
    (1U << CONFIG_IN_DEFAULT | 1U << CONFIG_IN_SERVICE | 1U << CONFIG_IN_GROUP | \
     1U << CONFIG_IN_USER)
#define SERVICE (1U << CONFIG_IN_DEFAULT | 1U << CONFIG_IN_SERVICE)
#define ARENA (1U << CONFIG_IN_ARENA)

static const char *const switch_words[] = {"no", "yes", NULL};
static const char *const action_words[] = {"log", "expire", "deny", NULL};
static const char *const use_words[] = {"try", "require", "off", NULL};
static const char *const pages_words[] = {"auto", "hugetlb", "thp", "plain", NULL};

#define GIB (1024U * 1024)

/* slot_size 0, which can't be written: memory of [default]. */
static const struct key {
    const char *name;
    unsigned sections;
    enum type type;
    uint32_t builtin, min, max; /* of numbers; sizes in KiB, times in ms */
    const char *const *words;
} keys[CONFIG_KEY_COUNT] = {
    [CONFIG_KEY_MEMORY] = {"memory", POLICY, SIZE, MHKDF_MEMORY_DEFAULT_KIB, 1, 0, NULL},
    [CONFIG_KEY_PASSES] = {"passes", POLICY, NUMBER, MHKDF_PASSES_DEFAULT, 1, MHKDF_PASSES_MAX,
                           NULL},
    [CONFIG_KEY_LANES] = {"lanes", POLICY, NUMBER, MHKDF_LANES_DEFAULT, 1, MHKDF_LANES_MAX, NULL},
    [CONFIG_KEY_CHAIN] = {"chain", POLICY, CHAIN, MHKDF_CHAIN_DEFAULT, 0, 12, NULL},
    [CONFIG_KEY_METHOD] = {"method", POLICY, METHOD, METHODS_MHKDF, 0, 0, NULL},
    [CONFIG_KEY_THREADS] = {"threads", POLICY, NUMBER, 0, 0, MHKDF_LANES_MAX, NULL},
    [CONFIG_KEY_UPGRADE] = {"upgrade", POLICY, WORD, 1, 0, 0, switch_words},
    [CONFIG_KEY_FLOOR_MEMORY] = {"floor_memory", POLICY, SIZE, 0, 0, 0, NULL},
    [CONFIG_KEY_FLOOR_ACTION] = {"floor_action", POLICY, WORD, CONFIG_LOG, 0, 0, action_words},
    [CONFIG_KEY_CEILING_MEMORY] = {"ceiling_memory", POLICY, SIZE, 4 * GIB, 8, 0, NULL},
    [CONFIG_KEY_CEILING_PASSES] = {"ceiling_passes", POLICY, NUMBER, 64, 1, MHKDF_PASSES_MAX, NULL},
    [CONFIG_KEY_MIN_LENGTH] = {"min_length", POLICY, NUMBER, 8, 1, MHKDF_CRYPT_PASSWORD_MAX, NULL},
    [CONFIG_KEY_ARENA] = {"arena", POLICY, WORD, CONFIG_ARENA_TRY, 0, 0, use_words},
    [CONFIG_KEY_WAIT] = {"wait", POLICY, TIME, 10000, 0, 0, NULL},
    [CONFIG_KEY_SLOTS_MAX] = {"slots_max", SERVICE, NUMBER, 0, 0, CONFIG_SLOTS_MAX, NULL},
    [CONFIG_KEY_SLOTS] = {"slots", ARENA, NUMBER, 2, 1, CONFIG_SLOTS_MAX, NULL},
    [CONFIG_KEY_SLOT_SIZE] = {"slot_size", ARENA, SIZE, 0, 1, 0, NULL},
    [CONFIG_KEY_PAGES] = {"pages", ARENA, WORD, CONFIG_PAGES_AUTO, 0, 0, pages_words},
    [CONFIG_KEY_LOCK] = {"lock", ARENA, WORD, 1, 0, 0, switch_words},
    [CONFIG_KEY_LEASE] = {"lease", ARENA, TIME, 5000, 100, 0, NULL},
    [CONFIG_KEY_RESERVE] = {"reserve", ARENA, NUMBER, 1, 0, CONFIG_SLOTS_MAX - 1, NULL},
};

const char *
config_keys_title(const struct config_section *section, char out[CONFIG_TITLE_SIZE])
{
    static const char *const kinds[CONFIG_KIND_COUNT] = {"default", "service", "group", "user",
                                                         "arena"};
    const char *name = section->name;

    snprintf(out, CONFIG_TITLE_SIZE, "[%s%s%.64s]", kinds[section->kind], name != NULL ? " " : "",
             name != NULL ? name : "");
    return out;
}

const char *
config_keys_name(enum config_key key)
{
    return keys[key].name;
}

uint32_t
config_keys_builtin(enum config_key key)
{
    return keys[key].builtin;
}

uint32_t
config_keys_passes(const struct config_section *section, const struct methods_entry *method)
{
    if (section != NULL && section->lines[CONFIG_KEY_PASSES] != 0)
        return section->values[CONFIG_KEY_PASSES];
    return method->passes != 0 ? method->passes : keys[CONFIG_KEY_PASSES].builtin;
}

enum config_key
config_keys_find(enum config_kind kind, const char *name)
{
    unsigned key;

    for (key = 0; key < CONFIG_KEY_COUNT; key++) {
        if ((keys[key].sections & 1U << kind) != 0 && strcmp(keys[key].name, name) == 0)
            break;
    }
    return (enum config_key)key;
}

/* Adds a word of a list "a, b or c"; left is how many follow it. */
static void
append(char *out, size_t size, const char *word, unsigned left)
{
    size_t len = strlen(out);

    snprintf(out + len, size - len, "%s%s", word, left > 1 ? ", " : left == 1 ? " or " : "");
}

void
config_keys_list(enum config_kind kind, char *out, size_t size)
{
    unsigned key, left = 0;

    out[0] = '\0';
    for (key = 0; key < CONFIG_KEY_COUNT; key++)
        left += (keys[key].sections >> kind) & 1;
    for (key = 0; key < CONFIG_KEY_COUNT; key++) {
        if ((keys[key].sections & 1U << kind) != 0)
            append(out, size, keys[key].name, --left);
    }
}

static int
parse_word(const char *const *words, const char *text, uint32_t *value, char *expected, size_t size)
{
    unsigned i, count = 0;

    for (; words[count] != NULL; count++) {
        if (strcmp(text, words[count]) == 0) {
            *value = count;
            return 0;
        }
    }
    expected[0] = '\0';
    for (i = 0; i < count; i++)
        append(expected, size, words[i], count - 1 - i);
    return EINVAL;
}

static int
parse_method(const char *text, uint32_t *value, char *expected, size_t size)
{
    const char *why;
    uint32_t i;
    int rc;

    expected[0] = '\0';
    if (methods_find(text, value, &why) != 0) {
        for (i = 0; methods_get(i) != NULL; i++)
            append(expected, size, methods_get(i)->name,
                   methods_get(i + 1) == NULL   ? 0
                   : methods_get(i + 2) == NULL ? 1
                                                : 2);
        if (why != NULL)
            snprintf(expected + strlen(expected), size - strlen(expected), " (%s: %s)", text, why);
        return EINVAL;
    }
    snprintf(expected, size, "a method that this system's libcrypt has");
    rc = methods_check(methods_get(*value));
    return rc == ENOSYS ? EINVAL : rc;
}

static int
parse_size(const struct key *key, const char *text, uint32_t *value, char *expected, size_t size)
{
    int rc = size_parse_kib(text, value);

    /* No memory at all needs no unit. */
    if (key->min == 0 && strcmp(text, "0") == 0) {
        *value = 0;
        rc = 0;
    }
    if (rc == 0 && *value >= key->min)
        return 0;
    snprintf(expected, size, "a size with unit below 4096G, such as 64M or 1G (K, M or G),");
    return EINVAL;
}

static int
parse_number(const struct key *key, const char *text, uint32_t *value, char *expected, size_t size)
{
    if (size_parse_number(text, key->max, value) == 0 && *value >= key->min)
        return 0;
    snprintf(expected, size, "a number from %u to %u", key->min, key->max);
    return EINVAL;
}

int
config_keys_parse(enum config_key key, const char *text, uint32_t *value, char *expected,
                  size_t size)
{
    const struct key *entry = &keys[key];

    switch (entry->type) {
    case NUMBER:
        return parse_number(entry, text, value, expected, size);
    case SIZE:
        return parse_size(entry, text, value, expected, size);
    case TIME:
        snprintf(expected, size, "a time with unit of at least %ums, such as 500ms or 10s,",
                 entry->min);
        return size_parse_ms(text, value) == 0 && *value >= entry->min ? 0 : EINVAL;
    case WORD:
        return parse_word(entry->words, text, value, expected, size);
    case METHOD:
        return parse_method(text, value, expected, size);
    case CHAIN:
        break;
    }
    snprintf(expected, size, "0, 3, 6 or 12");
    if (size_parse_number(text, entry->max, value) != 0)
        return EINVAL;
    return *value == 0 || *value == 3 || *value == 6 || *value == 12 ? 0 : EINVAL;
}
