/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/auth.h"

#include <security/pam_ext.h>

#include "pam/helper.h"
#include "pam/log.h"
#include "pam/ruling.h"
#include "pam/verify.h"

static int
check(pam_handle_t *pamh, unsigned flags, const struct options *options, const char *user,
      const char *password)
{
    bool null_is_ok = options->nullok && (flags & PAM_DISALLOW_NULL_AUTHTOK) == 0;
    struct account account;
    struct config_policy policy;
    struct config_error error;
    int rc = verify_find(pamh, options, user, &account);

    if (rc == PAM_CRED_INSUFFICIENT) /* screen lockers and the like */
        return helper_verify(pamh, options, user, password, null_is_ok);
    if (rc != PAM_SUCCESS)
        return rc;
    /* No value of it decides about a password; but whoever broke it finds a line in the log soon.
     */
    ruling_find(pamh, options, user, account.uid == 0, &policy, &error);
    rc = verify_password(pamh, options, &policy, user, &account, password, null_is_ok);
    account_free(&account);
    return rc;
}

/* The password is asked for before anything is looked up, and for an empty one too: whether a name
 * is an account, and of which kind, must not show in whether there is a prompt. The modules behind
 * this one find it in PAM_AUTHTOK. */
int
auth_run(pam_handle_t *pamh, unsigned flags, const struct options *options)
{
    const char *user = NULL;
    const char *password = NULL;
    int rc = pam_get_user(pamh, &user, NULL);

    if (rc == PAM_SUCCESS && user != NULL)
        rc = pam_get_authtok(pamh, PAM_AUTHTOK, &password, NULL);
    if (rc == PAM_CONV_AGAIN)
        return PAM_INCOMPLETE;
    if (rc != PAM_SUCCESS || user == NULL || password == NULL) {
        log_debug(pamh, options, "no name or no password was given");
        return rc != PAM_SUCCESS ? rc : PAM_AUTH_ERR;
    }
    rc = check(pamh, flags, options, user, password);
    log_debug(pamh, options, "authentication: %s", pam_strerror(pamh, rc));
    return rc;
}
