/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/ruling.h"

#include <syslog.h>

#include "pam/log.h"
#include "pam/names.h"
#include "pam/place.h"

static bool
in_group(void *user, const char *group)
{
    return names_is_in_group(user, group);
}

static const char *
service(pam_handle_t *pamh)
{
    const void *name = NULL;

    return pam_get_item(pamh, PAM_SERVICE, &name) == PAM_SUCCESS ? name : NULL;
}

int
ruling_find(pam_handle_t *pamh, const struct options *options, const char *user, bool is_root,
            struct config_policy *policy, struct config_error *error)
{
    union {
        const char *name;
        void *ctx;
    } asked = {user};
    const struct config_who who = {.service = service(pamh),
                                   .user = user,
                                   .is_root = is_root,
                                   .in_group = in_group,
                                   .ctx = asked.ctx};
    struct config config;
    int rc;

    if (options->conf != NULL)
        rc = config_load(options->conf, place_conf_owner(), true, &config, error);
    else
        rc = config_load_either(place_conf(), place_vendor_conf(), place_conf_owner(), &config,
                                error);
    if (rc != 0)
        log_write(pamh, LOG_ERR, "%s", error->text);
    config_look_up(&config, &who, policy);
    config_free(&config);
    return rc;
}
