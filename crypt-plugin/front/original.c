/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "crypt-plugin/front/original.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Both names of one file where /lib is a link to usr/lib, or will be one after an upgrade. Never a
 * name without a folder: that would find this library. */
static const char *const PATHS[] = {ORIGINAL_LIBCRYPT, ORIGINAL_LIBCRYPT_OTHER};

/* Where the functions go, and the versions that they have: by map_symbols, of the library that this
 * one was built for. */
static const struct {
    size_t place;
    const char *name;
    const char *version;
} SYMBOLS[] = {
#define EXPORT(name, number, symbol)
#define ORIGINAL(name, version) {offsetof(struct original, name), #name, version},
#include "crypt-plugin/front/symbols.h"
#undef EXPORT
#undef ORIGINAL
};

static struct original functions;
static atomic_bool is_open, is_opening;
static pthread_t opener; /* of is_opening */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A path that leads to this library itself, by some link, is no original: each call would end in
 * another one. */
static int
is_this_library(void *handle)
{
    Dl_info here, there;
    void *crypt_there = dlsym(handle, "crypt");

    return crypt_there != NULL && dladdr((void *)&functions, &here) != 0 &&
           dladdr(crypt_there, &there) != 0 && here.dli_fbase == there.dli_fbase;
}

/* A later version of the library may have dropped a version of a name, but has the name. */
static void
look_up(void *handle)
{
    size_t i;

    for (i = 0; i < sizeof(SYMBOLS) / sizeof(SYMBOLS[0]); i++) {
        char *place = (char *)&functions + SYMBOLS[i].place;
        void *function = dlvsym(handle, SYMBOLS[i].name, SYMBOLS[i].version);
        if (function == NULL)
            function = dlsym(handle, SYMBOLS[i].name);
        memcpy(place, &function, sizeof(function));
    }
}

/* Why the library of this path, which couldn't be loaded, isn't to be had for now; 0: it isn't
 * there, or no library. What it takes is a few times less than what is asked for here. */
static int
shortage_at(const char *path)
{
    const size_t room = (size_t)1024 * 1024;
    struct stat st;
    void *base;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : 0;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        st.st_size = 0;
    (void)close(fd);
    if (st.st_size <= 0 || (uint64_t)st.st_size > SIZE_MAX / 4)
        return 0;
    base = mmap(NULL, room + 2 * (size_t)st.st_size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return ENOMEM;
    (void)munmap(base, room + 2 * (size_t)st.st_size);
    return 0;
}

static void
open_original(void)
{
    int saved = errno;
    void *handle = NULL;
    size_t i;

    opener = pthread_self();
    atomic_store_explicit(&is_opening, 1, memory_order_release);
    for (i = 0; handle == NULL && i < sizeof(PATHS) / sizeof(PATHS[0]); i++)
        handle = dlopen(PATHS[i], RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL && !is_this_library(handle))
        look_up(handle);
    for (i = 0; handle == NULL && functions.shortage == 0 && i < sizeof(PATHS) / sizeof(PATHS[0]);
         i++)
        functions.shortage = shortage_at(PATHS[i]);
    (void)dlerror(); /* a failure here is none of the program's */
    errno = saved;
    atomic_store_explicit(&is_open, 1, memory_order_release);
}

/* dlopen() runs constructors: of the library behind, and, where its path leads here before this
 * library's own have run, of this one. These don't wait for themselves. */
static int
is_called_by_open(void)
{
    return atomic_load_explicit(&is_opening, memory_order_acquire) &&
           pthread_equal(opener, pthread_self());
}

const struct original *
original_get(void)
{
    if (!atomic_load_explicit(&is_open, memory_order_acquire) && !is_called_by_open())
        (void)pthread_once(&once, open_original);
    return &functions;
}

/* After start a program may be in another root, or may no longer open files. */
__attribute__((constructor)) static void
at_start(void)
{
    (void)original_get();
}
