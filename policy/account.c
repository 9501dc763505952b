/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "policy/line_read.h"

_Static_assert(LINE_NO_DAYS == AGING_NONE, "account.c takes the one for the other");

#define READ_TRIES 20 /* then take what there is */

/* line_read_passwd or line_read_shadow. */
typedef int find_line(int fd, const char *name, char line[LINE_READ_MAX],
                      struct line_field *fields);

/* Whether fd is still the file of this name; also where that can't be told. */
static bool
is_current(const char *path, int fd)
{
    struct stat ours, named;

    if (fstat(fd, &ours) != 0 || stat(path, &named) != 0)
        return true;
    return ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/* *again: another file has taken the place of the one that was read. */
static int
find_once(const char *path, find_line *find, const char *name, char line[LINE_READ_MAX],
          struct line_field *fields, bool *again)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int rc;

    *again = false;
    if (fd < 0)
        return errno;
    rc = find(fd, name, line, fields);
    if (rc == 0 || rc == ENOENT)
        *again = !is_current(path, fd);
    close(fd);
    return rc;
}

/* A file that was replaced while it was read may not have been whole: what vipw(8) replaces becomes
 * the backup "shadow-", which the next program that makes one empties and fills anew. */
static int
find_in(const char *etc_dir, const char *file, find_line *find, const char *name,
        char line[LINE_READ_MAX], struct line_field *fields)
{
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/%s", etc_dir, file);
    int tries = READ_TRIES;
    bool again;
    int rc;

    if (n < 0 || (size_t)n >= sizeof(path))
        return ENAMETOOLONG;
    do
        rc = find_once(path, find, name, line, fields, &again);
    while (again && --tries > 0);
    return rc;
}

static bool
field_is(const struct line_field *field, const char *text)
{
    return field->len == strlen(text) && memcmp(field->text, text, field->len) == 0;
}

/* As the C library's users see it: "x", or "##" and the name. */
static bool
is_shadowed(const struct line_field *hash, const char *name)
{
    if (hash->len > 2 && memcmp(hash->text, "##", 2) == 0) {
        struct line_field rest = {hash->text + 2, hash->len - 2};
        return field_is(&rest, name);
    }
    return field_is(hash, "x");
}

static int
set_hash(struct account *account, const struct line_field *hash)
{
    account->hash = malloc(hash->len + 1);
    if (account->hash == NULL)
        return ENOMEM;
    memcpy(account->hash, hash->text, hash->len);
    account->hash[hash->len] = '\0';
    return 0;
}

/* An account that says "x" is there, even if the file that it points to, or its line, is not. */
static int
from_shadow(const char *etc_dir, const char *name, char line[LINE_READ_MAX],
            struct account *account)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    int rc = find_in(etc_dir, "shadow", line_read_shadow, name, line, fields);

    if (rc != 0)
        return rc == ENOENT ? ENODATA : rc;
    account->shadowed = true;
    account->aging.last_change = line_days(&fields[2]);
    account->aging.min = line_days(&fields[3]);
    account->aging.max = line_days(&fields[4]);
    account->aging.warn = line_days(&fields[5]);
    account->aging.inactive = line_days(&fields[6]);
    account->aging.expire = line_days(&fields[7]);
    return set_hash(account, &fields[1]);
}

int
account_find(const char *etc_dir, const char *name, struct account *out)
{
    struct line_field fields[LINE_PASSWD_FIELDS];
    char line[LINE_READ_MAX];
    int rc;

    memset(out, 0, sizeof(*out));
    out->aging =
        (struct aging){AGING_NONE, AGING_NONE, AGING_NONE, AGING_NONE, AGING_NONE, AGING_NONE};
    rc = find_in(etc_dir, "passwd", line_read_passwd, name, line, fields);
    if (rc == 0) {
        out->uid = line_id(&fields[2]);
        if (is_shadowed(&fields[1], name))
            rc = from_shadow(etc_dir, name, line, out);
        else
            rc = set_hash(out, &fields[1]);
    }
    mhkdf_wipe(line, sizeof(line));
    return rc;
}

int
account_find_uid(const char *etc_dir, const char *name, uint32_t *uid)
{
    struct line_field fields[LINE_PASSWD_FIELDS];
    char line[LINE_READ_MAX];
    int rc = find_in(etc_dir, "passwd", line_read_passwd, name, line, fields);

    if (rc == 0)
        *uid = line_id(&fields[2]);
    mhkdf_wipe(line, sizeof(line)); /* old systems have hashes there */
    return rc;
}

bool
account_has_no_password(const char *etc_dir, const char *name)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    char line[LINE_READ_MAX];
    bool in_passwd, in_shadow, is_empty;

    _Static_assert(LINE_PASSWD_FIELDS <= LINE_SHADOW_FIELDS, "fields has room for both");
    in_passwd = find_in(etc_dir, "passwd", line_read_passwd, name, line, fields) == 0;
    in_shadow = in_passwd && is_shadowed(&fields[1], name);
    is_empty = in_passwd && fields[1].len == 0;
    if (find_in(etc_dir, "shadow", line_read_shadow, name, line, fields) == 0 && in_shadow)
        is_empty = fields[1].len == 0;
    mhkdf_wipe(line, sizeof(line));
    return is_empty;
}

bool
account_hash_is_usable(const char *hash)
{
    return hash[0] != '\0' && hash[0] != '!' && hash[0] != '*';
}

void
account_free(struct account *account)
{
    if (account->hash != NULL) {
        mhkdf_wipe(account->hash, strlen(account->hash));
        free(account->hash);
    }
    account->hash = NULL;
}
