/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/leasing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <syslog.h>

#include "pam/log.h"
#include "pam/place.h"
#include "policy/account.h"

/* All whom the local files don't know are one user to the arena, who isn't root. */
#define UID_UNKNOWN (UINT32_MAX - 1)

static const char *
item(pam_handle_t *pamh, int type)
{
    const void *value = NULL;

    if (pam_get_item(pamh, type, &value) != PAM_SUCCESS)
        return NULL;
    return value;
}

/* A terminal of the machine itself, not one that came over the network or of a terminal emulator.
 */
static bool
is_console(pam_handle_t *pamh)
{
    const char *host = item(pamh, PAM_RHOST), *terminal = item(pamh, PAM_TTY);

    if ((host != NULL && host[0] != '\0') || terminal == NULL)
        return false;
    if (strncmp(terminal, "/dev/", 5) == 0)
        terminal += 5;
    return strncmp(terminal, "tty", 3) == 0 || strcmp(terminal, "console") == 0;
}

/*
 * The user behind the program. sudo and doas run their PAM stack with root's real uid, though their
 * user can stop them, too; they say in PAM_RUSER who he is. It is believed where the program would
 * pass for root's otherwise, and nobody comes from elsewhere.
 */
static uint32_t
user_behind(pam_handle_t *pamh)
{
    uint32_t uid = place_real_uid();
    const char *name = item(pamh, PAM_RUSER), *host = item(pamh, PAM_RHOST);
    struct account account;

    if (uid != 0 || name == NULL || name[0] == '\0' || (host != NULL && host[0] != '\0'))
        return uid;
    if (account_find(place_etc(), name, &account) != 0)
        return UID_UNKNOWN;
    uid = account.uid;
    account_free(&account);
    return uid;
}

void
leasing_plan(pam_handle_t *pamh, const struct config_policy *policy, uint32_t account_uid,
             struct leasing *out)
{
    memset(out, 0, sizeof(*out));
    out->arena.socket = place_arena();
    out->arena.service = item(pamh, PAM_SERVICE);
    out->arena.real_uid = user_behind(pamh);
    out->arena.wait_ms = policy->wait_ms;
    out->arena.require = policy->use == CONFIG_ARENA_REQUIRE;
    out->arena.slots_max = policy->slots_max;
    /* Not for a user who becomes root: any number of his programs could wait at the same time. */
    out->arena.private_when_busy = account_uid == 0 && out->arena.real_uid == 0 && is_console(pamh);
    out->resources.arena = policy->use == CONFIG_ARENA_OFF ? NULL : &out->arena;
    out->resources.report = &out->report;
    out->resources.threads = policy->threads;
}

void
leasing_log(pam_handle_t *pamh, const struct options *options, const struct leasing *leasing)
{
    const struct mhkdf_memory_report *report = &leasing->report;

    if (report->from == MHKDF_MEMORY_PRIVATE && !report->locked)
        log_write(pamh, LOG_NOTICE,
                  "the hash's memory (%" PRIu64
                  "K) isn't locked and may go to swap: RLIMIT_MEMLOCK "
                  "is %" PRIu64 "K; raise it (LimitMEMLOCK=, limits.conf), or use mhkdf-arenad",
                  report->size_kib, report->lock_limit_kib);
    if (report->from == MHKDF_MEMORY_PRIVATE && report->arena_error == EBUSY)
        log_write(pamh, LOG_WARNING, "all of the arena is in use: root has memory of his own");
    log_debug(pamh, options, "memory: %" PRIu64 "K, %s, waited %" PRIu32 " ms", report->size_kib,
              report->from == MHKDF_MEMORY_ARENA     ? "from the arena"
              : report->from == MHKDF_MEMORY_PRIVATE ? "private"
                                                     : "none",
              report->waited_ms);
}
