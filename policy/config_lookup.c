/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <string.h>

#include "policy/config.h"
#include "policy/config_keys.h"

/* The sections that concern one login, by kind; NULL: the file has none. */
struct found {
    const struct config_section *of[CONFIG_KIND_COUNT];
};

static bool
is_named(const struct config_section *section, const char *name)
{
    return name != NULL && strcmp(section->name, name) == 0;
}

static void
find(const struct config *config, const struct config_who *who, struct found *found)
{
    size_t i;

    memset(found, 0, sizeof(*found));
    for (i = 0; i < config->count; i++) {
        const struct config_section *section = &config->sections[i];
        bool matches = false;
        if (found->of[section->kind] != NULL)
            continue;
        switch (section->kind) {
        case CONFIG_IN_DEFAULT:
            matches = true;
            break;
        case CONFIG_IN_SERVICE:
            matches = is_named(section, who->service);
            break;
        case CONFIG_IN_GROUP:
            matches = who->in_group != NULL && who->in_group(who->ctx, section->name);
            break;
        case CONFIG_IN_USER:
            matches = is_named(section, who->user);
            break;
        case CONFIG_IN_ARENA:
        case CONFIG_KIND_COUNT:
            break;
        }
        if (matches)
            found->of[section->kind] = section;
    }
}

/* The section that says it; NULL: none does. */
static const struct config_section *
said_by(const struct found *found, enum config_key key)
{
    const struct config_section *section;
    int kind;

    for (kind = CONFIG_IN_USER; kind >= CONFIG_IN_DEFAULT; kind--) {
        section = found->of[kind];
        if (section != NULL && section->lines[key] != 0)
            return section;
    }
    return NULL;
}

static uint32_t
look_up(const struct found *found, enum config_key key)
{
    const struct config_section *section = said_by(found, key);

    return section != NULL ? section->values[key] : config_keys_builtin(key);
}

/* What only root's own section can say; otherwise there is no such limit. */
static uint32_t
look_up_limit(const struct found *found, const struct config_who *who, enum config_key key,
              uint32_t none)
{
    const struct config_section *user = found->of[CONFIG_IN_USER];

    if (!who->is_root)
        return look_up(found, key);
    return user != NULL && user->lines[key] != 0 ? user->values[key] : none;
}

/* An arena that is required, and isn't there, must not lock root out. */
static enum config_use
look_up_arena(const struct found *found, const struct config_who *who)
{
    enum config_use use = (enum config_use)look_up(found, CONFIG_KEY_ARENA);
    const struct config_section *user = found->of[CONFIG_IN_USER];

    if (use == CONFIG_ARENA_REQUIRE && who->is_root &&
        (user == NULL || user->lines[CONFIG_KEY_ARENA] == 0))
        use = CONFIG_ARENA_TRY;
    return use;
}

static void
look_up_cost(const struct found *found, struct config_policy *out)
{
    const struct config_section *memory;
    struct mhkdf_cost *cost = &out->cost;

    out->method = methods_get(look_up(found, CONFIG_KEY_METHOD));
    cost->method =
        out->method->ours != 0 ? (enum mhkdf_method)out->method->ours : MHKDF_METHOD_MHKDF1;
    cost->memory_kib = look_up(found, CONFIG_KEY_MEMORY);
    cost->passes = config_keys_passes(said_by(found, CONFIG_KEY_PASSES), out->method);
    cost->lanes = look_up(found, CONFIG_KEY_LANES);
    memory = said_by(found, CONFIG_KEY_MEMORY);
    out->idle_memory_line = memory != NULL && methods_memory_kib(out->method, cost->memory_kib) == 0
                                ? memory->lines[CONFIG_KEY_MEMORY]
                                : 0;
    cost->chain = cost->method == MHKDF_METHOD_MHKDF1 ? look_up(found, CONFIG_KEY_CHAIN) : 0;
}

void
config_look_up(const struct config *config, const struct config_who *who, struct config_policy *out)
{
    struct found found;

    find(config, who, &found);
    look_up_cost(&found, out);
    out->threads = look_up(&found, CONFIG_KEY_THREADS);
    out->upgrade = look_up(&found, CONFIG_KEY_UPGRADE) != 0;
    out->floor_kib = look_up_limit(&found, who, CONFIG_KEY_FLOOR_MEMORY, 0);
    out->floor_action =
        (enum config_action)look_up_limit(&found, who, CONFIG_KEY_FLOOR_ACTION, CONFIG_LOG);
    out->ceiling_kib = look_up_limit(&found, who, CONFIG_KEY_CEILING_MEMORY, UINT32_MAX);
    out->ceiling_passes = look_up_limit(&found, who, CONFIG_KEY_CEILING_PASSES, UINT32_MAX);
    out->min_length = look_up(&found, CONFIG_KEY_MIN_LENGTH);
    out->use = look_up_arena(&found, who);
    out->wait_ms = look_up(&found, CONFIG_KEY_WAIT);
    out->slots_max = look_up(&found, CONFIG_KEY_SLOTS_MAX);
    if (config->is_fallback) {
        out->upgrade = false;
        out->ceiling_kib = UINT32_MAX;
        out->ceiling_passes = UINT32_MAX;
    }
}

uint32_t
config_slots_max(const struct config *config, const char *service)
{
    const struct config_who who = {.service = service};
    struct found found;

    find(config, &who, &found);
    return look_up(&found, CONFIG_KEY_SLOTS_MAX);
}
