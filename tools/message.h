/* SPDX-License-Identifier: BSD-2-Clause */
/** What the mhkdf command says. Neither function goes through stdio, so no copy stays behind. */
#ifndef TOOLS_MESSAGE_H
#define TOOLS_MESSAGE_H

/**
 * Prints "mhkdf COMMAND: TEXT" and a newline on standard error (without COMMAND where it is NULL),
 * cut to 1 KiB, bytes that aren't printable ASCII as `?`: parts of the text may come from the
 * command line. Not for anything secret.
 */
void message_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Writes text, as it is, to standard output, all of it, and closes it, so that an error which shows
 * up late isn't missed either. 0, or STATUS_TROUBLE after a message.
 */
int message_output(const char *command, const char *text);

#endif
