/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/origin.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pam/names.h"
#include "pam/place.h"
#include "policy/account.h"

/* Numbers for users about whom no source can tell: none is root's, and real ones are seldom so
 * large. */
#define UID_UNKNOWN_FIRST UINT32_C(0x80000000)

static const char *
item(pam_handle_t *pamh, int type)
{
    const void *value = NULL;

    if (pam_get_item(pamh, type, &value) != PAM_SUCCESS)
        return NULL;
    return value;
}

const char *
origin_service(pam_handle_t *pamh)
{
    return item(pamh, PAM_SERVICE);
}

bool
origin_is_console(pam_handle_t *pamh)
{
    const char *host = item(pamh, PAM_RHOST), *terminal = item(pamh, PAM_TTY);

    if ((host != NULL && host[0] != '\0') || terminal == NULL)
        return false;
    if (strncmp(terminal, "/dev/", 5) == 0)
        terminal += 5;
    return strncmp(terminal, "tty", 3) == 0 || strcmp(terminal, "console") == 0;
}

/* Where no source says which uid a name has, its users are told apart by the name: as one user all
 * of them would have one slot between them, which one of them could keep. (FNV-1a.) */
static uint32_t
uid_of_name(const char *name)
{
    uint32_t hash = UINT32_C(2166136261);

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT32_C(16777619);
    return hash | UID_UNKNOWN_FIRST;
}

/* sudo and doas run their PAM stack with root's real uid, though their user can stop them, too;
 * they say in PAM_RUSER who he is. It is believed where the program would pass for root's
 * otherwise, and nobody comes from elsewhere. */
uint32_t
origin_uid(pam_handle_t *pamh)
{
    uint32_t uid = place_real_uid();
    const char *name = item(pamh, PAM_RUSER), *host = item(pamh, PAM_RHOST);

    if (uid != 0 || name == NULL || name[0] == '\0' || (host != NULL && host[0] != '\0'))
        return uid;
    if (account_find_uid(place_etc(), name, &uid) != 0 && names_find_uid(name, &uid) != 0)
        return uid_of_name(name);
    return uid;
}
