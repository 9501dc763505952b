/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "arena/notify.h"

#define FIRST_SOCKET 3
#define BACKLOG 512

static int
option(int fd, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : -1;
}

static int
take(int *fd)
{
    int flags = fcntl(FIRST_SOCKET, F_GETFL);

    if (flags < 0 || option(FIRST_SOCKET, SO_DOMAIN) != AF_UNIX ||
        option(FIRST_SOCKET, SO_TYPE) != SOCK_SEQPACKET || option(FIRST_SOCKET, SO_ACCEPTCONN) != 1)
        return EPROTO;
    if (fcntl(FIRST_SOCKET, F_SETFL, flags | O_NONBLOCK) != 0)
        return errno;
    *fd = FIRST_SOCKET;
    return 0;
}

/* Whether the socket there is one that nobody listens at. */
static int
is_stale(const struct sockaddr_un *address)
{
    struct stat st;
    int fd, error = 0;

    if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return 0;
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
        error = errno;
    (void)close(fd);
    return error == ECONNREFUSED;
}

static void
make_folder(const char *path)
{
    char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char *slash;
    mode_t mask;

    strcpy(folder, path); /* it fits: path did */
    slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return;
    *slash = '\0';
    mask = umask(022); /* others than root go through it, whatever this process was started with */
    (void)mkdir(folder, 0755);
    (void)umask(mask);
}

static int
make(int fd, const struct sockaddr_un *address, gid_t group)
{
    const struct sockaddr *any = (const struct sockaddr *)address;
    mode_t mask;
    int rc;

    make_folder(address->sun_path);
    mask = umask(0177);
    rc = bind(fd, any, sizeof(*address)) == 0 ? 0 : errno;
    if (rc == EADDRINUSE && is_stale(address) && unlink(address->sun_path) == 0)
        rc = bind(fd, any, sizeof(*address)) == 0 ? 0 : errno;
    (void)umask(mask);
    if (rc != 0)
        return rc;
    if (geteuid() == 0 && chown(address->sun_path, 0, group) != 0)
        return errno;
    if (chmod(address->sun_path, 0660) != 0 || listen(fd, BACKLOG) != 0)
        return errno;
    return 0;
}

int
listener_open(const char *path, gid_t group, int *fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int given = notify_sockets(), rc;

    *fd = -1;
    if (given > 0)
        return given == 1 ? take(fd) : EPROTO;
    if (strlen(path) >= sizeof(address.sun_path))
        return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    *fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return errno;
    rc = make(*fd, &address, group);
    if (rc != 0) {
        (void)close(*fd);
        *fd = -1;
    }
    return rc;
}
