/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The kernel's audit log. libpam itself logs each pam_chauthtok; this says which line of shadow was
 * changed, as shadow-utils do, also where a login did that. Without libaudit, without the right to
 * (CAP_AUDIT_WRITE), or where the kernel has no audit, it does nothing. Thread-safe.
 */
#ifndef POLICY_AUDIT_H
#define POLICY_AUDIT_H

#include <stdbool.h>

/** The hash of the account name was changed, or, if not success, couldn't be. op says by what, such
 * as "change-password". */
void audit_hash_changed(const char *name, const char *op, bool success);

#endif
