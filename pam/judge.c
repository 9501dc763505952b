/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/judge.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

#include "libcore/headroom.h"

__attribute__((format(printf, 4, 5))) static void
set(struct judge *out, enum chkpwd_answer answer, int priority, const char *format, ...)
{
    va_list args;

    out->answer = answer;
    out->priority = priority;
    va_start(args, format);
    vsnprintf(out->text, sizeof(out->text), format, args);
    va_end(args);
}

/* A password that couldn't be verified isn't wrong. Where the hash is no hash, no password is
 * right: then another module may know the account from elsewhere, and pam_unix, which sees the same
 * string, refuses it. Where there was no key, the next module's own attempt costs nothing and may
 * succeed: a login shouldn't fail because this module was in front. Not so where the arena is busy,
 * or there is no room for the memory: then another module's attempt is what must not be (it would
 * be killed for it), and the whole login fails for now. */
void
judge(int rc, const char *name, const struct mhkdf_memory_report *report, struct judge *out)
{
    const char *of = name != NULL ? " of " : "";
    const char *user = name != NULL ? name : "";
    char why[HEADROOM_TEXT_SIZE];

    out->text[0] = '\0';
    switch (rc) {
    case 0:
        out->answer = CHKPWD_RIGHT;
        break;
    case EKEYREJECTED:
        out->answer = CHKPWD_WRONG;
        break;
    case EINVAL:
    case ERANGE:
        set(out, CHKPWD_UNKNOWN, LOG_ERR, "the hash%s%s in shadow is malformed", of, user);
        break;
    case ENOSYS:
        set(out, CHKPWD_UNKNOWN, LOG_ERR, "the hash%s%s is of a method that isn't available here",
            of, user);
        break;
    case ENOKEY:
        set(out, CHKPWD_UNAVAILABLE, LOG_ERR,
            "the hash%s%s needs a site key that isn't available here", of, user);
        break;
    case EBUSY:
        set(out, CHKPWD_BUSY, LOG_ERR,
            "no memory for the password%s%s in time: all of the arena is in use", of, user);
        break;
    case ECONNREFUSED:
        set(out, CHKPWD_BUSY, LOG_ERR,
            "no memory for the password%s%s: the arena, which is required, is unavailable", of,
            user);
        break;
    case ENOMEM:
        headroom_explain(report, why, sizeof(why));
        set(out, CHKPWD_BUSY, LOG_ERR, "the password%s%s can't be verified for now: %s", of, user,
            why);
        break;
    default:
        errno = rc;
        set(out, CHKPWD_UNAVAILABLE, LOG_CRIT, "the password%s%s can't be verified: %m", of, user);
    }
}
