/* SPDX-License-Identifier: BSD-2-Clause */
/* What the values of a whole file must be to each other. */
#include <config.h>

#include <errno.h>
#include <stdio.h>

#include "policy/config_reader.h"
#include "policy/methods.h"

/* A value and where it is from. */
struct place {
    const struct config_section *section;
    enum config_key key;
};

/* Whether the value is to be looked at: it was given, or is the built-in one. */
static bool
has(const struct config_section *section, enum config_key key)
{
    return section->lines[key] != 0 || section->kind == CONFIG_IN_DEFAULT;
}

static uint32_t
value(const struct place *place)
{
    return place->section->values[place->key];
}

/* "in line 7, [service sshd]", or that it is built in. */
static const char *
where(const struct place *place, char *out, size_t size)
{
    char title[CONFIG_TITLE_SIZE];
    unsigned line = place->section->lines[place->key];

    if (line == 0)
        snprintf(out, size, "the built-in value");
    else
        snprintf(out, size, "in line %u, %s", line, config_keys_title(place->section, title));
    return out;
}

static const char *
unit(enum config_key key)
{
    return key == CONFIG_KEY_MEMORY || key == CONFIG_KEY_FLOOR_MEMORY ||
                   key == CONFIG_KEY_CEILING_MEMORY || key == CONFIG_KEY_SLOT_SIZE
               ? "K"
               : "";
}

static const struct methods_entry *
method_of(const struct place *place)
{
    return methods_get(value(place));
}

static const char *
text_of(const struct place *place, char *out, size_t size)
{
    if (place->key == CONFIG_KEY_METHOD)
        return method_of(place)->name;
    snprintf(out, size, "%u%s", value(place), unit(place->key));
    return out;
}

/* Refuses the file for two values that don't go together. The later line is the error's, and both
 * are named. */
static void
refuse(struct config_reader *reader, const struct place *a, const struct place *b, const char *why)
{
    unsigned lines[2] = {a->section->lines[a->key], b->section->lines[b->key]};
    char places[2][CONFIG_TITLE_SIZE + 32], texts[2][16];

    reader->line = lines[lines[1] > lines[0]];
    config_fail(reader, EINVAL, "%s: %s (%s), but %s is %s (%s): %s", config_keys_name(a->key),
                text_of(a, texts[0], sizeof(texts[0])), where(a, places[0], sizeof(places[0])),
                config_keys_name(b->key), text_of(b, texts[1], sizeof(texts[1])),
                where(b, places[1], sizeof(places[1])), why);
}

/* The section that has the largest or the smallest value of a key. */
static struct place
extreme(const struct config *config, enum config_key key, bool largest)
{
    struct place best = {&config->sections[0], key};
    size_t i;

    for (i = 1; i < config->count; i++) {
        const struct config_section *section = &config->sections[i];
        if (has(section, key) &&
            (largest ? section->values[key] > value(&best) : section->values[key] < value(&best)))
            best.section = section;
    }
    return best;
}

/* Whether both values can hold for one login: of two sections of the same kind only one concerns
 * it, and the one that counts more must leave the other's key to it. */
static bool
can_meet(const struct place *a, const struct place *b)
{
    if (!has(a->section, a->key) || !has(b->section, b->key))
        return false;
    if (a->section->kind == b->section->kind)
        return a->section == b->section;
    return a->section->kind > b->section->kind ? a->section->lines[b->key] == 0
                                               : b->section->lines[a->key] == 0;
}

/* Memory (KiB) or passes of a new hash, at most or at least, and what decides that: the key itself,
 * or a method with an amount of its own. */
struct made {
    struct place place;
    uint32_t amount;
};

static struct made
made_by(const struct place *memory, const struct place *method)
{
    struct made made = {*memory, methods_memory_kib(method_of(method), value(memory))};

    if (made.amount != value(memory))
        made.place = *method;
    return made;
}

static struct made
extreme_made(const struct config *config, bool largest)
{
    struct made best = {extreme(config, CONFIG_KEY_MEMORY, largest), 0};
    size_t i, j;

    best.amount = value(&best.place);
    for (i = 0; i < config->count; i++) {
        for (j = 0; j < config->count; j++) {
            struct place memory = {&config->sections[i], CONFIG_KEY_MEMORY};
            struct place method = {&config->sections[j], CONFIG_KEY_METHOD};
            struct made made;
            if (!can_meet(&memory, &method))
                continue;
            made = made_by(&memory, &method);
            if (largest ? made.amount > best.amount : made.amount < best.amount)
                best = made;
        }
    }
    return best;
}

/* The most passes of a new hash, and what decides that. */
static struct made
most_passes(const struct config *config)
{
    struct made best = {{&config->sections[0], CONFIG_KEY_PASSES}, 0};
    size_t i, j;

    for (i = 0; i < config->count; i++) {
        for (j = 0; j < config->count; j++) {
            struct place passes = {&config->sections[i], CONFIG_KEY_PASSES};
            struct place method = {&config->sections[j], CONFIG_KEY_METHOD};
            uint32_t count;
            if (!can_meet(&passes, &method))
                continue;
            count = config_keys_passes(passes.section, method_of(&method));
            if (count > best.amount)
                best = (struct made){count == value(&passes) ? passes : method, count};
        }
    }
    return best;
}

#define LOCKED_OUT "a hash of that cost would be refused, and its owner locked out"

/* A hash that one service makes must not be refused by another. */
static void
check_ceilings(struct config_reader *reader)
{
    struct made made = extreme_made(reader->config, true);
    struct made passes = most_passes(reader->config);
    struct place memory_ceiling = extreme(reader->config, CONFIG_KEY_CEILING_MEMORY, false);
    struct place passes_ceiling = extreme(reader->config, CONFIG_KEY_CEILING_PASSES, false);

    if (made.amount > value(&memory_ceiling))
        refuse(reader, &made.place, &memory_ceiling, LOCKED_OUT);
    if (passes.amount > value(&passes_ceiling))
        refuse(reader, &passes.place, &passes_ceiling, LOCKED_OUT);
}

/* The strictest of what can happen to logins with a hash below this floor. */
static enum config_action
action_below(const struct config *config, const struct place *floor)
{
    enum config_action strictest = CONFIG_LOG;
    size_t i;

    for (i = 0; i < config->count; i++) {
        struct place action = {&config->sections[i], CONFIG_KEY_FLOOR_ACTION};
        if (can_meet(floor, &action) && value(&action) > strictest)
            strictest = (enum config_action)value(&action);
    }
    return strictest;
}

/* Whose password expires as soon as he has set it never gets past sshd, which ends the session
 * after the change; and the days that are to pass between two changes would mean nothing to him. */
static void
check_floor(struct config_reader *reader)
{
    static const char *const why[] = {
        [CONFIG_EXPIRE] = "a new hash would expire at once, and its owner be locked out",
        [CONFIG_DENY] = "a new hash would be denied, and its owner locked out",
    };
    const struct config *config = reader->config;
    struct made least = extreme_made(config, false);
    enum config_action action;
    size_t i;

    for (i = 0; i < config->count; i++) {
        struct place floor = {&config->sections[i], CONFIG_KEY_FLOOR_MEMORY};
        if (!has(floor.section, floor.key) || least.amount >= value(&floor))
            continue;
        action = action_below(config, &floor);
        if (action != CONFIG_LOG)
            refuse(reader, &least.place, &floor, why[action]);
    }
}

static void
check_lanes(struct config_reader *reader)
{
    const struct config *config = reader->config;
    size_t i, j;

    for (i = 0; i < config->count && reader->rc == 0; i++) {
        for (j = 0; j < config->count; j++) {
            struct place memory = {&config->sections[i], CONFIG_KEY_MEMORY};
            struct place lanes = {&config->sections[j], CONFIG_KEY_LANES};
            if (can_meet(&memory, &lanes) && value(&memory) / 8 < value(&lanes))
                refuse(reader, &memory, &lanes, "at least 8K for each of the lanes were expected");
        }
    }
}

/* Hashes that fit no slot mustn't be made where somebody takes memory from the arena alone. Those
 * of libcrypt's methods take none of it. */
static void
check_slots(struct config_reader *reader)
{
    const struct config *config = reader->config;
    struct place slot = {&config->sections[1], CONFIG_KEY_SLOT_SIZE};
    size_t i, j;
    bool required = false;

    if (slot.section->lines[slot.key] == 0)
        slot = (struct place){&config->sections[0], CONFIG_KEY_MEMORY};
    for (i = 0; i < config->count; i++) {
        struct place use = {&config->sections[i], CONFIG_KEY_ARENA};
        required |= has(use.section, use.key) && value(&use) == CONFIG_ARENA_REQUIRE;
    }
    for (i = 0; required && i < config->count && reader->rc == 0; i++) {
        for (j = 0; j < config->count; j++) {
            struct place memory = {&config->sections[i], CONFIG_KEY_MEMORY};
            struct place method = {&config->sections[j], CONFIG_KEY_METHOD};
            if (can_meet(&memory, &method) && method_of(&method)->ours != 0 &&
                value(&memory) > value(&slot))
                refuse(reader, &memory, &slot,
                       "no slot of the arena holds a hash of that cost, and where arena is require "
                       "its owner would be locked out");
        }
    }
}

/* Whose password has expired must be able to set another one. */
static void
check_lengths(struct config_reader *reader)
{
    const struct config *config = reader->config;
    size_t i, j;

    for (i = 0; i < config->count && reader->rc == 0; i++) {
        for (j = 0; j < config->count; j++) {
            struct place min = {&config->sections[i], CONFIG_KEY_MIN_LENGTH};
            struct place method = {&config->sections[j], CONFIG_KEY_METHOD};
            if (can_meet(&min, &method) && value(&min) > methods_length_max(method_of(&method)))
                refuse(reader, &min, &method, "the method doesn't look at so many bytes");
        }
    }
}

static void
check_reserve(struct config_reader *reader)
{
    struct place reserve = {&reader->config->sections[1], CONFIG_KEY_RESERVE};
    struct place slots = {&reader->config->sections[1], CONFIG_KEY_SLOTS};

    if (value(&reserve) >= value(&slots))
        refuse(reader, &reserve, &slots, "less than the number of slots was expected");
}

void
config_rules_check(struct config_reader *reader)
{
    check_lanes(reader);
    check_reserve(reader);
    check_slots(reader);
    check_lengths(reader);
    check_ceilings(reader);
    check_floor(reader);
}
