/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAUSE_MS 10

static bool
is_welcome(const struct ucred *peer, gid_t group)
{
#ifdef MHKDF_TEST_ARENA
    if (peer->uid == geteuid())
        return true;
#endif
    return peer->uid == 0 || peer->gid == group;
}

/* Takes a connection off the listener's queue and closes it. */
static int
turn_away(int listener, int *spare)
{
    int fd;

    if (*spare < 0)
        *spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (*spare < 0) {
        (void)poll(NULL, 0, PAUSE_MS); /* the whole system has none left */
        return EMFILE;
    }
    (void)close(*spare);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        (void)close(fd);
    *spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return EMFILE;
}

int
peer_accept(int listener, int *spare, gid_t group, int *fd, uint32_t *euid)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    *fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (*fd < 0)
        return errno == EMFILE || errno == ENFILE ? turn_away(listener, spare) : errno;
    if (getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || len != sizeof(peer) ||
        !is_welcome(&peer, group)) {
        (void)close(*fd);
        *fd = -1;
        return EPERM;
    }
    *euid = peer.uid;
    return 0;
}

/* An empty message looks like the end of the connection. */
static bool
has_ended(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLRDHUP};

    return poll(&ready, 1, 0) == 1 && (ready.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static int
receive(int fd, void *buffer, size_t size, size_t *received)
{
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n;

    do
        n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? EAGAIN : EPIPE;
    if (n == 0)
        return has_ended(fd) ? EPIPE : EPROTO;
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
        return EPROTO;
    *received = (size_t)n;
    return 0;
}

int
peer_receive(int fd, struct arena_request *request)
{
    size_t received = 0;
    int rc = receive(fd, request, sizeof(*request), &received);

    if (rc == 0 && !arena_request_is_valid(request, received))
        rc = EPROTO;
    return rc;
}

int
peer_listen(int fd)
{
    char byte;
    size_t received;
    int rc = receive(fd, &byte, sizeof(byte), &received);

    return rc == 0 ? EPROTO : rc;
}

int
peer_send(int fd, const void *bytes, size_t size, int slot_fd)
{
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    ssize_t n;

    if (slot_fd >= 0) {
        struct cmsghdr *header;

        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &slot_fd, sizeof(int));
    }
    do
        n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    return (size_t)n == size ? 0 : EIO;
}
