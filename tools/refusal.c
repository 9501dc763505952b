/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libcore/headroom.h"
#include "libcore/mhkdf.h"
#include "policy/anycrypt.h"
#include "tools/message.h"

#define KIB_PER_MIB 1024

int
refusal_foresee(const char *string)
{
    return anycrypt_check(string, NULL);
}

static void
explain_memory(const char *command, const char *what, const char *string,
               const struct mhkdf_memory_report *report, const char *hint)
{
    struct anycrypt_needs needs;
    char why[HEADROOM_TEXT_SIZE];
    uint64_t kib;

    if (report != NULL && report->needed_kib != 0) {
        headroom_explain(report, why, sizeof(why));
        message_error(command, "%s%s", why, hint);
        return;
    }
    (void)anycrypt_check(string, &needs);
    kib = needs.memory_kib;
    if (kib == 0 || kib == UINT64_MAX)
        message_error(command, "not enough memory for %s", what);
    else if (kib < KIB_PER_MIB)
        message_error(command, "not enough memory: %s needs %" PRIu64 " KiB", what, kib);
    else
        message_error(command, "not enough memory: %s needs %" PRIu64 " MiB", what,
                      kib / KIB_PER_MIB);
}

static void
explain_key(const char *command, const char *what, const char *string)
{
    struct anycrypt_needs needs;

    (void)anycrypt_check(string, &needs);
    message_error(command, "%s needs the site key \"%s\", which isn't known here", what,
                  needs.key_id);
}

void
refusal_explain(const char *command, const char *what, const char *string, int rc,
                const struct mhkdf_memory_report *report, const char *hint)
{
    switch (rc) {
    case EINVAL:
        if (string[0] == '!' || string[0] == '*')
            message_error(command, "%s is a locked entry or a failure token, not a hash", what);
        else
            message_error(command, "%s is malformed, cut short, or of no known method", what);
        break;
    case ERANGE:
        message_error(command, "%s is too long, or makes a hash of more than %d bytes", what,
                      MHKDF_STRING_SIZE - 1);
        break;
    case ENOSYS:
        message_error(command, "%s has a method that this system's libcrypt doesn't know", what);
        break;
    case ENOKEY:
        explain_key(command, what, string);
        break;
    case ENOMEM:
        explain_memory(command, what, string, report, hint);
        break;
    default:
        message_error(command, "can't compute the hash: %s", strerror(rc));
    }
}
