/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/leasing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"

void
leasing_plan(pam_handle_t *pamh, const struct config_policy *policy, uint32_t account_uid,
             struct leasing *out)
{
    memset(out, 0, sizeof(*out));
    out->arena.socket = place_arena();
    out->arena.service = origin_service(pamh);
    out->arena.real_uid = origin_uid(pamh);
    out->arena.wait_ms = policy->wait_ms;
    out->arena.require = policy->use == CONFIG_ARENA_REQUIRE;
    out->arena.slots_max = policy->slots_max;
    /* Not for a user who becomes root: any number of his programs could wait at the same time. */
    out->arena.private_when_busy =
        account_uid == 0 && out->arena.real_uid == 0 && origin_is_console(pamh);
    out->resources.arena = policy->use == CONFIG_ARENA_OFF ? NULL : &out->arena;
    out->resources.report = &out->report;
    out->resources.threads = policy->threads;
}

void
leasing_log(pam_handle_t *pamh, const struct options *options, const struct leasing *leasing)
{
    const struct mhkdf_memory_report *report = &leasing->report;

    if (report->from == MHKDF_MEMORY_PRIVATE && report->in_swap)
        log_write(pamh, LOG_NOTICE,
                  "the hash's memory (%" PRIu64 "K) isn't locked and may go to swap: without swap "
                  "there is no room for it",
                  report->size_kib);
    else if (report->from == MHKDF_MEMORY_PRIVATE && !report->locked)
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
