/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "libcore/arena.h"
#include "libcore/arena_protocol.h"

#define RETRY_MS 100    /* after a refusal for lack of a place in the queue */
#define CONNECT_MS 10   /* after a connection that has to wait at the door */
#define FIRST_FREE_FD 3 /* 0 to 2 belong to the program, even where they are closed */

#define TMPFS 0x01021994
#define HUGETLBFS 0x958458f6

/* Newer than some C libraries. */
#ifndef F_GET_SEALS
#define F_GET_SEALS 1034
#define F_SEAL_SEAL 0x0001
#define F_SEAL_SHRINK 0x0002
#define F_SEAL_GROW 0x0004
#define F_SEAL_WRITE 0x0008
#endif
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)

/* One attempt at a lease. */
struct attempt {
    const struct mhkdf_arena *want;
    size_t size;
    uint64_t start_ms; /* of the first attempt */
    int fd;
    int slot_fd;
};

static uint64_t
clock_ms(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* ---- the slot ------------------------------------------------------------------------ */

/* Whether it is what the daemon makes: a memfd that nobody can shrink, or seal further. */
static int
check_slot(int fd, uint64_t size)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct statfs fs;
    struct stat st;

    if (seals < 0 || (seals & SEALS) != SEALS || (seals & F_SEAL_WRITE) != 0)
        return EPROTO;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 0 || st.st_size < 0 ||
        (uint64_t)st.st_size != size)
        return EPROTO;
    if (fstatfs(fd, &fs) != 0 ||
        ((unsigned long)fs.f_type != TMPFS && (unsigned long)fs.f_type != HUGETLBFS))
        return EPROTO;
    return 0;
}

/* Huge pages are mapped as such only at a multiple of their size. Nothing can be reached by a child
 * that is forked before MADV_DONTFORK holds. */
static int
map_slot(struct arena_lease *lease, int fd, size_t size)
{
    size_t huge = (size_t)ARENA_HUGE_PAGE;
    size_t mapped = (size + huge - 1) / huge * huge;
    uintptr_t start;

    lease->reserved_size = mapped + huge;
    lease->reserved = mmap(NULL, lease->reserved_size, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (lease->reserved == MAP_FAILED) {
        lease->reserved = NULL;
        return ENOMEM;
    }
    start = ((uintptr_t)lease->reserved + huge - 1) & ~(uintptr_t)(huge - 1);
    lease->base = mmap((void *)start, mapped, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (lease->base == MAP_FAILED || madvise(lease->base, mapped, MADV_DONTFORK) != 0 ||
        madvise(lease->base, mapped, MADV_DONTDUMP) != 0 ||
        mprotect(lease->base, mapped, PROT_READ | PROT_WRITE) != 0) {
        (void)munmap(lease->reserved, lease->reserved_size);
        lease->reserved = lease->base = NULL;
        return ENOMEM;
    }
    lease->size = mapped;
    return 0;
}

static int
use_slot(struct arena_lease *lease, struct attempt *attempt, const struct arena_reply *reply)
{
    if (attempt->slot_fd < 0 || reply->size < attempt->size ||
        check_slot(attempt->slot_fd, reply->size) != 0 ||
        map_slot(lease, attempt->slot_fd, attempt->size) != 0)
        return ECONNREFUSED;
    lease->pages = (int)reply->pages;
    lease->fd = attempt->fd;
    attempt->fd = -1;
    return 0;
}

/* ---- the daemon ---------------------------------------------------------------------- */

/* A queue at the door that doesn't get shorter for so long is no queue. */
static int
reach(int fd, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);

    if (len >= sizeof address.sun_path)
        return ECONNREFUSED;
    memcpy(address.sun_path, path, len);
    for (int waited = 0; waited < (int)ARENA_SILENCE_MS; waited += CONNECT_MS) {
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
            return 0;
        if (errno != EAGAIN && errno != EINTR)
            break;
        pause_ms(CONNECT_MS);
    }
    return ECONNREFUSED;
}

static int
open_connection(struct attempt *attempt)
{
    const char *path = attempt->want->socket;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && fd < FIRST_FREE_FD) {
        attempt->fd = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        (void)close(fd);
    } else {
        attempt->fd = fd;
    }
    if (attempt->fd < 0)
        return ECONNREFUSED;
    return reach(attempt->fd, path == NULL ? ARENA_SOCKET : path);
}

static int
send_request(const struct attempt *attempt)
{
    struct arena_request request;
    const char *service = attempt->want->service;

    memset(&request, 0, sizeof request);
    request.head = arena_head(ARENA_LEASE);
    request.size = attempt->size;
    request.real_uid = attempt->want->real_uid;
    request.service_max = attempt->want->slots_max;
    request.require = attempt->want->require != 0;
    for (size_t i = 0; service != NULL && service[i] != '\0' && i < ARENA_SERVICE_SIZE - 1; i++)
        request.service[i] = service[i] >= '!' && service[i] <= '~' ? service[i] : '?';
    if (send(attempt->fd, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request)
        return ECONNREFUSED;
    return 0;
}

/* The descriptor that came with a message, if any. */
static int
take_descriptor(struct msghdr *message)
{
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    int fd = -1;

    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

/* 0: a valid message; EAGAIN: none yet; ECONNREFUSED: the daemon is gone, or makes no sense. */
static int
receive_reply(struct attempt *attempt, struct arena_reply *reply)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))]; /* more descriptors are dropped by the kernel */
    } control;
    struct iovec part = {reply, sizeof *reply};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t n;

    memset(&control, 0, sizeof control);
    n = recvmsg(attempt->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? EAGAIN : ECONNREFUSED;
    attempt->slot_fd = take_descriptor(&message);
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
        !arena_reply_is_valid(reply, (size_t)n) ||
        (attempt->slot_fd >= 0) != (reply->head.type == ARENA_GRANTED))
        return ECONNREFUSED;
    return 0;
}

/*
 * Waits for the next message: EBUSY when the caller's time is over, ECONNREFUSED when the daemon
 * hasn't said anything for too long. heard_ms: when it last did; queued: whether it ever did.
 */
static int
await_reply(struct attempt *attempt, struct arena_reply *reply, uint64_t heard_ms, int queued)
{
    struct pollfd ready = {.fd = attempt->fd, .events = POLLIN};
    uint64_t silence_ms = heard_ms + ARENA_SILENCE_MS;
    uint64_t end_ms = attempt->start_ms + attempt->want->wait_ms;
    uint64_t now_ms, until_ms = queued && end_ms < silence_ms ? end_ms : silence_ms;
    int rc;

    for (;;) {
        rc = receive_reply(attempt, reply);
        if (rc != EAGAIN)
            return rc;
        now_ms = clock_ms();
        if (now_ms >= until_ms)
            return until_ms == silence_ms ? ECONNREFUSED : EBUSY;
        if (poll(&ready, 1, (int)(until_ms - now_ms)) < 0 && errno != EINTR)
            return ECONNREFUSED;
    }
}

/* EAGAIN: refused for now. */
static int
attempt_lease(struct arena_lease *lease, struct attempt *attempt)
{
    struct arena_reply reply;
    int queued = 0, rc = open_connection(attempt);

    if (rc == 0)
        rc = send_request(attempt);
    while (rc == 0) {
        rc = await_reply(attempt, &reply, clock_ms(), queued);
        if (rc != 0)
            break;
        if (reply.head.type == ARENA_GRANTED)
            return use_slot(lease, attempt, &reply);
        if (reply.head.type == ARENA_REFUSED)
            rc = reply.reason == ARENA_BUSY ? EAGAIN : ECONNREFUSED;
        queued = 1;
    }
    return rc;
}

static void
clean_up(struct attempt *attempt)
{
    if (attempt->slot_fd >= 0)
        (void)close(attempt->slot_fd);
    if (attempt->fd >= 0) {
        (void)shutdown(attempt->fd, SHUT_RDWR); /* a forked child may have it, too */
        (void)close(attempt->fd);
    }
    attempt->slot_fd = attempt->fd = -1;
}

int
arena_get(struct arena_lease *lease, const struct mhkdf_arena *want, size_t size)
{
    struct attempt attempt = {want, size, clock_ms(), -1, -1};
    int saved = errno, rc;

    memset(lease, 0, sizeof *lease);
    lease->fd = -1;
    for (;;) {
        rc = attempt_lease(lease, &attempt);
        clean_up(&attempt);
        if (rc != EAGAIN)
            break;
        if (clock_ms() - attempt.start_ms + RETRY_MS > want->wait_ms) {
            rc = EBUSY;
            break;
        }
        pause_ms(RETRY_MS);
    }
    errno = saved;
    return rc;
}

void
arena_release(struct arena_lease *lease)
{
    int saved = errno;

    if (lease->base != NULL) {
        (void)munmap(lease->reserved, lease->reserved_size);
        (void)shutdown(lease->fd, SHUT_RDWR); /* a forked child may have it, too */
        (void)close(lease->fd);
    }
    lease->base = NULL;
    lease->fd = -1;
    errno = saved;
}
