/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Local accounts: what the files ETC/passwd and ETC/shadow themselves say, whatever other sources
 * the name service has. A line that the C library wouldn't understand isn't there for us either;
 * of several lines with one name, the first counts. Nor is one of more than LINE_READ_MAX bytes.
 * The files are read line by line: only the hash takes memory of malloc(3).
 *
 * etc_dir is "/etc" everywhere but in tests. Thread-safe; nothing is kept.
 */
#ifndef POLICY_ACCOUNT_H
#define POLICY_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/aging.h"

struct account {
    uint32_t uid;
    bool shadowed;      /* hash and aging are from shadow, where a new hash belongs */
    char *hash;         /* the password field as it is; wiped by account_free */
    struct aging aging; /* of the shadow line; AGING_NONE throughout where not shadowed */
};

/**
 * Finds the account with this name.
 *
 * 0; ENOENT: no such local account (a name that can't be in the files included); ENODATA: it is in
 * passwd and should be in shadow, but isn't; EACCES: shadow can't be read; ENOMEM; errors of
 * open(2) and read(2). On failure nothing is held. The caller releases with account_free.
 */
int account_find(const char *etc_dir, const char *name, struct account *out);

/** The uid alone, from passwd, which everyone can read. 0, ENOENT, and errors as above. */
int account_find_uid(const char *etc_dir, const char *name, uint32_t *uid);

/**
 * Whether the account is there, and its password field can be read and is empty. Both files are
 * read to their ends, whatever the name, so that time doesn't tell whether it is one.
 */
bool account_has_no_password(const char *etc_dir, const char *name);

/** Whether a password could ever match the hash: neither empty nor locked by '!' or '*'. */
bool account_hash_is_usable(const char *hash);

/** Wipes and releases; harmless for a struct of zeros and a second time. */
void account_free(struct account *account);

#endif
