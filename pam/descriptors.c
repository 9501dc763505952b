/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/descriptors.h"

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
