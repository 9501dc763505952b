/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <security/pam_modutil.h>

#include "libcore/mhkdf.h"
#include "pam/chkpwd.h"
#include "pam/limits.h"
#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"
#include "pam/verdict.h"
#include "pam/verify.h"
#include "policy/apart.h"
#include "policy/descriptors.h"

/* What the go-between says where the program itself said nothing. */
#define STARVED 125 /* it wasn't started for want of something, not since it can't be */
#define NOT_STARTED 126
#define KILLED 128 /* and the signal */

#ifdef SYS_setresuid32
#define SETRESUID SYS_setresuid32
#else
#define SETRESUID SYS_setresuid
#endif

/* It fits into the pipe, so this neither waits nor, while we hold the other end, raises SIGPIPE. Of
 * a password that is too long a part is sent that still is. */
static int
send_password(int fd, const char *password)
{
    size_t len = strnlen(password, MHKDF_CRYPT_PASSWORD_MAX + 1);

    if (len <= MHKDF_CRYPT_PASSWORD_MAX)
        len++; /* the NUL */
    if (write(fd, password, len) != (ssize_t)len)
        return EIO;
    return 0;
}

/* Whether a program can't be started as it is, whatever there is of memory. */
static bool
is_for_good(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM ||
           error == ENOEXEC || error == ELOOP;
}

/* Runs the program in a child. Only system calls that a child of a process with threads may make.
 */
static int
run(const char *path, char *const argv[])
{
    static char *const no_environment[] = {NULL};
    volatile int failed = 0;
    int status = 0;
    pid_t pid = vfork();

    if (pid == 0) {
        execve(path, argv, no_environment);
        failed = errno;
        _exit(NOT_STARTED);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return STARVED;
    if (failed != 0)
        return is_for_good(failed) ? NOT_STARTED : STARVED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + (WTERMSIG(status) & 0x7f);
}

struct program {
    const char *path;
    pam_handle_t *pamh; /* not NULL: descriptors are closed as pam_unix does it, by this libpam,
                           which in some versions takes longer than all the rest */
};

/* The go-between's own signals are blocked, and what it changes is its own. That of a set-id
 * program which runs as root is root: that program asks, not its user. (Not setresuid(3), which
 * would look for the threads that the host has.) */
static _Noreturn void
go_between(int password_fd, const struct program *program, char *const argv[])
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    int null;

    if (dup2(password_fd, STDIN_FILENO) != STDIN_FILENO)
        _exit(STARVED);
    null = open("/dev/null", O_RDWR | O_NOCTTY);
    if (null < 0)
        _exit(is_for_good(errno) ? NOT_STARTED : STARVED);
    if (dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(STARVED);
    if (program->pamh != NULL)
        (void)pam_modutil_sanitize_helper_fds(program->pamh, PAM_MODUTIL_IGNORE_FD,
                                              PAM_MODUTIL_IGNORE_FD, PAM_MODUTIL_IGNORE_FD);
    descriptors_close_from(3);
    sigaction(SIGCHLD, &action, NULL);
    if (geteuid() == 0 && getuid() != 0 && syscall(SETRESUID, 0, 0, 0) != 0)
        _exit(NOT_STARTED);
    _exit(run(program->path, argv));
}

/* The words for the program. */
struct words {
    char uid[16];
    char *argv[7];
};

static void
make_words(pam_handle_t *pamh, const char *user, bool null_is_ok, bool by_root, struct words *out)
{
    const char *service = origin_service(pamh);
    const char *const words[] = {"mhkdf_chkpwd",
                                 user,
                                 null_is_ok ? CHKPWD_NULL_IS_OK : CHKPWD_NULL_IS_WRONG,
                                 by_root ? service != NULL ? service : "" : NULL,
                                 out->uid,
                                 origin_is_console(pamh) ? CHKPWD_CONSOLE : CHKPWD_ELSEWHERE,
                                 NULL};

    snprintf(out->uid, sizeof(out->uid), "%" PRIu32, origin_uid(pamh));
    memcpy(out->argv, words, sizeof(words)); /* execve(2) changes none of them */
}

/* Starts a program and waits; *status: its answer, or one of the above. */
static int
ask(const struct program *program, char *const argv[], const char *password, int *status)
{
    sigset_t all, before;
    int ends[2];
    pid_t pid = -1, waited;
    int rc = descriptors_pipe(ends);

    if (rc == 0)
        rc = send_password(ends[1], password);
    if (ends[1] >= 0)
        close(ends[1]);
    ends[1] = -1;
    if (rc == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        pid = apart_fork_unseen();
        if (pid == 0)
            go_between(ends[0], program, argv);
        if (pid < 0)
            rc = errno;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    descriptors_close_pipe(ends);
    if (rc != 0)
        return rc;
    do
        waited = waitpid(pid, status, __WALL);
    while (waited < 0 && errno == EINTR);
    if (waited != pid)
        return ECHILD;
    *status = WIFEXITED(*status) ? WEXITSTATUS(*status) : KILLED + (WTERMSIG(*status) & 0x7f);
    return 0;
}

static void
keep_verdict(pam_handle_t *pamh, const char *user)
{
    if (verdict_keep(pamh, user) != PAM_SUCCESS)
        log_write(pamh, LOG_ERR, "no memory to remember that the hash of %s is below floor_memory",
                  user);
}

/* It gave no answer. A set-id program of root's that can't read shadow itself (SELinux may forbid
 * it) has limits of its user's, by which he could keep mhkdf_chkpwd from one. A program that isn't
 * root's is its user's, and so is the account. */
static int
without_answer(pam_handle_t *pamh)
{
    return geteuid() == 0 && origin_uid(pamh) != 0 ? PAM_SYSTEM_ERR : PAM_AUTHINFO_UNAVAIL;
}

static int
translate(pam_handle_t *pamh, const struct options *options, const char *user, int status)
{
    switch (status) {
    case CHKPWD_RIGHT:
    case CHKPWD_UNKNOWN:
    case CHKPWD_UNAVAILABLE:
    case CHKPWD_BUSY:
    case CHKPWD_DENIED:
        break;
    case CHKPWD_RIGHT_BELOW:
        keep_verdict(pamh, user);
        break;
    case CHKPWD_WRONG:
        log_failure(pamh, user);
        break;
    case CHKPWD_REFUSED:
        log_debug(pamh, options, "mhkdf_chkpwd verifies only its caller's own account");
        break;
    case NOT_STARTED:
        log_write(pamh, LOG_ERR, "shadow can't be read, and %s can't be started", place_chkpwd());
        return PAM_AUTHINFO_UNAVAIL;
    case STARVED:
        log_write(pamh, LOG_ERR,
                  "shadow can't be read, and %s can't be started for want of memory or processes",
                  place_chkpwd());
        return without_answer(pamh);
    default:
        log_write(pamh, LOG_ERR, "%s has failed: %s %d", place_chkpwd(),
                  status > KILLED ? "signal" : "status",
                  status > KILLED ? status - KILLED : status);
        return without_answer(pamh);
    }
    return verify_code((enum chkpwd_answer)status);
}

bool
helper_is_asked_by_root(void)
{
    return geteuid() == 0 || place_real_uid() == 0;
}

int
helper_verify(pam_handle_t *pamh, const struct options *options, const char *user,
              const char *password, bool null_is_ok)
{
    bool by_root = helper_is_asked_by_root();
    const struct program program = {.path = place_chkpwd()};
    struct words words;
    int status = 0;
    int rc;

    if (by_root)
        verify_delay(pamh, options);
    if (geteuid() != 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
        log_write(pamh, LOG_ERR,
                  "shadow can't be read, and mhkdf_chkpwd can't help: this process has "
                  "NoNewPrivileges, with which no set-id program gets its rights");
        return PAM_AUTHINFO_UNAVAIL;
    }
    make_words(pamh, user, null_is_ok, by_root, &words);
    rc = ask(&program, words.argv, password, &status);
    if (rc != 0) {
        errno = rc;
        log_write(pamh, LOG_ERR, "shadow can't be read, and %s can't be asked: %m", place_chkpwd());
        return limits_end_login(pamh, rc) ? PAM_SYSTEM_ERR : PAM_AUTHINFO_UNAVAIL;
    }
    return translate(pamh, options, user, status);
}

void
helper_run_unix(pam_handle_t *pamh, const char *name)
{
    const char *const words[] = {"unix_chkpwd", name, "nullok", NULL};
    const struct program program = {.path = place_unix_chkpwd(), .pamh = pamh};
    char *argv[4];
    int status = 0;

    memcpy(argv, words, sizeof(words)); /* execve(2) changes none of them */
    (void)ask(&program, argv, "", &status);
}
