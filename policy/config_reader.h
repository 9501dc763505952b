/* SPDX-License-Identifier: BSD-2-Clause */
/** A reading of mhkdf.conf while it goes on. For policy/config*.c. */
#ifndef POLICY_CONFIG_READER_H
#define POLICY_CONFIG_READER_H

#include "policy/config.h"
#include "policy/config_keys.h"
#include "policy/file.h"

struct config_reader {
    const char *path;
    struct file file;
    size_t next;   /* offset of the line that is read next */
    unsigned line; /* number of the line that was read last, which errors name; 0: none */
    int rc;        /* of the first error, which ends the reading */
    struct config *config;
    size_t current; /* number of the section that the line is in; SIZE_MAX: in none yet */
    struct config_error *error;
};

/** Ends the reading with an error, unless there was one before. format: what behind the line. */
void config_fail(struct config_reader *reader, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Checks values against each other, when all are read (policy/config_rules.c). */
void config_rules_check(struct config_reader *reader);

#endif
