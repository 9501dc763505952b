/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/lockout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "libcore/arena_protocol.h"
#include "libcore/mhkdf.h"
#include "policy/account.h"
#include "policy/config_keys.h"
#include "policy/line_read.h"
#include "policy/strength.h"

#define NAME_SIZE 256
#define MOST_MS 1000       /* for one look: who changes a password waits for it */
#define ARENA_MIN_KIB 4096 /* smaller hashes never ask for a slot, as in libcore/source.c */

struct finding {
    const struct lockout_query *query;
    struct lockout *out;
    struct config_policy strictest; /* the lowest ceilings of all sections */
    uint64_t end_ms;
    bool is_cut;          /* the time was over before all had been looked at */
    char name[NAME_SIZE]; /* of the account that is looked at */
};

static uint64_t
now_ms(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool
in_group(void *ctx, const char *group)
{
    const struct finding *finding = ctx;
    const struct lockout_query *query = finding->query;

    return query->in_group != NULL && query->in_group(query->ctx, finding->name, group);
}

/* All that a section can say: most accounts are below, and cost no more than this look. */
static void
find_strictest(const struct config *config, struct config_policy *policy)
{
    size_t i;

    memset(policy, 0, sizeof(*policy));
    policy->ceiling_kib = config_keys_builtin(CONFIG_KEY_CEILING_MEMORY);
    policy->ceiling_passes = config_keys_builtin(CONFIG_KEY_CEILING_PASSES);
    for (i = 0; i < config->count; i++) {
        const struct config_section *section = &config->sections[i];
        if (section->lines[CONFIG_KEY_CEILING_MEMORY] != 0 &&
            section->values[CONFIG_KEY_CEILING_MEMORY] < policy->ceiling_kib)
            policy->ceiling_kib = section->values[CONFIG_KEY_CEILING_MEMORY];
        if (section->lines[CONFIG_KEY_CEILING_PASSES] != 0 &&
            section->values[CONFIG_KEY_CEILING_PASSES] < policy->ceiling_passes)
            policy->ceiling_passes = section->values[CONFIG_KEY_CEILING_PASSES];
    }
}

static bool
is_served_by_arena(const char *hash)
{
    struct strength strength;

    return strncmp(hash, "$mhkdf$", 7) == 0 || strncmp(hash, "$argon2", 7) == 0
               ? strength_read(hash, &strength) == 0 && strength.memory_kib >= ARENA_MIN_KIB
               : false;
}

static bool
may_be_refused(const struct finding *finding, const char *hash)
{
    return finding->query->reason == LOCKOUT_CEILING
               ? strength_above_ceiling(&finding->strictest, hash) != NULL
               : is_served_by_arena(hash);
}

static bool
is_refused(struct finding *finding, const char *service, bool is_root, const char *hash)
{
    const struct config_who who = {service, finding->name, is_root, in_group, finding};
    struct config_policy policy;

    config_look_up(finding->query->config, &who, &policy);
    return finding->query->reason == LOCKOUT_CEILING ? strength_above_ceiling(&policy, hash) != NULL
                                                     : policy.use == CONFIG_ARENA_REQUIRE;
}

/* Whatever service asks; else the first of the file's for which it is so; NULL: for none. */
static const char *
find_refusing(struct finding *finding, bool is_root, const char *hash)
{
    const struct config *config = finding->query->config;
    size_t i;

    if (is_refused(finding, NULL, is_root, hash))
        return "";
    for (i = 0; i < config->count; i++) {
        const struct config_section *section = &config->sections[i];
        if (section->kind == CONFIG_IN_SERVICE && is_refused(finding, section->name, is_root, hash))
            return section->name;
    }
    return NULL;
}

/* Names for which there is no room are counted alone; room is kept for their number. */
static void
add(struct finding *finding, const char *service)
{
    struct lockout *out = finding->out;
    size_t len = strlen(out->names), size = sizeof(out->names) - 32;
    int n = -1;

    out->count++;
    if (len < size)
        n = snprintf(out->names + len, size - len, "%s%s%s%s%s", len > 0 ? ", " : "", finding->name,
                     service[0] != '\0' ? " (service " : "", service,
                     service[0] != '\0' ? ")" : "");
    if (n < 0 || (size_t)n >= size - len)
        out->names[len] = '\0';
}

static void
look_at(void *ctx, const char *line, size_t len)
{
    struct finding *finding = ctx;
    struct line_field fields[LINE_SHADOW_FIELDS];
    char hash[MHKDF_STRING_SIZE];
    const char *service;
    uint32_t uid;

    if (!line_name(line, len, finding->name, sizeof(finding->name)) ||
        !line_is_shadow_of(line, len, finding->name, fields) || fields[1].len >= sizeof(hash))
        return;
    memcpy(hash, fields[1].text, fields[1].len);
    hash[fields[1].len] = '\0';
    if (!account_hash_is_usable(hash) || !may_be_refused(finding, hash)) {
        mhkdf_wipe(hash, sizeof(hash));
        return;
    }
    /* What follows reads passwd and asks the name service, for each account anew. */
    finding->is_cut = finding->is_cut || now_ms() >= finding->end_ms;
    if (!finding->is_cut && account_find_uid(finding->query->etc_dir, finding->name, &uid) == 0) {
        service = find_refusing(finding, uid == 0, hash);
        if (service != NULL)
            add(finding, service);
    }
    mhkdf_wipe(hash, sizeof(hash));
}

static size_t
count_names(const char *names)
{
    size_t count = names[0] != '\0';

    for (; (names = strstr(names, ", ")) != NULL; names += 2)
        count++;
    return count;
}

int
lockout_find(const struct lockout_query *query, struct lockout *out)
{
    struct finding finding = {.query = query, .out = out, .end_ms = now_ms() + MOST_MS};
    char path[4096], line[LINE_READ_MAX];
    int n = snprintf(path, sizeof(path), "%s/shadow", query->etc_dir);
    size_t named, len;
    int fd, rc;

    out->count = 0;
    out->names[0] = '\0';
    if (n < 0 || (size_t)n >= sizeof(path))
        return ENAMETOOLONG;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return errno;
    find_strictest(query->config, &finding.strictest);
    rc = line_read_each(fd, line, look_at, &finding);
    mhkdf_wipe(line, sizeof(line));
    close(fd);
    named = count_names(out->names);
    len = strlen(out->names);
    if (finding.is_cut && out->count > 0)
        snprintf(out->names + len, sizeof(out->names) - len, " and perhaps more");
    else if (named < out->count)
        snprintf(out->names + len, sizeof(out->names) - len, " and %zu more", out->count - named);
    return rc == 0 && finding.is_cut && out->count == 0 ? ETIME : rc;
}

bool
lockout_may_need_arena(const struct config *config)
{
    size_t i;

    for (i = 0; i < config->count; i++) {
        const struct config_section *section = &config->sections[i];
        if (section->lines[CONFIG_KEY_ARENA] != 0 &&
            section->values[CONFIG_KEY_ARENA] == CONFIG_ARENA_REQUIRE)
            return true;
    }
    return false;
}

bool
lockout_arena_is_there(const char *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = socket_path != NULL ? socket_path : ARENA_SOCKET;
    int fd, error = 0;

    if (strlen(path) >= sizeof(address.sun_path))
        return true;
    memcpy(address.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return true;
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        error = errno;
    close(fd);
    return error != ENOENT && error != ECONNREFUSED;
}
