/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What the first phase of a password change found, kept in the PAM handle for the second. The
 * verified hash stays in place of a second verification: shadow is changed only if it is still
 * there under the lock.
 */
#ifndef PAM_FINDING_H
#define PAM_FINDING_H

#include <security/pam_modules.h>

enum finding_kind {
    FINDING_NOT_OURS,       /* another module's account */
    FINDING_NOTHING_TO_DO,  /* it hasn't expired, and only then it was to be changed */
    FINDING_AS_ROOT,        /* root sets it, whatever was there */
    FINDING_BY_OLD_PASSWORD /* its owner gave the old password */
};

struct finding {
    enum finding_kind kind;
    char *user;
    char *old_hash; /* FINDING_BY_OLD_PASSWORD; else NULL */
};

/** Keeps a copy in place of an earlier one. PAM_SUCCESS, PAM_BUF_ERR. old_hash may be NULL. */
int finding_keep(pam_handle_t *pamh, enum finding_kind kind, const char *user,
                 const char *old_hash);

/** What was kept for this user; the handle owns it. NULL: nothing. */
const struct finding *finding_get(pam_handle_t *pamh, const char *user);

/** Wipes and forgets it. */
void finding_drop(pam_handle_t *pamh);

#endif
