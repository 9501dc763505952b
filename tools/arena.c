/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "libcore/arena_protocol.h"
#include "tools/message.h"
#include "tools/options.h"
#include "tools/status.h"

#define COMMAND "arena"
#define TEXT_SIZE 4096
#define MIB ((uint64_t)1024 * 1024)

/* ---- asking -------------------------------------------------------------------------- */

static int
reach(int fd, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = ARENA_SILENCE_MS / 1000};

    if (strlen(path) >= sizeof(address.sun_path))
        return ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        return errno;
    return 0;
}

static int
ask(const char *path, struct arena_report *report)
{
    struct arena_request request = {.head = arena_head(ARENA_STATUS)};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), rc;
    ssize_t n = -1;

    if (fd < 0)
        return errno;
    rc = reach(fd, path);
    if (rc == 0 && send(fd, &request, sizeof(request), MSG_NOSIGNAL) < 0)
        rc = errno;
    if (rc == 0) {
        n = recv(fd, report, sizeof(*report), 0);
        if (n < 0)
            rc = errno == EAGAIN ? ETIMEDOUT : errno;
        else if (!arena_report_is_valid(report, (size_t)n))
            rc = n == 0 ? EACCES : EPROTO;
    }
    (void)close(fd);
    return rc;
}

/* ---- telling ------------------------------------------------------------------------- */

/* Whatever changes here is an addition: programs read it. */
static int
print_json(const struct arena_report *r)
{
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I}, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:I, s:I, s:I}",
        "slots", (json_int_t)r->slots, "slot_bytes", (json_int_t)r->slot_size, "free",
        (json_int_t)r->free, "lent", (json_int_t)r->lent, "making", (json_int_t)r->making, "failed",
        (json_int_t)r->failed, "reserve", (json_int_t)r->reserve, "pages", "hugetlb",
        (json_int_t)r->hugetlb, "thp", (json_int_t)r->thp, "plain", (json_int_t)r->plain,
        "locked_bytes", (json_int_t)r->locked, "lease_ms", (json_int_t)r->lease_ms, "waiting",
        (json_int_t)r->waiting, "longest_wait_now_ms", (json_int_t)r->wait_now_ms,
        "longest_wait_ms", (json_int_t)r->wait_max_ms, "leases", (json_int_t)r->leases, "retired",
        (json_int_t)r->expired, "overdue", (json_int_t)r->overdue, "renewed",
        (json_int_t)r->renewed, "busy", (json_int_t)r->busy, "fallbacks",
        (json_int_t)r->unavailable);
    char *text =
        object == NULL ? NULL : json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    char *line = NULL;
    int rc = STATUS_TROUBLE;

    json_decref(object);
    if (text == NULL || asprintf(&line, "%s\n", text) < 0)
        message_error(COMMAND, "not enough memory");
    else
        rc = message_output(COMMAND, line);
    free(line);
    free(text);
    return rc;
}

static int
print_text(const struct arena_report *r)
{
    char text[TEXT_SIZE];

    (void)snprintf(text, sizeof(text),
                   "slots      %" PRIu32 " of %" PRIu64 "M: %" PRIu32 " free, %" PRIu32
                   " lent, %" PRIu32 " being made or scrubbed, %" PRIu32 " failed\n"
                   "reserve    %" PRIu32 " for root\n"
                   "pages      %" PRIu32 " hugetlb, %" PRIu32 " thp, %" PRIu32 " plain\n"
                   "locked     %" PRIu64 "M\n"
                   "leases     %" PRIu64 ", each of at most %" PRIu32 " ms\n"
                   "queue      %" PRIu32 " waiting, the first for %" PRIu64
                   " ms; longest wait %" PRIu64 " ms\n"
                   "retired    %" PRIu64 " slots kept too long; %" PRIu32 " of them still are\n"
                   "renewed    %" PRIu64 " slots after a user who isn't root\n"
                   "busy       %" PRIu64 " requests sent away or given up\n"
                   "fallbacks  %" PRIu64 " requests that had to be served by private memory\n",
                   r->slots, r->slot_size / MIB, r->free, r->lent, r->making, r->failed, r->reserve,
                   r->hugetlb, r->thp, r->plain, r->locked / MIB, r->leases, r->lease_ms,
                   r->waiting, r->wait_now_ms, r->wait_max_ms, r->expired, r->overdue, r->renewed,
                   r->busy, r->unavailable);
    return message_output(COMMAND, text);
}

static int
show(const char *path, int json)
{
    struct arena_report report;
    int rc = ask(path, &report);

    if (rc == 0)
        return json ? print_json(&report) : print_text(&report);
    message_error(COMMAND, "%.200s: %s", path,
                  rc == ENOENT || rc == ECONNREFUSED ? "mhkdf-arenad isn't running" : strerror(rc));
    return STATUS_TROUBLE;
}

int
arena_run(int argc, char **argv)
{
    enum { OPT_JSON, OPT_SOCKET };
    struct options_entry entries[] = {
        [OPT_JSON] = {.name = "json", .help = "the same for programs"},
        [OPT_SOCKET] = {.name = "socket", .value = "PATH", .help = "ask there"},
    };
    struct options options = {
        .command = COMMAND,
        .usage = "mhkdf arena status [OPTION ...]",
        .about =
            "Says what mhkdf-arenad, which lends memory to logins, has and has done: slots, what\n"
            "pages they are made of, leases, and who waits. Only root may ask.\n",
        .entries = entries,
        .count = sizeof(entries) / sizeof(entries[0]),
        .operand_name = "status",
        .operand_hint = "'status' alone was expected",
    };

    switch (options_read(&options, argc, argv)) {
    case OPTIONS_HELP:
        return STATUS_OK;
    case OPTIONS_ERROR:
        return STATUS_TROUBLE;
    case OPTIONS_GO:
        break;
    }
    if (strcmp(options.operand, "status") != 0) {
        message_error(COMMAND, "'status' was expected; 'mhkdf arena --help' says more");
        return STATUS_TROUBLE;
    }
    return show(entries[OPT_SOCKET].given != NULL ? entries[OPT_SOCKET].given : ARENA_SOCKET,
                entries[OPT_JSON].given != NULL);
}
