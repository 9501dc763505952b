/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "policy/file.h"
#include "policy/xattr.h"

#define FILE_MAX (256L * 1024 * 1024)
#define GROWTH 65536L /* while the lock is waited for */

/* The kernel's file times go in steps of at most 10 ms. */
#define STEP_NS 5000000L
#define STEPS 3

struct replace_room {
    struct xattr_room xattr;
    char data[]; /* room_size bytes */
};

static int
split_path(struct replace *replace, const char *real)
{
    const char *slash = strrchr(real, '/');
    size_t folder_len, name_len;

    if (slash == NULL)
        return ENAMETOOLONG;
    folder_len = slash == real ? 1 : (size_t)(slash - real);
    name_len = strlen(slash + 1);
    if (folder_len >= sizeof(replace->folder) || name_len >= sizeof(replace->name))
        return ENAMETOOLONG;
    memcpy(replace->folder, real, folder_len);
    replace->folder[folder_len] = '\0';
    memcpy(replace->name, slash + 1, name_len + 1);
    replace->temp[0] = 'n';
    memcpy(replace->temp + 1, slash + 1, name_len + 1);
    return 0;
}

static int
prepare_for(struct replace *replace, const char *real)
{
    int fd = openat(AT_FDCWD, real, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    int rc;

    if (fd < 0 || fstat(fd, &st) != 0)
        rc = errno;
    else
        rc = !S_ISREG(st.st_mode) ? EINVAL : st.st_size > FILE_MAX ? EFBIG : 0;
    if (rc == 0) {
        replace->room_size = (size_t)(st.st_size + GROWTH);
        replace->room = malloc(sizeof(*replace->room) + replace->room_size);
        rc = replace->room == NULL ? ENOMEM : 0;
    }
    if (rc == 0)
        label_begin(fd, &replace->label);
    if (fd >= 0)
        close(fd);
    return rc;
}

int
replace_prepare(const char *path, struct replace *replace)
{
    char *real;
    int rc;

    memset(replace, 0, sizeof(*replace));
    replace->path = path;
    replace->dir_fd = -1;
    replace->fd = -1;
    real = realpath(path, NULL);
    if (real == NULL)
        return errno;
    rc = split_path(replace, real);
    if (rc == 0)
        rc = prepare_for(replace, real);
    free(real);
    return rc;
}

/* Whether a change of the file, from now on, would have another time than its last one. */
static bool
has_settled(const struct stat *st)
{
    struct timespec now = {0, 0};

    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
        return true;
    return now.tv_sec > st->st_ctim.tv_sec ||
           (now.tv_sec == st->st_ctim.tv_sec && now.tv_nsec > st->st_ctim.tv_nsec);
}

static int
look_at(struct replace *replace)
{
    const struct timespec step = {0, STEP_NS};
    int i;

    for (i = 0; i < STEPS; i++) {
        if (fstat(replace->fd, &replace->seen) != 0)
            return errno;
        if (has_settled(&replace->seen))
            break;
        nanosleep(&step, NULL);
    }
    return S_ISREG(replace->seen.st_mode) ? 0 : EINVAL;
}

int
replace_read(struct replace *replace)
{
    int rc;

    replace->dir_fd = open(replace->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (replace->dir_fd < 0)
        return errno;
    replace->fd = openat(replace->dir_fd, replace->name,
                         O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    if (replace->fd < 0)
        return errno;
    rc = look_at(replace);
    replace->data = replace->room->data;
    if (rc == 0)
        rc = file_read_into(replace->fd, replace->room->data, replace->room_size, &replace->len);
    return rc;
}

static int
create(const struct replace *replace, int *fd)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;

    *fd = openat(replace->dir_fd, replace->temp, flags, 0600);
    if (*fd < 0 && errno == EEXIST && unlinkat(replace->dir_fd, replace->temp, 0) == 0)
        *fd = openat(replace->dir_fd, replace->temp, flags, 0600);
    return *fd < 0 ? errno : 0;
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
copy_owner_and_label(const struct replace *replace, int to)
{
    struct stat st;

    if (fstat(replace->fd, &st) != 0 || fchown(to, st.st_uid, st.st_gid) != 0)
        return errno;
    return xattr_copy(replace->fd, to, &replace->room->xattr);
}

static int
fill(const struct replace *replace, int fd, const struct replace_piece *pieces, size_t count)
{
    size_t i;
    int rc = copy_owner_and_label(replace, fd);

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

static bool
is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* An editor that doesn't take the lock must not lose what it wrote. */
static int
check_still_there(const struct replace *replace)
{
    const struct stat *seen = &replace->seen;
    struct stat now;

    if (fstatat(AT_FDCWD, replace->path, &now, 0) != 0)
        return errno == ENOENT ? ETXTBSY : errno;
    return now.st_dev == seen->st_dev && now.st_ino == seen->st_ino &&
                   now.st_size == seen->st_size && is_same_time(&now.st_mtim, &seen->st_mtim) &&
                   is_same_time(&now.st_ctim, &seen->st_ctim)
               ? 0
               : ETXTBSY;
}

int
replace_commit(const struct replace *replace, const struct replace_piece *pieces, size_t count)
{
    bool is_ours = true;
    int fd = -1;
    int rc = create(replace, &fd);

    if (rc != 0)
        return rc;
    rc = fill(replace, fd, pieces, count);
    if (rc == 0)
        rc = check_still_ours(replace->dir_fd, replace->temp, fd, &is_ours);
    if (close(fd) != 0 && rc == 0 && errno != EINTR)
        rc = errno;
    if (rc == 0)
        rc = check_still_there(replace);
    if (rc == 0 && renameat(replace->dir_fd, replace->temp, replace->dir_fd, replace->name) != 0)
        rc = errno;
    if (rc == 0)
        fsync(replace->dir_fd);
    else if (is_ours)
        unlinkat(replace->dir_fd, replace->temp, 0);
    return rc;
}

void
replace_forget(struct replace *replace)
{
    if (replace->room != NULL && replace->len > 0)
        mhkdf_wipe(replace->room->data, replace->len);
    replace->data = NULL;
    replace->len = 0;
    if (replace->fd >= 0)
        close(replace->fd);
    if (replace->dir_fd >= 0)
        close(replace->dir_fd);
    replace->fd = -1;
    replace->dir_fd = -1;
}

void
replace_end(struct replace *replace)
{
    replace_forget(replace);
    label_end(&replace->label);
    free(replace->room);
    replace->room = NULL;
}
