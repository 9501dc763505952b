/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "libcore/headroom.h"
#include "libcore/mhkdf.h"
#include "pam/leasing.h"
#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"
#include "policy/newhash.h"
#include "policy/shadow.h"
#include "policy/strength.h"

#define LOCK_MS 200   /* a login doesn't wait for those who change passwords */
#define LEASE_MS 1000 /* nor, a second time, for the arena */

static bool
is_wanted(const struct config_policy *policy, const struct account *account)
{
    struct strength wanted, stored;

    if (!policy->upgrade || !account->shadowed || account->hash[0] == '\0' ||
        strength_read(account->hash, &stored) != 0)
        return false;
    strength_of_policy(policy, &wanted);
    return strength_is_more(&wanted, &stored);
}

/* Whether there is no use in trying. Programs that can't write to shadow leave it alone, and don't
 * complain. */
static bool
is_hopeless(pam_handle_t *pamh, const struct options *options, const struct config_policy *policy,
            const char *user, const struct account *account, const char *password)
{
    const char *why = account->uid == 0 ? newhash_why_not_for_root(policy) : NULL;

    if (!strength_sees_all(account->hash, password)) {
        log_write(pamh, LOG_NOTICE,
                  "the hash of %s stays: its method doesn't look at all of the password, which "
                  "should be set anew",
                  user);
    } else if (strlen(password) > methods_length_max(policy->method)) {
        log_write(pamh, LOG_NOTICE,
                  "the hash of %s stays: the new method wouldn't look at all of the password",
                  user);
    } else if (why != NULL) {
        log_write(pamh, LOG_NOTICE, "the hash of %s (uid 0) stays: %s", user, why);
    } else if (faccessat(AT_FDCWD, place_etc(), W_OK, AT_EACCESS) == 0) {
        return false;
    } else if (errno == EACCES) {
        log_debug(pamh, options, "the hash of %s stays: this process can't write to shadow", user);
    } else {
        log_write(pamh, LOG_WARNING, "the hash of %s isn't upgraded: shadow can't be written: %m",
                  user);
    }
    return true;
}

static int
make_hash(pam_handle_t *pamh, const struct options *options, const struct config_policy *policy,
          const struct account *account, const char *password, struct leasing *leasing,
          char hash[MHKDF_STRING_SIZE])
{
    const char *why;
    int rc;

    leasing_plan(pamh, policy, account->uid, leasing);
    if (leasing->arena.wait_ms > LEASE_MS)
        leasing->arena.wait_ms = LEASE_MS;
    rc = newhash_make(password, policy, account->uid == 0, &leasing->resources, hash, &why);
    leasing_log(pamh, options, leasing);
    if (rc == 0 && why != NULL)
        rc = ENOSYS; /* libcrypt was replaced a moment ago */
    return rc;
}

static int
store(pam_handle_t *pamh, const char *user, struct account *account, const char *hash)
{
    const struct shadow_change change = {.name = user,
                                         .old_hash = account->hash,
                                         .new_hash = hash,
                                         .wait_ms = LOCK_MS,
                                         .apart = origin_uid(pamh) != 0,
                                         .apart_uid = place_apart_uid()};
    char *copy = strdup(hash);
    int rc = copy != NULL ? shadow_change(place_etc(), &change) : ENOMEM;

    if (rc != 0) {
        free(copy);
        return rc;
    }
    account_free(account);
    account->hash = copy;
    return 0;
}

/* What the error alone wouldn't say; "" if it does. */
static const char *
why_not_hashed(int rc)
{
    return rc == EBUSY ? "all of the arena is in use: " : "";
}

static const char *
why_not_stored(int rc)
{
    switch (rc) {
    case ETIMEDOUT:
        return "shadow is locked: ";
    case EBUSY:
        return "shadow can't be replaced, as where it is a mount point: ";
    case ETXTBSY:
        return "somebody keeps changing shadow without its lock: ";
    default:
        return "";
    }
}

/* reason: of the step that failed with rc. */
static void
explain(pam_handle_t *pamh, const struct options *options, const char *user,
        const struct leasing *leasing, const char *reason, int rc)
{
    char why[HEADROOM_TEXT_SIZE];

    if (rc == ESTALE) {
        log_debug(pamh, options, "the hash of %s isn't upgraded: someone else has changed it",
                  user);
    } else if (leasing->report.needed_kib != 0) {
        headroom_explain(&leasing->report, why, sizeof(why));
        log_write(pamh, LOG_WARNING,
                  "the hash of %s isn't upgraded: %s; \"memory = ...\" in mhkdf.conf changes what "
                  "is needed",
                  user, why);
    } else {
        errno = rc;
        log_write(pamh, LOG_WARNING, "the hash of %s isn't upgraded: %s%m", user, reason);
    }
}

bool
upgrade_run(pam_handle_t *pamh, const struct options *options, const struct config_policy *policy,
            const char *user, struct account *account, const char *password)
{
    char hash[MHKDF_STRING_SIZE];
    struct leasing leasing;
    const char *reason;
    int rc;

    if (!is_wanted(policy, account) || is_hopeless(pamh, options, policy, user, account, password))
        return false;
    rc = make_hash(pamh, options, policy, account, password, &leasing, hash);
    reason = why_not_hashed(rc);
    if (rc == 0) {
        rc = store(pamh, user, account, hash);
        reason = why_not_stored(rc);
    }
    mhkdf_wipe(hash, sizeof(hash));
    if (rc == 0)
        log_write(pamh, LOG_INFO, "the hash of %s has been upgraded", user);
    else
        explain(pamh, options, user, &leasing, reason, rc);
    return rc == 0;
}
