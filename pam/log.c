/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#include <security/pam_ext.h>
#include <security/pam_modutil.h>

#include "pam/place.h"

#define ITEM_SIZE 256

void
log_write(pam_handle_t *pamh, int priority, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pam_vsyslog(pamh, priority, format, args);
    va_end(args);
    va_start(args, format);
    place_copy_log(format, args);
    va_end(args);
}

void
log_debug(pam_handle_t *pamh, const struct options *options, const char *format, ...)
{
    va_list args;

    if (!options->debug)
        return;
    va_start(args, format);
    pam_vsyslog(pamh, LOG_DEBUG, format, args);
    va_end(args);
    va_start(args, format);
    place_copy_log(format, args);
    va_end(args);
}

void
log_text(void *pamh, int priority, const char *text)
{
    log_write(pamh, priority, "%s", text);
}

/* What comes from the network must not look like lines of its own, nor end a field early. */
static const char *
printable(const char *text, char out[ITEM_SIZE])
{
    size_t i;

    for (i = 0; text != NULL && text[i] != '\0' && i < ITEM_SIZE - 1; i++)
        out[i] = text[i] > 0x20 && text[i] < 0x7f ? text[i] : '?';
    out[i] = '\0';
    return out;
}

static const char *
item(pam_handle_t *pamh, int type, char out[ITEM_SIZE])
{
    const void *text = NULL;

    if (pam_get_item(pamh, type, &text) != PAM_SUCCESS)
        text = NULL;
    return printable(text, out);
}

void
log_failure(pam_handle_t *pamh, const char *user)
{
    char login[ITEM_SIZE], tty[ITEM_SIZE], ruser[ITEM_SIZE], rhost[ITEM_SIZE];

    log_write(pamh, LOG_NOTICE,
              "authentication failure; logname=%s uid=%ju euid=%ju tty=%s ruser=%s rhost=%s  "
              "user=%s",
              printable(pam_modutil_getlogin(pamh), login), (uintmax_t)getuid(),
              (uintmax_t)geteuid(), item(pamh, PAM_TTY, tty), item(pamh, PAM_RUSER, ruser),
              item(pamh, PAM_RHOST, rhost), user);
}

__attribute__((format(printf, 4, 0))) static void
tell(pam_handle_t *pamh, unsigned flags, int style, const char *format, va_list args)
{
    char *answer = NULL;

    if ((flags & PAM_SILENT) != 0)
        return;
    pam_vprompt(pamh, style, &answer, format, args);
    free(answer);
}

void
log_tell_error(pam_handle_t *pamh, unsigned flags, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(pamh, flags, PAM_ERROR_MSG, format, args);
    va_end(args);
}

void
log_tell(pam_handle_t *pamh, unsigned flags, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(pamh, flags, PAM_TEXT_INFO, format, args);
    va_end(args);
}
