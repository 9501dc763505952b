/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/linker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "policy/file.h"

#define CACHE_MAX (64u * 1024 * 1024) /* bytes; those of large systems have some hundred KiB */

/* The cache as ldconfig(8) of glibc writes it, all numbers in the machine's own order. Offsets of
 * texts count from its header. */
static const char MAGIC[] = "glibc-ld.so.cache1.1";
struct header {
    char magic[sizeof(MAGIC) - 1];
    uint32_t count;
    uint32_t strings_len;
    uint8_t flags, unused[3];
    uint32_t extension_offset, reserved[3];
};
struct entry {
    int32_t flags;
    uint32_t soname, path;
    uint32_t os_version;
    uint64_t hwcap; /* not 0: for processors with these abilities only */
};
_Static_assert(sizeof(struct header) == 48 && sizeof(struct entry) == 24, "padding");

/* Until 2020 it stood behind another, for programs of before 1999. */
static const char OLD_MAGIC[] = "ld.so-1.7.0";
#define OLD_HEADER_SIZE 16
#define OLD_ENTRY_SIZE 12

struct cache {
    const char *start; /* of the header */
    size_t len;        /* from there to the end of the file */
    const char *entries;
    uint32_t count;
};

static int
find_entries(const struct file *file, struct cache *cache)
{
    struct header header;
    uint32_t old_count;
    size_t at = 0;

    if (file->len >= OLD_HEADER_SIZE && memcmp(file->data, OLD_MAGIC, sizeof(OLD_MAGIC) - 1) == 0) {
        memcpy(&old_count, file->data + OLD_HEADER_SIZE - sizeof(old_count), sizeof(old_count));
        if (old_count > (file->len - OLD_HEADER_SIZE) / OLD_ENTRY_SIZE)
            return ENOTSUP;
        at = OLD_HEADER_SIZE + (size_t)old_count * OLD_ENTRY_SIZE;
        at = (at + 7) / 8 * 8;
    }
    if (at > file->len || file->len - at < sizeof(header))
        return ENOTSUP;
    memcpy(&header, file->data + at, sizeof(header));
    cache->start = file->data + at;
    cache->len = file->len - at;
    cache->entries = cache->start + sizeof(header);
    cache->count = header.count;
    if (memcmp(header.magic, MAGIC, sizeof(header.magic)) != 0 ||
        header.count > (cache->len - sizeof(header)) / sizeof(struct entry))
        return ENOTSUP;
    return 0;
}

/* The text at offset, or NULL where there is none. A NUL stands behind the file. */
static const char *
text_at(const struct cache *cache, uint32_t offset)
{
    return offset < cache->len ? cache->start + offset : NULL;
}

/* Whether a file is there and for this machine. */
static bool
fits(const char *path, const ElfW(Ehdr) * machine)
{
    ElfW(Ehdr) found;
    bool same;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return false;
    same = pread(fd, &found, sizeof(found), 0) == (ssize_t)sizeof(found) &&
           memcmp(found.e_ident, machine->e_ident, EI_DATA + 1) == 0 &&
           found.e_machine == machine->e_machine && found.e_flags == machine->e_flags;
    close(fd);
    return same;
}

/* The first entry that fits, as the linker takes it. */
static int
look_up(const struct cache *cache, const char *soname, const ElfW(Ehdr) * machine,
        char path[LINKER_PATH_SIZE])
{
    struct entry entry;
    uint32_t i;
    int rc = ENOENT;

    for (i = 0; i < cache->count; i++) {
        const char *name, *value;
        memcpy(&entry, cache->entries + i * sizeof(entry), sizeof(entry));
        name = text_at(cache, entry.soname);
        value = text_at(cache, entry.path);
        if (name == NULL || value == NULL)
            return ENOTSUP;
        if (strcmp(name, soname) != 0 || strlen(value) >= LINKER_PATH_SIZE || !fits(value, machine))
            continue;
        if (entry.hwcap != 0)
            return ENOTSUP;
        if (rc != 0)
            memcpy(path, value, strlen(value) + 1);
        rc = 0;
    }
    return rc;
}

static int
find_in_cache(const char *name, const char *soname, const ElfW(Ehdr) * machine,
              char path[LINKER_PATH_SIZE])
{
    struct file file = {NULL, 0};
    struct cache cache;
    int rc, fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return ENOTSUP;
    rc = file_read(fd, CACHE_MAX, &file);
    close(fd);
    if (rc == 0)
        rc = find_entries(&file, &cache);
    else if (rc != ENOMEM)
        rc = ENOTSUP;
    if (rc == 0)
        rc = look_up(&cache, soname, machine, path);
    file_free(&file);
    return rc;
}

int
linker_find(const char *cache, const char *soname, const ElfW(Ehdr) * machine,
            char path[LINKER_PATH_SIZE])
{
    int rc = find_in_cache(cache, soname, machine, path);

    if (rc != 0)
        path[0] = '\0';
    return rc;
}
