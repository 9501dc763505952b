/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAST_TRIED 65536

void
descriptors_close_from(int first)
{
    struct rlimit limit;
    int end = LAST_TRIED;
    int fd;

#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0)
        return;
#endif
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < LAST_TRIED)
        end = (int)limit.rlim_max;
    for (fd = first; fd < end; fd++)
        close(fd);
}

int
descriptors_pipe(int ends[2])
{
    int low[2];
    int rc = 0;

    ends[0] = ends[1] = -1;
    if (pipe2(low, O_CLOEXEC) != 0)
        return errno;
    ends[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 3);
    ends[1] = ends[0] < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, 3);
    if (ends[0] < 0 || ends[1] < 0)
        rc = errno;
    close(low[0]);
    close(low[1]);
    if (rc != 0)
        descriptors_close_pipe(ends);
    return rc;
}

void
descriptors_close_pipe(int ends[2])
{
    int i;

    for (i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
}
