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
#include "policy/file.h"
#include "policy/line.h"

#define FILE_MAX ((size_t)256 * 1024 * 1024)
#define READ_TRIES 20 /* then take what there is */

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
read_once(const char *path, struct file *out, bool *again)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int rc;

    *again = false;
    if (fd < 0)
        return errno;
    rc = file_read(fd, FILE_MAX, out);
    if (rc == 0)
        *again = !is_current(path, fd);
    close(fd);
    return rc;
}

/* A file that was replaced while it was read may not have been whole: what vipw(8) replaces becomes
 * the backup "shadow-", which the next program that makes one empties and fills anew. */
static int
read_file(const char *etc_dir, const char *name, struct file *out)
{
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/%s", etc_dir, name);
    int tries = READ_TRIES;
    bool again;
    int rc;

    if (n < 0 || (size_t)n >= sizeof(path))
        return ENAMETOOLONG;
    for (;;) {
        rc = read_once(path, out, &again);
        if (!again || --tries == 0)
            return rc;
        file_free(out);
    }
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

static int
from_shadow(const char *etc_dir, const char *name, struct account *account)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    struct file file = {NULL, 0};
    int rc = read_file(etc_dir, "shadow", &file);

    /* An account that says "x" is there, even if the file that it points to is not. */
    if (rc != 0)
        return rc == ENOENT ? ENODATA : rc;
    rc = ENODATA;
    if (line_find_shadow(file.data, file.len, name, fields)) {
        account->shadowed = true;
        account->aging.last_change = line_number(&fields[2], AGING_NONE);
        account->aging.min = line_number(&fields[3], AGING_NONE);
        account->aging.max = line_number(&fields[4], AGING_NONE);
        account->aging.warn = line_number(&fields[5], AGING_NONE);
        account->aging.inactive = line_number(&fields[6], AGING_NONE);
        account->aging.expire = line_number(&fields[7], AGING_NONE);
        rc = set_hash(account, &fields[1]);
    }
    file_free(&file);
    return rc;
}

int
account_find(const char *etc_dir, const char *name, struct account *out)
{
    struct line_field fields[LINE_PASSWD_FIELDS];
    struct file file = {NULL, 0};
    int rc;

    memset(out, 0, sizeof(*out));
    out->aging =
        (struct aging){AGING_NONE, AGING_NONE, AGING_NONE, AGING_NONE, AGING_NONE, AGING_NONE};
    rc = read_file(etc_dir, "passwd", &file);
    if (rc != 0)
        return rc;
    rc = ENOENT;
    if (line_find_passwd(file.data, file.len, name, fields)) {
        out->uid = (uint32_t)line_number(&fields[2], 0);
        if (is_shadowed(&fields[1], name))
            rc = from_shadow(etc_dir, name, out);
        else
            rc = set_hash(out, &fields[1]);
    }
    file_free(&file);
    return rc;
}

int
account_find_uid(const char *etc_dir, const char *name, uint32_t *uid)
{
    struct line_field fields[LINE_PASSWD_FIELDS];
    struct file file = {NULL, 0};
    int rc = read_file(etc_dir, "passwd", &file);

    if (rc != 0)
        return rc;
    rc = ENOENT;
    if (line_find_passwd(file.data, file.len, name, fields)) {
        *uid = (uint32_t)line_number(&fields[2], 0);
        rc = 0;
    }
    file_free(&file);
    return rc;
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
