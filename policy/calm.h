/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A short stretch without signals, for work that shouldn't stop halfway with a lock held: neither
 * Ctrl-C nor Ctrl-Z, and no SIGXFSZ where a user set a limit before he started a set-id program.
 * Concerns the calling thread alone.
 */
#ifndef POLICY_CALM_H
#define POLICY_CALM_H

#include <signal.h>

struct calm {
    sigset_t before;
    int had_xfsz; /* SIGXFSZ was pending already */
};

void calm_begin(struct calm *calm);

/** Ends it; signals that came meanwhile arrive now, but for a SIGXFSZ that the work itself caused.
 */
void calm_end(const struct calm *calm);

#endif
