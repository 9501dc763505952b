/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/message.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/status.h"

#define MESSAGE_SIZE 1024

static int
write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        ssize_t n = write(fd, text, len);

        if (n >= 0) {
            text += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            (void)poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

void
message_error(const char *command, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    size_t used, i;
    va_list args;
    int n;

    n = snprintf(text, sizeof(text), "mhkdf%s%s: ", command == NULL ? "" : " ",
                 command == NULL ? "" : command);
    used = n < 0 ? 0 : (size_t)n;
    va_start(args, format);
    n = vsnprintf(text + used, sizeof(text) - used, format, args);
    va_end(args);
    if (n < 0)
        return;
    used = strlen(text);
    for (i = 0; i < used; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            text[i] = '?';
    text[used] = '\n';
    (void)write_all(STDERR_FILENO, text, used + 1);
}

int
message_output(const char *command, const char *text)
{
    int rc = write_all(STDOUT_FILENO, text, strlen(text));

    if (close(STDOUT_FILENO) != 0 && rc == 0 && errno != EINTR)
        rc = errno;
    if (rc == 0)
        return STATUS_OK;
    message_error(command, "can't write to standard output: %s", strerror(rc));
    return STATUS_TROUBLE;
}
