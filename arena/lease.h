/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Who gets which slot, and when: the rules of mhkdf-arenad, without any I/O, clock or thread.
 *
 * The server tells the table what happened, and then asks lease_next what is to be done until
 * there is nothing left. Times are milliseconds of any clock that doesn't go back.
 *
 * Slots and clients are known by their index. A client is there from lease_connect until
 * lease_hangup, or until lease_next says LEASE_REFUSE or LEASE_DROP; then its index is used again.
 *
 * The rules:
 * - First come, first served, among those whose turn nothing forbids: who may not have a slot now
 *   doesn't hold up those behind him.
 * - A client whose real uid isn't 0 may not have one while his uid holds config.uid_leases already,
 *   or while clients of such uids hold all slots but config.reserve. A slot that he keeps beyond
 *   its deadline counts for the first rule until he hangs up.
 * - A client may not have one while his service holds as many as it says that it may.
 * - A slot that was lent to root goes to root alone, after scrubbing, until it has been made anew;
 *   after anybody else it is made anew at once. So it is after a deadline, and after a client that
 *   breaks the protocol.
 * - While no slot can be made for its kind, a client is refused; but one that says that it has no
 *   other memory waits in the queue.
 * - With nothing to do, one slot that is for root alone is made anew, so that others needn't wait
 *   for it.
 */
#ifndef ARENA_LEASE_H
#define ARENA_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "libcore/arena_protocol.h"

#define LEASE_SLOTS_MAX 256U
#define LEASE_CLIENTS_MAX 1024U
/* All but the last LEASE_SILENT_MAX places are for clients that have asked. */
#define LEASE_SILENT_MAX 64U  /* clients that haven't asked for anything; the eldest makes room */
#define LEASE_SILENT_MS 2000U /* and how long one may take for it */
#define LEASE_RETRY_MS 1000U  /* until a slot that couldn't be made is tried again */
#define LEASE_IDLE_MS 2000U   /* without requests, before a slot of root's is made anew */
#define LEASE_NEVER UINT64_MAX

struct lease_config {
    uint32_t slots;      /* 1 .. LEASE_SLOTS_MAX */
    uint32_t reserve;    /* slots that only real uid 0 gets; below slots */
    uint64_t size;       /* bytes of a slot */
    uint32_t lease_ms;   /* 1 or more */
    uint32_t uid_leases; /* for each real uid but 0 */
    uint32_t uid_places; /* in the queue, for each real uid but 0 */
};

enum lease_slot_state {
    LEASE_SLOT_NONE,   /* without memory */
    LEASE_SLOT_MAKING, /* the server is at work on it */
    LEASE_SLOT_FREE,   /* clean */
    LEASE_SLOT_LENT,
    LEASE_SLOT_RETURNED, /* dirty, to be scrubbed */
    LEASE_SLOT_SPENT,    /* to be made anew */
    LEASE_SLOT_SCRUBBING,
    LEASE_SLOT_FREEING,
    LEASE_SLOT_FAILED
};

struct lease_slot {
    enum lease_slot_state state;
    bool for_root;        /* has been lent to root since it was made */
    uint32_t client;      /* LENT: to whom */
    uint64_t size;        /* bytes, of the memory that it has or that is being made */
    uint64_t deadline_ms; /* LENT: when the lease ends; FAILED: when it is tried again */
};

enum lease_client_state {
    LEASE_CLIENT_NONE,
    LEASE_CLIENT_SILENT,  /* connected */
    LEASE_CLIENT_WAITING, /* in the queue */
    LEASE_CLIENT_HOLDING, /* has a slot */
    LEASE_CLIENT_OVERDUE  /* has a slot that was taken off the list */
};

struct lease_client {
    enum lease_client_state state;
    bool root;         /* euid and real uid are 0 */
    bool require;      /* has no other memory */
    uint32_t uid;      /* real uid */
    uint32_t slot;     /* HOLDING */
    uint64_t order;    /* of arrival, in its state */
    uint64_t since_ms; /* in its state */
    uint64_t told_ms;  /* WAITING: when it was last told so; LEASE_NEVER: not yet */
    uint64_t size;     /* bytes that it needs */
    uint32_t service_max;
    char service[ARENA_SERVICE_SIZE];
};

struct lease_table {
    struct lease_config config;
    struct lease_slot slots[LEASE_SLOTS_MAX];
    struct lease_client clients[LEASE_CLIENTS_MAX];
    bool ready; /* all slots have been tried once */
    bool ending;
    bool changed; /* since nobody in the queue could be served */
    uint64_t order;
    uint64_t last_request_ms;
    uint64_t leases, expired, renewed, busy, unavailable, wait_max_ms; /* for the report */
};

enum lease_action_type {
    LEASE_NOTHING,
    LEASE_MAKE,   /* slot: free what memory it has, make it with size bytes; then lease_made */
    LEASE_SCRUB,  /* slot: fill it with zeros; then lease_scrubbed */
    LEASE_FREE,   /* slot: free its memory; then lease_freed */
    LEASE_GRANT,  /* client gets slot */
    LEASE_EXPIRE, /* client has had slot for too long: from now on the slot's memory is the client's
                     own until it hangs up, and the slot has none */
    LEASE_QUEUED, /* tell client that it is at position */
    LEASE_REFUSE, /* tell client reason, and hang up */
    LEASE_DROP    /* hang up on client */
};

struct lease_action {
    enum lease_action_type type;
    uint32_t slot;
    uint32_t client;
    uint32_t position;
    uint64_t size;
    enum arena_reason reason;
};

/** An empty table. */
void lease_init(struct lease_table *table, const struct lease_config *config);

/** Another configuration. Leases go on as they are; slots of another size, or too many, are
 * replaced as they become free. */
void lease_configure(struct lease_table *table, const struct lease_config *config);

/** Nothing is lent any more; lease_is_over says when all is done. */
void lease_end(struct lease_table *table);

/** Whether the table is ending and nobody holds a slot. */
bool lease_is_over(const struct lease_table *table);

/**
 * A client has connected: its index goes to *client. Where there are too many silent ones, the
 * eldest is in *dropped (hang up on it first; its index may be used again), else LEASE_CLIENTS_MAX.
 */
void lease_connect(struct lease_table *table, uint64_t now_ms, uint32_t *client, uint32_t *dropped);

/**
 * A silent client asks for a slot. euid is the peer's, from the kernel; request is valid. 0: it
 * waits. Otherwise why it is refused; hang up on it (lease_hangup).
 */
int lease_request(struct lease_table *table, uint32_t client, uint32_t euid,
                  const struct arena_request *request, uint64_t now_ms);

/** A client is gone. orderly: it didn't break the protocol. */
void lease_hangup(struct lease_table *table, uint32_t client, bool orderly, uint64_t now_ms);

/** A slot that LEASE_MAKE, _SCRUB or _FREE asked for is done; ok: without a failure. */
void lease_made(struct lease_table *table, uint32_t slot, bool ok, uint64_t now_ms);
void lease_scrubbed(struct lease_table *table, uint32_t slot, bool ok);
void lease_freed(struct lease_table *table, uint32_t slot);

/** What is to be done next; the table takes it as done. */
struct lease_action lease_next(struct lease_table *table, uint64_t now_ms);

/** When lease_next is to be asked again at the latest; LEASE_NEVER: only when something happens. */
uint64_t lease_deadline(const struct lease_table *table, uint64_t now_ms);

/** Fills in what the table knows; kinds of pages and locked bytes are the server's. */
void lease_report(const struct lease_table *table, uint64_t now_ms, struct arena_report *report);

#endif
