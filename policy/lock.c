/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS 20

static long long
now_ms(void)
{
    struct timespec ts = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (long long)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* type: F_WRLCK or F_UNLCK. */
static int
set_lock(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    if (errno == EINVAL && fcntl(fd, F_SETLK, &lock) == 0)
        return 0;
    return errno == EACCES ? EAGAIN : errno;
}

/* Whether the file that was locked is still the one that others will lock. */
static bool
is_current(const char *path, int fd)
{
    struct stat ours, theirs;

    return fstat(fd, &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

/* A symbolic link is followed, as lckpwdf(3) does, or the two would lock different files; the
 * folder is root's, so nobody else can have put it there. */
static int
open_and_lock(const char *path, int *fd)
{
    int rc;

    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (*fd < 0)
        return errno;
    rc = set_lock(*fd, F_WRLCK);
    if (rc == 0 && !is_current(path, *fd)) {
        set_lock(*fd, F_UNLCK);
        rc = EAGAIN;
    }
    if (rc != 0) {
        close(*fd);
        *fd = -1;
    }
    return rc;
}

/* Calm begins before the lock can be there, so that no signal stops us with it; between two tries
 * signals arrive. */
static int
try_once(const char *path, struct lock *lock)
{
    int rc;

    calm_begin(&lock->calm);
    rc = open_and_lock(path, &lock->fd);
    if (rc != 0)
        calm_end(&lock->calm);
    return rc;
}

#define NAME "/.pwd.lock"

/* In a child of a process with threads, too, where snprintf(3) has no place. */
static int
make_path(const char *etc_dir, char path[4096])
{
    size_t len = strlen(etc_dir);

    if (len + sizeof(NAME) > 4096)
        return ENAMETOOLONG;
    memcpy(path, etc_dir, len);
    memcpy(path + len, NAME, sizeof(NAME));
    return 0;
}

int
lock_take(const char *etc_dir, unsigned wait_ms, struct lock *lock)
{
    const struct timespec step = {0, STEP_MS * 1000000L};
    char path[4096];
    long long deadline = now_ms() + wait_ms;
    int rc = make_path(etc_dir, path);

    lock->fd = -1;
    if (rc != 0)
        return rc;
    for (;;) {
        rc = try_once(path, lock);
        if (rc != EAGAIN && rc != EINTR)
            return rc;
        if (now_ms() >= deadline)
            return ETIMEDOUT;
        nanosleep(&step, NULL);
    }
}

/* Closing isn't enough: a child that the host has forked meanwhile has the same open file. */
void
lock_release(struct lock *lock)
{
    set_lock(lock->fd, F_UNLCK);
    close(lock->fd);
    lock->fd = -1;
    calm_end(&lock->calm);
}
