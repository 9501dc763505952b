/* SPDX-License-Identifier: BSD-2-Clause */
/* mhkdf-arenad: from the command line to the server, giving up rights on the way. */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "arena/check.h"
#include "arena/listener.h"
#include "arena/log.h"
#include "arena/options.h"
#include "arena/privilege.h"
#include "arena/room.h"
#include "arena/server.h"
#include "policy/config.h"

/* A user who isn't root has one hash at a time, and two that wait. */
#define UID_LEASES 1
#define UID_PLACES 2

static struct options options;
static struct config current; /* what was last read well */

static uint32_t
config_owner(void)
{
#ifdef MHKDF_TEST_ARENA
    /* In tests it belongs to whoever runs them, perhaps as root, who then becomes somebody else. */
    static uid_t owner = (uid_t)-1;
    if (owner == (uid_t)-1)
        owner = geteuid();
    return owner;
#else
    return 0;
#endif
}

static enum arena_pages
best_pages(enum config_pages pages)
{
    switch (pages) {
    case CONFIG_PAGES_THP:
        return ARENA_THP;
    case CONFIG_PAGES_PLAIN:
        return ARENA_PLAIN;
    case CONFIG_PAGES_AUTO:
    case CONFIG_PAGES_HUGETLB:
        break;
    }
    return ARENA_HUGETLB;
}

static int
read_config(struct config *config)
{
    struct config_error error;
    int rc;

    if (options.conf_is_given)
        rc = config_load(options.conf, config_owner(), true, config, &error);
    else
        rc = config_load_either(options.conf, config_vendor_path(), config_owner(), config, &error);
    if (rc != 0)
        log_line(LOG_ERR, "%s", error.text);
    return rc;
}

static void
translate(const struct config_arena *arena, struct server_config *out)
{
    out->lease.slots = arena->slots;
    out->lease.reserve = arena->reserve;
    out->lease.size = arena_slot_size(arena->slot_kib);
    out->lease.lease_ms = arena->lease_ms;
    out->lease.uid_leases = UID_LEASES;
    out->lease.uid_places = UID_PLACES;
    out->slot_kib = arena->slot_kib;
    out->pages = best_pages(arena->pages);
    out->pages_asked = arena->pages != CONFIG_PAGES_AUTO;
    out->lock = arena->lock;
}

/* An arena of which a part is missing would be found out by the logins that wait for it. */
static int
check_room(const struct server_config *config, const struct server_held *held)
{
    const struct room_plan plan = {.slots = config->lease.slots,
                                   .size = config->lease.size,
                                   .slot_kib = config->slot_kib,
                                   .hugetlb = config->pages == ARENA_HUGETLB};
    char text[ROOM_TEXT_SIZE];
    struct room room;

    room_read(&room);
    if (room_fits(&plan, &room, held->memory, held->hugetlb, text))
        return 0;
    log_line(LOG_ERR, "[arena]: %s", text);
    return ENOMEM;
}

static int
load(struct server_config *out, const struct server_held *held)
{
    struct server_config wanted = *out;
    struct config config;
    int rc = read_config(&config);

    if (rc == 0) {
        translate(&config.arena, &wanted);
        rc = check_room(&wanted, held);
    }
    if (rc != 0) {
        config_free(&config);
        return rc;
    }
    config_free(&current);
    current = config;
    *out = wanted;
    return 0;
}

static uint32_t
slots_max(const char *service)
{
    return config_slots_max(&current, service);
}

static int
find_names(struct privilege_user *user, gid_t *group)
{
    int rc = 0;

    if (geteuid() == 0)
        rc = privilege_find_user(options.user, user);
    if (rc != 0) {
        log_line(LOG_ERR, "user %s: %s (it is to be made once, with systemd-sysusers or useradd)",
                 options.user, rc == ENOENT ? "there is none" : strerror(rc));
        return rc;
    }
    rc = privilege_find_group(options.group, group);
    if (rc != 0) {
        log_line(LOG_WARNING, "group %s: %s; root's programs alone may ask", options.group,
                 rc == ENOENT ? "there is none" : strerror(rc));
        *group = (gid_t)-1;
    }
    return 0;
}

static int
start(struct server_setup *setup, struct server_config *config)
{
    const struct server_held nothing = {0};
    struct privilege_user user;
    int rc = load(config, &nothing);

    if (rc == 0)
        check_lockouts(&current);
    if (rc == 0)
        rc = find_names(&user, &setup->group);
    if (rc != 0)
        return rc;
    rc = listener_open(options.socket, setup->group, &setup->listener);
    if (rc != 0) {
        log_line(LOG_ERR, "%s: %s", options.socket, strerror(rc));
        return rc;
    }
    rc = privilege_drop(geteuid() == 0 ? &user : NULL, true);
    if (rc != 0)
        log_line(LOG_ERR, "rights can't be given up: %s", strerror(rc));
    return rc;
}

/* Whether there is room isn't looked at: the daemon may be running, and have it. */
static int
check_alone(void)
{
    int rc = read_config(&current);

    if (rc == 0)
        check_lockouts(&current);
    config_free(&current);
    return rc == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
    struct server_setup setup = {.listener = -1, .reload = load, .slots_max = slots_max};
    struct server_config config = {0};
    int status;

    if (!options_read(argc, argv, &options, &status))
        return status;
    if (options.check)
        return check_alone();
    (void)signal(SIGPIPE, SIG_IGN);
    server_block_signals();
    if (start(&setup, &config) != 0)
        return 1;
#ifdef MHKDF_TEST_ARENA
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* for the leak checker */
#else
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    return server_run(&setup, &config) == 0 ? 0 : 1;
}
