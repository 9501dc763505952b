/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "pam/judge.h"
#include "pam/leasing.h"
#include "pam/limits.h"
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
        return limits_end_login(pamh, rc) ? PAM_SYSTEM_ERR : PAM_AUTHINFO_UNAVAIL;
    }
}

bool
verify_can_read_shadow(void)
{
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/shadow", place_etc());
    int fd;

    if (n < 0 || (size_t)n >= sizeof(path))
        return true;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return errno != EACCES;
    close(fd);
    return true;
}

void
verify_delay(pam_handle_t *pamh, const struct options *options)
{
    if (!options->nodelay)
        pam_fail_delay(pamh, FAIL_DELAY_US);
}

int
verify_code(enum chkpwd_answer answer)
{
    switch (answer) {
    case CHKPWD_RIGHT:
    case CHKPWD_RIGHT_BELOW:
        return PAM_SUCCESS;
    case CHKPWD_WRONG:
        return PAM_AUTH_ERR;
    case CHKPWD_UNKNOWN:
        return PAM_USER_UNKNOWN;
    case CHKPWD_BUSY:
        return PAM_SYSTEM_ERR;
    case CHKPWD_DENIED:
        return PAM_PERM_DENIED;
    case CHKPWD_UNAVAILABLE:
    case CHKPWD_REFUSED:
        break;
    }
    return PAM_AUTHINFO_UNAVAIL;
}

int
verify_judge(pam_handle_t *pamh, const char *user, const struct mhkdf_memory_report *report, int rc)
{
    struct judge judged;

    judge(rc, user, report, &judged);
    if (judged.text[0] != '\0')
        log_write(pamh, judged.priority, "%s", judged.text);
    return limits_end_login(pamh, rc) ? PAM_SYSTEM_ERR : verify_code(judged.answer);
}

static int
compare(pam_handle_t *pamh, const struct options *options, const struct config_policy *policy,
        const char *user, const struct account *account, const char *password, bool null_is_ok)
{
    const char *hash = account->hash;
    struct leasing leasing;
    const char *wrong;
    int rc;

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
    return verify_judge(pamh, user, &leasing.report, rc);
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
