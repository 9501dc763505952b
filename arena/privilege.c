/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int
privilege_find_user(const char *name, struct privilege_user *user)
{
    const struct passwd *entry;

    errno = 0;
    entry = getpwnam(name);
    if (entry == NULL)
        return errno != 0 ? errno : ENOENT;
    user->uid = entry->pw_uid;
    user->gid = entry->pw_gid;
    return 0;
}

int
privilege_find_group(const char *name, gid_t *gid)
{
    const struct group *entry;

    errno = 0;
    entry = getgrnam(name);
    if (entry == NULL)
        return errno != 0 ? errno : ENOENT;
    *gid = entry->gr_gid;
    return 0;
}

/* Nothing that is started later can have more than what stays. Only root can do this. */
static void
drop_bounding_set(bool lock)
{
    for (cap_value_t cap = 0; cap <= CAP_LAST_CAP; cap++)
        if (cap != CAP_IPC_LOCK || !lock)
            (void)cap_drop_bound(cap);
}

static int
change_user(const struct privilege_user *user)
{
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
        setresgid(user->gid, user->gid, user->gid) != 0 ||
        setresuid(user->uid, user->uid, user->uid) != 0)
        return errno;
    return prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) == 0 ? 0 : errno;
}

int
privilege_drop(const struct privilege_user *user, bool lock)
{
    const cap_value_t kept[] = {CAP_IPC_LOCK};
    cap_flag_value_t have = CAP_CLEAR;
    cap_t caps = cap_get_proc();
    int rc;

    if (caps == NULL)
        return errno;
    if (cap_get_flag(caps, CAP_IPC_LOCK, CAP_PERMITTED, &have) != 0)
        goto failed;
    lock = lock && have == CAP_SET;
    if (geteuid() == 0) {
        drop_bounding_set(lock);
        rc = user == NULL ? 0 : change_user(user);
        if (rc != 0)
            goto out;
    }
    if (cap_clear(caps) != 0)
        goto failed;
    if (lock && (cap_set_flag(caps, CAP_PERMITTED, 1, kept, CAP_SET) != 0 ||
                 cap_set_flag(caps, CAP_EFFECTIVE, 1, kept, CAP_SET) != 0))
        goto failed;
    if (cap_set_proc(caps) != 0)
        goto failed;
    (void)cap_reset_ambient();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        goto failed;
    rc = 0;
    goto out;
failed:
    rc = errno;
out:
    (void)cap_free(caps);
    return rc;
}

void
privilege_raise_descriptors(unsigned wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
