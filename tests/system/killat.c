/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LD_PRELOAD: kills its process group just before the KILL_AT'th thing that the group does of those
 * that matter to files: starting a program, renaming, removing, opening for writing. The file
 * KILL_COUNTER, of 4096 bytes, is shared by all processes of the group: 4 bytes count, and one each
 * says of the first of these things what it was: R for renaming and removing, else a dot.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_SIZE 4096

static uint32_t *counter;
static uint32_t kill_at;

static void
count(char what)
{
    uint32_t number;

    if (counter == NULL)
        return;
    number = __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
    if (sizeof(*counter) + number < FILE_SIZE)
        ((char *)counter)[sizeof(*counter) + number] = what;
    if (number == kill_at)
        kill(0, SIGKILL);
}

__attribute__((constructor)) static void
start(void)
{
    const char *path = getenv("KILL_COUNTER"), *at = getenv("KILL_AT");
    void *map;
    int fd;

    if (path == NULL || at == NULL)
        return;
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return;
    kill_at = (uint32_t)atoi(at);
    counter = map;
    count('.');
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int
rename(const char *from, const char *to)
{
    count('R');
    return NEXT(rename)(from, to);
}

int
renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    count('R');
    return NEXT(renameat)(from_dir, from, to_dir, to);
}

int
renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
    count('R');
    return NEXT(renameat2)(from_dir, from, to_dir, to, flags);
}

int
unlink(const char *path)
{
    count('R');
    return NEXT(unlink)(path);
}

int
unlinkat(int dir, const char *path, int flags)
{
    count('R');
    return NEXT(unlinkat)(dir, path, flags);
}

int
rmdir(const char *path)
{
    count('R');
    return NEXT(rmdir)(path);
}

/* ldconfig is a static program, in which nothing can be preloaded. */
int
execve(const char *path, char *const argv[], char *const env[])
{
    count('.');
    return NEXT(execve)(path, argv, env);
}

#define OPEN(name)                             \
    int name(const char *path, int flags, ...) \
    {                                          \
        va_list more;                          \
        mode_t mode;                           \
                                               \
        va_start(more, flags);                 \
        mode = va_arg(more, mode_t);           \
        va_end(more);                          \
        if ((flags & O_ACCMODE) != O_RDONLY)   \
            count('.');                        \
        return NEXT(name)(path, flags, mode);  \
    }
#define OPENAT(name)                                    \
    int name(int dir, const char *path, int flags, ...) \
    {                                                   \
        va_list more;                                   \
        mode_t mode;                                    \
                                                        \
        va_start(more, flags);                          \
        mode = va_arg(more, mode_t);                    \
        va_end(more);                                   \
        if ((flags & O_ACCMODE) != O_RDONLY)            \
            count('.');                                 \
        return NEXT(name)(dir, path, flags, mode);      \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
