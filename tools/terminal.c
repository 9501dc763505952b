/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcore/mhkdf.h"

/* SIGTTIN and SIGTTOU keep their default action: in the background, they stop us before the
 * terminal is touched. */
static const int signals[TERMINAL_SIGNALS] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                              SIGALRM, SIGTSTP, SIGCONT};
static volatile sig_atomic_t caught[TERMINAL_SIGNALS];

static void
on_signal(int number)
{
    for (int i = 0; i < TERMINAL_SIGNALS; i++)
        if (signals[i] == number)
            caught[i] = 1;
}

/* The signal to act upon, those that end us first; 0 if none came. */
static int
take_signal(void)
{
    for (int i = 0; i < TERMINAL_SIGNALS; i++) {
        if (caught[i]) {
            caught[i] = 0;
            return signals[i];
        }
    }
    return 0;
}

int
terminal_open(struct terminal *t)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t set;

    memset(t, 0, sizeof(*t));
    t->in = STDIN_FILENO;
    if (!isatty(t->in))
        return ENOTTY;
    t->out = (fcntl(t->in, F_GETFL) & O_ACCMODE) == O_RDWR ? t->in : STDERR_FILENO;
    sigemptyset(&action.sa_mask);
    sigemptyset(&set);
    for (int i = 0; i < TERMINAL_SIGNALS; i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, &t->saved_mask);
    for (int i = 0; i < TERMINAL_SIGNALS; i++) {
        caught[i] = 0;
        sigaction(signals[i], NULL, &t->saved_actions[i]);
        if (t->saved_actions[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    return 0;
}

void
terminal_close(struct terminal *t)
{
    for (int i = 0; i < TERMINAL_SIGNALS; i++)
        sigaction(signals[i], &t->saved_actions[i], NULL);
    sigprocmask(SIG_SETMASK, &t->saved_mask, NULL);
}

void
terminal_say(const struct terminal *t, const char *text)
{
    size_t len = strlen(text);

    while (len > 0) {
        ssize_t n = write(t->out, text, len);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
}

static int
set_modes(int fd, const struct termios *modes)
{
    while (tcsetattr(fd, TCSAFLUSH, modes) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

static int
echo_off(struct terminal *t)
{
    struct termios silent;
    int rc;

    if (!t->echo_off && tcgetattr(t->in, &t->saved) != 0)
        return errno;
    silent = t->saved;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    silent.c_lflag |= ICANON;
    silent.c_iflag |= ICRNL;
    rc = set_modes(t->in, &silent);
    t->echo_off = rc == 0;
    return rc;
}

/* In the background the terminal belongs to the shell, which has set it up for itself. */
static int
in_background(const struct terminal *t)
{
    pid_t foreground = tcgetpgrp(t->in);

    return foreground >= 0 && foreground != getpgrp();
}

static void
echo_on(struct terminal *t)
{
    if (t->echo_off && !in_background(t)) {
        terminal_say(t, "\n");
        (void)set_modes(t->in, &t->saved);
    }
    t->echo_off = 0;
}

/* Waits for input with signals let in, so that none is lost between a look at them and the wait. */
static int
wait_for_input(struct terminal *t)
{
    struct pollfd ready = {.fd = t->in, .events = POLLIN};

    if (ppoll(&ready, 1, NULL, &t->saved_mask) < 0)
        return errno;
    return 0;
}

static int
read_line(struct terminal *t, char *line, size_t size, size_t *len)
{
    size_t used = 0;
    int rc;

    for (;;) {
        ssize_t n;

        rc = wait_for_input(t);
        if (rc != 0)
            break;
        n = read(t->in, line + used, 1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        rc = n < 0 ? errno : ENODATA;
        if (n < 0 || (n == 0 && used == 0))
            break;
        if (n == 0 || line[used] == '\n') {
            line[used] = '\0';
            *len = used;
            return 0;
        }
        rc = EMSGSIZE;
        if (++used == size)
            break;
    }
    mhkdf_wipe(line, size);
    return rc;
}

/* Whether we were stopped, and have been continued, since the last look at it. */
static int
was_continued(void)
{
    static const struct timespec now;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    return sigtimedwait(&set, NULL, &now) == SIGCONT;
}

/* Stops like a program that had never caught SIGTSTP, and comes back when it is continued. */
static void
stop(void)
{
    struct sigaction action;
    sigset_t set;

    sigaction(SIGTSTP, NULL, &action);
    (void)signal(SIGTSTP, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGTSTP, &action, NULL);
    (void)was_continued();
}

int
terminal_ask(struct terminal *t, const char *prompt, char *line, size_t size, size_t *len)
{
    int rc, number;

    for (;;) {
        do /* from the background, this stops us; whoever continues us may set the terminal up */
            rc = echo_off(t);
        while (rc == 0 && was_continued());
        if (rc == 0) {
            terminal_say(t, prompt);
            rc = read_line(t, line, size, len);
        }
        echo_on(t);
        if (rc != EINTR)
            return rc;
        number = take_signal();
        if (number == SIGTSTP) {
            stop();
        } else if (number != 0 && number != SIGCONT) {
            t->signal = number;
            return EINTR;
        }
    }
}
