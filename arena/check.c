/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/check.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena/log.h"
#include "policy/lockout.h"

static const char *
etc_dir(void)
{
#ifdef MHKDF_TEST_ARENA
    const char *etc = getenv("MHKDF_TEST_ETC");

    return etc != NULL ? etc : "/nonexistent";
#else
    return "/etc";
#endif
}

/* As a listed member, or by the primary group. There is no second thread yet. */
static bool
is_in_group(void *ctx, const char *user, const char *group)
{
    const struct group *entry = getgrnam(group);
    const struct passwd *account;
    gid_t gid;

    (void)ctx;
    if (entry == NULL)
        return false;
    for (char **member = entry->gr_mem; *member != NULL; member++) {
        if (strcmp(*member, user) == 0)
            return true;
    }
    gid = entry->gr_gid;
    account = getpwnam(user);
    return account != NULL && account->pw_gid == gid;
}

static void
name_lockouts(const struct config *config)
{
    const struct lockout_query query = {
        .etc_dir = etc_dir(), .config = config, .reason = LOCKOUT_CEILING, .in_group = is_in_group};
    struct lockout found;

    if (lockout_find(&query, &found) == 0 && found.count > 0)
        log_line(LOG_WARNING,
                 "mhkdf.conf locks out %s: their hashes are above its ceiling_memory or "
                 "ceiling_passes; raise it, or set new passwords",
                 found.names);
}

void
check_lockouts(const struct config *config)
{
    pid_t pid = fork();

    if (pid == 0) {
        name_lockouts(config);
        _exit(0);
    }
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}
