/* SPDX-License-Identifier: BSD-2-Clause */
/** What mhkdf-arenad says: lines on standard error, with the priority in front where systemd's
 * journal reads them. Thread-safe. */
#ifndef ARENA_LOG_H
#define ARENA_LOG_H

#include <syslog.h>

/** Writes one line; priority is one of syslog(3)'s. Bytes that aren't printable become `?`. */
void log_line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
