/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/verdict.h"

#include <stdlib.h>
#include <string.h>

#define DATA_NAME "mhkdf_verdict"

static void
release(pam_handle_t *pamh, void *data, int status)
{
    (void)pamh;
    (void)status;
    free(data);
}

int
verdict_keep(pam_handle_t *pamh, const char *user)
{
    char *copy = strdup(user);
    int rc = PAM_BUF_ERR;

    if (copy != NULL)
        rc = pam_set_data(pamh, DATA_NAME, copy, release);
    if (rc != PAM_SUCCESS)
        free(copy);
    return rc;
}

bool
verdict_is_due(pam_handle_t *pamh, const char *user)
{
    const void *data = NULL;

    return pam_get_data(pamh, DATA_NAME, &data) == PAM_SUCCESS && data != NULL &&
           strcmp(data, user) == 0;
}

void
verdict_drop(pam_handle_t *pamh)
{
    (void)pam_set_data(pamh, DATA_NAME, NULL, NULL);
}
