/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/limits.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <syslog.h>

#include "pam/log.h"
#include "pam/origin.h"
#include "pam/place.h"
#include "policy/shortage.h"

#define DESCRIPTORS 1024

#ifdef __GLIBC__
typedef __rlimit_resource_t resource; /* an enumeration */
#else
typedef int resource;
#endif

/* A limit of the process, which all threads that are at work share. */
struct raised {
    resource which;
    rlim_t wanted; /* at least */
    bool is_raised;
    struct rlimit before, during;
};

static struct raised all[] = {
    {.which = RLIMIT_DATA, .wanted = RLIM_INFINITY},
    {.which = RLIMIT_AS, .wanted = RLIM_INFINITY},
    {.which = RLIMIT_FSIZE, .wanted = RLIM_INFINITY},
    {.which = RLIMIT_NOFILE, .wanted = DESCRIPTORS},
};
static unsigned users; /* of what is raised */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool
set(struct raised *one, rlim_t current, rlim_t most)
{
    one->during.rlim_cur = current;
    one->during.rlim_max = most;
    return setrlimit(one->which, &one->during) == 0;
}

static void
raise_one(struct raised *one)
{
    const struct rlimit *before = &one->before;

    one->is_raised = false;
    if (getrlimit(one->which, &one->before) != 0 || before->rlim_cur >= one->wanted)
        return;
    one->is_raised =
        set(one, one->wanted, before->rlim_max > one->wanted ? before->rlim_max : one->wanted) ||
        (before->rlim_cur < before->rlim_max && set(one, before->rlim_max, before->rlim_max));
}

static void
restore_one(const struct raised *one)
{
    struct rlimit now;

    if (one->is_raised && getrlimit(one->which, &now) == 0 &&
        now.rlim_cur == one->during.rlim_cur && now.rlim_max == one->during.rlim_max)
        (void)setrlimit(one->which, &one->before);
}

bool
limits_raise(pam_handle_t *pamh)
{
    int saved = errno;
    size_t i;

    if (origin_uid(pamh) == 0 || !place_may_raise_limits())
        return false;
    pthread_mutex_lock(&mutex);
    for (i = 0; users == 0 && i < sizeof(all) / sizeof(all[0]); i++)
        raise_one(&all[i]);
    users++;
    pthread_mutex_unlock(&mutex);
    errno = saved;
    return true;
}

void
limits_restore(bool raised)
{
    int saved = errno;
    size_t i;

    if (!raised)
        return;
    pthread_mutex_lock(&mutex);
    users--;
    for (i = 0; users == 0 && i < sizeof(all) / sizeof(all[0]); i++)
        restore_one(&all[i]);
    pthread_mutex_unlock(&mutex);
    errno = saved;
}

bool
limits_end_login(pam_handle_t *pamh, int error)
{
    if (!shortage_is(error) || origin_uid(pamh) == 0)
        return false;
    errno = error;
    log_write(pamh, LOG_ERR,
              "this ends here: %m, and no other module may take over, since the user may have set "
              "limits to bring that about");
    return true;
}
