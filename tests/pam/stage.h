/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A stage for the module: accounts in files of the test's own, PAM services, and a user who answers
 * what he was told to. All of it is checked by cmocka's assertions.
 */
#ifndef TESTS_PAM_STAGE_H
#define TESTS_PAM_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

#include <security/pam_appl.h>

#include "libcore/arena_protocol.h"
#include "tests/lib/sanitized.h"

#define STAGE_MAX 4096
#define STAGE_HASHES 64

/** The account that most tests are about. */
#define STAGE_USER "bob"

struct stage {
    const char *service;         /* PAM's name of it */
    char etc[64];                /* folder with passwd, shadow, mhkdf.conf */
    const char *answers[16];     /* to prompts without echo, in turn; after them comes failure */
    const char *name;            /* the answer to the prompt for a name, but not the first time:
                                    then it is "later". NULL: failure */
    unsigned later;              /* how often that was said, and the call made again */
    unsigned answered;           /* how many were given */
    char said[STAGE_MAX];        /* prompts, infos and errors, each with "P:", "I:", "E:" and '|' */
    unsigned delay_us;           /* what pam_fail_delay asked for */
    void (*on_prompt)(unsigned); /* called with the number of the answer, from 0, before it */
    const char *env;             /* name of a variable of PAM's to be kept */
    char env_value[STAGE_MAX];   /* its value after the call */
    const char *renamed;         /* PAM_SERVICE from the second answer on; NULL: as it was */
    const char *ruser;           /* PAM_RUSER, PAM_RHOST; NULL: not set */
    const char *rhost;
    bool as_nobody; /* the call is made with another euid, if this is root */
};
extern struct stage stage;

/** Starts over in a child (tests/lib/scratch.h) with pam_wrapper preloaded, where it isn't yet. For
 * main(). */
void stage_enter(char **argv);

/** Makes the folders, which are removed when the program is gone. cmocka group fixture. */
int stage_set_up(void **state);

/** Forgets answers, what was said, and the log; the environment is that of an ordinary user, with
 * uid 1000. cmocka test fixture. */
int stage_clear(void **state);

/** Fails if a password (all hold STAGE_SECRET) or a hash was logged. cmocka test fixture. */
int stage_check_log(void **state);

#define STAGE_SECRET "S3cret"
#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, stage_clear, stage_check_log)

/** Writes a file of the stage's etc. */
void stage_put(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Writes passwd and shadow with STAGE_USER and others. aging: the six fields, "20000:0:99999:7::"
 */
void stage_account(const char *hash, const char *aging);

/** STAGE_USER's field of shadow, from 1; the string is valid until the next call. */
const char *stage_field(unsigned number);

/** A hash made with $mhkdf$ at the lowest cost; valid for the next STAGE_HASHES calls. */
const char *stage_hash(const char *password);

/** A hash made with any setting. */
const char *stage_hash_by(const char *password, const char *setting);

/** Writes the service; each "@" in it becomes the module's path. */
void stage_service(const char *text);

/** Calls libpam with the service and gives what it returns. */
int stage_authenticate(const char *user, int flags);
int stage_chauthtok(const char *user, int flags);
/** pam_authenticate, unless NULL, and pam_acct_mgmt with their results; then, if the latter is
 * PAM_NEW_AUTHTOK_REQD, what login(1) does about it, and pam_acct_mgmt again. */
int stage_login(const char *user, int *auth, int *change);
/** pam_setcred after pam_authenticate with its result in *auth, or, if NULL, without. */
int stage_setcred(const char *user, int *auth);

/** Starts an arena at path that says for ever that one must wait (ARENA_QUEUED), or that nobody is
 * served (ARENA_REFUSED); the caller ends it. */
pid_t stage_start_arena(const char *path, enum arena_type type);

/** What the module has logged since stage_clear; valid until the next call. */
const char *stage_log(void);

/** Whether text was logged, or said. */
bool stage_logged(const char *text);
bool stage_said(const char *text);

#endif
