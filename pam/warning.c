/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/warning.h"

#include <errno.h>
#include <stdio.h>
#include <syslog.h>

#include "pam/limits.h"
#include "pam/log.h"
#include "pam/names.h"
#include "pam/place.h"
#include "pam/ruling.h"
#include "policy/config.h"
#include "policy/lockout.h"

#define TEXT_SIZE (LOCKOUT_NAMES_SIZE + 256)

static bool
is_in_group(void *ctx, const char *user, const char *group)
{
    (void)ctx;
    return names_find_member(user, group) == 0;
}

#define TOO_MANY                                                                                \
    "whether mhkdf.conf locks anybody out couldn't be found out within a second, with so many " \
    "accounts"

/* Makes a text of both warnings; "": there are none. */
static void
write_warnings(const struct config *config, char ceiling[TEXT_SIZE], char arena[TEXT_SIZE])
{
    struct lockout_query query = {.etc_dir = place_etc(),
                                  .config = config,
                                  .reason = LOCKOUT_CEILING,
                                  .in_group = is_in_group};
    struct lockout found;
    int rc = lockout_find(&query, &found);

    if (rc == ETIME)
        snprintf(ceiling, TEXT_SIZE, TOO_MANY);
    else if (rc == 0 && found.count > 0)
        snprintf(ceiling, TEXT_SIZE,
                 "mhkdf.conf locks out %s: their hashes are above its ceiling_memory or "
                 "ceiling_passes; raise it, or set new passwords",
                 found.names);
    query.reason = LOCKOUT_ARENA;
    rc = 0;
    found.count = 0;
    if (lockout_may_need_arena(config) && !lockout_arena_is_there(place_arena()))
        rc = lockout_find(&query, &found);
    if (rc == ETIME)
        snprintf(arena, TEXT_SIZE, TOO_MANY);
    else if (rc == 0 && found.count > 0)
        snprintf(arena, TEXT_SIZE,
                 "mhkdf.conf locks out %s: it says arena = require, but mhkdf-arenad isn't "
                 "running; start it, or write arena = try",
                 found.names);
}

void
warning_of_lockouts(pam_handle_t *pamh, unsigned flags, const struct options *options, bool to_user)
{
    const struct ruling ruling = {.conf = options->conf, .log = log_text, .ctx = pamh};
    char texts[2][TEXT_SIZE] = {"", ""};
    struct config config;
    struct config_error error;
    bool raised = limits_raise(pamh);

    if (ruling_load(&ruling, &config, &error) == 0)
        write_warnings(&config, texts[0], texts[1]);
    config_free(&config);
    limits_restore(raised);
    for (int i = 0; i < 2; i++) {
        if (texts[i][0] == '\0')
            continue;
        log_write(pamh, LOG_WARNING, "%s", texts[i]);
        if (to_user)
            log_tell_error(pamh, flags, "Warning: %s.", texts[i]);
    }
}
