/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/shadow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/audit.h"
#include "policy/line.h"
#include "policy/lock.h"
#include "policy/replace.h"

#define SECONDS_A_DAY 86400

long
shadow_today(void)
{
    return (long)(time(NULL) / SECONDS_A_DAY);
}

static bool
is_storable(const char *hash)
{
    const char *p;

    for (p = hash; *p != '\0'; p++) {
        if (*p < 0x21 || *p > 0x7e || *p == ':')
            return false;
    }
    return p > hash;
}

/* Day 0 would mean "to be changed at the next login", which a clock that isn't set yet didn't want
 * to say; so the field is left empty. */
static void
format_day(char *out, size_t size, long day)
{
    out[0] = '\0';
    if (day > 0)
        snprintf(out, size, "%ld", day);
}

static int
commit(const struct replace *replace, const struct line_field *fields,
       const struct shadow_change *change)
{
    const struct file *contents = &replace->contents;
    const char *end = contents->data + contents->len;
    const char *rest = fields[3].text - 1; /* the colon behind the day */
    char day[24];
    struct replace_piece pieces[] = {
        {contents->data, (size_t)(fields[1].text - contents->data)},
        {change->new_hash, strlen(change->new_hash)},
        {":", 1},
        {fields[2].text, fields[2].len},
        {rest, (size_t)(end - rest)},
    };

    if (change->set_last_change) {
        format_day(day, sizeof(day), shadow_today());
        pieces[3].data = day;
        pieces[3].len = strlen(day);
    }
    return replace_commit(replace, pieces, sizeof(pieces) / sizeof(pieces[0]));
}

static bool
is_same(const struct line_field *field, const char *hash)
{
    return field->len == strlen(hash) && memcmp(field->text, hash, field->len) == 0;
}

static int
change_locked(const char *path, const struct shadow_change *change)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    struct replace replace;
    int rc = replace_begin(path, &replace);

    if (rc != 0)
        goto out;
    rc = ENOENT;
    if (!line_find_shadow(replace.contents.data, replace.contents.len, change->name, fields))
        goto out;
    rc = ESTALE;
    if (change->old_hash != NULL && !is_same(&fields[1], change->old_hash))
        goto out;
    rc = commit(&replace, fields, change);
out:
    replace_end(&replace);
    return rc;
}

int
shadow_change(const char *etc_dir, const struct shadow_change *change)
{
    struct lock lock;
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/shadow", etc_dir);
    int rc;

    if (n < 0 || (size_t)n >= sizeof(path))
        return ENAMETOOLONG;
    if (!is_storable(change->new_hash))
        return EINVAL;
    rc = lock_take(etc_dir, change->wait_ms, &lock);
    if (rc != 0)
        return rc;
    rc = change_locked(path, change);
    lock_release(&lock);
    /* That a login made no better hash is no failure of anybody's. */
    if (rc == 0 || change->set_last_change)
        audit_hash_changed(
            change->name, change->set_last_change ? "change-password" : "rehash-password", rc == 0);
    return rc;
}
