/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than some C libraries. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB (21U << 26)
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1U
#endif

#define THREADS_MAX 64
#define WORKING_MAX 16 /* of them, as a rule */
#define SMALL_PAGE 4096
#define COLLAPSE_TRIES 5

const char *
slot_pages_name(enum arena_pages pages)
{
    return pages == ARENA_HUGETLB ? "hugetlb" : pages == ARENA_THP ? "thp" : "plain";
}

unsigned
slot_threads(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online < 1 ? 1 : online > WORKING_MAX ? WORKING_MAX : (unsigned)online;
}

/* ---- in parallel --------------------------------------------------------------------- */

/* One thread's part of a slot. */
struct part {
    int (*work)(uint8_t *base, size_t size);
    uint8_t *base;
    size_t size;
    int rc;
    pthread_t thread;
};

/* A page that isn't to be had (a huge one that a client took out) shows as SIGBUS. */
static _Thread_local sigjmp_buf *bus_error;

static void
on_bus_error(int signal, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    if (bus_error != NULL)
        siglongjmp(*bus_error, 1);
    (void)signal;
    _exit(1);
}

int
slot_init(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

    (void)sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, NULL) == 0 ? 0 : errno;
}

static void *
run_part(void *arg)
{
    struct part *part = arg;
    sigjmp_buf here;

    if (sigsetjmp(here, 1) == 0) {
        bus_error = &here;
        part->rc = part->work(part->base, part->size);
    } else {
        part->rc = ENOMEM;
    }
    bus_error = NULL;
    return NULL;
}

/* Runs work on all of a slot, each thread on a part of whole huge pages. */
static int
in_parallel(const struct slot *slot, unsigned threads, int (*work)(uint8_t *base, size_t size))
{
    struct part parts[THREADS_MAX];
    uint64_t pages = slot->size / ARENA_HUGE_PAGE, from = 0;
    unsigned count = threads < THREADS_MAX ? threads : THREADS_MAX, started;
    int rc = 0;

    if (count > pages)
        count = (unsigned)pages;
    for (unsigned i = 0; i < count; i++) {
        uint64_t to = pages * (i + 1) / count;
        parts[i].work = work;
        parts[i].base = slot->base + from * ARENA_HUGE_PAGE;
        parts[i].size = (size_t)((to - from) * ARENA_HUGE_PAGE);
        from = to;
    }
    for (started = 1; started < count; started++)
        if (pthread_create(&parts[started].thread, NULL, run_part, &parts[started]) != 0)
            break;
    run_part(&parts[0]);
    for (unsigned i = started; i < count; i++)
        run_part(&parts[i]);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(parts[i].thread, NULL);
    for (unsigned i = 0; i < count; i++)
        if (rc == 0)
            rc = parts[i].rc;
    return rc;
}

static int
populate(uint8_t *base, size_t size)
{
    volatile uint8_t *page = base;

    for (;;) {
        if (madvise(base, size, MADV_POPULATE_WRITE) == 0)
            return 0;
        if (errno != EINTR && errno != EAGAIN)
            break;
    }
    if (errno != EINVAL)
        return ENOMEM;
    for (size_t i = 0; i < size; i += SMALL_PAGE) /* Linux before 5.14 */
        page[i] = 0;
    return 0;
}

/* One small page of each huge one has to be there for MADV_COLLAPSE; it fills in the others. */
static int
collapse(uint8_t *base, size_t size)
{
    volatile uint8_t *page = base;

    for (size_t i = 0; i < size; i += ARENA_HUGE_PAGE) {
        int tries = COLLAPSE_TRIES; /* somebody may look at a page just now */

        page[i] = 0;
        while (madvise(base + i, ARENA_HUGE_PAGE, MADV_COLLAPSE) != 0)
            if ((errno != EAGAIN && errno != EBUSY) || --tries == 0)
                return errno;
    }
    return 0;
}

static int
zero(uint8_t *base, size_t size)
{
    int rc = populate(base, size);

    if (rc == 0)
        memset(base, 0, size);
    return rc;
}

/* ---- making -------------------------------------------------------------------------- */

static int
open_memory(enum arena_pages pages)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd;

    if (pages == ARENA_HUGETLB)
        flags |= MFD_HUGETLB | MFD_HUGE_2MB;
    fd = memfd_create("mhkdf-arena", flags | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) /* Linux before 6.3 */
        fd = memfd_create("mhkdf-arena", flags);
    return fd;
}

/* At an address that is a multiple of a huge page's, or no huge page can be mapped there. */
static int
map(struct slot *slot)
{
    uintptr_t start;
    void *base;

    if (slot->size > SIZE_MAX / 2)
        return ENOMEM;
    slot->reserved_size = (size_t)(slot->size + ARENA_HUGE_PAGE);
    slot->reserved = mmap(NULL, slot->reserved_size, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slot->reserved == MAP_FAILED) {
        slot->reserved = NULL;
        return errno;
    }
    start = ((uintptr_t)slot->reserved + ARENA_HUGE_PAGE - 1) & ~(uintptr_t)(ARENA_HUGE_PAGE - 1);
    base = mmap((void *)start, (size_t)slot->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                slot->fd, 0);
    if (base == MAP_FAILED)
        return errno;
    slot->base = base;
    return 0;
}

static void
protect(struct slot *slot, bool lock)
{
    (void)madvise(slot->base, (size_t)slot->size, MADV_DONTDUMP);
    (void)madvise(slot->base, (size_t)slot->size, MADV_DONTFORK);
#ifdef SYS_mlock2
    /* Before there are pages, or one thread would fault all of them in. */
    if (lock)
        slot->locked = syscall(SYS_mlock2, slot->base, (size_t)slot->size, MLOCK_ONFAULT) == 0;
#else
    (void)lock;
#endif
}

static int
make_of(struct slot *slot, const struct slot_wish *wish, enum arena_pages pages)
{
    int rc;

    slot->pages = pages;
    slot->size = wish->size;
    slot->fd = open_memory(pages);
    if (slot->fd < 0)
        return errno;
    if (ftruncate(slot->fd, (off_t)slot->size) != 0)
        return errno;
    rc = map(slot);
    if (rc != 0)
        return rc;
    protect(slot, wish->lock);
    if (pages == ARENA_THP) {
        (void)madvise(slot->base, (size_t)slot->size, MADV_HUGEPAGE);
        rc = in_parallel(slot, wish->threads, collapse);
        if (rc != 0)
            return rc;
    }
    rc = in_parallel(slot, wish->threads, populate);
    if (rc != 0)
        return rc;
    /* With F_SEAL_SEAL, or a client could add a seal of its own. */
    if (fcntl(slot->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return errno;
    return 0;
}

int
slot_make(struct slot *slot, const struct slot_wish *wish)
{
    int least = wish->only_hugetlb ? ARENA_HUGETLB : ARENA_PLAIN;
    int rc = EINVAL;

    for (int pages = (int)wish->pages; pages >= least; pages--) {
        rc = make_of(slot, wish, (enum arena_pages)pages);
        if (rc == 0)
            return 0;
        slot_free(slot);
    }
    return rc;
}

int
slot_scrub(struct slot *slot, unsigned threads)
{
    struct stat st;

    /* Nobody can change its size; but pages can be taken out, and huge ones don't come back. */
    if (fstat(slot->fd, &st) != 0 || st.st_size != (off_t)slot->size ||
        (slot->pages != ARENA_HUGETLB && (uint64_t)st.st_blocks * 512 < slot->size))
        return EIO;
    return in_parallel(slot, threads, zero);
}

void
slot_unmap(struct slot *slot)
{
    if (slot->reserved != NULL)
        (void)munmap(slot->reserved, slot->reserved_size);
    slot->reserved = NULL;
    slot->reserved_size = 0;
    slot->base = NULL;
    slot->locked = false;
}

/* The seals leave nothing else: a smaller file is what a client must not meet, and against writing
 * none can be added while anybody has it mapped. */
void
slot_free(struct slot *slot)
{
    slot_unmap(slot);
    if (slot->fd >= 0) {
        (void)fallocate(slot->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)slot->size);
        (void)close(slot->fd);
    }
    memset(slot, 0, sizeof(*slot));
    slot->fd = -1;
}
