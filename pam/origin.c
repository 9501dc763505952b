/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/origin.h"

#include <stddef.h>
#include <string.h>

#include "pam/place.h"
#include "policy/account.h"

/* All whom the local files don't know are one user to the arena, who isn't root. */
#define UID_UNKNOWN (UINT32_MAX - 1)

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
    if (account_find_uid(place_etc(), name, &uid) != 0)
        return UID_UNKNOWN;
    return uid;
}
