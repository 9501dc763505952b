/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/audit.h"

#ifdef HAVE_LIBAUDIT

#include <stddef.h>

#include <libaudit.h>

/* The record names the account; the uid that may stand in its place isn't given. */
#define NO_UID ((unsigned)-1)

void
audit_hash_changed(const char *name, const char *op, bool success)
{
    int fd = audit_open();

    if (fd < 0)
        return;
    audit_log_acct_message(fd, AUDIT_USER_CHAUTHTOK, NULL, op, name, NO_UID, NULL, NULL, NULL,
                           success ? 1 : 0);
    audit_close(fd);
}

#else

void
audit_hash_changed(const char *name, const char *op, bool success)
{
    (void)name;
    (void)op;
    (void)success;
}

#endif
