/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/label.h"
#include "policy/xattr.h"

#define FILE_MAX ((size_t)256 * 1024 * 1024)
#define TEMP_NAME_SIZE 257

static int
open_both(struct replace *replace, char *path)
{
    char *slash = strrchr(path, '/');
    struct stat st;

    if (slash == NULL || strlen(slash + 1) >= sizeof(replace->name))
        return ENAMETOOLONG;
    memcpy(replace->name, slash + 1, strlen(slash + 1) + 1);
    slash[slash == path ? 1 : 0] = '\0';
    replace->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (replace->dir_fd < 0)
        return errno;
    replace->fd = openat(replace->dir_fd, replace->name,
                         O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    if (replace->fd < 0 || fstat(replace->fd, &st) != 0)
        return errno;
    return S_ISREG(st.st_mode) ? 0 : EINVAL;
}

int
replace_begin(const char *path, struct replace *replace)
{
    char *real;
    int rc;

    memset(replace, 0, sizeof(*replace));
    replace->dir_fd = -1;
    replace->fd = -1;
    real = realpath(path, NULL);
    if (real == NULL)
        return errno;
    rc = open_both(replace, real);
    free(real);
    if (rc == 0)
        rc = file_read(replace->fd, FILE_MAX, &replace->contents);
    return rc;
}

static int
create(const struct replace *replace, const char *temp, int *fd)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
    struct label label;
    int rc = 0;

    label_begin(replace->fd, &label);
    *fd = openat(replace->dir_fd, temp, flags, 0600);
    if (*fd < 0 && errno == EEXIST && unlinkat(replace->dir_fd, temp, 0) == 0)
        *fd = openat(replace->dir_fd, temp, flags, 0600);
    if (*fd < 0)
        rc = errno;
    label_end(&label);
    return rc;
}

static int
write_piece(int fd, const struct replace_piece *piece)
{
    size_t done = 0;

    while (done < piece->len) {
        ssize_t n = write(fd, piece->data + done, piece->len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            return EIO;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* The label comes before the contents, so that these are never readable under another one; the mode
 * comes last: until then only the owner can open the file. */
static int
copy_mode(int from, int to)
{
    struct stat st;

    return fstat(from, &st) != 0 || fchmod(to, st.st_mode & 07777) != 0 ? errno : 0;
}

static int
copy_owner_and_label(int from, int to)
{
    struct stat st;

    if (fstat(from, &st) != 0 || fchown(to, st.st_uid, st.st_gid) != 0)
        return errno;
    return xattr_copy(from, to);
}

static int
fill(const struct replace *replace, int fd, const struct replace_piece *pieces, size_t count)
{
    size_t i;
    int rc = copy_owner_and_label(replace->fd, fd);

    for (i = 0; rc == 0 && i < count; i++)
        rc = write_piece(fd, &pieces[i]);
    if (rc == 0)
        rc = copy_mode(replace->fd, fd);
    if (rc == 0 && fsync(fd) != 0)
        rc = errno;
    return rc;
}

/* Were the lock broken, another writer could have put a file of his own under our name: EBUSY, and
 * *is_ours is false. It stays true where that isn't known. */
static int
check_still_ours(int dir_fd, const char *temp, int fd, bool *is_ours)
{
    struct stat ours, named;

    if (fstat(fd, &ours) != 0 || fstatat(dir_fd, temp, &named, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    *is_ours = ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    return *is_ours ? 0 : EBUSY;
}

int
replace_commit(const struct replace *replace, const struct replace_piece *pieces, size_t count)
{
    char temp[TEMP_NAME_SIZE];
    bool is_ours = true;
    int fd = -1;
    int rc;

    snprintf(temp, sizeof(temp), "n%s", replace->name);
    rc = create(replace, temp, &fd);
    if (rc != 0)
        return rc;
    rc = fill(replace, fd, pieces, count);
    if (rc == 0)
        rc = check_still_ours(replace->dir_fd, temp, fd, &is_ours);
    if (close(fd) != 0 && rc == 0 && errno != EINTR)
        rc = errno;
    if (rc == 0 && renameat(replace->dir_fd, temp, replace->dir_fd, replace->name) != 0)
        rc = errno;
    if (rc == 0)
        fsync(replace->dir_fd);
    else if (is_ours)
        unlinkat(replace->dir_fd, temp, 0);
    return rc;
}

void
replace_end(struct replace *replace)
{
    file_free(&replace->contents);
    if (replace->fd >= 0)
        close(replace->fd);
    if (replace->dir_fd >= 0)
        close(replace->dir_fd);
    replace->fd = -1;
    replace->dir_fd = -1;
}
