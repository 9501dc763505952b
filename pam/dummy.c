/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/dummy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "libcore/derive.h"
#include "libcore/headroom.h"
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

__attribute__((format(printf, 3, 4))) static void
say(const struct dummy *dummy, int priority, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    dummy->log(dummy->ctx, priority, text);
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

/* A dummy can be left out, so it takes no memory that pushes other memory into swap. */
static struct mhkdf_env
without_swap(const struct dummy *dummy, struct mhkdf_memory_report *report)
{
    struct mhkdf_env resources = *dummy->resources;

    memset(report, 0, sizeof(*report));
    resources.without_swap = 1;
    if (resources.report == NULL)
        resources.report = report;
    return resources;
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

/* What dummy_take_time returns where a computation returned this. */
static int
explain(const struct dummy *dummy, const struct mhkdf_memory_report *report, int rc)
{
    char why[HEADROOM_TEXT_SIZE];

    if (rc == EBUSY || rc == ECONNREFUSED)
        return rc;
    if (rc == ENOMEM) {
        headroom_explain(report, why, sizeof(why));
        say(dummy, LOG_NOTICE, "the dummy hash is left out: %s", why);
    } else if (rc != 0) {
        errno = rc;
        say(dummy, LOG_ERR, "the hash that hides whether an account is there wasn't computed: %m");
    }
    return 0;
}

static int
run(const struct dummy *dummy, uint64_t memory_kib)
{
    struct mhkdf_memory_report report;
    struct mhkdf_env resources = without_swap(dummy, &report);
    int rc;

    if (memory_kib < (uint64_t)8 * dummy->policy->cost.lanes)
        return 0;
    say(dummy, LOG_DEBUG, "a hash of %juK for nobody", (uintmax_t)memory_kib);
    rc = compute(dummy, (uint32_t)memory_kib, &resources);
    return explain(dummy, resources.report, rc == EKEYREJECTED ? 0 : rc);
}

static int
run_whole(const struct dummy *dummy)
{
    return run(dummy, dummy->policy->cost.memory_kib);
}

/* How fast the hash's method is here, beside the policy's, isn't known: so it goes by time. */
static int
top_up_ours(const struct dummy *dummy, uint64_t spent_us)
{
    struct mhkdf_memory_report report;
    struct mhkdf_env resources = without_swap(dummy, &report);

    say(dummy, LOG_DEBUG, "a hash of %" PRIu32 "K for nobody, but for %" PRIu64 " us",
        dummy->policy->cost.memory_kib, spent_us);
    return explain(dummy, resources.report,
                   derive_less(&dummy->policy->cost, &resources, spent_us));
}

/* The same for a method of which nothing can be left out while it runs: a part is computed, and the
 * rest by how long that took. */
static int
top_up_foreign(const struct dummy *dummy, uint64_t spent_us)
{
    uint64_t memory_kib = dummy->policy->cost.memory_kib;
    uint64_t start_us = dummy_now_us();
    uint64_t trial_us, whole_us;
    int rc = run(dummy, memory_kib / TRIAL);

    if (rc != 0)
        return rc;
    trial_us = dummy_now_us() - start_us;
    whole_us = trial_us * TRIAL;
    if (whole_us > UINT32_MAX || whole_us <= spent_us + trial_us)
        return 0;
    return run(dummy, memory_kib * (whole_us - spent_us - trial_us) / whole_us);
}

static int
top_up_by_time(const struct dummy *dummy, uint64_t spent_us)
{
    return dummy->policy->method->ours != 0 ? top_up_ours(dummy, spent_us)
                                            : top_up_foreign(dummy, spent_us);
}

static int
top_up(const struct dummy *dummy, const char *hash, uint64_t spent_us)
{
    const struct methods_entry *method = dummy->policy->method;
    struct strength wanted, stored;

    strength_of_policy(dummy->policy, &wanted);
    if (spent_us < NOTHING_US && !mhkdf_is_ours(hash))
        return run_whole(dummy);
    if (strength_read(hash, &stored) != 0)
        return run_whole(dummy);
    if (method->ours == 0 && !strength_is_more(&wanted, &stored))
        return 0;
    if (method->ours == 0 && method->count_max == 0) /* there are no parts of it */
        return run_whole(dummy);
    if (!mhkdf_is_ours(hash) || stored.is_wrap || method->ours == 0)
        return top_up_by_time(dummy, spent_us);
    if (stored.work_kib >= wanted.work_kib)
        return 0;
    return run(dummy, (wanted.work_kib - stored.work_kib) / dummy->policy->cost.passes);
}

int
dummy_take_time(const struct dummy *dummy, const char *hash, uint64_t spent_us)
{
    const char *password = dummy->password;

    if (password == NULL || strlen(password) > MHKDF_CRYPT_PASSWORD_MAX ||
        (password[0] == '\0' && !dummy->null_is_ok))
        return 0;
    return hash != NULL ? top_up(dummy, hash, spent_us) : run_whole(dummy);
}
