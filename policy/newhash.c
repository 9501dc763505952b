/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/newhash.h"

#include <crypt.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/anycrypt.h"
#include "policy/loaded.h"

static int
make_setting(const struct mhkdf_cost *cost, char out[MHKDF_STRING_SIZE])
{
    struct mhkdf_setting setting = {.cost = *cost};
    int rc = mhkdf_random_salt(&setting);

    out[0] = '\0';
    if (rc == 0)
        rc = mhkdf_encode(&setting, out, MHKDF_STRING_SIZE);
    return rc;
}

bool
newhash_crypt_verifies(const struct mhkdf_cost *cost)
{
    static const char password[] = "known answer";
    struct mhkdf_cost least = {cost->method, 8, 1, 1, cost->chain};
    char setting[MHKDF_STRING_SIZE], ours[MHKDF_STRING_SIZE];
    struct crypt_data *data = calloc(1, sizeof(*data));
    const char *theirs;
    bool agrees = false;

    if (data == NULL || make_setting(&least, setting) != 0 ||
        mhkdf_crypt(password, sizeof(password) - 1, setting, NULL, ours) != 0)
        goto out;
    theirs = crypt_r(password, setting, data);
    agrees = theirs != NULL && strcmp(theirs, ours) == 0;
out:
    free(data);
    return agrees;
}

const char *
newhash_why_not_for_root(const struct config_policy *policy)
{
    const struct mhkdf_cost *cost = &policy->cost;
    struct mhkdf_cost least = {cost->method, 8, 1, 1, cost->chain};
    char setting[MHKDF_STRING_SIZE];

    if (policy->method->ours == 0)
        return NULL;
    if (make_setting(&least, setting) != 0)
        return "there are no random numbers to try the system's libcrypt with";
    if (crypt_checksalt(setting) != CRYPT_SALT_OK)
        return "the system's libcrypt doesn't know the method, and rescue mode depends on it";
    if (!newhash_crypt_verifies(cost))
        return "the system's libcrypt computes the method differently or not at all, and rescue "
               "mode depends on it";
    if (!loaded_is_current((void (*)(void))crypt_r))
        return "the system's libcrypt isn't, or may not be, the one that this process has loaded, "
               "and rescue mode depends on it";
    return NULL;
}

static int
make_by_libcrypt(const char *password, const struct mhkdf_env *resources,
                 char out[MHKDF_STRING_SIZE])
{
    static const char *const prefixes[] = {"$y$", NULL, "$6$"};
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    size_t i;
    int rc = ENOSYS;

    for (i = 0; rc != 0 && rc != ENOMEM && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (crypt_gensalt_rn(prefixes[i], 0, NULL, 0, setting, sizeof(setting)) == NULL)
            continue;
        if (!mhkdf_is_ours(setting))
            rc = anycrypt_hash_in(password, setting, resources, out);
    }
    return rc;
}

int
newhash_setting(const struct config_policy *policy, uint32_t memory_kib,
                char out[MHKDF_STRING_SIZE])
{
    const struct methods_entry *method = policy->method;
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    struct mhkdf_cost cost = policy->cost;
    unsigned long count = methods_count(method, memory_kib);

    out[0] = '\0';
    if (method->ours != 0) {
        cost.memory_kib = memory_kib;
        return make_setting(&cost, out);
    }
    if (crypt_gensalt_rn(method->prefix, count, NULL, 0, setting, sizeof(setting)) == NULL ||
        strlen(setting) >= MHKDF_STRING_SIZE)
        return ENOSYS;
    memcpy(out, setting, strlen(setting) + 1);
    return 0;
}

int
newhash_make(const char *password, const struct config_policy *policy, bool for_root,
             const struct mhkdf_env *resources, char out[MHKDF_STRING_SIZE], const char **why)
{
    char setting[MHKDF_STRING_SIZE];
    int rc;

    *why = NULL;
    out[0] = '\0';
    if (resources != NULL && resources->report != NULL)
        memset(resources->report, 0, sizeof(*resources->report));
    if (strlen(password) > methods_length_max(policy->method))
        return ERANGE;
    if (for_root)
        *why = newhash_why_not_for_root(policy);
    if (*why != NULL)
        return make_by_libcrypt(password, resources, out);
    rc = newhash_setting(policy, policy->cost.memory_kib, setting);
    return rc == 0 ? anycrypt_hash_in(password, setting, resources, out) : rc;
}
