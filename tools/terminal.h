/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Asks on the terminal that standard input is, without echo. Whatever happens in between, the
 * terminal gets its own settings back: after Ctrl-C, Ctrl-\, SIGTERM, SIGHUP or SIGALRM, during a
 * stop with Ctrl-Z, and after errors. Input that wasn't asked for is thrown away rather than left
 * to the shell.
 *
 * One terminal at a time; not thread-safe (signal handlers are the process's).
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <signal.h>
#include <stddef.h>
#include <termios.h>

#define TERMINAL_SIGNALS 7

struct terminal {
    int in;       /* descriptor that is read and whose echo is switched */
    int out;      /* where prompts go */
    int echo_off; /* whether saved is to be put back */
    struct termios saved;
    sigset_t saved_mask;
    struct sigaction saved_actions[TERMINAL_SIGNALS];
    int signal; /* after EINTR: the signal that asked us to end; the caller raises it at last */
};

/** 0; ENOTTY: standard input is no terminal. After 0, terminal_close is due. */
int terminal_open(struct terminal *t);

/**
 * Prints the prompt and reads a line to line, size bytes: at most size - 1 bytes and a NUL in place
 * of the newline. len gets the number without the NUL, which may also be among them.
 *
 * 0; ENODATA: end of input before any byte; EMSGSIZE: the line is longer, the rest was thrown away;
 * EINTR: a signal, see above; or another errno value. On failure line is filled with zeros.
 */
int terminal_ask(struct terminal *t, const char *prompt, char *line, size_t size, size_t *len);

/** Prints a line for whoever is asked. */
void terminal_say(const struct terminal *t, const char *text);

/** Puts signal handlers back. A signal that came meanwhile takes its effect here. */
void terminal_close(struct terminal *t);

#endif
