/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules of mhkdf-arenad: who gets which slot, and when. Time is the test's own. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "arena/lease.h"

#define SIZE (64 * ARENA_HUGE_PAGE)
#define NOBODY LEASE_CLIENTS_MAX

static struct lease_table table;
static uint64_t now_ms;

/* What came of the actions since the last look. */
static uint32_t granted[LEASE_CLIENTS_MAX], granted_count; /* clients, in turn */
static uint32_t refused_count, dropped_count, queued_count, expired_count;
static uint32_t making[LEASE_SLOTS_MAX], making_count;
static uint32_t scrubbing[LEASE_SLOTS_MAX], scrubbing_count;
static uint32_t freeing_count;
static enum arena_reason refused_reason;
static uint32_t last_position;

static const struct lease_config CONFIG = {
    .slots = 4, .reserve = 1, .size = SIZE, .lease_ms = 30000, .uid_leases = 1, .uid_places = 2};

static void
forget(void)
{
    granted_count = refused_count = dropped_count = queued_count = expired_count = 0;
    making_count = scrubbing_count = freeing_count = 0;
}

/* Carries out all actions; slots stay at work until settle() or done(). */
static void
run(void)
{
    struct lease_action action;

    while ((action = lease_next(&table, now_ms)).type != LEASE_NOTHING) {
        switch (action.type) {
        case LEASE_MAKE:
            assert_int_equal(action.size, table.config.size);
            making[making_count++] = action.slot;
            break;
        case LEASE_SCRUB:
            scrubbing[scrubbing_count++] = action.slot;
            break;
        case LEASE_FREE:
            freeing_count++;
            lease_freed(&table, action.slot);
            break;
        case LEASE_GRANT:
            granted[granted_count++] = action.client;
            break;
        case LEASE_QUEUED:
            queued_count++;
            last_position = action.position;
            break;
        case LEASE_EXPIRE:
            expired_count++;
            break;
        case LEASE_REFUSE:
            refused_count++;
            refused_reason = action.reason;
            break;
        case LEASE_DROP:
            dropped_count++;
            break;
        case LEASE_NOTHING:
            break;
        }
    }
}

/* Finishes what is being made or scrubbed, until nothing is. */
static void
settle(void)
{
    run();
    while (making_count > 0 || scrubbing_count > 0) {
        while (making_count > 0)
            lease_made(&table, making[--making_count], true, now_ms);
        while (scrubbing_count > 0)
            lease_scrubbed(&table, scrubbing[--scrubbing_count], true);
        run();
    }
}

static struct arena_request
request_of(uint32_t uid, const char *service)
{
    struct arena_request request = {.head = arena_head(ARENA_LEASE), .size = SIZE, .real_uid = uid};

    strncpy(request.service, service, sizeof(request.service) - 1);
    return request;
}

static uint32_t
connect_client(void)
{
    uint32_t client, dropped;

    lease_connect(&table, now_ms, &client, &dropped);
    assert_int_equal(dropped, NOBODY);
    return client;
}

/* A set-id program of this user; it must get a place in the queue. */
static uint32_t
ask(uint32_t uid)
{
    struct arena_request request = request_of(uid, "test");
    uint32_t client = connect_client();

    assert_int_equal(lease_request(&table, client, 0, &request, now_ms), 0);
    return client;
}

/* It must not. */
static int
ask_refused(uint32_t uid)
{
    struct arena_request request = request_of(uid, "test");
    uint32_t client = connect_client();
    int reason = lease_request(&table, client, 0, &request, now_ms);

    assert_int_not_equal(reason, 0);
    lease_hangup(&table, client, true, now_ms);
    return reason;
}

static void
release(uint32_t client)
{
    lease_hangup(&table, client, true, now_ms);
}

static bool
has(uint32_t client)
{
    return table.clients[client].state == LEASE_CLIENT_HOLDING;
}

static void
start_with(struct lease_config config)
{
    now_ms = 1000000;
    lease_init(&table, &config);
    forget();
    settle();
    assert_true(table.ready);
    forget();
}

static int
start(void **state)
{
    (void)state;
    start_with(CONFIG);
    return 0;
}

/* ---- cases --------------------------------------------------------------------------- */

static void
not_ready_until_all_are_made(void **state)
{
    (void)state;
    lease_init(&table, &CONFIG);
    forget();
    assert_int_equal(ask_refused(0), ARENA_NOT_READY);
    run();
    assert_int_equal(making_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(table.ready);
        assert_int_equal(ask_refused(0), ARENA_NOT_READY);
        lease_made(&table, i, true, now_ms);
    }
    ask(0);
    run();
    assert_int_equal(granted_count, 1);
}

static void
first_come_first_served(void **state)
{
    uint32_t clients[12];

    (void)state;
    for (int i = 0; i < 12; i++)
        clients[i] = ask(0);
    run();
    assert_int_equal(granted_count, 4);
    assert_int_equal(queued_count, 8);
    assert_int_equal(last_position, 8);
    for (int i = 0; i < 8; i++) {
        release(clients[i]);
        settle();
    }
    assert_int_equal(granted_count, 12);
    for (int i = 0; i < 12; i++)
        assert_int_equal(granted[i], clients[i]);
}

static void
those_who_wait_hear_of_it(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        ask(0);
    run();
    assert_int_equal(queued_count, 2);
    assert_int_equal(lease_deadline(&table, now_ms), now_ms + ARENA_ALIVE_MS);
    now_ms += ARENA_ALIVE_MS - 1;
    run();
    assert_int_equal(queued_count, 2);
    now_ms += 1;
    run();
    assert_int_equal(queued_count, 4);
}

static void
a_waiter_that_dies_leaves_the_queue(void **state)
{
    uint32_t clients[7];

    (void)state;
    for (int i = 0; i < 7; i++)
        clients[i] = ask(0);
    run();
    release(clients[4]);
    release(clients[0]);
    settle();
    assert_true(has(clients[5]));
    assert_false(has(clients[6]));
}

static void
one_lease_and_two_places_for_a_uid(void **state)
{
    uint32_t first, second, third, other;

    (void)state;
    first = ask(1000);
    run();
    assert_true(has(first));
    second = ask(1000);
    third = ask(1000);
    assert_int_equal(ask_refused(1000), ARENA_BUSY);
    run();
    assert_false(has(second) || has(third)); /* though two slots are free */
    other = ask(1001);                       /* who isn't held up by them */
    run();
    assert_true(has(other));
    release(first);
    settle();
    assert_true(has(second));
    assert_false(has(third));
}

static void
root_has_no_cap(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        ask(0);
    run();
    assert_int_equal(granted_count, 4);
}

static void
the_reserve_is_roots(void **state)
{
    uint32_t clients[5], root;

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        clients[i] = ask(1000 + i);
    run();
    assert_int_equal(granted_count, 3);
    root = ask(0);
    run();
    assert_true(has(root));
    release(root);
    settle();
    assert_false(has(clients[3])); /* the slot that root had is the reserve */
    release(clients[0]);
    settle();
    assert_true(has(clients[3]));
    assert_false(has(clients[4]));
}

static void
a_service_has_its_cap(void **state)
{
    struct arena_request request = request_of(0, "sshd");
    uint32_t clients[4], login;

    (void)state;
    request.service_max = 2;
    for (int i = 0; i < 4; i++) {
        clients[i] = connect_client();
        assert_int_equal(lease_request(&table, clients[i], 0, &request, now_ms), 0);
    }
    login = ask(0);
    run();
    assert_true(has(clients[0]) && has(clients[1]) && has(login));
    assert_false(has(clients[2]));
    release(clients[1]);
    settle();
    assert_true(has(clients[2]));
    assert_false(has(clients[3]));
}

static void
roots_slots_go_to_root_scrubbed(void **state)
{
    uint32_t client = ask(0), slot;

    (void)state;
    run();
    slot = table.clients[client].slot;
    release(client);
    run();
    assert_int_equal(scrubbing_count, 1);
    assert_int_equal(scrubbing[0], slot);
    assert_int_equal(making_count, 0);
    assert_int_equal(table.slots[slot].state, LEASE_SLOT_SCRUBBING);
    lease_scrubbed(&table, slot, true);
    client = ask(0);
    run();
    assert_int_equal(table.clients[client].slot, slot); /* not one that others could have */
}

static void
others_slots_are_made_anew(void **state)
{
    uint32_t client = ask(1000), slot;

    (void)state;
    run();
    slot = table.clients[client].slot;
    release(client);
    run();
    assert_int_equal(scrubbing_count, 0);
    assert_int_equal(making_count, 1);
    assert_int_equal(making[0], slot);
    assert_int_equal(table.renewed, 1);
}

/* All slots have been root's: the next who isn't gets one that was made anew for him. */
static void
roots_slots_are_made_anew_for_others(void **state)
{
    uint32_t clients[4], other, late;

    (void)state;
    for (int i = 0; i < 4; i++)
        clients[i] = ask(0);
    run();
    for (int i = 0; i < 4; i++)
        release(clients[i]);
    settle();
    forget();
    other = ask(1000);
    run();
    assert_false(has(other));
    assert_int_equal(making_count, 1);
    late = ask(0); /* root isn't held up */
    run();
    assert_true(has(late));
    assert_int_equal(making_count, 1);
    lease_made(&table, making[--making_count], true, now_ms);
    run();
    assert_true(has(other));
    assert_false(table.slots[table.clients[other].slot].for_root);
}

static void
with_nothing_to_do_one_slot_is_made_anew(void **state)
{
    uint32_t clients[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        clients[i] = ask(0);
    run();
    for (int i = 0; i < 4; i++)
        release(clients[i]);
    settle();
    forget();
    assert_int_equal(lease_deadline(&table, now_ms), now_ms + LEASE_IDLE_MS);
    now_ms += LEASE_IDLE_MS;
    run();
    assert_int_equal(making_count, 1);
    settle();
    assert_int_equal(lease_deadline(&table, now_ms), LEASE_NEVER);
}

static void
a_failed_scrub_makes_it_anew(void **state)
{
    uint32_t client = ask(0);

    (void)state;
    run();
    release(client);
    run();
    lease_scrubbed(&table, scrubbing[0], false);
    run();
    assert_int_equal(making_count, 1);
}

static void
who_breaks_the_protocol_spoils_the_slot(void **state)
{
    uint32_t client = ask(0);

    (void)state;
    run();
    lease_hangup(&table, client, false, now_ms);
    run();
    assert_int_equal(scrubbing_count, 0);
    assert_int_equal(making_count, 1);
}

static void
a_deadline_retires_the_slot(void **state)
{
    uint32_t stopped = ask(1000), again, root, slot;

    (void)state;
    run();
    slot = table.clients[stopped].slot;
    assert_int_equal(lease_deadline(&table, now_ms), now_ms + 30000);
    now_ms += 29999;
    run();
    assert_int_equal(expired_count, 0);
    now_ms += 1;
    run();
    assert_int_equal(expired_count, 1);
    assert_int_equal(making_count, 1);
    assert_int_equal(making[0], slot);
    settle();
    /* He keeps what he has, so that he doesn't get another one. */
    again = ask(1000);
    root = ask(0);
    run();
    assert_false(has(again));
    assert_true(has(root));
    /* When he hangs up, nothing happens to the slot that took the place of his. */
    forget();
    release(stopped);
    run();
    assert_int_equal(making_count + scrubbing_count, 0);
    assert_true(has(again));
}

/* As many processes as he can start, each stopped in another state. */
static void
one_user_cannot_hold_the_door(void **state)
{
    uint32_t clients[3], other, root, dropped, client;
    struct lease_config config = CONFIG;

    (void)state;
    config.lease_ms = 2000;
    start_with(config);
    for (int i = 0; i < 500; i++) /* before the request */
        (void)lease_connect(&table, now_ms, &client, &dropped);
    assert_int_equal(dropped_count, 0);
    now_ms += LEASE_SILENT_MS;
    run();
    assert_int_equal(dropped_count, LEASE_SILENT_MAX);
    clients[0] = ask(1000); /* with a slot */
    run();
    clients[1] = ask(1000); /* in the queue */
    clients[2] = ask(1000);
    for (int i = 0; i < 100; i++)
        assert_int_equal(ask_refused(1000), ARENA_BUSY);
    other = ask(1001);
    root = ask(0);
    run();
    assert_true(has(clients[0]) && has(other) && has(root));
    for (int round = 0; round < 5; round++) {
        release(other);
        release(root);
        now_ms += 2000;
        settle();
        other = ask(1001);
        root = ask(0);
        settle();
        assert_true(has(other) && has(root));
    }
    assert_int_equal(table.expired, 1);
    assert_false(has(clients[1]) || has(clients[2]));
}

static void
only_euid_0_speaks_for_others(void **state)
{
    struct arena_request request = request_of(0, "test");
    uint32_t client = connect_client();

    (void)state;
    assert_int_equal(lease_request(&table, client, 1000, &request, now_ms), 0);
    assert_int_equal(table.clients[client].uid, 1000);
    assert_false(table.clients[client].root);
    request.real_uid = 1001;
    client = connect_client();
    assert_int_equal(lease_request(&table, client, 1000, &request, now_ms), 0);
    assert_int_equal(table.clients[client].uid, 1000);
}

static void
too_large_a_wish(void **state)
{
    struct arena_request request = request_of(0, "test");
    uint32_t client = connect_client();

    (void)state;
    request.size = SIZE + 1;
    assert_int_equal(lease_request(&table, client, 0, &request, now_ms), ARENA_TOO_SMALL);
    request.size = UINT64_MAX;
    assert_int_equal(lease_request(&table, client, 0, &request, now_ms), ARENA_TOO_SMALL);
    request.size = SIZE;
    assert_int_equal(lease_request(&table, client, 0, &request, now_ms), 0);
}

static void
the_silent_are_dropped(void **state)
{
    uint32_t client, dropped, first = connect_client();

    (void)state;
    for (uint32_t i = 1; i < LEASE_SILENT_MAX; i++)
        connect_client();
    now_ms++;
    lease_connect(&table, now_ms, &client, &dropped);
    assert_int_equal(dropped, first);
    assert_int_equal(client, first);
    assert_int_equal(lease_deadline(&table, now_ms), now_ms - 1 + LEASE_SILENT_MS);
    now_ms += LEASE_SILENT_MS - 1;
    run();
    assert_int_equal(dropped_count, LEASE_SILENT_MAX - 1);
}

static void
no_place_for_another_client(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX - LEASE_SILENT_MAX; i++)
        ask(0);
    assert_int_equal(ask_refused(0), ARENA_BUSY); /* and is told */
    run();
    assert_int_equal(ask_refused(0), ARENA_BUSY);
    release(0);
    ask(0);
    for (uint32_t i = 0; i < LEASE_SILENT_MAX; i++)
        connect_client();
}

static void
slots_that_cannot_be_made(void **state)
{
    uint32_t client, other;

    (void)state;
    lease_init(&table, &CONFIG);
    run();
    for (uint32_t i = 0; i < 4; i++)
        lease_made(&table, i, i == 0, now_ms);
    forget();
    assert_true(table.ready);
    assert_int_equal(ask_refused(1000), ARENA_NOT_READY); /* the one that is there is root's */
    client = ask(0);
    run();
    assert_true(has(client));
    assert_int_equal(making_count, 0);
    now_ms += LEASE_RETRY_MS;
    run();
    assert_int_equal(making_count, 3);
    settle();
    other = ask(1000);
    run();
    assert_true(has(other));
}

/* The arena is the limit of a client without other memory even then. */
static void
who_has_no_other_memory_waits(void **state)
{
    struct arena_request request = request_of(1000, "test");
    uint32_t client;

    (void)state;
    request.require = 1;
    lease_init(&table, &CONFIG);
    client = connect_client();
    assert_int_equal(lease_request(&table, client, 0, &request, now_ms), 0);
    run();
    for (uint32_t i = 0; i < 4; i++)
        lease_made(&table, i, false, now_ms);
    forget();
    run();
    assert_int_equal(refused_count, 0);
    assert_int_equal(ask_refused(1000), ARENA_NOT_READY);
    now_ms += ARENA_ALIVE_MS;
    run();
    assert_true(queued_count > 0);
    now_ms += LEASE_RETRY_MS;
    settle();
    assert_true(has(client));
}

/* Those who wait already are told, too. */
static void
slots_that_are_lost_meanwhile(void **state)
{
    uint32_t clients[5];

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        clients[i] = ask(1000 + i);
    run();
    assert_false(has(clients[3]) || has(clients[4]));
    for (uint32_t i = 0; i < 3; i++)
        release(clients[i]);
    run();
    forget();
    for (uint32_t i = 0; i < 4; i++)
        if (table.slots[i].state == LEASE_SLOT_MAKING)
            lease_made(&table, i, false, now_ms);
    run();
    assert_true(has(clients[3])); /* with the one that was still there */
    assert_int_equal(refused_count, 1);
    assert_int_equal(refused_reason, ARENA_NOT_READY);
}

static void
another_configuration(void **state)
{
    struct lease_config config = CONFIG;
    uint32_t holder = ask(0), other;

    (void)state;
    run();
    config.slots = 2;
    config.size = 2 * SIZE;
    lease_configure(&table, &config);
    forget();
    run();
    assert_int_equal(freeing_count, 2);
    assert_true(has(holder));
    settle();
    other = ask(0);
    run();
    assert_true(has(other));
    assert_int_equal(table.slots[table.clients[other].slot].size, 2 * SIZE);
    release(holder);
    run();
    assert_int_equal(scrubbing_count, 0); /* its slot was of the old size */
    assert_int_equal(making_count, 1);
    settle();
    config.slots = 6;
    lease_configure(&table, &config);
    run();
    assert_int_equal(making_count, 4);
    settle();
    forget();
    for (int i = 0; i < 6; i++)
        ask(0);
    run();
    assert_int_equal(granted_count, 5);
}

static void
a_shorter_arena_waits_for_leases(void **state)
{
    struct lease_config config = CONFIG;
    uint32_t clients[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        clients[i] = ask(0);
    run();
    config.slots = 1;
    config.reserve = 0;
    lease_configure(&table, &config);
    forget();
    run();
    assert_int_equal(freeing_count, 0);
    for (int i = 0; i < 4; i++)
        release(clients[i]);
    settle();
    assert_int_equal(freeing_count, 3);
}

static void
the_end_waits_for_leases(void **state)
{
    uint32_t clients[5], overdue = ask(1000);

    (void)state;
    run();
    now_ms += 30000;
    settle();
    assert_int_equal(table.clients[overdue].state, LEASE_CLIENT_OVERDUE);
    for (int i = 0; i < 5; i++)
        clients[i] = ask(0);
    run();
    assert_false(has(clients[4]));
    forget();
    lease_end(&table);
    run();
    assert_int_equal(refused_count, 1);
    assert_int_equal(refused_reason, ARENA_ENDING);
    assert_int_equal(ask_refused(0), ARENA_ENDING);
    assert_false(lease_is_over(&table));
    for (int i = 0; i < 4; i++)
        release(clients[i]);
    run();
    assert_int_equal(making_count + scrubbing_count, 0);
    assert_int_equal(freeing_count, 4);
    assert_true(lease_is_over(&table)); /* whoever is overdue isn't waited for */
}

static void
what_the_report_says(void **state)
{
    struct arena_report report = {.head = arena_head(ARENA_REPORT)};
    uint32_t clients[6];

    (void)state;
    for (int i = 0; i < 6; i++)
        clients[i] = ask(0);
    run();
    now_ms += 700;
    release(clients[0]);
    settle();
    release(clients[1]);
    run();
    lease_report(&table, now_ms, &report);
    assert_true(arena_report_is_valid(&report, sizeof(report)));
    assert_int_equal(report.slots, 4);
    assert_int_equal(report.lent, 3);
    assert_int_equal(report.making, 1);
    assert_int_equal(report.free, 0);
    assert_int_equal(report.waiting, 1);
    assert_int_equal(report.leases, 5);
    assert_int_equal(report.wait_max_ms, 700);
    assert_int_equal(report.wait_now_ms, 700);
}

/* ---- anything in any order ----------------------------------------------------------- */

static uint32_t random_state;

static uint32_t
random_below(uint32_t bound)
{
    random_state = random_state * 1664525U + 1013904223U;
    return (random_state >> 8) % bound;
}

static bool dirty[LEASE_SLOTS_MAX], roots[LEASE_SLOTS_MAX], lent[LEASE_SLOTS_MAX];

/* A slot as it really is, beside the table's idea of it. */
static void
check_grant(const struct lease_action *action)
{
    const struct lease_client *client = &table.clients[action->client];
    uint32_t slot = action->slot, same_uid = 0, others = 0;

    assert_false(lent[slot]);
    assert_false(dirty[slot]);
    assert_true(client->root || !roots[slot]);
    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        const struct lease_client *c = &table.clients[i];
        if (c->root)
            continue;
        same_uid += (c->state == LEASE_CLIENT_HOLDING || c->state == LEASE_CLIENT_OVERDUE) &&
                    c->uid == client->uid;
        others += c->state == LEASE_CLIENT_HOLDING;
    }
    if (!client->root) {
        assert_int_equal(same_uid, 1);
        assert_true(others <= table.config.slots - table.config.reserve);
    }
    lent[slot] = dirty[slot] = true;
    roots[slot] = roots[slot] || client->root;
}

static void
run_checked(void)
{
    struct lease_action action;

    while ((action = lease_next(&table, now_ms)).type != LEASE_NOTHING) {
        if (action.type == LEASE_GRANT)
            check_grant(&action);
        else if (action.type == LEASE_EXPIRE)
            lent[action.slot] = false; /* its memory is no longer the slot's */
        else if (action.type == LEASE_MAKE || action.type == LEASE_SCRUB)
            assert_false(lent[action.slot]);
    }
}

static void
finish_work(uint32_t slot)
{
    bool ok = random_below(8) != 0;

    if (table.slots[slot].state == LEASE_SLOT_MAKING) {
        dirty[slot] = roots[slot] = false;
        lease_made(&table, slot, ok, now_ms);
    } else if (table.slots[slot].state == LEASE_SLOT_SCRUBBING) {
        dirty[slot] = !ok;
        lease_scrubbed(&table, slot, ok);
    } else if (table.slots[slot].state == LEASE_SLOT_FREEING) {
        lease_freed(&table, slot);
    }
}

static void
one_event(void)
{
    struct arena_request request = request_of(random_below(4), "test");
    struct lease_config config = CONFIG;
    uint32_t client = random_below(24), dropped;
    const struct lease_client *c = &table.clients[client];

    switch (random_below(20)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        lease_connect(&table, now_ms, &client, &dropped);
        if (random_below(10) != 0 &&
            lease_request(&table, client, random_below(8) == 0 ? 7 : 0, &request, now_ms) != 0)
            lease_hangup(&table, client, true, now_ms);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
        if (c->state == LEASE_CLIENT_HOLDING)
            lent[c->slot] = false;
        if (c->state != LEASE_CLIENT_NONE)
            lease_hangup(&table, client, random_below(8) != 0, now_ms);
        break;
    case 10:
        now_ms += random_below(4000);
        break;
    case 11:
        if (random_below(20) == 0) {
            config.slots = 2 + random_below(6);
            config.size = SIZE * (1 + random_below(2));
            lease_configure(&table, &config);
        }
        break;
    default:
        finish_work(random_below(8));
        break;
    }
}

static void
nothing_breaks_the_rules(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        random_state = seed;
        memset(dirty, 0, sizeof(dirty));
        memset(roots, 0, sizeof(roots));
        memset(lent, 0, sizeof(lent));
        lease_init(&table, &CONFIG);
        table.config.lease_ms = 5000;
        for (int i = 0; i < 5000; i++) {
            one_event();
            run_checked();
        }
        /* When all have gone, no slot is lost. */
        for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++)
            if (table.clients[i].state != LEASE_CLIENT_NONE)
                lease_hangup(&table, i, true, now_ms);
        lease_configure(&table, &CONFIG);
        for (int i = 0; i < 100; i++) {
            now_ms += LEASE_RETRY_MS;
            forget();
            settle();
            for (uint32_t slot = 0; slot < LEASE_SLOTS_MAX; slot++) {
                if (table.slots[slot].state == LEASE_SLOT_MAKING)
                    lease_made(&table, slot, true, now_ms);
                if (table.slots[slot].state == LEASE_SLOT_SCRUBBING)
                    lease_scrubbed(&table, slot, true);
                if (table.slots[slot].state == LEASE_SLOT_FREEING)
                    lease_freed(&table, slot);
            }
        }
        for (uint32_t slot = 0; slot < LEASE_SLOTS_MAX; slot++)
            assert_int_equal(table.slots[slot].state,
                             slot < CONFIG.slots ? LEASE_SLOT_FREE : LEASE_SLOT_NONE);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(not_ready_until_all_are_made, start),
        cmocka_unit_test_setup(first_come_first_served, start),
        cmocka_unit_test_setup(those_who_wait_hear_of_it, start),
        cmocka_unit_test_setup(a_waiter_that_dies_leaves_the_queue, start),
        cmocka_unit_test_setup(one_lease_and_two_places_for_a_uid, start),
        cmocka_unit_test_setup(root_has_no_cap, start),
        cmocka_unit_test_setup(the_reserve_is_roots, start),
        cmocka_unit_test_setup(a_service_has_its_cap, start),
        cmocka_unit_test_setup(roots_slots_go_to_root_scrubbed, start),
        cmocka_unit_test_setup(others_slots_are_made_anew, start),
        cmocka_unit_test_setup(roots_slots_are_made_anew_for_others, start),
        cmocka_unit_test_setup(with_nothing_to_do_one_slot_is_made_anew, start),
        cmocka_unit_test_setup(a_failed_scrub_makes_it_anew, start),
        cmocka_unit_test_setup(who_breaks_the_protocol_spoils_the_slot, start),
        cmocka_unit_test_setup(a_deadline_retires_the_slot, start),
        cmocka_unit_test_setup(one_user_cannot_hold_the_door, start),
        cmocka_unit_test_setup(only_euid_0_speaks_for_others, start),
        cmocka_unit_test_setup(too_large_a_wish, start),
        cmocka_unit_test_setup(the_silent_are_dropped, start),
        cmocka_unit_test_setup(no_place_for_another_client, start),
        cmocka_unit_test_setup(slots_that_cannot_be_made, start),
        cmocka_unit_test_setup(who_has_no_other_memory_waits, start),
        cmocka_unit_test_setup(slots_that_are_lost_meanwhile, start),
        cmocka_unit_test_setup(another_configuration, start),
        cmocka_unit_test_setup(a_shorter_arena_waits_for_leases, start),
        cmocka_unit_test_setup(the_end_waits_for_leases, start),
        cmocka_unit_test_setup(what_the_report_says, start),
        cmocka_unit_test_setup(nothing_breaks_the_rules, start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
