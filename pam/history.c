/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/history.h"

#include <stdbool.h>
#include <string.h>
#include <syslog.h>

#include "libcore/mhkdf.h"
#include "pam/log.h"
#include "pam/origin.h"
#include "pam/service_file.h"
#include "policy/newhash.h"

struct history {
    bool by_pwhistory;
    bool by_unix; /* pam_unix with remember= */
};

static bool
is_word(const char *word, size_t len, const char *text)
{
    return strlen(text) == len && strncasecmp(word, text, len) == 0;
}

static void
look(void *ctx, const char *name, const char *arguments)
{
    static const char remember[] = "remember=";
    struct history *history = ctx;
    bool has_remember = false, is_off = false;
    size_t len;

    for (; *arguments != '\0'; arguments += len) {
        arguments += strspn(arguments, " \t[]");
        len = strcspn(arguments, " \t[]");
        has_remember |= strncasecmp(arguments, remember, sizeof(remember) - 1) == 0;
        is_off |= is_word(arguments, len, "remember=0");
    }
    if (strcmp(name, "pam_pwhistory") == 0)
        history->by_pwhistory |= !is_off;
    else if (strcmp(name, "pam_unix") == 0)
        history->by_unix |= has_remember;
}

/* pam_pwhistory computes old hashes by the crypt(3) that this process has, too. */
static bool
crypt_verifies(const char *hash)
{
    struct mhkdf_setting setting;

    return mhkdf_parse(hash, &setting) != 0 || newhash_crypt_verifies(&setting.cost);
}

void
history_warn(pam_handle_t *pamh, const char *user, const char *hash)
{
    const char *service = origin_service(pamh);
    struct history history = {0};
    bool has_comma = strchr(hash, ',') != NULL;

    service_file_each_password(service, look, &history);
    if (history.by_pwhistory && has_comma)
        log_write(pamh, LOG_WARNING,
                  "password history of %s doesn't work: pam_pwhistory separates hashes by commas, "
                  "and the new hash has some; write method = mhkdf into mhkdf.conf, or take "
                  "pam_pwhistory out of the service %s",
                  user, service);
    else if (history.by_pwhistory && !crypt_verifies(hash))
        log_write(pamh, LOG_WARNING,
                  "password history of %s doesn't work: pam_pwhistory calls crypt(3), and the "
                  "libcrypt that is loaded can't verify the new hash; run mhkdf-libcrypt enable, "
                  "or write method = yescrypt into mhkdf.conf",
                  user);
    else if (history.by_unix)
        log_write(pamh, LOG_WARNING,
                  "password history of %s doesn't work: pam_mhkdf sets the password, and then "
                  "remember= of pam_unix doesn't count; put pam_pwhistory in front of pam_mhkdf "
                  "in the service %s%s",
                  user, service, has_comma ? ", and write method = mhkdf into mhkdf.conf" : "");
}
