/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "policy/apart.h"
#include "policy/audit.h"
#include "policy/line_read.h"
#include "policy/lock.h"
#include "policy/replace.h"

#define SECONDS_A_DAY 86400
#define TRIES 5         /* while others change the file without the lock */
#define LOCKED_MS 10000 /* most that a child may hold the lock */

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

/* One change as it is worked on. All that the locked part needs is here. */
struct job {
    const char *etc_dir;
    const struct shadow_change *change;
    char path[4096];
    char day[24]; /* of the last change, if it is set */
    struct replace replace;
};

static int
commit(const struct job *job, const struct line_field *fields)
{
    const struct replace *replace = &job->replace;
    const struct shadow_change *change = job->change;
    const char *end = replace->data + replace->len;
    const char *rest = fields[2].text + fields[2].len; /* the colon behind the day */
    struct replace_piece pieces[] = {
        {replace->data, (size_t)(fields[1].text - replace->data)},
        {change->new_hash, strlen(change->new_hash)},
        {":", 1},
        {fields[2].text, fields[2].len},
        {rest, (size_t)(end - rest)},
    };

    if (change->set_last_change) {
        pieces[3].data = job->day;
        pieces[3].len = strlen(job->day);
    }
    return replace_commit(replace, pieces, sizeof(pieces) / sizeof(pieces[0]));
}

static bool
is_same(const struct line_field *field, const char *hash)
{
    return field->len == strlen(hash) && memcmp(field->text, hash, field->len) == 0;
}

static int
change_locked(struct job *job)
{
    const struct shadow_change *change = job->change;
    struct line_field fields[LINE_SHADOW_FIELDS];
    int rc = replace_read(&job->replace);

    if (rc != 0)
        goto out;
    rc = ENOENT;
    if (!line_find_shadow(job->replace.data, job->replace.len, change->name, fields))
        goto out;
    rc = ESTALE;
    if (change->old_hash != NULL && !is_same(&fields[1], change->old_hash))
        goto out;
    rc = commit(job, fields);
out:
    replace_forget(&job->replace);
    return rc;
}

/* Async-signal-safe, since it may run in a child. */
static int
lock_and_change(void *ctx)
{
    struct job *job = ctx;
    struct lock lock;
    int rc = lock_take(job->etc_dir, job->change->wait_ms, &lock);

    if (rc != 0)
        return rc;
    if (job->change->apart)
        apart_limit(LOCKED_MS);
    rc = change_locked(job);
    lock_release(&lock);
    return rc;
}

/* A child that gave no answer may have done all of its work. */
static int
look_whether_done(const struct job *job)
{
    struct line_field fields[LINE_SHADOW_FIELDS];
    char line[LINE_READ_MAX];
    int fd = open(job->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_done;

    if (fd < 0)
        return ETIME;
    is_done = line_read_shadow(fd, job->change->name, line, fields) == 0 &&
              is_same(&fields[1], job->change->new_hash);
    mhkdf_wipe(line, sizeof(line));
    close(fd);
    return is_done ? 0 : ETIME;
}

static int
run_apart(struct job *job)
{
    unsigned wait_ms = job->change->wait_ms;
    int result = ETIME;
    int rc = apart_run(job->change->apart_uid, wait_ms + LOCKED_MS, wait_ms + 2 * LOCKED_MS,
                       lock_and_change, job, &result);

    if (rc == ETIME)
        return look_whether_done(job);
    return rc != 0 ? rc : result;
}

static int
try_once(struct job *job)
{
    int rc = replace_prepare(job->path, &job->replace);

    if (rc == 0)
        rc = job->change->apart ? run_apart(job) : lock_and_change(job);
    replace_end(&job->replace);
    return rc;
}

/* Whether somebody changed the file without the lock. */
static bool
is_to_start_over(int rc)
{
    return rc == ETXTBSY || rc == ENOBUFS;
}

int
shadow_change(const char *etc_dir, const struct shadow_change *change)
{
    struct job job = {.etc_dir = etc_dir, .change = change};
    int n = snprintf(job.path, sizeof(job.path), "%s/shadow", etc_dir);
    int tries = TRIES;
    int rc;

    if (n < 0 || (size_t)n >= sizeof(job.path))
        return ENAMETOOLONG;
    if (!is_storable(change->new_hash))
        return EINVAL;
    format_day(job.day, sizeof(job.day), shadow_today());
    do
        rc = try_once(&job);
    while (is_to_start_over(rc) && --tries > 0);
    if (is_to_start_over(rc))
        rc = ETXTBSY;
    /* That a login made no better hash is no failure of anybody's. */
    if (rc == 0 || change->set_last_change)
        audit_hash_changed(
            change->name, change->set_last_change ? "change-password" : "rehash-password", rc == 0);
    return rc;
}
