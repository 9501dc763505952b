/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/ruling.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "pam/names.h"
#include "pam/place.h"
#include "policy/shortage.h"

#define NO_GROUP SIZE_MAX

/* What the name service says of the user and the file's groups, in their order. It is asked once
 * about each: it may be slow where something is wrong with it. */
struct asked {
    const char *user;
    int answers[CONFIG_SECTIONS_MAX]; /* as names_find_member */
    size_t kept;                      /* how many of these there are */
    size_t next;                      /* which group comes next */
    size_t assumed;    /* one that counts as his though nobody can tell; NO_GROUP: none */
    int error;         /* of a group about which nobody can tell, the first, or the first for want
                          of something here; 0: all is known */
    const char *group; /* its name */
};

/* Want of memory or descriptors here, as far as it can be told from a server that doesn't answer,
 * for which sources say EAGAIN. */
static int
own_shortage(int error)
{
    return shortage_is(error) && error != EAGAIN ? error : 0;
}

static bool
in_group(void *ctx, const char *group)
{
    struct asked *asked = ctx;
    size_t this = asked->next++;
    int rc = this < asked->kept ? asked->answers[this] : names_find_member(asked->user, group);

    if (this == asked->kept)
        asked->answers[asked->kept++] = rc;
    if (rc != 0 && rc != ENOENT &&
        (asked->error == 0 || (own_shortage(asked->error) == 0 && own_shortage(rc) != 0))) {
        asked->error = rc;
        asked->group = group;
    }
    return rc == 0 || this == asked->assumed;
}

static bool
is_same_cost(const struct config_policy *a, const struct config_policy *b)
{
    return a->method == b->method && a->cost.memory_kib == b->cost.memory_kib &&
           a->cost.passes == b->cost.passes && a->cost.lanes == b->cost.lanes &&
           a->cost.chain == b->cost.chain;
}

/* Of two policies of which nobody knows which is meant, no login is refused that may not be meant
 * to be, no hash is replaced that might be too dear then for ever, and no password is set that
 * might be too short, if the method looks at so many bytes: who may be able to make the name
 * service fail, by the limits of a set-id program, is its user. */
static void
soften(struct config_policy *policy, const struct config_policy *other)
{
    policy->upgrade = policy->upgrade && other->upgrade && is_same_cost(policy, other);
    if (other->floor_kib < policy->floor_kib)
        policy->floor_kib = other->floor_kib;
    if (other->floor_action < policy->floor_action)
        policy->floor_action = other->floor_action;
    if (other->ceiling_kib > policy->ceiling_kib)
        policy->ceiling_kib = other->ceiling_kib;
    if (other->ceiling_passes > policy->ceiling_passes)
        policy->ceiling_passes = other->ceiling_passes;
    if (policy->use == CONFIG_ARENA_REQUIRE)
        policy->use = other->use == CONFIG_ARENA_REQUIRE ? CONFIG_ARENA_REQUIRE : CONFIG_ARENA_TRY;
    if (other->min_length > policy->min_length &&
        other->min_length <= methods_length_max(policy->method))
        policy->min_length = other->min_length;
}

static void
log_unknown(const struct ruling *ruling, const char *group, int error)
{
    char text[CONFIG_ERROR_SIZE];

    errno = error;
    snprintf(text, sizeof(text),
             "the name service can't say who is in group %s of mhkdf.conf: %m; nothing is refused "
             "or upgraded by what depends on it",
             group);
    ruling->log(ruling->ctx, LOG_WARNING, text);
}

/* Groups about which nobody can tell count as not his, but what their sections would change is
 * softened. 0, or the shortage for which nobody can tell. */
static int
look_up(const struct ruling *ruling, const struct config *config, struct config_policy *policy)
{
    struct asked asked = {.user = ruling->user, .assumed = NO_GROUP};
    const struct config_who who = {ruling->service, ruling->user, ruling->is_root, in_group,
                                   &asked};
    struct config_policy other;

    config_look_up(config, &who, policy);
    if (asked.error == 0)
        return 0;
    log_unknown(ruling, asked.group, asked.error);
    for (size_t i = 0; i < asked.kept; i++) {
        if (asked.answers[i] == 0 || asked.answers[i] == ENOENT)
            continue;
        asked.assumed = i;
        asked.next = 0;
        config_look_up(config, &who, &other);
        soften(policy, &other);
    }
    return own_shortage(asked.error);
}

/* Whatever folder a set-id program is in, its user chose it. */
static int
refuse_relative(const char *path, struct config *config, struct config_error *error)
{
    memset(config, 0, sizeof(*config));
    config->is_fallback = true;
    snprintf(error->text, sizeof(error->text), "conf=%s: an absolute path was expected", path);
    return EINVAL;
}

int
ruling_load(const struct ruling *ruling, struct config *config, struct config_error *error)
{
    uint32_t owner = place_conf_owner();

    if (ruling->conf == NULL)
        return config_load_either(place_conf(), place_vendor_conf(), owner, config, error);
    if (ruling->conf[0] != '/')
        return refuse_relative(ruling->conf, config, error);
    return config_load(ruling->conf, owner, true, config, error);
}

int
ruling_find(const struct ruling *ruling, struct config_policy *policy, struct config_error *error)
{
    struct config config;
    int rc = ruling_load(ruling, &config, error), unknown;

    if (rc != 0)
        ruling->log(ruling->ctx, LOG_ERR, error->text);
    unknown = look_up(ruling, &config, policy);
    config_free(&config);
    return rc != 0 ? rc : unknown;
}
