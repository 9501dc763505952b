/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/xattr.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <sys/xattr.h>

#define ACL "system.posix_acl_access"

/* Names of fd's attributes, each with its NUL; *len bytes, 0 where there are none. */
static int
list_names(int fd, char names[XATTR_SIZE_MAX], size_t *len)
{
    ssize_t n = flistxattr(fd, names, XATTR_SIZE_MAX);

    *len = n > 0 ? (size_t)n : 0;
    return n >= 0 || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
}

static bool
decides_access(const char *name)
{
    return strcmp(name, ACL) == 0 || strncmp(name, "security.", 9) == 0;
}

static bool
describes_contents(const char *name)
{
    return strcmp(name, "security.ima") == 0 || strcmp(name, "security.evm") == 0;
}

static int
copy_one(int from, int to, const char *name, struct xattr_room *room)
{
    ssize_t wanted = fgetxattr(from, name, room->values[0], XATTR_SIZE_MAX);
    ssize_t present;

    if (wanted < 0)
        return errno;
    present = fgetxattr(to, name, room->values[1], XATTR_SIZE_MAX);
    if (present == wanted && memcmp(room->values[0], room->values[1], (size_t)wanted) == 0)
        return 0;
    return fsetxattr(to, name, room->values[0], (size_t)wanted, 0) != 0 ? errno : 0;
}

int
xattr_copy(int from, int to, struct xattr_room *room)
{
    const char *names = room->names;
    bool has_acl = false;
    size_t len, i;
    int rc = list_names(from, room->names, &len);

    for (i = 0; rc == 0 && i < len; i += strlen(names + i) + 1) {
        if (describes_contents(names + i))
            continue;
        rc = copy_one(from, to, names + i, room);
        if (!decides_access(names + i))
            rc = 0;
        has_acl = has_acl || strcmp(names + i, ACL) == 0;
    }
    if (rc == 0 && !has_acl && fremovexattr(to, ACL) != 0 && errno != ENODATA && errno != ENOTSUP &&
        errno != ENOSYS)
        rc = errno;
    return rc;
}
