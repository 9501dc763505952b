/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/loaded.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct library {
    uintptr_t function; /* looked for */
    char path[4096];
    uintptr_t base;
    const ElfW(Phdr) * headers; /* in the library's memory; NULL: not found */
    size_t header_count;
};

static bool
contains(const struct dl_phdr_info *info, uintptr_t address)
{
    unsigned i;

    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD &&
            address - info->dlpi_addr - header->p_vaddr < header->p_memsz)
            return true;
    }
    return false;
}

/* The program itself has no name here, and a path that isn't absolute may mean anything by now. */
static int
look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct library *library = data;

    (void)size;
    if (!contains(info, library->function))
        return 0;
    if (info->dlpi_name == NULL || info->dlpi_name[0] != '/' ||
        strlen(info->dlpi_name) >= sizeof(library->path))
        return 1;
    memcpy(library->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
    library->base = info->dlpi_addr;
    library->headers = info->dlpi_phdr;
    library->header_count = info->dlpi_phnum;
    return 1;
}

static bool
holds(int fd, uint64_t offset, const unsigned char *memory, size_t len)
{
    unsigned char piece[4096];

    while (len > 0) {
        ssize_t n = pread(fd, piece, len < sizeof(piece) ? len : sizeof(piece), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || memcmp(piece, memory, (size_t)n) != 0)
            return false;
        offset += (uint64_t)n;
        memory += n;
        len -= (size_t)n;
    }
    return true;
}

/* Writable segments have been relocated and changed; and what isn't readable isn't compared. */
static bool
is_same(int fd, const struct library *library)
{
    size_t i, compared = 0;

    for (i = 0; i < library->header_count; i++) {
        const ElfW(Phdr) *header = &library->headers[i];
        const unsigned char *memory = (const unsigned char *)(library->base + header->p_vaddr);
        if (header->p_type != PT_LOAD || (header->p_flags & (PF_R | PF_W)) != PF_R)
            continue;
        if (!holds(fd, header->p_offset, memory, header->p_filesz))
            return false;
        compared++;
    }
    return compared > 0;
}

bool
loaded_is_current(void (*function)(void))
{
    struct library library = {.function = (uintptr_t)function};
    struct stat st;
    bool same = false;
    int fd;

    dl_iterate_phdr(look, &library);
    if (library.headers == NULL)
        return false;
    fd = open(library.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        same = is_same(fd, &library);
    close(fd);
    return same;
}
