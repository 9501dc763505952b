/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What mhkdf-arenad and its clients say to each other.
 *
 * The socket is of type SOCK_SEQPACKET, so each message arrives whole or not at all. Messages are
 * of fixed size, without pointers or padding, in the machine's byte order (both ends run on the
 * same one, though perhaps with different word sizes). A message of another size, magic, version
 * or type, or one whose reserved bytes aren't zero, ends the connection. No message holds a
 * password, salt, hash, or anything made from them.
 *
 * A connection carries one request. ARENA_STATUS is answered by one arena_report. ARENA_LEASE is
 * answered by ARENA_GRANTED, whose one SCM_RIGHTS descriptor is the slot's; or by ARENA_REFUSED
 * and the end of the connection; before either there may be any number of ARENA_QUEUED, at once
 * and then every ARENA_ALIVE_MS, which say that the daemon lives. The lease ends when the client
 * shuts the connection down, or closes its last descriptor. The client says nothing more.
 */
#ifndef LIBCORE_ARENA_PROTOCOL_H
#define LIBCORE_ARENA_PROTOCOL_H

#include <stdint.h>
#include <string.h>

#define ARENA_SOCKET "/run/mhkdf/arena.sock"

#define ARENA_MAGIC UINT32_C(0x616b686d)
#define ARENA_VERSION 1

#define ARENA_ALIVE_MS 1000U   /* between two ARENA_QUEUED */
#define ARENA_SILENCE_MS 5000U /* a daemon that says nothing for so long doesn't work */

#define ARENA_SERVICE_SIZE 32 /* bytes of a service's name, its NUL included */

#define ARENA_HUGE_PAGE ((uint64_t)2 * 1024 * 1024) /* bytes; slots are multiples of it */

/** KiB that a slot has besides the memory parameter of the hashes that it is for: what 64 lanes
 * need besides their blocks. */
#define ARENA_EXTRA_KIB 1024U

/** Bytes of a slot for hashes of this much memory. */
static inline uint64_t
arena_slot_size(uint32_t memory_kib)
{
    uint64_t bytes = ((uint64_t)memory_kib + ARENA_EXTRA_KIB) * 1024;

    return (bytes + ARENA_HUGE_PAGE - 1) / ARENA_HUGE_PAGE * ARENA_HUGE_PAGE;
}

/* First in each message. */
struct arena_head {
    uint32_t magic;
    uint16_t version;
    uint16_t type; /* enum arena_type */
};

enum arena_type {
    ARENA_LEASE = 1,
    ARENA_STATUS,
    ARENA_GRANTED = 17,
    ARENA_QUEUED,
    ARENA_REFUSED,
    ARENA_REPORT
};

/* ARENA_LEASE, ARENA_STATUS; for the latter all but head is zero. */
struct arena_request {
    struct arena_head head;
    uint64_t size;                    /* bytes that the client needs, 1 or more */
    uint32_t real_uid;                /* who is behind it; believed from a peer with euid 0 alone */
    uint32_t service_max;             /* most slots that this service may hold at once, if the
                                         daemon's mhkdf.conf doesn't say less; 0: no cap */
    char service[ARENA_SERVICE_SIZE]; /* name, printable ASCII, then NULs, at least one */
    uint8_t require;                  /* 1: the client has no other memory, so it waits in the
                                         queue even while no slot can be made; else 0 */
    uint8_t reserved[7];
};

/* Why ARENA_REFUSED. ARENA_BUSY alone means that the arena works and is in use. */
enum arena_reason {
    ARENA_BUSY = 1,  /* no place in the queue */
    ARENA_NOT_READY, /* the slots aren't made yet, or can't be; not where require is 1 */
    ARENA_TOO_SMALL, /* a slot is smaller than what is needed */
    ARENA_ENDING     /* the daemon is about to end */
};

enum arena_pages { ARENA_PLAIN = 1, ARENA_THP, ARENA_HUGETLB };

/* ARENA_GRANTED, ARENA_QUEUED, ARENA_REFUSED; members of the other types are zero. */
struct arena_reply {
    struct arena_head head;
    uint64_t size;     /* ARENA_GRANTED: bytes of the slot */
    uint32_t lease_ms; /* ARENA_GRANTED: after this time the slot isn't lent again */
    uint32_t pages;    /* ARENA_GRANTED: enum arena_pages */
    uint32_t position; /* ARENA_QUEUED: 1 is next */
    uint32_t reason;   /* ARENA_REFUSED: enum arena_reason */
    uint8_t reserved[8];
};

/* ARENA_REPORT. Counters run from the daemon's start. */
struct arena_report {
    struct arena_head head;
    uint64_t slot_size;   /* bytes */
    uint64_t locked;      /* bytes of slots that are locked into memory */
    uint64_t leases;      /* granted */
    uint64_t expired;     /* leases that met their deadline, and slots retired thereby */
    uint64_t renewed;     /* slots destroyed and made anew after a lease that wasn't root's */
    uint64_t busy;        /* requests refused, or given up, because all was in use */
    uint64_t unavailable; /* requests refused for other reasons: their clients fell back */
    uint64_t wait_max_ms; /* longest wait for a lease that was granted */
    uint64_t wait_now_ms; /* longest wait of those who wait */
    uint32_t slots;       /* as configured */
    uint32_t free;        /* ready to be lent */
    uint32_t lent;
    uint32_t making; /* being made or scrubbed */
    uint32_t failed; /* couldn't be made; tried again */
    uint32_t plain;  /* slots of each kind of pages */
    uint32_t thp;
    uint32_t hugetlb;
    uint32_t waiting;  /* clients in the queue */
    uint32_t overdue;  /* clients that still hold a retired slot */
    uint32_t lease_ms; /* as configured */
    uint32_t reserve;  /* as configured */
    uint8_t reserved[8];
};

_Static_assert(sizeof(struct arena_request) == 64, "padding in struct arena_request");
_Static_assert(sizeof(struct arena_reply) == 40, "padding in struct arena_reply");
_Static_assert(sizeof(struct arena_report) == 136, "padding in struct arena_report");

static inline struct arena_head
arena_head(enum arena_type type)
{
    struct arena_head head = {ARENA_MAGIC, ARENA_VERSION, (uint16_t)type};

    return head;
}

static inline int
arena_head_is_ours(const struct arena_head *head)
{
    return head->magic == ARENA_MAGIC && head->version == ARENA_VERSION;
}

static inline int
arena_all_zero(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    uint8_t sum = 0;

    while (len-- > 0)
        sum |= *p++;
    return sum == 0;
}

static inline int
arena_service_is_valid(const char service[ARENA_SERVICE_SIZE])
{
    size_t len = strnlen(service, ARENA_SERVICE_SIZE);

    if (len == ARENA_SERVICE_SIZE)
        return 0;
    for (size_t i = 0; i < len; i++)
        if (service[i] < '!' || service[i] > '~')
            return 0;
    return arena_all_zero(service + len, ARENA_SERVICE_SIZE - len);
}

/** Whether received bytes (aligned as the structure) are a request: 1 or 0. */
static inline int
arena_request_is_valid(const struct arena_request *request, size_t received)
{
    if (received != sizeof *request || !arena_head_is_ours(&request->head))
        return 0;
    if (request->head.type == ARENA_STATUS)
        return arena_all_zero((const uint8_t *)request + sizeof request->head,
                              sizeof *request - sizeof request->head);
    return request->head.type == ARENA_LEASE && request->size > 0 &&
           arena_service_is_valid(request->service) && request->require <= 1 &&
           arena_all_zero(request->reserved, sizeof request->reserved);
}

/** Whether received bytes are an answer to ARENA_LEASE: 1 or 0. */
static inline int
arena_reply_is_valid(const struct arena_reply *reply, size_t received)
{
    int granted, queued, refused;

    if (received != sizeof *reply || !arena_head_is_ours(&reply->head) ||
        !arena_all_zero(reply->reserved, sizeof reply->reserved))
        return 0;
    granted = reply->size > 0 && reply->size % ARENA_HUGE_PAGE == 0 && reply->lease_ms > 0 &&
              reply->pages >= ARENA_PLAIN && reply->pages <= ARENA_HUGETLB;
    queued = reply->position > 0;
    refused = reply->reason >= ARENA_BUSY && reply->reason <= ARENA_ENDING;
    switch (reply->head.type) {
    case ARENA_GRANTED:
        return granted && reply->position == 0 && reply->reason == 0;
    case ARENA_QUEUED:
        return queued && reply->size == 0 && reply->lease_ms == 0 && reply->pages == 0 &&
               reply->reason == 0;
    case ARENA_REFUSED:
        return refused && reply->size == 0 && reply->lease_ms == 0 && reply->pages == 0 &&
               reply->position == 0;
    default:
        return 0;
    }
}

/** Whether received bytes are an answer to ARENA_STATUS: 1 or 0. */
static inline int
arena_report_is_valid(const struct arena_report *report, size_t received)
{
    return received == sizeof *report && arena_head_is_ours(&report->head) &&
           report->head.type == ARENA_REPORT &&
           arena_all_zero(report->reserved, sizeof report->reserved);
}

#endif
