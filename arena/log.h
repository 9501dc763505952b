/* SPDX-License-Identifier: BSD-2-Clause */
/** What mhkdf-arenad says: lines on standard error, with the priority in front where systemd's
 * journal reads them. Thread-safe. */
#ifndef ARENA_LOG_H
#define ARENA_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <syslog.h>

/** Writes one line; priority is one of syslog(3)'s. Bytes that aren't printable become `?`. */
void log_line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Lines of one kind that a client can bring about as often as it likes: only so many are written
 * in a span of time. One thread's; all zeros at first. */
#define LOG_LINES_MAX 10U
#define LOG_SPAN_MS 60000U

struct log_limit {
    uint64_t start_ms; /* of the span */
    uint32_t written;
    uint64_t left_out;
};

/** Whether one more may be written. False: it has been counted. */
bool log_limit_allows(struct log_limit *limit, uint64_t now_ms);

/** Where a span is over, or at_the_end: writes how many lines were left out, if any: "N more WHAT".
 */
void log_limit_tell(struct log_limit *limit, uint64_t now_ms, bool at_the_end, const char *what);

/** When log_limit_tell is to be called; UINT64_MAX: nothing was left out. */
uint64_t log_limit_deadline(const struct log_limit *limit);

#endif
