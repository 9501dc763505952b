/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef MHKDF_TEST_PLACE

#include <grp.h>
#include <pwd.h>
#include <stddef.h>

#define FIRST_SIZE ((size_t)1024)
#define MOST_SIZE ((size_t)16 * 1024 * 1024) /* of a group with very many members */
#define MOST_INTERRUPTIONS 8

#define FIRST_GROUPS 64
#define MOST_GROUPS 65536 /* the kernel's limit */

/* What a source found, in memory of its own. */
struct answer {
    char *buffer; /* NULL before the first question */
    size_t size;
    unsigned interruptions;
};

static void
answer_free(struct answer *answer)
{
    free(answer->buffer);
    answer->buffer = NULL;
}

/* Whether to ask, again after *rc: with a larger buffer, or after a signal. */
static bool
answer_is_due(struct answer *answer, int *rc)
{
    if (answer->buffer != NULL && *rc == EINTR)
        return ++answer->interruptions <= MOST_INTERRUPTIONS;
    if (answer->buffer != NULL && *rc != ERANGE)
        return false;
    if (answer->size >= MOST_SIZE)
        return false;
    answer->size = answer->buffer == NULL ? FIRST_SIZE : answer->size * 2;
    answer_free(answer);
    answer->buffer = malloc(answer->size);
    if (answer->buffer == NULL)
        *rc = ENOMEM;
    return answer->buffer != NULL;
}

static int
verdict(int rc, const void *found)
{
    if (rc == 0)
        return found != NULL ? 0 : ENOENT;
    return rc == ESRCH ? ENOENT : rc;
}

/* Each of uid and gid may be NULL. */
static int
find_user(const char *user, uint32_t *uid, gid_t *gid)
{
    struct passwd entry, *found = NULL;
    struct answer answer = {NULL, 0, 0};
    int rc = 0;

    while (answer_is_due(&answer, &rc))
        rc = getpwnam_r(user, &entry, answer.buffer, answer.size, &found);
    rc = verdict(rc, found);
    if (rc == 0 && uid != NULL)
        *uid = found->pw_uid;
    if (rc == 0 && gid != NULL)
        *gid = found->pw_gid;
    answer_free(&answer);
    return rc;
}

static bool
lists(char *const *members, const char *user)
{
    for (; *members != NULL; members++) {
        if (strcmp(*members, user) == 0)
            return true;
    }
    return false;
}

/* 0; ENOENT: no such group. *listed: the user is one of its members by name. */
static int
find_group(const char *group, const char *user, gid_t *gid, bool *listed)
{
    struct group entry, *found = NULL;
    struct answer answer = {NULL, 0, 0};
    int rc = 0;

    while (answer_is_due(&answer, &rc))
        rc = getgrnam_r(group, &entry, answer.buffer, answer.size, &found);
    rc = verdict(rc, found);
    if (rc == 0) {
        *gid = found->gr_gid;
        *listed = lists(found->gr_mem, user);
    }
    answer_free(&answer);
    return rc;
}

/* Some sources don't list members, but say which groups a user has. */
static int
find_number(const char *user, gid_t primary, gid_t wanted)
{
    int room = FIRST_GROUPS, count = room, rc = ENOENT;
    gid_t *gids = malloc((size_t)room * sizeof(*gids));

    while (gids != NULL && getgrouplist(user, primary, gids, &count) < 0) {
        free(gids);
        gids = NULL;
        if (count > room && count <= MOST_GROUPS) {
            room = count;
            gids = malloc((size_t)room * sizeof(*gids));
        }
    }
    if (gids == NULL)
        return ENOMEM;
    for (int i = 0; i < count; i++) {
        if (gids[i] == wanted)
            rc = 0;
    }
    free(gids);
    return rc;
}

int
names_find_user(const char *user)
{
    return find_user(user, NULL, NULL);
}

int
names_find_uid(const char *user, uint32_t *uid)
{
    return find_user(user, uid, NULL);
}

/* The same is asked about a user whom nobody knows, so that time doesn't tell. */
int
names_find_member(const char *user, const char *group)
{
    gid_t wanted = 0, primary = (gid_t)-1;
    bool listed = false;
    int rc = find_group(group, user, &wanted, &listed);
    int unknown;

    if (rc != 0 || listed)
        return rc;
    unknown = find_user(user, NULL, &primary);
    rc = find_number(user, primary, wanted);
    return rc == ENOENT ? unknown != 0 ? unknown : ENOENT : rc;
}

#else

#include <stdio.h>

/* Whether the variable's list has the word. */
static int
find(const char *variable, const char *word)
{
    const char *failure = getenv("MHKDF_TEST_NSS_ERROR"), *list = getenv(variable);
    size_t len = strlen(word);

    if (failure != NULL && strncmp(failure, word, len) == 0 && failure[len] == '=')
        return atoi(failure + len + 1);
    for (; list != NULL; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, word, len) == 0 && (list[len] == ',' || list[len] == '\0'))
            return 0;
    }
    return ENOENT;
}

int
names_find_user(const char *user)
{
    return find("MHKDF_TEST_NSS", user);
}

int
names_find_uid(const char *user, uint32_t *uid)
{
    const char *first = getenv("MHKDF_TEST_NSS_UID");
    int rc = find("MHKDF_TEST_NSS", user);

    if (rc == 0)
        *uid = (first == NULL ? 0 : (uint32_t)strtoul(first, NULL, 10)) + (uint32_t)strlen(user);
    return rc;
}

int
names_find_member(const char *user, const char *group)
{
    char pair[256];

    snprintf(pair, sizeof(pair), "%s:%s", user, group);
    return find("MHKDF_TEST_GROUPS", pair);
}

#endif
