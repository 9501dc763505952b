/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/auth.h"

#include <errno.h>
#include <string.h>
#include <syslog.h>

#include <security/pam_ext.h>

#include "pam/chkpwd.h"
#include "pam/dummy.h"
#include "pam/even.h"
#include "pam/helper.h"
#include "pam/leasing.h"
#include "pam/limits.h"
#include "pam/log.h"
#include "pam/names.h"
#include "pam/origin.h"
#include "pam/place.h"
#include "pam/ruling.h"
#include "pam/upgrade.h"
#include "pam/verdict.h"
#include "pam/verify.h"
#include "policy/strength.h"

/* One attempt to log in. */
struct attempt {
    pam_handle_t *pamh;
    const struct options *options;
    const char *user;
    const char *password;
    bool null_is_ok;
    struct config_policy policy;
};

static void
tell(void *ctx, int priority, const char *text)
{
    const struct attempt *attempt = ctx;

    if (priority == LOG_DEBUG)
        log_debug(attempt->pamh, attempt->options, "%s", text);
    else
        log_write(attempt->pamh, priority, "%s", text);
}

struct refusal {
    int rc;
    uint32_t uid; /* the account's, or DUMMY_NO_UID */
    enum even kind;
    const char *hash;  /* what was verified; NULL: nothing was */
    uint64_t spent_us; /* for that */
};

/* Makes a refusal take as long as one of a wrong password. Where that can't be computed, it stays
 * the refusal that it is: no other module is to accept what is denied. */
static int
take_time(pam_handle_t *pamh, struct attempt *attempt, const struct refusal *refusal)
{
    struct leasing leasing;
    const struct dummy dummy = {.policy = &attempt->policy,
                                .resources = &leasing.resources,
                                .password = attempt->password,
                                .null_is_ok = attempt->null_is_ok,
                                .log = tell,
                                .ctx = attempt};
    int done;

    leasing_plan(pamh, &attempt->policy, refusal->uid, &leasing);
    done = dummy_take_time(&dummy, refusal->hash, refusal->spent_us);
    if (done != 0 || leasing.report.size_kib != 0)
        leasing_log(pamh, attempt->options, &leasing);
    if (done != 0) {
        done = verify_judge(pamh, NULL, &leasing.report, done);
        return done == PAM_AUTHINFO_UNAVAIL ? refusal->rc : done;
    }
    even_run(pamh, refusal->kind, attempt->options->unix_behind, attempt->user);
    return refusal->rc;
}

/* PAM_SUCCESS, also where the file is broken and the fallback holds; PAM_SYSTEM_ERR: what holds
 * can't be known, for a shortage that ends the login. */
static int
rule(pam_handle_t *pamh, struct attempt *attempt, bool is_root)
{
    const struct ruling ruling = {.conf = attempt->options->conf,
                                  .service = origin_service(pamh),
                                  .user = attempt->user,
                                  .is_root = is_root,
                                  .log = log_text,
                                  .ctx = pamh};
    struct config_error error;
    int rc = ruling_find(&ruling, &attempt->policy, &error);

    return limits_end_login(pamh, rc) ? PAM_SYSTEM_ERR : PAM_SUCCESS;
}

/* So may be a name about which nobody can tell. */
static bool
is_of_another_source(pam_handle_t *pamh, const char *user)
{
    int rc = names_find_user(user);

    if (rc != 0 && rc != ENOENT) {
        errno = rc;
        log_write(pamh, LOG_WARNING,
                  "the name service can't say whether there is such an account: %m");
    }
    return rc != ENOENT;
}

/* There is no local account, or it has no hash anywhere. If it isn't an account of another source
 * either, that must not show: who asks mhkdf_chkpwd for others does for him, too. */
static int
refuse_unknown(pam_handle_t *pamh, struct attempt *attempt)
{
    struct refusal refusal = {.rc = PAM_USER_UNKNOWN, .uid = DUMMY_NO_UID, .kind = EVEN_UNSHADOWED};
    int rc = account_find_uid(place_etc(), attempt->user, &refusal.uid);

    if (limits_end_login(pamh, rc))
        return PAM_SYSTEM_ERR;
    if (rc != 0) {
        if (is_of_another_source(pamh, attempt->user))
            return PAM_USER_UNKNOWN;
        refusal.kind = EVEN_UNKNOWN;
    }
    if (helper_is_asked_by_root() && !verify_can_read_shadow())
        return helper_verify(pamh, attempt->options, CHKPWD_NOBODY, attempt->password,
                             attempt->null_is_ok);
    rc = rule(pamh, attempt, refusal.uid == 0);
    return rc == PAM_SUCCESS ? take_time(pamh, attempt, &refusal) : rc;
}

/* The password is right. What follows may refuse the login, but never for something that failed;
 * that refusal takes as long as one of a wrong password, too. */
static int
let_in(pam_handle_t *pamh, struct attempt *attempt, struct account *account, uint64_t spent_us)
{
    const struct config_policy *policy = &attempt->policy;
    bool is_below = strength_is_below_floor(policy, account->hash);
    const struct refusal refusal = {.rc = PAM_PERM_DENIED,
                                    .uid = account->uid,
                                    .kind = EVEN_WRONG,
                                    .hash = account->hash,
                                    .spent_us = spent_us};

    if (is_below && policy->floor_action == CONFIG_DENY) {
        log_write(pamh, LOG_WARNING,
                  "login of %s denied: the password is right, but its hash is below floor_memory",
                  attempt->user);
        return take_time(pamh, attempt, &refusal);
    }
    if (upgrade_run(pamh, attempt->options, policy, attempt->user, account, attempt->password))
        is_below = strength_is_below_floor(policy, account->hash);
    if (is_below)
        log_write(pamh, LOG_NOTICE, "the hash of %s is below floor_memory%s", attempt->user,
                  policy->floor_action == CONFIG_EXPIRE ? "; the password is to be changed" : "");
    if (is_below && policy->floor_action == CONFIG_EXPIRE &&
        verdict_keep(pamh, attempt->user) != PAM_SUCCESS)
        log_write(pamh, LOG_ERR, "no memory to remember that");
    return PAM_SUCCESS;
}

static int
check_account(pam_handle_t *pamh, struct attempt *attempt, struct account *account)
{
    struct refusal refusal = {.uid = account->uid, .kind = EVEN_WRONG};
    bool is_usable = account_hash_is_usable(account->hash);
    uint64_t start_us;

    refusal.rc = rule(pamh, attempt, account->uid == 0);
    if (refusal.rc != PAM_SUCCESS)
        return refusal.rc;
    start_us = dummy_now_us();
    refusal.rc = verify_password(pamh, attempt->options, &attempt->policy, attempt->user, account,
                                 attempt->password, attempt->null_is_ok);
    refusal.spent_us = dummy_now_us() - start_us;
    switch (refusal.rc) {
    case PAM_SUCCESS:
        return let_in(pamh, attempt, account, refusal.spent_us);
    case PAM_AUTH_ERR:
        refusal.hash = is_usable ? account->hash : NULL;
        return take_time(pamh, attempt, &refusal);
    case PAM_USER_UNKNOWN:
        refusal.kind = is_usable ? EVEN_MALFORMED : EVEN_LOCKED;
        return take_time(pamh, attempt, &refusal);
    case PAM_PERM_DENIED:
        return take_time(pamh, attempt, &refusal);
    case PAM_AUTHINFO_UNAVAIL: /* for want of a site key nothing was computed */
        refusal.kind = EVEN_MALFORMED;
        return strength_needs_key(account->hash) ? take_time(pamh, attempt, &refusal) : refusal.rc;
    default:
        return refusal.rc;
    }
}

static int
check(pam_handle_t *pamh, struct attempt *attempt)
{
    struct account account;
    int rc = verify_find(pamh, attempt->options, attempt->user, &account);

    if (rc == PAM_CRED_INSUFFICIENT) /* screen lockers and the like */
        return helper_verify(pamh, attempt->options, attempt->user, attempt->password,
                             attempt->null_is_ok);
    verify_delay(pamh, attempt->options);
    if (rc == PAM_USER_UNKNOWN)
        return refuse_unknown(pamh, attempt);
    if (rc != PAM_SUCCESS)
        return rc;
    /* Also where it couldn't be read, or wasn't empty, before the prompt. */
    rc = account.hash[0] == '\0' ? PAM_USER_UNKNOWN : check_account(pamh, attempt, &account);
    account_free(&account);
    return rc;
}

/* Who needs no password is let in, or refused, by pam_unix and its options alone, and isn't asked
 * for one: su and the like do without a prompt there. */
static bool
has_no_password(pam_handle_t *pamh, const struct options *options, const char *user)
{
    bool raised = limits_raise(pamh);
    bool is_so = account_has_no_password(place_etc(), user);

    limits_restore(raised);
    if (is_so)
        log_debug(pamh, options, "account %s has an empty password field: left to pam_unix", user);
    return is_so;
}

/* But for accounts without a password, the password is asked for before anything is looked up:
 * whether a name is an account, and of which kind, must not show in whether there is a prompt. The
 * modules behind this one find it in PAM_AUTHTOK. */
int
auth_run(pam_handle_t *pamh, unsigned flags, const struct options *options)
{
    struct attempt attempt = {
        .pamh = pamh, .options = options, .null_is_ok = (flags & PAM_DISALLOW_NULL_AUTHTOK) == 0};
    int rc = pam_get_user(pamh, &attempt.user, NULL);
    bool raised;

    verdict_drop(pamh);
    options_log_nullok(pamh, options);
    if (rc == PAM_SUCCESS && attempt.user != NULL && has_no_password(pamh, options, attempt.user))
        return PAM_USER_UNKNOWN;
    if (rc == PAM_SUCCESS && attempt.user != NULL)
        rc = pam_get_authtok(pamh, PAM_AUTHTOK, &attempt.password, NULL);
    if (rc == PAM_CONV_AGAIN)
        return PAM_INCOMPLETE;
    if (rc != PAM_SUCCESS || attempt.user == NULL || attempt.password == NULL) {
        log_debug(pamh, options, "no name or no password was given");
        return rc != PAM_SUCCESS ? rc : PAM_AUTH_ERR;
    }
    raised = limits_raise(pamh);
    rc = check(pamh, &attempt);
    limits_restore(raised);
    log_debug(pamh, options, "authentication: %s", pam_strerror(pamh, rc));
    return rc;
}

int
auth_account(pam_handle_t *pamh)
{
    const char *user = NULL;

    if (pam_get_user(pamh, &user, NULL) != PAM_SUCCESS || user == NULL ||
        !verdict_is_due(pamh, user))
        return PAM_IGNORE;
    return PAM_NEW_AUTHTOK_REQD;
}
