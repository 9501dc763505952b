/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/xattr.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/xattr.h>

#define ACL "system.posix_acl_access"
#define VALUE_MAX 65536 /* the kernel's limit */

/* Names of fd's attributes, each with its NUL; *len bytes. NULL with *len 0: there are none. */
static int
list_names(int fd, char **names, size_t *len)
{
    ssize_t n;

    *names = NULL;
    *len = 0;
    n = flistxattr(fd, NULL, 0);
    if (n < 0 && (errno == ENOTSUP || errno == ENOSYS))
        return 0;
    if (n <= 0)
        return n == 0 ? 0 : errno;
    *names = malloc((size_t)n);
    if (*names == NULL)
        return ENOMEM;
    n = flistxattr(fd, *names, (size_t)n);
    if (n < 0) {
        free(*names);
        *names = NULL;
        return errno;
    }
    *len = (size_t)n;
    return 0;
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

/* values: room for two of VALUE_MAX. */
static int
copy_one(int from, int to, const char *name, char *values)
{
    ssize_t wanted = fgetxattr(from, name, values, VALUE_MAX);
    ssize_t present;

    if (wanted < 0)
        return errno;
    present = fgetxattr(to, name, values + VALUE_MAX, VALUE_MAX);
    if (present == wanted && memcmp(values, values + VALUE_MAX, (size_t)wanted) == 0)
        return 0;
    return fsetxattr(to, name, values, (size_t)wanted, 0) != 0 ? errno : 0;
}

static int
copy_all(int from, int to, const char *names, size_t len, bool *has_acl)
{
    char *values = malloc((size_t)2 * VALUE_MAX);
    size_t i;
    int rc = values == NULL ? ENOMEM : 0;

    for (i = 0; rc == 0 && i < len; i += strlen(names + i) + 1) {
        if (describes_contents(names + i))
            continue;
        rc = copy_one(from, to, names + i, values);
        if (!decides_access(names + i))
            rc = 0;
        *has_acl = *has_acl || strcmp(names + i, ACL) == 0;
    }
    free(values);
    return rc;
}

int
xattr_copy(int from, int to)
{
    bool has_acl = false;
    char *names;
    size_t len;
    int rc = list_names(from, &names, &len);

    if (rc == 0 && len > 0)
        rc = copy_all(from, to, names, len, &has_acl);
    free(names);
    if (rc == 0 && !has_acl && fremovexattr(to, ACL) != 0 && errno != ENODATA && errno != ENOTSUP &&
        errno != ENOSYS)
        rc = errno;
    return rc;
}
