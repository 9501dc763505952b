/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "arena/log.h"
#include "arena/notify.h"
#include "arena/peer.h"
#include "arena/privilege.h"
#include "arena/worker.h"

#define ACCEPT_AT_ONCE 64
#define DESCRIPTORS (2 * LEASE_CLIENTS_MAX + LEASE_SLOTS_MAX + 32U) /* clients keep slots, too */

enum { POLL_LISTENER, POLL_EVENTS, POLL_SIGNALS, POLL_CLIENTS };

struct connection {
    int fd; /* -1: none */
    uint32_t euid;
};

struct server {
    const struct server_setup *setup;
    struct server_config config;
    struct lease_table table;
    struct slot slots[LEASE_SLOTS_MAX];
    bool complained[LEASE_SLOTS_MAX]; /* that it can't be made */
    struct connection connections[LEASE_CLIENTS_MAX];
    struct slot kept[LEASE_CLIENTS_MAX]; /* what a client has had for too long; only a descriptor */
    struct log_limit errors, expiries;
    struct worker maker, scrubber;
    int listener; /* -1: no longer */
    int events;   /* eventfd of the workers */
    int signals;
    int spare;
    bool was_ready;
    bool told_pages;
    bool reload_is_due;
    struct pollfd polled[POLL_CLIENTS + LEASE_CLIENTS_MAX];
    uint32_t who[LEASE_CLIENTS_MAX]; /* clients, as they are in polled */
};

static uint64_t
clock_ms(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- clients ------------------------------------------------------------------------- */

static void
close_connection(struct server *server, uint32_t client)
{
    (void)close(server->connections[client].fd);
    server->connections[client].fd = -1;
}

/* A client that has had its slot for too long is perhaps still at work in it, so that its pages may
 * not be taken away yet; but they must be when it hangs up, or it could keep the descriptor, and
 * with it the memory, beside the slot that it may have next. */
static void
set_aside(struct server *server, uint32_t slot, uint32_t client)
{
    struct worker_job job = {.work = WORKER_UNMAP, .own = server->slots[slot]};

    job.own.fd = -1;
    server->kept[client] =
        (struct slot){.fd = server->slots[slot].fd, .size = server->slots[slot].size};
    server->slots[slot] = (struct slot)SLOT_NONE;
    worker_start(&server->maker, &job);
}

static void
drop_kept(struct server *server, uint32_t client)
{
    struct worker_job job = {.work = WORKER_DROP, .own = server->kept[client]};

    if (server->kept[client].fd < 0)
        return;
    server->kept[client] = (struct slot)SLOT_NONE;
    worker_start(&server->maker, &job);
}

static void
hang_up(struct server *server, uint32_t client, bool orderly)
{
    lease_hangup(&server->table, client, orderly, clock_ms());
    close_connection(server, client);
    drop_kept(server, client);
}

static void
send_refusal(int fd, int reason)
{
    struct arena_reply reply = {.head = arena_head(ARENA_REFUSED), .reason = (uint32_t)reason};

    (void)peer_send(fd, &reply, sizeof(reply), -1);
}

/* Slots that the server's thread may look at: no worker has them. */
static bool
is_ours(const struct server *server, uint32_t slot)
{
    enum lease_slot_state state = server->table.slots[slot].state;

    return state == LEASE_SLOT_FREE || state == LEASE_SLOT_LENT;
}

static void
send_report(struct server *server, int fd)
{
    struct arena_report report = {.head = arena_head(ARENA_REPORT)};

    lease_report(&server->table, clock_ms(), &report);
    for (uint32_t i = 0; i < LEASE_SLOTS_MAX; i++) {
        const struct slot *slot = &server->slots[i];
        if (!is_ours(server, i))
            continue;
        report.locked += slot->locked ? slot->size : 0;
        report.plain += slot->pages == ARENA_PLAIN;
        report.thp += slot->pages == ARENA_THP;
        report.hugetlb += slot->pages == ARENA_HUGETLB;
    }
    (void)peer_send(fd, &report, sizeof(report), -1);
}

static void act_all(struct server *server);

/* Of two caps of which each may be 0, none. */
static uint32_t
stricter(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void
take_request(struct server *server, uint32_t client)
{
    struct connection *connection = &server->connections[client];
    struct arena_request request;
    int reason, rc = peer_receive(connection->fd, &request);

    if (rc == EAGAIN)
        return;
    if (rc == 0 && request.head.type == ARENA_LEASE) {
        request.service_max =
            stricter(request.service_max, server->setup->slots_max(request.service));
        reason = lease_request(&server->table, client, connection->euid, &request, clock_ms());
        if (reason == 0) {
            act_all(server); /* before the next one asks: a slot given is a place in the queue */
            return;
        }
        send_refusal(connection->fd, reason);
    } else if (rc == 0) {
        send_report(server, connection->fd);
    }
    hang_up(server, client, rc == 0 || rc == EPIPE);
}

static void
hear_client(struct server *server, uint32_t client)
{
    int rc;

    if (server->table.clients[client].state == LEASE_CLIENT_SILENT) {
        take_request(server, client);
        return;
    }
    rc = peer_listen(server->connections[client].fd);
    if (rc == EAGAIN)
        return;
    if (rc == EPROTO && log_limit_allows(&server->errors, clock_ms()))
        log_line(LOG_WARNING, "a client of uid %" PRIu32 " breaks the protocol",
                 server->connections[client].euid);
    hang_up(server, client, rc == EPIPE);
}

static void
welcome(struct server *server, int fd, uint32_t euid)
{
    uint32_t client, dropped;

    lease_connect(&server->table, clock_ms(), &client, &dropped);
    if (dropped != LEASE_CLIENTS_MAX)
        close_connection(server, dropped);
    server->connections[client].fd = fd;
    server->connections[client].euid = euid;
    take_request(server, client); /* it is there already, as a rule */
}

static void
accept_clients(struct server *server)
{
    for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
        uint32_t euid = 0;
        int fd, rc;

        rc = peer_accept(server->listener, &server->spare, server->setup->group, &fd, &euid);
        if (rc == EAGAIN)
            return;
        if (rc == 0)
            welcome(server, fd, euid);
    }
}

/* ---- slots --------------------------------------------------------------------------- */

static void
start_job(struct server *server, struct worker *worker, enum worker_work work,
          const struct lease_action *action)
{
    struct worker_job job = {.work = work,
                             .index = action->slot,
                             .slot = &server->slots[action->slot],
                             .wish = {.size = action->size,
                                      .pages = server->config.pages,
                                      .lock = server->config.lock,
                                      .threads = slot_threads()}};

    worker_start(worker, &job);
}

/* Says what was asked for and isn't had, once. */
static void
compare_with_wish(struct server *server, const struct slot *slot)
{
    if (server->told_pages)
        return;
    if (server->config.pages_asked && slot->pages != server->config.pages)
        log_line(LOG_WARNING, "no %s pages are to be had: slots are of %s pages",
                 slot_pages_name(server->config.pages), slot_pages_name(slot->pages));
    if (server->config.lock && !slot->locked)
        log_line(LOG_WARNING, "slots aren't locked into memory: that takes CAP_IPC_LOCK, or a "
                              "larger RLIMIT_MEMLOCK (LimitMEMLOCK= of the unit)");
    server->told_pages = true;
}

static void
take_made(struct server *server, const struct worker_job *job)
{
    bool *complained = &server->complained[job->index];

    if (job->rc == 0)
        compare_with_wish(server, job->slot);
    else if (!*complained && job->no_room)
        log_line(LOG_WARNING, "slot %" PRIu32 " can't be made: %s", job->index, job->why);
    else if (!*complained)
        log_line(LOG_WARNING, "slot %" PRIu32 " can't be made: %s", job->index, strerror(job->rc));
    *complained = job->rc != 0;
    lease_made(&server->table, job->index, job->rc == 0, clock_ms());
}

static void
take_done(struct server *server)
{
    struct worker_job job;
    uint64_t count;

    if (read(server->events, &count, sizeof(count)) < 0)
        return;
    while (worker_done(&server->maker, &job) || worker_done(&server->scrubber, &job)) {
        switch (job.work) {
        case WORKER_MAKE:
            take_made(server, &job);
            break;
        case WORKER_SCRUB:
            lease_scrubbed(&server->table, job.index, job.rc == 0);
            break;
        case WORKER_FREE:
            lease_freed(&server->table, job.index);
            break;
        case WORKER_UNMAP:
        case WORKER_DROP:
            break;
        }
    }
}

static void
tell_ready(struct server *server)
{
    char text[128];

    if (server->was_ready || !server->table.ready)
        return;
    server->was_ready = true;
    (void)snprintf(text, sizeof(text), "STATUS=%" PRIu32 " slots of %" PRIu64 "M",
                   server->config.lease.slots, server->config.lease.size / 1024 / 1024);
    notify_send(text);
    log_line(LOG_INFO, "ready: %s", text + strlen("STATUS="));
}

/* ---- actions ------------------------------------------------------------------------- */

static void
grant(struct server *server, const struct lease_action *action)
{
    struct arena_reply reply = {.head = arena_head(ARENA_GRANTED),
                                .size = action->size,
                                .lease_ms = server->table.config.lease_ms,
                                .pages = server->slots[action->slot].pages};

    if (peer_send(server->connections[action->client].fd, &reply, sizeof(reply),
                  server->slots[action->slot].fd) != 0)
        hang_up(server, action->client, false);
}

static void
act(struct server *server, const struct lease_action *action)
{
    const struct lease_client *client = &server->table.clients[action->client];
    struct arena_reply queued = {.head = arena_head(ARENA_QUEUED), .position = action->position};

    switch (action->type) {
    case LEASE_MAKE:
        start_job(server, &server->maker, WORKER_MAKE, action);
        break;
    case LEASE_SCRUB:
        start_job(server, &server->scrubber, WORKER_SCRUB, action);
        break;
    case LEASE_FREE:
        start_job(server, &server->maker, WORKER_FREE, action);
        break;
    case LEASE_GRANT:
        grant(server, action);
        break;
    case LEASE_QUEUED:
        /* Who doesn't read them needn't have them. */
        (void)peer_send(server->connections[action->client].fd, &queued, sizeof(queued), -1);
        break;
    case LEASE_EXPIRE:
        set_aside(server, action->slot, action->client);
        if (log_limit_allows(&server->expiries, clock_ms()))
            log_line(LOG_WARNING,
                     "slot %" PRIu32 " is kept too long (uid %" PRIu32 ", %s): it is replaced",
                     action->slot, client->uid, client->service);
        break;
    case LEASE_REFUSE:
        send_refusal(server->connections[action->client].fd, (int)action->reason);
        close_connection(server, action->client);
        break;
    case LEASE_DROP:
        close_connection(server, action->client);
        break;
    case LEASE_NOTHING:
        break;
    }
}

static void
act_all(struct server *server)
{
    struct lease_action action;

    do {
        action = lease_next(&server->table, clock_ms());
        act(server, &action);
    } while (action.type != LEASE_NOTHING);
    tell_ready(server);
}

/* ---- signals ------------------------------------------------------------------------- */

/* What slots have; one that is being made has it, or will in a moment. */
static void
count_held(const struct server *server, struct server_held *held)
{
    *held = (struct server_held){0};
    for (uint32_t i = 0; i < LEASE_SLOTS_MAX; i++) {
        if (is_ours(server, i) && server->slots[i].pages == ARENA_HUGETLB)
            held->hugetlb += server->table.slots[i].size;
        else
            held->memory += server->table.slots[i].size;
    }
}

static void
reload(struct server *server)
{
    struct server_config config = server->config;
    struct server_held held;

    server->reload_is_due = false;
    count_held(server, &held);
    if (server->setup->reload(&config, &held) == 0) {
        server->config = config;
        server->told_pages = false;
        lease_configure(&server->table, &config.lease);
        log_line(LOG_INFO, "configuration read again: %" PRIu32 " slots of %" PRIu64 "M",
                 config.lease.slots, config.lease.size / 1024 / 1024);
    } else {
        log_line(LOG_ERR, "the configuration stays as it was: %" PRIu32 " slots of %" PRIu64 "M",
                 config.lease.slots, config.lease.size / 1024 / 1024);
    }
    notify_send("READY=1");
}

static void
take_signal(struct server *server)
{
    struct signalfd_siginfo info;

    if (read(server->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    if (info.ssi_signo == SIGHUP) {
        notify_send("RELOADING=1");
        server->reload_is_due = true;
        return;
    }
    notify_send("STOPPING=1");
    lease_end(&server->table);
    if (server->listener >= 0)
        (void)close(server->listener);
    server->listener = -1;
}

static void
own_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGHUP);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGTERM);
}

void
server_block_signals(void)
{
    sigset_t set;

    own_signals(&set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* ---- the loop ------------------------------------------------------------------------ */

/* Before all slots have been tried once, nobody can tell what they leave. */
static bool
may_reload(const struct server *server)
{
    return server->reload_is_due && server->table.ready && !server->table.ending;
}

static void
tell_left_out(struct server *server, bool at_the_end)
{
    uint64_t now_ms = clock_ms();

    log_limit_tell(&server->errors, now_ms, at_the_end, "clients broke the protocol");
    log_limit_tell(&server->expiries, now_ms, at_the_end, "slots were kept too long");
}

static nfds_t
list_descriptors(struct server *server)
{
    nfds_t count = POLL_CLIENTS;

    server->polled[POLL_LISTENER] = (struct pollfd){.fd = server->listener, .events = POLLIN};
    server->polled[POLL_EVENTS] = (struct pollfd){.fd = server->events, .events = POLLIN};
    server->polled[POLL_SIGNALS] = (struct pollfd){.fd = server->signals, .events = POLLIN};
    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++) {
        if (server->connections[i].fd < 0)
            continue;
        server->polled[count] =
            (struct pollfd){.fd = server->connections[i].fd, .events = POLLIN | POLLRDHUP};
        server->who[count - POLL_CLIENTS] = i;
        count++;
    }
    return count;
}

static int
timeout_ms(const struct server *server)
{
    uint64_t now_ms = clock_ms();
    const uint64_t deadlines_ms[] = {lease_deadline(&server->table, now_ms),
                                     log_limit_deadline(&server->errors),
                                     log_limit_deadline(&server->expiries)};
    uint64_t first_ms = LEASE_NEVER;

    for (size_t i = 0; i < sizeof(deadlines_ms) / sizeof(deadlines_ms[0]); i++)
        if (deadlines_ms[i] < first_ms)
            first_ms = deadlines_ms[i];
    if (first_ms == LEASE_NEVER)
        return -1;
    if (first_ms <= now_ms)
        return 0;
    return first_ms - now_ms > INT_MAX ? INT_MAX : (int)(first_ms - now_ms);
}

/* Clients first: who has hung up makes room for those who come. */
static void
take_events(struct server *server, nfds_t count)
{
    for (nfds_t i = POLL_CLIENTS; i < count; i++) {
        uint32_t client = server->who[i - POLL_CLIENTS];
        /* What comes of one client may be the end of another. */
        if (server->polled[i].revents != 0 &&
            server->connections[client].fd == server->polled[i].fd)
            hear_client(server, client);
    }
    if (server->polled[POLL_EVENTS].revents != 0)
        take_done(server);
    if (server->polled[POLL_SIGNALS].revents != 0)
        take_signal(server);
    else if (server->polled[POLL_LISTENER].revents != 0)
        accept_clients(server);
}

static int
loop(struct server *server)
{
    while (!lease_is_over(&server->table)) {
        nfds_t count;
        int n;

        act_all(server);
        count = list_descriptors(server);
        n = poll(server->polled, count, timeout_ms(server));
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0)
            take_events(server, count);
        if (may_reload(server))
            reload(server);
        tell_left_out(server, false);
    }
    return 0;
}

static int
open_descriptors(struct server *server)
{
    sigset_t set;

    own_signals(&set);
    server->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return server->events < 0 || server->signals < 0 || server->spare < 0 ? errno : 0;
}

/* Nor does the memory of the last ones stay with those who keep a descriptor. */
static void
free_slots(struct server *server)
{
    for (uint32_t i = 0; i < LEASE_SLOTS_MAX; i++)
        if (server->table.slots[i].state != LEASE_SLOT_LENT)
            slot_free(&server->slots[i]);
}

int
server_run(const struct server_setup *setup, const struct server_config *config)
{
    static struct server server;
    int rc;

    server.setup = setup;
    server.config = *config;
    server.listener = setup->listener;
    privilege_raise_descriptors(DESCRIPTORS);
    lease_init(&server.table, &config->lease);
    for (uint32_t i = 0; i < LEASE_SLOTS_MAX; i++)
        server.slots[i].fd = -1;
    for (uint32_t i = 0; i < LEASE_CLIENTS_MAX; i++)
        server.connections[i].fd = server.kept[i].fd = -1;
    rc = open_descriptors(&server);
    if (rc == 0)
        rc = slot_init();
    if (rc == 0)
        rc = worker_init(&server.maker, server.events);
    if (rc != 0)
        return rc;
    rc = worker_init(&server.scrubber, server.events);
    if (rc == 0) {
        notify_send("READY=1\nSTATUS=making slots");
        rc = loop(&server);
        worker_end(&server.scrubber);
    }
    worker_end(&server.maker);
    free_slots(&server);
    tell_left_out(&server, true);
    return rc;
}
