/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/lease.h"

#include <string.h>

void
lease_init(struct lease_table *table, const struct lease_config *config)
{
    memset(table, 0, sizeof(*table));
    table->config = *config;
}

void
lease_configure(struct lease_table *table, const struct lease_config *config)
{
    table->config = *config;
    table->changed = true;
    /* What failed with the old configuration may go well with the new one. */
    for (uint32_t i = 0; i < LEASE_SLOTS_MAX; i++)
        if (table->slots[i].state == LEASE_SLOT_FAILED)
            table->slots[i].deadline_ms = 0;
}

void
lease_end(struct lease_table *table)
{
    table->ending = true;
    table->changed = true;
}

bool
lease_is_over(const struct lease_table *table)
{
    if (!table->ending)
        return false;
    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++)
        if (table->clients[i].state == LEASE_CLIENT_HOLDING ||
            table->clients[i].state == LEASE_CLIENT_WAITING)
            return false;
    return true;
}

/* ---- counting ------------------------------------------------------------------------ */

static uint32_t
count_clients(const struct lease_table *table, enum lease_client_state state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++)
        count += table->clients[i].state == state;
    return count;
}

static uint32_t
count_slots(const struct lease_table *table, enum lease_slot_state state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < LEASE_SLOTS_MAX; i++)
        count += table->slots[i].state == state;
    return count;
}

static bool
has_place(const struct lease_client *client)
{
    return client->state == LEASE_CLIENT_HOLDING || client->state == LEASE_CLIENT_OVERDUE;
}

/* Slots that this uid holds, those included that it should have given back. */
static uint32_t
uid_leases(const struct lease_table *table, uint32_t uid)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        const struct lease_client *other = &table->clients[i];
        count += has_place(other) && !other->root && other->uid == uid;
    }
    return count;
}

static uint32_t
uid_places(const struct lease_table *table, uint32_t uid)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        const struct lease_client *other = &table->clients[i];
        count += other->state == LEASE_CLIENT_WAITING && !other->root && other->uid == uid;
    }
    return count;
}

static uint32_t
service_leases(const struct lease_table *table, const char *service)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        const struct lease_client *other = &table->clients[i];
        count += other->state == LEASE_CLIENT_HOLDING && strcmp(other->service, service) == 0;
    }
    return count;
}

/* Slots that those who aren't root hold. */
static uint32_t
others_leases(const struct lease_table *table)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++)
        count += table->clients[i].state == LEASE_CLIENT_HOLDING && !table->clients[i].root;
    return count;
}

/* Slots that are there, or will be soon. */
static uint32_t
usable_slots(const struct lease_table *table)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < table->config.slots; i++)
        count += table->slots[i].state != LEASE_SLOT_FAILED;
    return count;
}

/* How many slots a client of this kind could ever get, as things are. */
static uint32_t
slots_for(const struct lease_table *table, bool root)
{
    uint32_t usable = usable_slots(table);

    if (root)
        return usable;
    return usable > table->config.reserve ? usable - table->config.reserve : 0;
}

static bool
may_have_slot(const struct lease_table *table, const struct lease_client *client)
{
    if (client->service_max > 0 && service_leases(table, client->service) >= client->service_max)
        return false;
    return client->root || (uid_leases(table, client->uid) < table->config.uid_leases &&
                            others_leases(table) < slots_for(table, false));
}

/* ---- clients ------------------------------------------------------------------------- */

static void
enter_state(struct lease_table *table, struct lease_client *client, enum lease_client_state state,
            uint64_t now_ms)
{
    client->state = state;
    client->order = ++table->order;
    client->since_ms = now_ms;
    table->changed = true;
}

/* The client that has been longest in a state, of those that came to it after `after`. */
static uint32_t
eldest(const struct lease_table *table, enum lease_client_state state, uint64_t after)
{
    uint32_t found = LEASE_CLIENTS_MAX;

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        const struct lease_client *client = &table->clients[i];
        if (client->state == state && client->order > after &&
            (found == LEASE_CLIENTS_MAX || client->order < table->clients[found].order))
            found = i;
    }
    return found;
}

void
lease_connect(struct lease_table *table, uint64_t now_ms, uint32_t *client, uint32_t *dropped)
{
    uint32_t i, silent = count_clients(table, LEASE_CLIENT_SILENT);

    for (i = 0; i < LEASE_CLIENTS_MAX && table->clients[i].state != LEASE_CLIENT_NONE; i++)
        continue;
    *dropped = LEASE_CLIENTS_MAX;
    if (silent >= LEASE_SILENT_MAX) {
        *dropped = eldest(table, LEASE_CLIENT_SILENT, 0);
        i = *dropped;
    }
    memset(&table->clients[i], 0, sizeof(table->clients[i]));
    enter_state(table, &table->clients[i], LEASE_CLIENT_SILENT, now_ms);
    *client = i;
}

static bool
is_without_slots(const struct lease_table *table, bool root)
{
    return !table->ready || slots_for(table, root) == 0;
}

/* Why this client needn't wait; 0: it may. One with no other memory waits for slots that can't be
 * made, too: the arena is its limit even then. */
static int
no_service(const struct lease_table *table, const struct lease_client *client, bool without_slots)
{
    if (table->ending)
        return ARENA_ENDING;
    if (client->size > table->config.size)
        return ARENA_TOO_SMALL;
    return without_slots && !client->require ? ARENA_NOT_READY : 0;
}

/* Places are left for those who come, so that they can be told. */
static bool
is_crowded(const struct lease_table *table)
{
    return count_clients(table, LEASE_CLIENT_NONE) + count_clients(table, LEASE_CLIENT_SILENT) <=
           LEASE_SILENT_MAX;
}

int
lease_request(struct lease_table *table, uint32_t client, uint32_t euid,
              const struct arena_request *request, uint64_t now_ms)
{
    struct lease_client *c = &table->clients[client];
    int reason;

    table->last_request_ms = now_ms;
    /* A program with other rights than root's can only speak for the user whose rights it has. */
    c->uid = euid == 0 ? request->real_uid : euid;
    c->root = euid == 0 && request->real_uid == 0;
    c->require = request->require != 0;
    c->size = request->size;
    c->service_max = request->service_max;
    memcpy(c->service, request->service, sizeof(c->service));
    c->told_ms = LEASE_NEVER;

    reason = no_service(table, c, is_without_slots(table, c->root));
    if (reason == 0 && !c->root && uid_places(table, c->uid) >= table->config.uid_places)
        reason = ARENA_BUSY;
    if (reason == 0 && is_crowded(table))
        reason = ARENA_BUSY;
    if (reason == 0)
        enter_state(table, c, LEASE_CLIENT_WAITING, now_ms);
    else if (reason == ARENA_BUSY)
        table->busy++;
    else
        table->unavailable++;
    return reason;
}

void
lease_hangup(struct lease_table *table, uint32_t client, bool orderly, uint64_t now_ms)
{
    struct lease_client *c = &table->clients[client];

    if (c->state == LEASE_CLIENT_HOLDING)
        table->slots[c->slot].state = c->root && orderly ? LEASE_SLOT_RETURNED : LEASE_SLOT_SPENT;
    if (c->state == LEASE_CLIENT_HOLDING && !c->root)
        table->renewed++;
    if (c->state == LEASE_CLIENT_WAITING)
        table->busy++;
    if (c->state == LEASE_CLIENT_HOLDING)
        table->last_request_ms = now_ms;
    c->state = LEASE_CLIENT_NONE;
    table->changed = true;
}

/* ---- slots --------------------------------------------------------------------------- */

void
lease_made(struct lease_table *table, uint32_t slot, bool ok, uint64_t now_ms)
{
    struct lease_slot *s = &table->slots[slot];

    s->state = ok ? LEASE_SLOT_FREE : LEASE_SLOT_FAILED;
    s->for_root = false;
    s->deadline_ms = now_ms + LEASE_RETRY_MS;
    table->changed = true;
    if (!ok)
        s->size = 0;
    for (uint32_t i = 0; !table->ready && i < table->config.slots; i++)
        if (table->slots[i].state == LEASE_SLOT_NONE || table->slots[i].state == LEASE_SLOT_MAKING)
            return;
    table->ready = true;
}

void
lease_scrubbed(struct lease_table *table, uint32_t slot, bool ok)
{
    table->slots[slot].state = ok ? LEASE_SLOT_FREE : LEASE_SLOT_SPENT;
    table->changed = true;
}

void
lease_freed(struct lease_table *table, uint32_t slot)
{
    table->slots[slot].state = LEASE_SLOT_NONE;
    table->slots[slot].size = 0;
}

/* Whether a slot's memory is of another configuration. */
static bool
is_stale(const struct lease_table *table, uint32_t slot)
{
    return slot >= table->config.slots || table->slots[slot].size != table->config.size;
}

/* Takes what its holder keeps too long off the list. */
static struct lease_action
retire(struct lease_table *table, uint32_t slot, uint64_t now_ms)
{
    struct lease_slot *s = &table->slots[slot];
    struct lease_action action = {.type = LEASE_EXPIRE, .slot = slot, .client = s->client};

    enter_state(table, &table->clients[s->client], LEASE_CLIENT_OVERDUE, now_ms);
    s->state = LEASE_SLOT_SPENT;
    table->expired++;
    return action;
}

static struct lease_action
make(struct lease_table *table, uint32_t slot)
{
    struct lease_action action = {.type = LEASE_MAKE, .slot = slot, .size = table->config.size};

    table->slots[slot].state = LEASE_SLOT_MAKING;
    table->slots[slot].size = table->config.size;
    return action;
}

/* What a slot needs, whoever waits. */
static struct lease_action
tend_slot(struct lease_table *table, uint32_t slot, uint64_t now_ms)
{
    struct lease_action action = {.slot = slot};
    struct lease_slot *s = &table->slots[slot];

    if (s->state == LEASE_SLOT_LENT && now_ms >= s->deadline_ms)
        return retire(table, slot, now_ms);
    if (s->state == LEASE_SLOT_RETURNED && is_stale(table, slot))
        s->state = LEASE_SLOT_SPENT;
    if (slot >= table->config.slots || table->ending) {
        if (s->state == LEASE_SLOT_FREE || s->state == LEASE_SLOT_SPENT ||
            s->state == LEASE_SLOT_RETURNED) {
            s->state = LEASE_SLOT_FREEING;
            action.type = LEASE_FREE;
        } else if (s->state == LEASE_SLOT_FAILED) {
            s->state = LEASE_SLOT_NONE;
        }
        return action;
    }
    switch (s->state) {
    case LEASE_SLOT_NONE:
    case LEASE_SLOT_SPENT:
        return make(table, slot);
    case LEASE_SLOT_FREE:
        if (is_stale(table, slot))
            return make(table, slot);
        break;
    case LEASE_SLOT_FAILED:
        if (now_ms >= s->deadline_ms)
            return make(table, slot);
        break;
    case LEASE_SLOT_RETURNED:
        s->state = LEASE_SLOT_SCRUBBING;
        action.type = LEASE_SCRUB;
        break;
    case LEASE_SLOT_MAKING:
    case LEASE_SLOT_LENT:
    case LEASE_SLOT_SCRUBBING:
    case LEASE_SLOT_FREEING:
        break;
    }
    return action;
}

/* A free slot: for root one that is root's already, if there is one, else one that isn't. */
static uint32_t
find_free(const struct lease_table *table, bool for_root)
{
    for (uint32_t i = 0; i < table->config.slots; i++)
        if (table->slots[i].state == LEASE_SLOT_FREE && table->slots[i].for_root == for_root)
            return i;
    return LEASE_SLOTS_MAX;
}

/* ---- the queue ----------------------------------------------------------------------- */

static struct lease_action
grant(struct lease_table *table, uint32_t client, uint32_t slot, uint64_t now_ms)
{
    struct lease_action action = {.type = LEASE_GRANT, .slot = slot, .client = client};
    struct lease_client *c = &table->clients[client];
    struct lease_slot *s = &table->slots[slot];
    uint64_t waited_ms = now_ms - c->since_ms;

    action.size = s->size;
    s->state = LEASE_SLOT_LENT;
    s->client = client;
    s->deadline_ms = now_ms + table->config.lease_ms;
    s->for_root = s->for_root || c->root;
    c->slot = slot;
    enter_state(table, c, LEASE_CLIENT_HOLDING, now_ms);
    table->leases++;
    if (waited_ms > table->wait_max_ms)
        table->wait_max_ms = waited_ms;
    return action;
}

static struct lease_action
refuse(struct lease_table *table, uint32_t client, int reason)
{
    struct lease_action action = {
        .type = LEASE_REFUSE, .client = client, .reason = (enum arena_reason)reason};

    table->clients[client].state = LEASE_CLIENT_NONE;
    table->unavailable++;
    return action;
}

/* Somebody in the queue for whom nothing will come of it. */
static struct lease_action
refuse_one(struct lease_table *table)
{
    struct lease_action nothing = {.type = LEASE_NOTHING};
    bool without[2] = {is_without_slots(table, false), is_without_slots(table, true)};

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        const struct lease_client *c = &table->clients[i];
        int reason = c->state == LEASE_CLIENT_WAITING ? no_service(table, c, without[c->root]) : 0;
        if (reason != 0)
            return refuse(table, i, reason);
    }
    return nothing;
}

/*
 * The first in the queue who may have a slot and finds one. Somebody who isn't root takes a slot
 * of root's, to be made anew, where no slot is being made anyway; those behind him who aren't root
 * either have at most one slot each on the way to them, too.
 */
static struct lease_action
serve(struct lease_table *table, uint64_t now_ms)
{
    struct lease_action nothing = {.type = LEASE_NOTHING};
    uint32_t coming = count_slots(table, LEASE_SLOT_MAKING);
    uint32_t roots = find_free(table, true), clean = find_free(table, false);
    uint64_t after = 0;
    uint32_t client;

    if (roots == LEASE_SLOTS_MAX && clean == LEASE_SLOTS_MAX)
        return nothing;
    while ((client = eldest(table, LEASE_CLIENT_WAITING, after)) != LEASE_CLIENTS_MAX) {
        const struct lease_client *c = &table->clients[client];

        after = c->order;
        if (!may_have_slot(table, c))
            continue;
        if (c->root && roots != LEASE_SLOTS_MAX)
            return grant(table, client, roots, now_ms);
        if (clean != LEASE_SLOTS_MAX)
            return grant(table, client, clean, now_ms);
        if (coming == 0)
            return make(table, roots);
        coming--;
    }
    return nothing;
}

/* Both, as long as something has changed. */
static struct lease_action
attend_queue(struct lease_table *table, uint64_t now_ms)
{
    struct lease_action action = {.type = LEASE_NOTHING};

    if (!table->changed)
        return action;
    action = refuse_one(table);
    if (action.type == LEASE_NOTHING)
        action = serve(table, now_ms);
    if (action.type == LEASE_NOTHING)
        table->changed = false;
    return action;
}

static bool
is_due(const struct lease_client *client, uint64_t now_ms)
{
    return client->state == LEASE_CLIENT_WAITING &&
           (client->told_ms == LEASE_NEVER || now_ms - client->told_ms >= ARENA_ALIVE_MS);
}

/* Tells those who wait that they do: at once, and again and again. */
static struct lease_action
tell(struct lease_table *table, uint64_t now_ms)
{
    struct lease_action action = {.type = LEASE_NOTHING, .position = 1};
    struct lease_client *due = NULL;

    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        struct lease_client *c = &table->clients[i];
        if (is_due(c, now_ms) && (due == NULL || c->order < due->order)) {
            due = c;
            action.client = i;
        }
    }
    if (due == NULL)
        return action;
    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++)
        action.position +=
            table->clients[i].state == LEASE_CLIENT_WAITING && table->clients[i].order < due->order;
    due->told_ms = now_ms;
    action.type = LEASE_QUEUED;
    return action;
}

/* One slot for those who aren't root is kept while there is nothing else to do. */
static uint32_t
idle_slot(const struct lease_table *table)
{
    if (!table->ready || table->ending || slots_for(table, false) == 0 ||
        find_free(table, false) != LEASE_SLOTS_MAX || count_slots(table, LEASE_SLOT_MAKING) > 0 ||
        count_clients(table, LEASE_CLIENT_WAITING) > 0)
        return LEASE_SLOTS_MAX;
    return find_free(table, true);
}

struct lease_action
lease_next(struct lease_table *table, uint64_t now_ms)
{
    struct lease_action action;
    uint32_t i;

    for (i = 0; i < LEASE_SLOTS_MAX; i++) {
        action = tend_slot(table, i, now_ms);
        if (action.type != LEASE_NOTHING)
            return action;
    }
    i = eldest(table, LEASE_CLIENT_SILENT, 0);
    if (i != LEASE_CLIENTS_MAX &&
        (table->ending || now_ms - table->clients[i].since_ms >= LEASE_SILENT_MS)) {
        table->clients[i].state = LEASE_CLIENT_NONE;
        action.type = LEASE_DROP;
        action.client = i;
        return action;
    }
    action = attend_queue(table, now_ms);
    if (action.type == LEASE_NOTHING)
        action = tell(table, now_ms);
    i = idle_slot(table);
    if (action.type == LEASE_NOTHING && i != LEASE_SLOTS_MAX &&
        now_ms - table->last_request_ms >= LEASE_IDLE_MS)
        action = make(table, i);
    return action;
}

uint64_t
lease_deadline(const struct lease_table *table, uint64_t now_ms)
{
    uint64_t deadline_ms = LEASE_NEVER, at_ms;

    for (uint32_t i = 0; i < LEASE_SLOTS_MAX; i++) {
        const struct lease_slot *s = &table->slots[i];
        if ((s->state == LEASE_SLOT_LENT || s->state == LEASE_SLOT_FAILED) &&
            s->deadline_ms < deadline_ms)
            deadline_ms = s->deadline_ms;
    }
    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        const struct lease_client *c = &table->clients[i];
        at_ms = LEASE_NEVER;
        if (c->state == LEASE_CLIENT_SILENT)
            at_ms = c->since_ms + LEASE_SILENT_MS;
        else if (c->state == LEASE_CLIENT_WAITING)
            at_ms = c->told_ms == LEASE_NEVER ? now_ms : c->told_ms + ARENA_ALIVE_MS;
        if (at_ms < deadline_ms)
            deadline_ms = at_ms;
    }
    at_ms = table->last_request_ms + LEASE_IDLE_MS;
    if (idle_slot(table) != LEASE_SLOTS_MAX && at_ms < deadline_ms)
        deadline_ms = at_ms;
    return deadline_ms;
}

void
lease_report(const struct lease_table *table, uint64_t now_ms, struct arena_report *report)
{
    uint32_t first = eldest(table, LEASE_CLIENT_WAITING, 0);

    report->slot_size = table->config.size;
    report->leases = table->leases;
    report->expired = table->expired;
    report->renewed = table->renewed;
    report->busy = table->busy;
    report->unavailable = table->unavailable;
    report->wait_max_ms = table->wait_max_ms;
    report->wait_now_ms = first == LEASE_CLIENTS_MAX ? 0 : now_ms - table->clients[first].since_ms;
    report->slots = table->config.slots;
    report->free = count_slots(table, LEASE_SLOT_FREE);
    report->lent = count_slots(table, LEASE_SLOT_LENT);
    report->making = count_slots(table, LEASE_SLOT_MAKING) + count_slots(table, LEASE_SLOT_SPENT) +
                     count_slots(table, LEASE_SLOT_RETURNED) +
                     count_slots(table, LEASE_SLOT_SCRUBBING);
    report->failed = count_slots(table, LEASE_SLOT_FAILED);
    report->waiting = count_clients(table, LEASE_CLIENT_WAITING);
    report->overdue = count_clients(table, LEASE_CLIENT_OVERDUE);
    report->lease_ms = table->config.lease_ms;
    report->reserve = table->config.reserve;
}
