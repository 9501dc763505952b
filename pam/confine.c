/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "policy/descriptors.h"

/* What is opened later must not get the number of a descriptor that somebody writes messages to. */
static bool
open_standard(void)
{
    int fd;

    for (fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (errno != EBADF || open("/dev/null", O_RDWR | O_NOCTTY) != fd)
            return false;
    }
    return true;
}

static void
reset_signals(void)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                                  SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM};
    const struct itimerval none = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;
    size_t i;
    int number;

    for (number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL);
    action.sa_handler = SIG_IGN;
    for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        sigaction(ignored[i], &action, NULL);
    setitimer(ITIMER_REAL, &none, NULL);
    setitimer(ITIMER_VIRTUAL, &none, NULL);
    setitimer(ITIMER_PROF, &none, NULL);
    sigemptyset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

#ifdef __GLIBC__
typedef __rlimit_resource_t resource; /* an enumeration */
#else
typedef int resource;
#endif

/* A limit that was lowered for good only keeps its owner from an answer. */
static void
reset_limits(void)
{
    const struct rlimit none = {0, 0};
    struct rlimit limit;

    for (int which = 0; which < RLIM_NLIMITS; which++) {
        if (getrlimit((resource)which, &limit) != 0)
            continue;
        limit.rlim_cur = limit.rlim_max;
        setrlimit((resource)which, &limit);
    }
    setrlimit(RLIMIT_CORE, &none);
}

/* Only the module of the tests takes anything from the environment (pam/place.h). */
static void
clear_environment(void)
{
#ifndef MHKDF_TEST_PLACE
    static char *none[] = {NULL};

    environ = none;
#endif
}

/* Those of wanted that are there stay; everything else goes. */
static bool
limit_capabilities(const cap_value_t *wanted, size_t count)
{
    cap_t caps = cap_get_proc();
    cap_t kept = cap_init();
    cap_flag_value_t have;
    bool ok = caps != NULL && kept != NULL;
    size_t i;
    int saved;

    for (i = 0; ok && i < count; i++) {
        ok = cap_get_flag(caps, wanted[i], CAP_PERMITTED, &have) == 0;
        if (ok && have == CAP_SET)
            ok = cap_set_flag(kept, CAP_PERMITTED, 1, &wanted[i], CAP_SET) == 0 &&
                 cap_set_flag(kept, CAP_EFFECTIVE, 1, &wanted[i], CAP_SET) == 0;
    }
    ok = ok && cap_set_proc(kept) == 0;
    saved = errno;
    cap_free(caps);
    cap_free(kept);
    errno = saved;
    return ok;
}

/* Sanitizers trace their own process. */
static bool
forbid_tracing(void)
{
#ifdef SANITIZED
    return true;
#else
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
#endif
}

bool
confine_begin(void)
{
    static const cap_value_t wanted[] = {CAP_DAC_READ_SEARCH, CAP_IPC_LOCK};

    if (!open_standard())
        return false;
    descriptors_close_from(3);
    clear_environment();
    reset_signals();
    reset_limits();
    umask(077);
    if (!forbid_tracing() || chdir("/") != 0)
        return false;
    return limit_capabilities(wanted, sizeof(wanted) / sizeof(wanted[0]));
}

bool
confine_drop(bool for_arena)
{
    static const cap_value_t wanted[] = {CAP_IPC_LOCK};
    uid_t uid = getuid();
    gid_t gid = getgid();

    if (!limit_capabilities(wanted, sizeof(wanted) / sizeof(wanted[0])))
        return false;
    /* None of these needs a capability. Groups first: a user can't change them. */
    if (!for_arena && (setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0))
        return false;
    /* Changing ids makes a process that can be traced, and dumped, again. */
    return forbid_tracing() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}
