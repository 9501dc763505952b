/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * A folder of the test program's own, which is gone when the program is, also when it aborts or is
 * killed: the test runs in a child, and its parent only waits and removes the folder.
 */
#ifndef TESTS_LIB_SCRATCH_H
#define TESTS_LIB_SCRATCH_H

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t scratch_child;

static void
scratch_pass_on(int number)
{
    if (scratch_child > 0)
        kill((pid_t)scratch_child, number);
}

static int
scratch_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    remove(path);
    return 0;
}

static _Noreturn void
scratch_wait(const char *path)
{
    int status = 0;

    while (waitpid((pid_t)scratch_child, &status, 0) < 0 && errno == EINTR)
        continue;
    nftw(path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "# killed by signal %d\n", WTERMSIG(status));
        _exit(128 + WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

/** Makes the folder (path: as for mkdtemp(3), in /tmp) and returns in the child. For main(), before
 * anything else; ends the program on failure. */
static void
scratch_enter(char *path)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct sigaction action = {.sa_handler = scratch_pass_on};
    sigset_t all, mask;
    pid_t pid;
    int i;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    if (mkdtemp(path) == NULL || (pid = fork()) < 0)
        exit(99);
    scratch_child = pid;
    for (i = 0; pid > 0 && i < 4; i++)
        sigaction(numbers[i], &action, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (pid > 0)
        scratch_wait(path);
}

#endif
