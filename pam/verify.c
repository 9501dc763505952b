/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/verify.h"

#include <errno.h>
#include <string.h>
#include <syslog.h>

#include "libcore/mhkdf.h"
#include "pam/leasing.h"
#include "pam/log.h"
#include "pam/place.h"
#include "policy/anycrypt.h"
#include "policy/strength.h"

#define FAIL_DELAY_US 2000000U /* what pam_unix asks for */

int
verify_find(pam_handle_t *pamh, const struct options *options, const char *user,
            struct account *account)
{
    int rc = account_find(place_etc(), user, account);

    switch (rc) {
    case 0:
        return PAM_SUCCESS;
    case ENOENT:
        log_debug(pamh, options, "not a local account");
        return PAM_USER_UNKNOWN;
    case ENODATA:
        log_debug(pamh, options, "account %s has no line in shadow", user);
        return PAM_USER_UNKNOWN;
    case EACCES:
        log_debug(pamh, options, "shadow can't be read by this process");
        return PAM_CRED_INSUFFICIENT;
    default:
        errno = rc;
        log_write(pamh, LOG_ERR, "the local accounts can't be read: %m");
        return PAM_AUTHINFO_UNAVAIL;
    }
}

void
verify_delay(pam_handle_t *pamh, const struct options *options)
{
    if (!options->nodelay)
        pam_fail_delay(pamh, FAIL_DELAY_US);
}

/* A password that couldn't be verified isn't wrong. Where the hash is no hash, no password is
 * right: then another module may know the account from elsewhere, and pam_unix, which sees the same
 * string, refuses it. Where there was no memory, or no key, the next module's own attempt costs
 * nothing and may succeed: a login shouldn't fail because this module was in front. Not so where
 * the arena is busy: then another module's attempt is what must not be, and the whole login fails
 * for now. */
static int
judge(pam_handle_t *pamh, const char *user, int rc)
{
    switch (rc) {
    case 0:
        return PAM_SUCCESS;
    case EKEYREJECTED:
        return PAM_AUTH_ERR;
    case EINVAL:
    case ERANGE:
        log_write(pamh, LOG_ERR, "the hash of %s in shadow is malformed", user);
        return PAM_USER_UNKNOWN;
    case ENOSYS:
        log_write(pamh, LOG_ERR, "the hash of %s is of a method that isn't available here", user);
        return PAM_USER_UNKNOWN;
    case ENOKEY:
        log_write(pamh, LOG_ERR, "the hash of %s needs a site key that isn't available here", user);
        return PAM_AUTHINFO_UNAVAIL;
    case EBUSY:
        log_write(pamh, LOG_ERR,
                  "no memory for the password of %s in time: all of the arena is in use", user);
        return PAM_SYSTEM_ERR;
    case ECONNREFUSED:
        log_write(pamh, LOG_ERR,
                  "no memory for the password of %s: the arena, which is required, is "
                  "unavailable",
                  user);
        return PAM_SYSTEM_ERR;
    default:
        errno = rc;
        log_write(pamh, LOG_CRIT, "the password of %s can't be verified: %m", user);
        return PAM_AUTHINFO_UNAVAIL;
    }
}

static int
compare(pam_handle_t *pamh, const struct options *options, const struct config_policy *policy,
        const char *user, const struct account *account, const char *password, bool null_is_ok)
{
    const char *hash = account->hash;
    struct leasing leasing;
    const char *wrong;
    int rc;

    if (hash[0] == '\0')
        return null_is_ok && password[0] == '\0' ? PAM_SUCCESS : PAM_AUTH_ERR;
    if (!account_hash_is_usable(hash)) {
        log_debug(pamh, options, "account %s has no usable hash", user);
        return PAM_USER_UNKNOWN;
    }
    /* No hash was ever made from a longer one: crypt(3) refuses them, and so do we. */
    if ((password[0] == '\0' && !null_is_ok) || strlen(password) > MHKDF_CRYPT_PASSWORD_MAX)
        return PAM_AUTH_ERR;
    wrong = strength_above_ceiling(policy, hash);
    if (wrong != NULL) {
        log_write(pamh, LOG_WARNING, "the hash of %s is refused: %s", user, wrong);
        return PAM_PERM_DENIED;
    }
    leasing_plan(pamh, policy, account->uid, &leasing);
    rc = anycrypt_verify_in(password, hash, &leasing.resources);
    leasing_log(pamh, options, &leasing);
    return judge(pamh, user, rc);
}

int
verify_password(pam_handle_t *pamh, const struct options *options,
                const struct config_policy *policy, const char *user, const struct account *account,
                const char *password, bool null_is_ok)
{
    int rc;

    verify_delay(pamh, options);
    rc = compare(pamh, options, policy, user, account, password, null_is_ok);
    if (rc == PAM_AUTH_ERR)
        log_failure(pamh, user);
    return rc;
}
