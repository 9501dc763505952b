/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/password.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include <security/pam_ext.h>

#include "libcore/headroom.h"
#include "libcore/mhkdf.h"
#include "pam/finding.h"
#include "pam/history.h"
#include "pam/leasing.h"
#include "pam/limits.h"
#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"
#include "pam/ruling.h"
#include "pam/verdict.h"
#include "pam/verify.h"
#include "pam/warning.h"
#include "policy/newhash.h"
#include "policy/shadow.h"
#include "policy/strength.h"

#define TRIES 3

/* A change that the program asks for only because the password has expired is its owner's, though
 * the program (login, say) runs as root. */
static bool
is_root_setting(unsigned flags)
{
    return place_real_uid() == 0 && (flags & PAM_CHANGE_EXPIRED_AUTHTOK) == 0;
}

static bool
policy_is_good(pam_handle_t *pamh, unsigned flags, const struct options *options, const char *user,
               uint32_t uid, struct config_policy *policy)
{
    const struct ruling ruling = {.conf = options->conf,
                                  .service = origin_service(pamh),
                                  .user = user,
                                  .is_root = uid == 0,
                                  .log = log_text,
                                  .ctx = pamh};
    struct config_error error;
    bool raised = limits_raise(pamh);
    int rc = ruling_find(&ruling, policy, &error);

    limits_restore(raised);
    if (limits_end_login(pamh, rc)) {
        errno = rc;
        log_tell_error(pamh, flags, "Passwords can't be changed now: %m");
        return false;
    }
    if (rc == 0 || error.text[0] == '\0') /* nothing is wrong with the file */
        return true;
    log_tell_error(pamh, flags, "Passwords can't be changed while this is wrong: %s", error.text);
    return false;
}

/* Some answers are about logins; here they mean that the change can't go on. */
static int
for_change(int rc)
{
    return rc == PAM_AUTHINFO_UNAVAIL || rc == PAM_CRED_INSUFFICIENT || rc == PAM_SYSTEM_ERR
               ? PAM_AUTHTOK_RECOVERY_ERR
               : rc;
}

/* Neither these two nor what they call have a conversation. */
static int
find_account(pam_handle_t *pamh, const struct options *options, const char *user,
             struct account *account)
{
    bool raised = limits_raise(pamh);
    int rc = for_change(verify_find(pamh, options, user, account));

    limits_restore(raised);
    return rc;
}

static int
verify_old(pam_handle_t *pamh, const struct options *options, const struct config_policy *policy,
           const char *user, const struct account *account, const char *password)
{
    bool raised = limits_raise(pamh);
    int rc = for_change(verify_password(pamh, options, policy, user, account, password, true));

    limits_restore(raised);
    return rc;
}

static int
check_old_password(pam_handle_t *pamh, unsigned flags, const struct options *options,
                   const struct config_policy *policy, const char *user,
                   const struct account *account)
{
    const char *password = NULL;
    int rc;

    if (account->hash[0] == '\0')
        return PAM_SUCCESS;
    log_tell(pamh, flags, "Changing password for %s.", user);
    rc = pam_get_authtok(pamh, PAM_OLDAUTHTOK, &password, NULL);
    if (rc != PAM_SUCCESS)
        return rc == PAM_CONV_AGAIN ? PAM_INCOMPLETE : rc;
    if (password == NULL)
        return PAM_AUTH_ERR;
    rc = verify_old(pamh, options, policy, user, account, password);
    if (rc == PAM_AUTHTOK_RECOVERY_ERR)
        log_tell_error(pamh, flags,
                       "The current password can't be verified now; the log says why.");
    return rc;
}

static int
check_aging(pam_handle_t *pamh, unsigned flags, enum aging_state state)
{
    switch (state) {
    case AGING_TOO_RECENT:
        log_tell_error(pamh, flags, "You must wait longer to change your password.");
        return PAM_AUTHTOK_ERR;
    case AGING_PASSWORD_DEAD:
        return PAM_AUTHTOK_EXPIRED;
    case AGING_ACCOUNT_EXPIRED:
        return PAM_ACCT_EXPIRED;
    case AGING_VALID:
    case AGING_CHANGE_DUE:
        break;
    }
    return PAM_SUCCESS;
}

/* Where this login found the hash too weak, the password is due, however new it is. */
static enum aging_state
judge_aging(pam_handle_t *pamh, unsigned flags, const char *user, const struct account *account)
{
    enum aging_state state = aging_judge(&account->aging, shadow_today());

    if ((flags & PAM_CHANGE_EXPIRED_AUTHTOK) != 0 && verdict_is_due(pamh, user) &&
        (state == AGING_VALID || state == AGING_TOO_RECENT))
        return AGING_CHANGE_DUE;
    return state;
}

/* A floor that demands the change isn't held up by the days that are to pass between two: sshd, for
 * one, lets nobody in before passwd, in a transaction of its own, has done it. */
static bool
floor_demands(const struct config_policy *policy, const struct account *account)
{
    return policy->floor_action == CONFIG_EXPIRE && account->hash[0] != '\0' &&
           strength_is_below_floor(policy, account->hash);
}

static int
prelim_as_owner(pam_handle_t *pamh, unsigned flags, const struct options *options, const char *user,
                const struct account *account)
{
    enum aging_state state = judge_aging(pamh, flags, user, account);
    struct config_policy policy;
    int rc;

    if (account->hash[0] != '\0' && !account_hash_is_usable(account->hash))
        return PAM_USER_UNKNOWN;
    if ((flags & PAM_CHANGE_EXPIRED_AUTHTOK) != 0 &&
        (state == AGING_VALID || state == AGING_TOO_RECENT))
        return finding_keep(pamh, FINDING_NOTHING_TO_DO, user, NULL);
    if (!policy_is_good(pamh, flags, options, user, account->uid, &policy))
        return PAM_AUTHTOK_ERR;
    rc = check_old_password(pamh, flags, options, &policy, user, account);
    if (state == AGING_TOO_RECENT && floor_demands(&policy, account))
        state = AGING_CHANGE_DUE;
    if (rc == PAM_SUCCESS)
        rc = check_aging(pamh, flags, state);
    if (rc == PAM_SUCCESS)
        rc = finding_keep(pamh, FINDING_BY_OLD_PASSWORD, user, account->hash);
    return rc;
}

static int
prelim_for_account(pam_handle_t *pamh, unsigned flags, const struct options *options,
                   const char *user, const struct account *account)
{
    struct config_policy policy;

    /* Where hashes are still in passwd itself, pam_unix knows what to do. */
    if (!account->shadowed)
        return PAM_USER_UNKNOWN;
    if (!is_root_setting(flags))
        return prelim_as_owner(pamh, flags, options, user, account);
    if (!policy_is_good(pamh, flags, options, user, account->uid, &policy))
        return PAM_AUTHTOK_ERR;
    return finding_keep(pamh, FINDING_AS_ROOT, user, NULL);
}

int
password_prelim(pam_handle_t *pamh, unsigned flags, const struct options *options)
{
    const char *user = NULL;
    struct account account;
    int rc = pam_get_user(pamh, &user, NULL);

    if (rc != PAM_SUCCESS || user == NULL)
        return rc == PAM_CONV_AGAIN ? PAM_INCOMPLETE : rc;
    finding_drop(pamh);
    rc = find_account(pamh, options, user, &account);
    if (rc == PAM_SUCCESS) {
        rc = prelim_for_account(pamh, flags, options, user, &account);
        account_free(&account);
    } else if (rc == PAM_AUTHTOK_RECOVERY_ERR) {
        log_tell_error(pamh, flags, "The local accounts can't be read.");
    }
    if (rc == PAM_USER_UNKNOWN && finding_keep(pamh, FINDING_NOT_OURS, user, NULL) != PAM_SUCCESS)
        rc = PAM_BUF_ERR;
    return rc;
}

/* The module that comes first in a stack asks for the new password, and those behind it are
 * configured (by pam-auth-update, too) to use that and not to ask. So it is asked for here even
 * where one of those will store it. */
static void
ask_for_others(pam_handle_t *pamh, const struct options *options)
{
    const char *password;
    int try;

    if (options->use_authtok || options->use_first_pass)
        return;
    for (try = 0; try < TRIES; try++) {
        if (pam_get_authtok(pamh, PAM_AUTHTOK, &password, NULL) != PAM_TRY_AGAIN)
            return;
    }
}

/* Bytes of a new password. */
struct limits {
    size_t min, max;
};

static bool
is_acceptable(pam_handle_t *pamh, unsigned flags, const char *password, const struct limits *limits)
{
    const void *old = NULL;
    size_t len = strlen(password);

    if (pam_get_item(pamh, PAM_OLDAUTHTOK, &old) != PAM_SUCCESS)
        old = NULL;
    if (len == 0)
        log_tell_error(pamh, flags, "No password has been supplied.");
    else if (len > limits->max)
        log_tell_error(pamh, flags, "You must choose a shorter password, of at most %zu bytes.",
                       limits->max);
    else if (old != NULL && strcmp(old, password) == 0)
        log_tell_error(pamh, flags, "The password has not been changed.");
    else if (len < limits->min)
        log_tell_error(pamh, flags, "You must choose a longer password, of at least %zu bytes.",
                       limits->min);
    else
        return true;
    return false;
}

static void
forget(char **password)
{
    if (*password != NULL)
        mhkdf_wipe(*password, strlen(*password));
    free(*password);
    *password = NULL;
}

/* Asks once. PAM_TRY_AGAIN: something else may be given. *refused: what was refused before, or
 * NULL; who gives that again is a program (chpasswd, say) that has no other, and was told already.
 */
static int
ask_new_password(pam_handle_t *pamh, unsigned flags, const struct limits *limits, char **refused,
                 const char **password)
{
    int rc = pam_get_authtok(pamh, PAM_AUTHTOK, password, NULL);

    if (rc != PAM_SUCCESS)
        return rc;
    rc = PAM_AUTHTOK_ERR;
    if (*password != NULL && (*refused == NULL || strcmp(*refused, *password) != 0)) {
        if (is_acceptable(pamh, flags, *password, limits))
            return PAM_SUCCESS;
        forget(refused);
        *refused = strdup(*password);
        rc = *refused != NULL ? PAM_TRY_AGAIN : PAM_BUF_ERR;
    }
    pam_set_item(pamh, PAM_AUTHTOK, NULL);
    return rc;
}

static int
get_new_password(pam_handle_t *pamh, unsigned flags, const struct options *options,
                 const struct limits *limits, const char **password)
{
    int tries = options->use_authtok || options->use_first_pass ? 1 : TRIES;
    char *refused = NULL;
    int rc = PAM_TRY_AGAIN; /* also where the two weren't equal, which libpam has said */

    for (; rc == PAM_TRY_AGAIN && tries > 0; tries--) {
        *password = NULL;
        rc = ask_new_password(pamh, flags, limits, &refused, password);
    }
    forget(&refused);
    if (rc != PAM_SUCCESS)
        *password = NULL;
    return rc == PAM_CONV_AGAIN ? PAM_INCOMPLETE : rc == PAM_TRY_AGAIN ? PAM_AUTHTOK_ERR : rc;
}

static int
change_shadow(pam_handle_t *pamh, const struct finding *finding, const char *hash)
{
    const struct shadow_change change = {
        .name = finding->user,
        .old_hash = finding->old_hash,
        .new_hash = hash,
        .set_last_change = true,
        .wait_ms = place_lock_wait_ms(),
        .apart = origin_uid(pamh) != 0,
        .apart_uid = place_apart_uid(),
    };
    bool raised = limits_raise(pamh);
    int rc = shadow_change(place_etc(), &change);

    limits_restore(raised);
    return rc;
}

static int
store(pam_handle_t *pamh, unsigned flags, const struct finding *finding, const char *hash)
{
    int rc = change_shadow(pamh, finding, hash);

    switch (rc) {
    case 0:
        verdict_drop(pamh);
        log_write(pamh, LOG_NOTICE, "password changed for %s", finding->user);
        return PAM_SUCCESS;
    case ETIMEDOUT:
        log_write(pamh, LOG_ERR, "password of %s not changed: shadow is locked", finding->user);
        log_tell_error(pamh, flags, "The password file is locked. Try again later.");
        return PAM_AUTHTOK_LOCK_BUSY;
    case ETXTBSY:
        log_write(pamh, LOG_ERR,
                  "password of %s not changed: somebody keeps changing shadow without its lock",
                  finding->user);
        log_tell_error(pamh, flags, "The password file is being changed. Try again later.");
        return PAM_AUTHTOK_LOCK_BUSY;
    case EBUSY:
        log_write(pamh, LOG_ERR,
                  "password of %s not changed: shadow can't be replaced, as where it is a mount "
                  "point: unmount it, or mount its folder instead",
                  finding->user);
        log_tell_error(pamh, flags,
                       "The new password can't be stored: the password file can't be replaced "
                       "where it is a mount point.");
        return PAM_AUTHTOK_ERR;
    case ESTALE:
        log_write(pamh, LOG_NOTICE, "password of %s not changed: it was changed meanwhile",
                  finding->user);
        log_tell_error(pamh, flags, "The password has been changed by someone else meanwhile.");
        return PAM_AUTHTOK_ERR;
    default:
        errno = rc;
        log_write(pamh, LOG_ERR, "password of %s not changed: shadow can't be written: %m",
                  finding->user);
        errno = rc;
        log_tell_error(pamh, flags, "The new password can't be stored: %m");
        return PAM_AUTHTOK_ERR;
    }
}

struct new_hash {
    char text[MHKDF_STRING_SIZE];
    const char *why; /* it isn't of the method that was asked for; NULL: it is */
    struct mhkdf_memory_report report;
};

/* Memory comes from where a login's would. */
static int
make_hash(pam_handle_t *pamh, const struct options *options, const struct config_policy *policy,
          uint32_t uid, const char *password, struct new_hash *out)
{
    struct leasing leasing;
    bool raised = limits_raise(pamh);
    int rc;

    leasing_plan(pamh, policy, uid, &leasing);
    rc = newhash_make(password, policy, uid == 0, &leasing.resources, out->text, &out->why);
    limits_restore(raised);
    leasing_log(pamh, options, &leasing);
    out->report = leasing.report;
    return rc;
}

/* What libcrypt makes for root in place of a $mhkdf$ hash doesn't go by mhkdf.conf. */
static void
explain_memory(pam_handle_t *pamh, unsigned flags, const char *user, const struct new_hash *hash)
{
    const char *hint =
        hash->why == NULL ? "; \"memory = ...\" in mhkdf.conf changes what is needed" : "";
    char text[HEADROOM_TEXT_SIZE];

    headroom_explain(&hash->report, text, sizeof(text));
    log_write(pamh, LOG_ERR, "password of %s not changed: %s%s", user, text, hint);
    log_tell_error(pamh, flags, "The new password can't be hashed: %s%s.", text, hint);
}

static int
explain_failure(pam_handle_t *pamh, unsigned flags, const char *user, const struct new_hash *hash,
                int rc)
{
    if (rc == EBUSY || rc == ECONNREFUSED) {
        log_write(pamh, LOG_ERR, "password of %s not changed: %s", user,
                  rc == EBUSY ? "all of the arena is in use"
                              : "the arena, which is required, is unavailable");
        log_tell_error(pamh, flags, "There is no memory for a new hash. Try again later.");
    } else if (rc == ENOMEM && hash->report.needed_kib != 0) {
        explain_memory(pamh, flags, user, hash);
    } else {
        errno = rc;
        log_write(pamh, LOG_CRIT, "password of %s not changed: it can't be hashed: %m", user);
        errno = rc;
        log_tell_error(pamh, flags, "The new password can't be hashed: %m");
    }
    return PAM_AUTHTOK_ERR;
}

/* Why a login with the new hash would be refused; NULL: it wouldn't. What is made for root in place
 * of a $mhkdf$ hash has a cost that no check of mhkdf.conf has seen. */
static const char *
why_refused(const struct config_policy *policy, const char *hash)
{
    if (policy->floor_action == CONFIG_DENY && strength_is_below_floor(policy, hash))
        return "it would be below floor_memory";
    return strength_above_ceiling(policy, hash);
}

static int
hash_and_store(pam_handle_t *pamh, unsigned flags, const struct options *options,
               const struct finding *finding, uint32_t uid, const struct config_policy *policy,
               const char *password)
{
    struct new_hash hash;
    const char *wrong;
    int rc = make_hash(pamh, options, policy, uid, password, &hash);

    if (rc != 0)
        return explain_failure(pamh, flags, finding->user, &hash, rc);
    if (hash.why != NULL)
        log_write(pamh, LOG_WARNING, "the new hash of %s (uid 0) is not one of $mhkdf$: %s",
                  finding->user, hash.why);
    if (policy->idle_memory_line != 0)
        log_write(pamh, LOG_WARNING,
                  "mhkdf.conf, line %u: memory doesn't count for method = %s, which fills none",
                  policy->idle_memory_line, policy->method->name);
    wrong = why_refused(policy, hash.text);
    if (wrong == NULL) {
        rc = store(pamh, flags, finding, hash.text);
        if (rc == PAM_SUCCESS)
            history_warn(pamh, finding->user, hash.text);
    } else {
        log_write(pamh, LOG_ERR,
                  "password of %s not changed: with the new hash logins would be "
                  "refused: %s",
                  finding->user, wrong);
        log_tell_error(pamh, flags, "Logins with the new password would be refused: %s.", wrong);
        rc = PAM_AUTHTOK_ERR;
    }
    mhkdf_wipe(&hash, sizeof(hash));
    return rc;
}

static int
update_account(pam_handle_t *pamh, unsigned flags, const struct options *options,
               const struct finding *finding)
{
    bool as_root = finding->kind == FINDING_AS_ROOT;
    const char *password;
    struct account account;
    struct config_policy policy;
    struct limits limits;
    uint32_t uid;
    int rc = find_account(pamh, options, finding->user, &account);

    if (rc != PAM_SUCCESS)
        return rc;
    uid = account.uid;
    account_free(&account);
    if (!policy_is_good(pamh, flags, options, finding->user, uid, &policy))
        return PAM_AUTHTOK_ERR;
    limits.min = as_root ? 1 : policy.min_length;
    limits.max = methods_length_max(policy.method);
    rc = get_new_password(pamh, flags, options, &limits, &password);
    if (rc != PAM_SUCCESS) {
        log_write(pamh, LOG_NOTICE, "password of %s not changed: no acceptable one was given",
                  finding->user);
        return rc;
    }
    rc = hash_and_store(pamh, flags, options, finding, uid, &policy, password);
    warning_of_lockouts(pamh, flags, options, as_root);
    return rc;
}

int
password_update(pam_handle_t *pamh, unsigned flags, const struct options *options)
{
    const struct finding *finding;
    const char *user = NULL;
    int rc = pam_get_user(pamh, &user, NULL);

    if (rc != PAM_SUCCESS || user == NULL)
        return rc == PAM_CONV_AGAIN ? PAM_INCOMPLETE : rc;
    finding = finding_get(pamh, user);
    if (finding == NULL) {
        log_write(pamh, LOG_ERR, "the first phase of the password change was left out");
        return PAM_AUTHTOK_RECOVERY_ERR;
    }
    switch (finding->kind) {
    case FINDING_NOTHING_TO_DO:
        return PAM_SUCCESS;
    case FINDING_NOT_OURS:
        ask_for_others(pamh, options);
        return PAM_USER_UNKNOWN;
    case FINDING_AS_ROOT:
    case FINDING_BY_OLD_PASSWORD:
        break;
    }
    rc = update_account(pamh, flags, options, finding);
    if (rc != PAM_INCOMPLETE)
        finding_drop(pamh);
    return rc;
}
