/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcore/mhkdf.h"

#define FIRST_SIZE 8192

/* Not realloc(), which leaves copies of hashes behind. */
static int
grow(struct file *file, size_t *size, size_t max)
{
    size_t wanted = *size == 0 ? FIRST_SIZE : *size * 2;
    char *data;

    if (wanted > max + 2 || wanted < *size)
        wanted = max + 2; /* one byte to see that there is more, and the NUL */
    if (wanted <= *size)
        return EFBIG;
    data = malloc(wanted);
    if (data == NULL)
        return ENOMEM;
    if (file->len > 0)
        memcpy(data, file->data, file->len);
    if (file->data != NULL) {
        mhkdf_wipe(file->data, file->len);
        free(file->data);
    }
    file->data = data;
    *size = wanted;
    return 0;
}

int
file_read(int fd, size_t max, struct file *out)
{
    struct file file = {NULL, 0};
    size_t size = 0;
    ssize_t got;
    int rc;

    out->data = NULL;
    out->len = 0;
    for (;;) {
        if (file.len + 1 >= size) {
            rc = grow(&file, &size, max);
            if (rc != 0)
                goto out;
        }
        got = read(fd, file.data + file.len, size - 1 - file.len);
        if (got == 0)
            break;
        if (got > 0)
            file.len += (size_t)got;
        else if (errno != EINTR) {
            rc = errno;
            goto out;
        }
    }
    rc = EFBIG;
    if (file.len > max)
        goto out;
    file.data[file.len] = '\0';
    *out = file;
    return 0;
out:
    file_free(&file);
    return rc;
}

int
file_read_into(int fd, char *data, size_t size, size_t *len)
{
    ssize_t got;

    *len = 0;
    for (;;) {
        if (*len + 1 > size)
            return ENOBUFS;
        got = read(fd, data + *len, size - *len);
        if (got == 0)
            break;
        if (got > 0)
            *len += (size_t)got;
        else if (errno != EINTR)
            return errno;
    }
    data[*len] = '\0';
    return 0;
}

void
file_free(struct file *file)
{
    if (file->data != NULL) {
        mhkdf_wipe(file->data, file->len);
        free(file->data);
    }
    file->data = NULL;
    file->len = 0;
}
