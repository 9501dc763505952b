/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/options.h"

#include <string.h>
#include <syslog.h>

#include "pam/log.h"

#define NULLOK_SAID "mhkdf_nullok_said"

static bool
parse_one(const char *word, struct options *out)
{
    if (strcmp(word, "nullok") == 0) {
        out->nullok = true;
    } else if (strcmp(word, "use_first_pass") == 0) {
        out->use_first_pass = true;
    } else if (strcmp(word, "use_authtok") == 0) {
        out->use_authtok = true;
    } else if (strcmp(word, "nodelay") == 0) {
        out->nodelay = true;
    } else if (strcmp(word, "unix_behind") == 0) {
        out->unix_behind = true;
    } else if (strcmp(word, "debug") == 0) {
        out->debug = true;
    } else if (strncmp(word, "conf=", 5) == 0 && word[5] != '\0') {
        out->conf = word + 5;
    } else {
        /* What try_first_pass asks for is what libpam does anyway. */
        return strcmp(word, "try_first_pass") == 0;
    }
    return true;
}

static void
forget(pam_handle_t *pamh, void *data, int status)
{
    (void)pamh;
    (void)data;
    (void)status;
}

void
options_log_nullok(pam_handle_t *pamh, const struct options *options)
{
    static char said; /* its address stands for "yes" */
    const void *data = NULL;

    if (!options->nullok || pam_get_data(pamh, NULLOK_SAID, &data) == PAM_SUCCESS)
        return;
    log_write(pamh, LOG_NOTICE,
              "nullok has no effect here and can be deleted: pam_unix and its nullok decide about "
              "accounts without a password");
    (void)pam_set_data(pamh, NULLOK_SAID, &said, forget);
}

void
options_parse(pam_handle_t *pamh, int argc, const char **argv, struct options *out)
{
    int i;

    memset(out, 0, sizeof(*out));
    for (i = 0; i < argc; i++) {
        if (!parse_one(argv[i], out))
            log_write(pamh, LOG_ERR, "unknown option: %s", argv[i]);
    }
}
