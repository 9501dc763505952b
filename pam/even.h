/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The small things that a refusal takes beside the hash: how often accounts are looked up and lines
 * are logged, by this module and by a pam_unix behind it, which gets to see the accounts that
 * aren't known here and not the wrong passwords. Who measures shall not tell one from the other.
 *
 * Where there is a local account without a line in shadow, pam_unix runs its helper for it twice;
 * then the others have it run, too. Where there is none, nobody pays for it.
 *
 * Takes only time. Asks the name service. Thread-safe.
 */
#ifndef PAM_EVEN_H
#define PAM_EVEN_H

#include <stdbool.h>

#include <security/pam_modules.h>

enum even {
    EVEN_WRONG,      /* the stack ends here */
    EVEN_LOCKED,     /* a local account without a usable hash; others of the kind */
    EVEN_MALFORMED,  /* the same, and that has been logged */
    EVEN_UNSHADOWED, /* a local account without a line in shadow */
    EVEN_UNKNOWN     /* of no source, which has been asked once */
};

/** Adds what is missing for this kind of refusal, just before it is returned. */
void even_run(pam_handle_t *pamh, enum even kind, bool unix_behind, const char *user);

#endif
