/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/names.h"

#include <stdlib.h>
#include <string.h>

#ifndef MHKDF_TEST_PLACE

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>

#define FIRST_SIZE ((size_t)1024)
#define MOST_SIZE ((size_t)16 * 1024 * 1024) /* of a group with very many members */

/* A buffer that is twice as large as the one before, which is released; NULL: no more. */
static char *
grow(char *before, size_t *size)
{
    free(before);
    *size = before == NULL ? FIRST_SIZE : *size * 2;
    return *size > MOST_SIZE ? NULL : malloc(*size);
}

static bool
find_user(const char *user, gid_t *gid)
{
    struct passwd entry, *found = NULL;
    size_t size = 0;
    char *buffer = grow(NULL, &size);

    while (buffer != NULL && getpwnam_r(user, &entry, buffer, size, &found) == ERANGE)
        buffer = grow(buffer, &size);
    if (buffer == NULL || found == NULL) {
        free(buffer);
        return false;
    }
    *gid = found->pw_gid;
    free(buffer);
    return true;
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

bool
names_knows(const char *user)
{
    gid_t gid;

    return find_user(user, &gid);
}

bool
names_is_in_group(const char *user, const char *group)
{
    struct group entry, *found = NULL;
    size_t size = 0;
    char *buffer = grow(NULL, &size);
    gid_t gid = 0;
    bool is_in = false;

    while (buffer != NULL && getgrnam_r(group, &entry, buffer, size, &found) == ERANGE)
        buffer = grow(buffer, &size);
    if (buffer != NULL && found != NULL)
        is_in = lists(found->gr_mem, user) || (find_user(user, &gid) && gid == found->gr_gid);
    free(buffer);
    return is_in;
}

#else

#include <stdio.h>

/* Whether the variable's list has the word. */
static bool
lists(const char *variable, const char *word)
{
    const char *list = getenv(variable);
    size_t len = strlen(word);

    for (; list != NULL; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, word, len) == 0 && (list[len] == ',' || list[len] == '\0'))
            return true;
    }
    return false;
}

bool
names_knows(const char *user)
{
    return lists("MHKDF_TEST_NSS", user);
}

bool
names_is_in_group(const char *user, const char *group)
{
    char pair[256];

    snprintf(pair, sizeof(pair), "%s:%s", user, group);
    return lists("MHKDF_TEST_GROUPS", pair);
}

#endif
