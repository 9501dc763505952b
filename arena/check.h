/* SPDX-License-Identifier: BSD-2-Clause */
/** What mhkdf-arenad says at its start beside what it does: whom mhkdf.conf locks out. */
#ifndef ARENA_CHECK_H
#define ARENA_CHECK_H

#include "policy/config.h"

/** Logs the names of accounts whose hashes are above the file's ceilings, from a child, so that no
 * hash is ever in this process. Nothing, where shadow can't be read: then a check by root has said
 * it (--check). Before there is a second thread. */
void check_lockouts(const struct config *config);

#endif
