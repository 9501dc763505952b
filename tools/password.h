/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Where a password comes from: the terminal, when standard input is one, else standard input up to
 * the first newline or the end. Never the command line or the environment.
 */
#ifndef TOOLS_PASSWORD_H
#define TOOLS_PASSWORD_H

#include <stddef.h>

#include "libcore/mhkdf.h"

/** One byte more than a password may have, to tell one that is too long; and the NUL. */
#define PASSWORD_SIZE (MHKDF_CRYPT_PASSWORD_MAX + 2)

struct password {
    char text[PASSWORD_SIZE]; /* NUL-terminated, without a NUL before the end */
    size_t len;               /* 0 .. 511 */
};

/** Memory for one password: locked where that is allowed, out of core dumps. NULL: none left. */
struct password *password_new(void);

/** Wipes it and gives it back. password may be NULL. */
void password_free(struct password *password);

enum password_use {
    PASSWORD_CHECK, /* asked once */
    PASSWORD_SET    /* asked twice on a terminal, where it must not be empty */
};

/**
 * Reads a password. 0, or STATUS_TROUBLE after a message. Where a signal interrupts the question
 * (Ctrl-C), everything is wiped, the terminal is restored, and the process ends by that signal.
 */
int password_read(const char *command, enum password_use use, struct password *password);

#endif
