/* SPDX-License-Identifier: BSD-2-Clause */
/** What mhkdf.conf says for the login at hand, in pam_mhkdf.so and in mhkdf_chkpwd. Nothing of
 * PAM's here. Thread-safe. */
#ifndef PAM_RULING_H
#define PAM_RULING_H

#include <stdbool.h>

#include "policy/config.h"

struct ruling {
    const char *conf;    /* the file, an absolute path; NULL: the usual ones */
    const char *service; /* PAM's name of it; NULL: none */
    const char *user;
    bool is_root; /* the account has uid 0 */
    /** Where lines for the log go. */
    void (*log)(void *ctx, int priority, const char *text);
    void *ctx;
};

/**
 * Reads the file and looks the policy up. On an error, which is logged, policy is the fallback's
 * (policy/config.h).
 *
 * Where nobody can tell whether the user is in one of the file's groups, that is logged once, and
 * isn't an error: the group counts as not his, but its section can only take away from what the
 * policy refuses, requires and upgrades; the longer min_length counts. But where it is for want of
 * memory or descriptors in this process, that is returned, with policy as said and error->text "":
 * the user of a set-id program may have brought it about, so that what a group is refused isn't.
 *
 * 0, ENOMEM, EMFILE or ENFILE as above, or as config_load.
 */
int ruling_find(const struct ruling *ruling, struct config_policy *policy,
                struct config_error *error);

/** Reads the file alone. 0, or as config_load, whose rules hold for config; nothing is logged. */
int ruling_load(const struct ruling *ruling, struct config *config, struct config_error *error);

#endif
