/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Local accounts that can't log in as mhkdf.conf is now: it was changed after their hashes were
 * stored. For telling the administrator; nothing is decided by it. Thread-safe.
 */
#ifndef POLICY_LOCKOUT_H
#define POLICY_LOCKOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/config.h"

enum lockout_reason {
    LOCKOUT_CEILING, /* the hash is above ceiling_memory or ceiling_passes */
    LOCKOUT_ARENA    /* arena = require holds, and the hash is one that the arena serves */
};

struct lockout_query {
    const char *etc_dir; /* "/etc" but in tests */
    const struct config *config;
    enum lockout_reason reason;
    bool (*in_group)(void *ctx, const char *user, const char *group); /* NULL: nobody is in any */
    void *ctx;
};

#define LOCKOUT_NAMES_SIZE 256

struct lockout {
    size_t count; /* of accounts */
    /* "anna, boris (service sshd) and 3 more": with the first service of mhkdf.conf for which it is
     * so, where it isn't so for all. "": there are none. Ends with "and perhaps more" where not all
     * were looked at. */
    char names[LOCKOUT_NAMES_SIZE];
};

/**
 * Looks through shadow, which the caller may read, without its lock. Locked accounts don't count.
 * After a second no further account is looked at: with many accounts, or a name service that is far
 * away, it would take minutes.
 * 0; ETIME: nothing was found in that time; or an errno of open(2) or read(2): then out has what
 * was found before.
 */
int lockout_find(const struct lockout_query *query, struct lockout *out);

/** Whether any section of the file says arena = require. */
bool lockout_may_need_arena(const struct config *config);

/** Whether a daemon listens at the arena's socket; NULL: where libcore looks for it. Only that
 * there is none is a no. */
bool lockout_arena_is_there(const char *socket);

#endif
