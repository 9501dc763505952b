/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/notify.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_SOCKET 3
#define SOCKETS_MAX 16

void
notify_send(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path == NULL ? 0 : strlen(path);
    int fd;

    if (len < 2 || len >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    (void)close(fd);
}

/* A decimal number of an environment variable; -1: there is none. */
static long
number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    long value;

    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    value = strtol(text, &end, 10);
    return *end == '\0' ? value : -1;
}

int
notify_sockets(void)
{
    long count = number("LISTEN_FDS");

    if (number("LISTEN_PID") != (long)getpid() || count < 1 || count > SOCKETS_MAX)
        return 0;
    for (int i = 0; i < (int)count; i++)
        (void)fcntl(FIRST_SOCKET + i, F_SETFD, FD_CLOEXEC);
    return (int)count;
}
