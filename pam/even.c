/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/even.h"

#include <stdint.h>
#include <unistd.h>

#include "pam/dummy.h"
#include "pam/helper.h"
#include "pam/names.h"
#include "pam/place.h"
#include "policy/account.h"
#include "policy/unshadowed.h"

/* Not an account, but a name that could be one; always the same, so that sources which are far away
 * are asked seldom: whatever keeps their answers keeps this one. */
#define NOBODY "mhkdf-nobody"
#define SOMEBODY "root"

/* A name service that takes longer than this shows anyway whom it is asked for; then a refusal is
 * not made to wait for more of it. */
#define FAR_US 20000

/* What is missing. */
struct part {
    int nobody;   /* questions to the name service for a name that isn't there */
    int somebody; /* ... for one that the first source has */
    int local;    /* readings of passwd and shadow */
    int us;       /* microseconds of computing and logging */
    int helpers;  /* runs of pam_unix's helper, if there is anything to hide by them */
};

/* The first question after a hash finds all caches cold, so each kind asks then. */
static const struct part alone[] = {
    [EVEN_WRONG] = {2, 0, 0, 0, 0},     [EVEN_LOCKED] = {2, 0, 0, 25, 0},
    [EVEN_MALFORMED] = {2, 0, 0, 0, 0}, [EVEN_UNSHADOWED] = {2, 0, 0, 25, 0},
    [EVEN_UNKNOWN] = {1, 0, 0, 30, 0},
};

/* Linux-PAM 1.5's pam_unix looks a local account up five times, twice of them in shadow; for one
 * that isn't there it asks twice for that, and once for root. It takes as long again to start,
 * to log and, for a malformed hash, to call crypt(3). For an account without a line in shadow it
 * runs its helper, once to see whether its password is empty, and once for the password. */
static const struct part before_unix[] = {
    [EVEN_WRONG] = {3, 1, 2, 100, 2},    [EVEN_LOCKED] = {3, 0, 0, 65, 2},
    [EVEN_MALFORMED] = {3, 0, 0, 15, 2}, [EVEN_UNSHADOWED] = {3, 0, 0, 65, 0},
    [EVEN_UNKNOWN] = {0, 1, 1, 50, 2},
};

static const char *
local_name(enum even kind, const char *user)
{
    return kind == EVEN_UNKNOWN ? SOMEBODY : user;
}

static void
seek_nobody(int times)
{
    uint64_t start_us = dummy_now_us();

    while (times-- > 0 && dummy_now_us() - start_us < FAR_US)
        (void)names_find_user(NOBODY);
}

static void
look_up(const struct part *part, const char *name)
{
    struct account account;
    int i;

    seek_nobody(part->nobody);
    for (i = 0; i < part->somebody; i++)
        (void)names_find_user(name);
    for (i = 0; i < part->local; i++) {
        if (account_find(place_etc(), name, &account) == 0)
            account_free(&account);
    }
}

/* All look whether there is such an account, that account's refusal too. */
static void
run_helpers(pam_handle_t *pamh, int times)
{
    char name[UNSHADOWED_NAME_SIZE];

    if (geteuid() != 0 || unshadowed_find(place_etc(), name) != 0)
        return;
    while (times-- > 0)
        helper_run_unix(pamh, name);
}

/* A sleep would be longer by what it takes to wake up. */
static void
compute(int us)
{
    uint64_t end_us = dummy_now_us() + (uint64_t)us;

    while (dummy_now_us() < end_us)
        continue;
}

void
even_run(pam_handle_t *pamh, enum even kind, bool unix_behind, const char *user)
{
    const struct part *part = unix_behind ? &before_unix[kind] : &alone[kind];

    if (unix_behind)
        run_helpers(pamh, part->helpers);
    look_up(part, local_name(kind, user));
    compute(part->us);
}
