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

#include "policy/linker.h"

struct library {
    uintptr_t function; /* looked for */
    uintptr_t base;
    char soname[256];
    ElfW(Ehdr) machine;
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

static int
look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct library *library = data;

    (void)size;
    if (!contains(info, library->function))
        return 0;
    library->base = info->dlpi_addr;
    library->headers = info->dlpi_phdr;
    library->header_count = info->dlpi_phnum;
    return 1;
}

/* The table of an address in memory: most linkers write the library's base into it, some machines'
 * leave it as it is in the file. */
static uintptr_t
in_memory(const struct library *library, uintptr_t address)
{
    return address < library->base ? library->base + address : address;
}

/* What programs know the library by. The program itself has no such name. */
static bool
find_soname(struct library *library)
{
    const ElfW(Dyn) *dynamic = NULL;
    const char *texts = NULL, *soname;
    ElfW(Xword) offset = 0;
    size_t i;

    for (i = 0; i < library->header_count; i++) {
        if (library->headers[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(library->base + library->headers[i].p_vaddr);
        if (library->headers[i].p_type == PT_LOAD && library->headers[i].p_offset == 0)
            memcpy(&library->machine, (const void *)(library->base + library->headers[i].p_vaddr),
                   sizeof(library->machine));
    }
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_STRTAB)
            texts = (const char *)in_memory(library, dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_SONAME)
            offset = dynamic->d_un.d_val;
    }
    if (texts == NULL || offset == 0)
        return false;
    soname = texts + offset;
    if (strlen(soname) >= sizeof(library->soname))
        return false;
    memcpy(library->soname, soname, strlen(soname) + 1);
    return memcmp(library->machine.e_ident, ELFMAG, SELFMAG) == 0;
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
loaded_is_current_by(void (*function)(void), const char *cache)
{
    struct library library = {.function = (uintptr_t)function};
    char path[LINKER_PATH_SIZE];
    struct stat st;
    bool same = false;
    int fd;

    dl_iterate_phdr(look, &library);
    if (library.headers == NULL || !find_soname(&library) ||
        linker_find(cache, library.soname, &library.machine, path) != 0)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        same = is_same(fd, &library);
    close(fd);
    return same;
}

bool
loaded_is_current(void (*function)(void))
{
    return loaded_is_current_by(function, LINKER_CACHE);
}
