/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/calm.h"

#include <stddef.h>
#include <time.h>

static int
xfsz_is_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void
calm_begin(struct calm *calm)
{
    sigset_t all;

    sigfillset(&all);
    calm->had_xfsz = xfsz_is_pending();
    pthread_sigmask(SIG_BLOCK, &all, &calm->before);
}

void
calm_end(const struct calm *calm)
{
    const struct timespec now = {0, 0};
    sigset_t xfsz;

    if (!calm->had_xfsz && xfsz_is_pending()) {
        sigemptyset(&xfsz);
        sigaddset(&xfsz, SIGXFSZ);
        sigtimedwait(&xfsz, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &calm->before, NULL);
}
