/* SPDX-License-Identifier: BSD-2-Clause */
/* What PAM calls. The work is in auth.c and password.c. */
#include <config.h>

#include <syslog.h>

#include <security/pam_modules.h>

#include "pam/auth.h"
#include "pam/log.h"
#include "pam/options.h"
#include "pam/password.h"

int
pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    struct options options;

    options_parse(pamh, argc, argv, &options);
    return auth_run(pamh, (unsigned)flags, &options);
}

/* There are no credentials to set. libpam walks the stack by what pam_sm_authenticate returned
 * then, whatever this returns, and takes this as the result of a module that counted: so it is
 * PAM_SUCCESS. Not PAM_IGNORE, which a stack with default=die, or with this module alone, would
 * turn into a failure where pam_setcred is called without pam_authenticate, as sshd does after a
 * public key. */
int
pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    (void)pamh;
    (void)flags;
    (void)argc;
    (void)argv;
    return PAM_SUCCESS;
}

int
pam_sm_chauthtok(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    unsigned phase = (unsigned)flags & (PAM_PRELIM_CHECK | PAM_UPDATE_AUTHTOK);
    struct options options;
    int rc;

    options_parse(pamh, argc, argv, &options);
    if (phase == PAM_PRELIM_CHECK)
        rc = password_prelim(pamh, (unsigned)flags, &options);
    else if (phase == PAM_UPDATE_AUTHTOK)
        rc = password_update(pamh, (unsigned)flags, &options);
    else
        rc = PAM_SYSTEM_ERR;
    log_debug(pamh, &options, "password change, phase %d: %s", phase == PAM_PRELIM_CHECK ? 1 : 2,
              pam_strerror(pamh, rc));
    return rc;
}

/* Aging and expiry are judged by pam_unix. */
int
pam_sm_acct_mgmt(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    struct options options;
    int rc;

    (void)flags;
    options_parse(pamh, argc, argv, &options);
    rc = auth_account(pamh);
    log_debug(pamh, &options, "account: %s", pam_strerror(pamh, rc));
    return rc;
}

int
pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    (void)pamh;
    (void)flags;
    (void)argc;
    (void)argv;
    return PAM_IGNORE;
}

int
pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
    (void)pamh;
    (void)flags;
    (void)argc;
    (void)argv;
    return PAM_IGNORE;
}
