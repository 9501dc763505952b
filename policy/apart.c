/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/descriptors.h"

#define TIMER_SLACK_NS 50000UL /* the kernel's default */
#define ANSWER_FD 3            /* the child's end of the pipe */

/* The C library's own would look for the threads that the host has. */
#ifdef SYS_setresuid32
#define SETGROUPS SYS_setgroups32
#define SETRESGID SYS_setresgid32
#define SETRESUID SYS_setresuid32
#else
#define SETGROUPS SYS_setgroups
#define SETRESGID SYS_setresgid
#define SETRESUID SYS_setresuid
#endif

/* All arguments are 0, so it doesn't matter in which order this machine has them. */
pid_t
apart_fork_unseen(void)
{
    return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

/* Neither the host's terminal, sockets and locks stay open here, nor can anything be written by
 * mistake to what is opened later: a folder stands for 0 to 2. */
static bool
leave_descriptors(int answer_fd)
{
    int fd, folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return false;
    for (fd = 0; fd < ANSWER_FD; fd++) {
        if (fd != folder && dup2(folder, fd) != fd)
            return false;
    }
    if (answer_fd != ANSWER_FD && dup2(answer_fd, ANSWER_FD) != ANSWER_FD)
        return false;
    descriptors_close_from(ANSWER_FD + 1);
    return true;
}

#ifdef __GLIBC__
typedef __rlimit_resource_t resource; /* an enumeration */
#else
typedef int resource;
#endif

static void
set_limit(resource which, rlim_t value)
{
    struct rlimit limit = {value, value};

    if (setrlimit(which, &limit) == 0 || value == 0)
        return;
    if (getrlimit(which, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(which, &limit);
    }
}

/* What a user may have set for the program that he started. Where a right is missing, what can be
 * had is enough. */
static void
leave_limits(void)
{
    const struct sched_param param = {.sched_priority = 0};
    unsigned char all_cpus[1024];

    set_limit(RLIMIT_CPU, RLIM_INFINITY);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    set_limit(RLIMIT_DATA, RLIM_INFINITY);
    set_limit(RLIMIT_AS, RLIM_INFINITY);
    set_limit(RLIMIT_NOFILE, 1024);
    set_limit(RLIMIT_CORE, 0);
    (void)sched_setscheduler(0, SCHED_OTHER, &param);
    (void)setpriority(PRIO_PROCESS, 0, 0);
#ifdef SYS_ioprio_set
    (void)syscall(SYS_ioprio_set, 1, 0, 0); /* of this process: by its priority */
#endif
    memset(all_cpus, 0xff, sizeof(all_cpus));
    (void)syscall(SYS_sched_setaffinity, 0, sizeof(all_cpus), all_cpus);
    (void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
}

/* From here on its user can send it no signal. The groups are of no use to anybody; a user
 * namespace may not let them go. */
static bool
take_ids(uint32_t uid)
{
    if (uid == 0) {
        (void)syscall(SETGROUPS, 0, NULL);
        if (syscall(SETRESGID, 0, 0, 0) != 0)
            return false;
    }
    return syscall(SETRESUID, uid, uid, uid) == 0;
}

/* The address space is a copy of the host's, with its secrets. Sanitizers trace their own process.
 */
static void
forbid_tracing(void)
{
#ifndef SANITIZED
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void
apart_limit(unsigned limit_ms)
{
    const struct itimerval limit = {
        .it_value = {(time_t)(limit_ms / 1000), (suseconds_t)(limit_ms % 1000) * 1000}};
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t alarm;

    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &limit, NULL);
}

/* What this process has of the host's memory the kernel zeroes when it ends. */
static _Noreturn void
run_child(uint32_t uid, unsigned limit_ms, int answer_fd, int (*work)(void *), void *ctx)
{
    int rc;

    apart_limit(limit_ms);
    if (!leave_descriptors(answer_fd))
        _exit(1);
    (void)setsid();
    umask(077);
    leave_limits();
    rc = chdir("/") == 0 && take_ids(uid) ? 0 : errno;
    forbid_tracing();
    if (rc == 0)
        rc = work(ctx);
    /* It fits into the pipe; SIGPIPE is blocked. */
    _exit(write(ANSWER_FD, &rc, sizeof(rc)) == (ssize_t)sizeof(rc) ? 0 : 1);
}

static uint64_t
now_ms(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A process that was stopped meanwhile looks at the answer first, and at the clock then. */
static int
wait_for_answer(int fd, unsigned most_ms, int *result)
{
    uint64_t end_ms = now_ms() + most_ms;
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    uint64_t now;
    int n;

    do {
        now = now_ms();
        n = poll(&answer, 1, now < end_ms ? (int)(end_ms - now) : 0);
        if (n == 1)
            return read(fd, result, sizeof(*result)) == (ssize_t)sizeof(*result) ? 0 : ETIME;
    } while (n < 0 && errno == EINTR);
    return ETIME;
}

int
apart_run(uint32_t uid, unsigned limit_ms, unsigned most_ms, int (*work)(void *), void *ctx,
          int *result)
{
    sigset_t all, before;
    int ends[2];
    pid_t pid;
    int rc;

    if (geteuid() != uid)
        return EPERM;
    rc = descriptors_pipe(ends);
    if (rc != 0)
        return rc;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid = apart_fork_unseen();
    if (pid == 0)
        run_child(uid, limit_ms, ends[1], work, ctx);
    rc = pid < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    ends[1] = -1;
    if (rc == 0) {
        rc = wait_for_answer(ends[0], most_ms, result);
        if (rc != 0)
            kill(pid, SIGKILL);
        while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
            continue;
    }
    descriptors_close_pipe(ends);
    return rc;
}
