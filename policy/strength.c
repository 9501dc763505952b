/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/strength.h"

#include <errno.h>
#include <string.h>

#include "policy/foreign.h"

#define RANK_OURS (FOREIGN_SCRYPT + 1U)

/* Longest that a hash of another method may take. */
#define FOREIGN_MAX_US ((uint64_t)20 * 1000 * 1000)

/* One level of a hash: ours, or, where that is NULL, another method's. */
typedef void visit_function(void *ctx, const struct mhkdf_setting *ours, const char *foreign);

/* Visits the levels of a hash, the outermost first. EINVAL: one of ours can't be read. */
static int
walk(const char *hash, visit_function *visit, void *ctx)
{
    struct mhkdf_setting level;
    char inner[MHKDF_STRING_SIZE];
    const char *at = hash;
    int rc = 0;

    while (rc == 0 && mhkdf_is_ours(at)) {
        rc = mhkdf_parse(at, &level) == 0 ? 0 : EINVAL;
        if (rc == 0) {
            visit(ctx, &level, NULL);
            memcpy(inner, level.inner, sizeof(inner));
            at = inner;
        }
    }
    if (rc == 0 && at[0] != '\0')
        visit(ctx, NULL, at);
    mhkdf_wipe(&level, sizeof(level));
    return rc;
}

static void
at_least(uint64_t *value, uint64_t least)
{
    if (*value < least)
        *value = least;
}

static unsigned
rank_of(enum mhkdf_method method)
{
    return method == MHKDF_METHOD_MHKDF1 || method == MHKDF_METHOD_ARGON2ID ? RANK_OURS
                                                                            : FOREIGN_REST;
}

static void
add_level(void *ctx, const struct mhkdf_setting *ours, const char *foreign)
{
    struct strength *all = ctx;
    unsigned rank = ours != NULL ? rank_of(ours->cost.method) : foreign_rank(foreign);

    if (all->rank < rank)
        all->rank = rank;
    if (ours == NULL) {
        at_least(&all->memory_kib, foreign_memory_kib(foreign));
        at_least(&all->work_kib, foreign_work_kib(foreign));
        return;
    }
    at_least(&all->memory_kib, ours->cost.memory_kib);
    at_least(&all->work_kib, (uint64_t)ours->cost.memory_kib * ours->cost.passes);
    if (all->chain < ours->cost.chain)
        all->chain = ours->cost.chain;
    all->is_imported |= rank == FOREIGN_REST;
    all->is_wrap |= ours->inner[0] != '\0';
    all->has_key |= ours->key_id[0] != '\0';
}

int
strength_read(const char *hash, struct strength *out)
{
    memset(out, 0, sizeof(*out));
    return walk(hash, add_level, out);
}

void
strength_of_policy(const struct config_policy *policy, struct strength *out)
{
    const struct methods_entry *method = policy->method;

    memset(out, 0, sizeof(*out));
    out->memory_kib = methods_memory_kib(method, policy->cost.memory_kib);
    out->work_kib = out->memory_kib;
    if (method->ours == 0) {
        out->rank = foreign_rank(method->prefix);
        return;
    }
    out->rank = rank_of(policy->cost.method);
    out->work_kib *= policy->cost.passes;
    out->chain = policy->cost.chain;
}

bool
strength_is_more(const struct strength *one, const struct strength *than)
{
    uint64_t work_kib = than->is_imported ? than->memory_kib : than->work_kib;

    if (one->rank < than->rank || one->memory_kib < than->memory_kib || one->work_kib < work_kib ||
        one->chain < than->chain || (than->has_key && !one->has_key))
        return false;
    return than->is_wrap || one->rank > than->rank || one->memory_kib > than->memory_kib ||
           one->work_kib > than->work_kib || one->chain > than->chain ||
           (one->has_key && !than->has_key);
}

bool
strength_needs_key(const char *hash)
{
    struct strength strength;

    return strength_read(hash, &strength) == 0 && strength.has_key;
}

struct judging {
    const struct config_policy *policy;
    const char *wrong;
};

static void
judge_level(void *ctx, const struct mhkdf_setting *ours, const char *foreign)
{
    struct judging *judging = ctx;
    const struct config_policy *policy = judging->policy;
    bool is_limited = policy->ceiling_kib != UINT32_MAX || policy->ceiling_passes != UINT32_MAX;

    if (judging->wrong != NULL)
        return;
    if ((ours != NULL ? ours->cost.memory_kib : foreign_memory_kib(foreign)) >
            policy->ceiling_kib &&
        policy->ceiling_kib != UINT32_MAX)
        judging->wrong = "it asks for more memory than ceiling_memory";
    else if (ours != NULL && ours->cost.passes > policy->ceiling_passes)
        judging->wrong = "it asks for more passes than ceiling_passes";
    else if (ours == NULL && is_limited && foreign_time_us(foreign) > FOREIGN_MAX_US)
        judging->wrong = "its rounds or cost would take too long";
}

const char *
strength_above_ceiling(const struct config_policy *policy, const char *hash)
{
    struct judging judging = {policy, NULL};

    walk(hash, judge_level, &judging);
    return judging.wrong;
}

bool
strength_is_below_floor(const struct config_policy *policy, const char *hash)
{
    struct strength strength;

    return policy->floor_kib != 0 && strength_read(hash, &strength) == 0 &&
           strength.memory_kib < policy->floor_kib;
}

struct seeing {
    const char *password;
    bool all;
};

static void
see_level(void *ctx, const struct mhkdf_setting *ours, const char *foreign)
{
    struct seeing *seeing = ctx;

    if (ours == NULL && !foreign_sees_all(foreign, seeing->password))
        seeing->all = false;
}

bool
strength_sees_all(const char *hash, const char *password)
{
    struct seeing seeing = {password, true};

    return walk(hash, see_level, &seeing) == 0 && seeing.all;
}
