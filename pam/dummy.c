/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/dummy.h"

#include <errno.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "libcore/mhkdf.h"
#include "pam/leasing.h"
#include "pam/log.h"
#include "policy/anycrypt.h"
#include "policy/newhash.h"
#include "policy/strength.h"

/* Where less was spent, nothing was computed. */
#define NOTHING_US 1000

/* Part of the memory that is filled to see how fast this machine is. */
#define TRIAL 4

uint64_t
dummy_now_us(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* A hash that no password has, for one of our methods: what is verified against it takes the way of
 * a wrong password. */
static int
make_hash(const char *setting, char out[MHKDF_STRING_SIZE])
{
    struct mhkdf_setting parts;
    int rc = mhkdf_parse(setting, &parts);

    out[0] = '\0';
    if (rc == 0) {
        parts.tag_len = MHKDF_TAG_DEFAULT;
        rc = mhkdf_random(parts.tag, parts.tag_len);
    }
    if (rc == 0)
        rc = mhkdf_encode(&parts, out, MHKDF_STRING_SIZE);
    mhkdf_wipe(&parts, sizeof(parts));
    return rc;
}

/* Computes one of the policy's method. EKEYREJECTED: it was computed. */
static int
compute(const struct dummy *dummy, uint32_t memory_kib, const struct mhkdf_env *resources)
{
    char setting[MHKDF_STRING_SIZE], hash[MHKDF_STRING_SIZE];
    int rc = newhash_setting(dummy->policy, memory_kib, setting);

    if (rc != 0)
        return rc;
    if (dummy->policy->method->ours != 0) {
        rc = make_hash(setting, hash);
        if (rc == 0)
            rc = anycrypt_verify_in(dummy->password, hash, resources);
        if (rc == 0)
            rc = EILSEQ; /* 256 random bits don't match */
    } else {
        rc = anycrypt_hash_in(dummy->password, setting, resources, hash);
        if (rc == 0)
            rc = strncmp(hash, setting, strlen(setting)) == 0 ? EKEYREJECTED : EILSEQ;
    }
    mhkdf_wipe(hash, sizeof(hash));
    return rc;
}

static int
run(pam_handle_t *pamh, const struct dummy *dummy, uint64_t memory_kib)
{
    const struct mhkdf_cost *cost = &dummy->policy->cost;
    struct leasing leasing;
    int rc;

    if (memory_kib < (uint64_t)8 * cost->lanes)
        return PAM_SUCCESS;
    log_debug(pamh, dummy->options, "a hash of %juK for nobody", (uintmax_t)memory_kib);
    leasing_plan(pamh, dummy->policy, dummy->uid, &leasing);
    rc = compute(dummy, (uint32_t)memory_kib, &leasing.resources);
    leasing_log(pamh, dummy->options, &leasing);
    if (rc == EBUSY || rc == ECONNREFUSED) {
        log_write(pamh, LOG_ERR, "no memory for a password: the arena is %s",
                  rc == EBUSY ? "all in use" : "required, but unavailable");
        return PAM_SYSTEM_ERR;
    }
    if (rc != EKEYREJECTED) {
        errno = rc;
        log_write(pamh, LOG_ERR,
                  "the hash that hides whether an account is there wasn't computed: %m");
    }
    return PAM_SUCCESS;
}

int
dummy_run(pam_handle_t *pamh, const struct dummy *dummy)
{
    return run(pamh, dummy, dummy->policy->cost.memory_kib);
}

/* How fast the hash's method is here, beside the policy's, isn't known: so a part is computed, and
 * the rest by how long that took. */
static int
top_up_by_time(pam_handle_t *pamh, const struct dummy *dummy, uint64_t spent_us)
{
    uint64_t memory_kib = dummy->policy->cost.memory_kib;
    uint64_t start_us = dummy_now_us();
    uint64_t trial_us, whole_us;
    int rc = run(pamh, dummy, memory_kib / TRIAL);

    if (rc != PAM_SUCCESS)
        return rc;
    trial_us = dummy_now_us() - start_us;
    whole_us = trial_us * TRIAL;
    if (whole_us > UINT32_MAX || whole_us <= spent_us + trial_us)
        return PAM_SUCCESS;
    return run(pamh, dummy, memory_kib * (whole_us - spent_us - trial_us) / whole_us);
}

int
dummy_top_up(pam_handle_t *pamh, const struct dummy *dummy, const char *hash, uint64_t spent_us)
{
    const struct methods_entry *method = dummy->policy->method;
    struct strength wanted, stored;

    strength_of_policy(dummy->policy, &wanted);
    if (spent_us < NOTHING_US && !mhkdf_is_ours(hash))
        return dummy_run(pamh, dummy);
    if (strength_read(hash, &stored) != 0)
        return dummy_run(pamh, dummy);
    if (method->ours == 0 && !strength_is_more(&wanted, &stored))
        return PAM_SUCCESS;
    if (method->ours == 0 && method->count_max == 0) /* there are no parts of it */
        return dummy_run(pamh, dummy);
    if (!mhkdf_is_ours(hash) || stored.is_wrap || method->ours == 0)
        return top_up_by_time(pamh, dummy, spent_us);
    if (stored.work_kib >= wanted.work_kib)
        return PAM_SUCCESS;
    return run(pamh, dummy, (wanted.work_kib - stored.work_kib) / dummy->policy->cost.passes);
}
