/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/finding.h"

#include <stdlib.h>
#include <string.h>

#include "libcore/mhkdf.h"

#define DATA_NAME "mhkdf_finding"

static void
release(pam_handle_t *pamh, void *data, int status)
{
    struct finding *finding = data;

    (void)pamh;
    (void)status;
    if (finding == NULL)
        return;
    if (finding->old_hash != NULL)
        mhkdf_wipe(finding->old_hash, strlen(finding->old_hash));
    free(finding->old_hash);
    free(finding->user);
    free(finding);
}

int
finding_keep(pam_handle_t *pamh, enum finding_kind kind, const char *user, const char *old_hash)
{
    struct finding *finding = calloc(1, sizeof(*finding));
    int rc = PAM_BUF_ERR;

    if (finding == NULL)
        return PAM_BUF_ERR;
    finding->kind = kind;
    finding->user = strdup(user);
    if (old_hash != NULL)
        finding->old_hash = strdup(old_hash);
    if (finding->user != NULL && (old_hash == NULL || finding->old_hash != NULL))
        rc = pam_set_data(pamh, DATA_NAME, finding, release);
    if (rc != PAM_SUCCESS)
        release(pamh, finding, rc);
    return rc;
}

const struct finding *
finding_get(pam_handle_t *pamh, const char *user)
{
    const void *data = NULL;
    const struct finding *finding;

    if (pam_get_data(pamh, DATA_NAME, &data) != PAM_SUCCESS || data == NULL)
        return NULL;
    finding = data;
    return strcmp(finding->user, user) == 0 ? finding : NULL;
}

void
finding_drop(pam_handle_t *pamh)
{
    pam_set_data(pamh, DATA_NAME, NULL, NULL);
}
