/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/password.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/status.h"
#include "tools/terminal.h"

#define ATTEMPTS 3

struct password *
password_new(void)
{
    struct password *password =
        mmap(NULL, sizeof(*password), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (password == MAP_FAILED)
        return NULL;
    (void)mlock(password, sizeof(*password));
    (void)madvise(password, sizeof(*password), MADV_DONTDUMP);
    return password;
}

void
password_free(struct password *password)
{
    if (password == NULL)
        return;
    mhkdf_wipe(password, sizeof(*password));
    (void)munmap(password, sizeof(*password));
}

/* Byte by byte, so that nothing behind the newline is taken from whoever reads next. */
static int
read_stdin(struct password *password)
{
    for (;;) {
        struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
        ssize_t n = read(STDIN_FILENO, password->text + password->len, 1);

        if (n < 0 && errno == EAGAIN)
            (void)poll(&ready, 1, -1);
        else if (n < 0 && errno != EINTR)
            return errno;
        else if (n == 0 || (n > 0 && password->text[password->len] == '\n'))
            return 0;
        else if (n > 0 && ++password->len > MHKDF_CRYPT_PASSWORD_MAX)
            return EMSGSIZE;
    }
}

static int
ask(struct terminal *t, const char *prompt, struct password *password)
{
    return terminal_ask(t, prompt, password->text, MHKDF_CRYPT_PASSWORD_MAX + 1, &password->len);
}

static int
same(const struct password *a, const struct password *b)
{
    return a->len == b->len && mhkdf_equal(a->text, b->text, a->len);
}

/* ECANCELED: three times two different ones. EKEYREJECTED: an empty one. */
static int
ask_twice(struct terminal *t, struct password *password)
{
    struct password *again = password_new();
    int rc = again == NULL ? ENOMEM : ECANCELED;

    for (int i = 0; i < ATTEMPTS && rc == ECANCELED; i++) {
        rc = ask(t, "Password: ", password);
        if (rc == 0 && password->len == 0)
            rc = EKEYREJECTED;
        if (rc == 0)
            rc = ask(t, "Password again: ", again);
        if (rc == 0 && !same(password, again)) {
            terminal_say(t, i + 1 < ATTEMPTS ? "The two differ. Once more:\n" : "");
            rc = ECANCELED;
        }
    }
    password_free(again);
    return rc;
}

/* ENOTTY: there is no terminal to ask on. */
static int
ask_on_terminal(enum password_use use, struct password *password)
{
    struct terminal t;
    int rc = terminal_open(&t);

    if (rc != 0)
        return rc;
    rc = use == PASSWORD_SET ? ask_twice(&t, password) : ask(&t, "Password: ", password);
    if (rc == EINTR)
        mhkdf_wipe(password, sizeof(*password));
    terminal_close(&t);
    if (rc == EINTR)
        raise(t.signal);
    return rc;
}

static void
explain(const char *command, int rc)
{
    switch (rc) {
    case EMSGSIZE:
        message_error(command, "the password is longer than %d bytes", MHKDF_CRYPT_PASSWORD_MAX);
        break;
    case EILSEQ:
        message_error(command, "the password contains a NUL byte");
        break;
    case ENODATA:
        message_error(command, "no password was entered");
        break;
    case EKEYREJECTED:
        message_error(command, "an empty password isn't taken from a terminal");
        break;
    case ECANCELED:
        message_error(command, "the two passwords differ");
        break;
    default:
        message_error(command, "can't read the password from standard input: %s", strerror(rc));
    }
}

int
password_read(const char *command, enum password_use use, struct password *password)
{
    int rc;

    memset(password, 0, sizeof(*password));
    rc = ask_on_terminal(use, password);
    if (rc == ENOTTY)
        rc = read_stdin(password);
    if (rc == 0 && memchr(password->text, '\0', password->len) != NULL)
        rc = EILSEQ;
    if (rc == 0) {
        password->text[password->len] = '\0'; /* over the newline */
        if (use == PASSWORD_SET && password->len == 0)
            message_error(command, "warning: the password is empty");
        return 0;
    }
    mhkdf_wipe(password, sizeof(*password));
    explain(command, rc);
    return STATUS_TROUBLE;
}
