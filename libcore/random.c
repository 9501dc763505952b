/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include "libcore/mhkdf.h"

/* What one system call may be asked for without ever being cut short by a signal (random(4)). */
#define CHUNK 256

/* Kernels before 3.17, and seccomp filters that don't know getrandom(2). */
static int
read_urandom(unsigned char *p, size_t len)
{
    struct pollfd seeded;
    int error = 0;
    int fd;

    /* /dev/urandom gives bytes before it is seeded; /dev/random becomes readable once it is. */
    seeded.fd = open("/dev/random", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (seeded.fd >= 0) {
        seeded.events = POLLIN;
        while (poll(&seeded, 1, -1) < 0 && errno == EINTR)
            ;
        (void)close(seeded.fd);
    }

    if ((fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY)) < 0)
        return errno;
    while (len > 0) {
        ssize_t n = read(fd, p, len);
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        } else if (n == 0) {
            error = EIO;
            break;
        } else if (errno != EINTR) {
            error = errno;
            break;
        }
    }
    (void)close(fd);
    return error;
}

int
mhkdf_random(void *buf, size_t len)
{
    unsigned char *p = buf;
    size_t left = len;
    int error = 0;

    while (left > 0) {
        ssize_t n = getrandom(p, left < CHUNK ? left : CHUNK, 0);
        if (n >= 0) {
            p += n;
            left -= (size_t)n;
        } else if (errno != EINTR) {
            error = errno;
            break;
        }
    }
    if (error != 0)
        error = read_urandom(p, left);
    if (error != 0)
        mhkdf_wipe(buf, len);
    return error;
}
