/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tests/unit/fake_security.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_security fake_security;

void
fake_security_reset(void)
{
    memset(&fake_security, 0, sizeof(fake_security));
    fake_security.audit_fd = -1;
}

void
fake_security_created(void)
{
    memcpy(fake_security.created, fake_security.created_as, sizeof(fake_security.created));
}

#ifdef HAVE_LIBSELINUX

#include <selinux/selinux.h>

static int
fails(const char *function)
{
    if (fake_security.fails == NULL || strcmp(fake_security.fails, function) != 0)
        return 0;
    errno = EACCES;
    return 1;
}

static char *
copy(const char *label)
{
    char *text = strdup(label);

    fake_security.labels += text != NULL;
    return text;
}

int
is_selinux_enabled(void)
{
    return fake_security.selinux;
}

int
fgetfilecon_raw(int fd, char **con)
{
    (void)fd;
    if (fails("fgetfilecon_raw"))
        return -1;
    *con = copy(FAKE_LABEL);
    return (int)strlen(FAKE_LABEL) + 1;
}

int
getfscreatecon_raw(char **con)
{
    if (fails("getfscreatecon_raw"))
        return -1;
    *con = fake_security.created_as[0] != '\0' ? copy(fake_security.created_as) : NULL;
    return 0;
}

int
setfscreatecon_raw(const char *con)
{
    if (fails("setfscreatecon_raw"))
        return -1;
    snprintf(fake_security.created_as, sizeof(fake_security.created_as), "%s",
             con != NULL ? con : "");
    return 0;
}

void
freecon(char *con)
{
    fake_security.labels -= con != NULL;
    free(con);
}

#endif

#ifdef HAVE_LIBAUDIT

#include <libaudit.h>

int
audit_open(void)
{
    fake_security.opened += fake_security.audit_fd >= 0;
    return fake_security.audit_fd;
}

void
audit_close(int fd)
{
    if (fd == fake_security.audit_fd)
        fake_security.opened--;
}

int
audit_log_acct_message(int audit_fd, int type, const char *pgname, const char *op, const char *name,
                       unsigned int id, const char *host, const char *addr, const char *tty,
                       int result)
{
    if (audit_fd == fake_security.audit_fd && pgname == NULL && host == NULL && addr == NULL &&
        tty == NULL)
        snprintf(fake_security.record, sizeof(fake_security.record), "%d %s %s %d %d", type, op,
                 name, (int)id, result);
    return -EPERM;
}

#endif
