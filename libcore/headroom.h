/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How much memory this process can still take before somebody is killed for it, or the kernel
 * refuses: what the machine has available, what each memory cgroup that the process is in and can
 * see leaves to it (version 1 or 2), and RLIMIT_AS and RLIMIT_DATA.
 *
 * A file that can't be read, or isn't understood, is no limit. Nothing is allocated, no descriptor
 * stays open, errno is kept, and no function is a cancellation point. About 10 KiB of stack.
 * Thread-safe. The answer holds for the moment: others take memory, too.
 */
#ifndef LIBCORE_HEADROOM_H
#define LIBCORE_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcore/cgroup.h"
#include "libcore/mhkdf.h"

/** Less than this is not worth the question. */
#define HEADROOM_MIN_KIB 1024

enum headroom_limit {
    HEADROOM_UNLIMITED, /* no limit is known */
    HEADROOM_MACHINE,   /* MemAvailable, with free swap if that was asked for */
    HEADROOM_CGROUP,
    HEADROOM_AS,
    HEADROOM_DATA
};

struct headroom_question {
    const char *root;    /* where /proc and /sys are, for tests; NULL: as they are */
    bool with_swap;      /* free swap counts; memory.high doesn't, which only slows a group down */
    bool is_shared;      /* memory that isn't private: RLIMIT_DATA doesn't count */
    uint64_t enough_kib; /* where there is more than this, the answer may be too small */
};

struct headroom {
    uint64_t available_kib; /* UINT64_MAX: no limit is known */
    enum headroom_limit limit;
    uint64_t limit_kib;          /* the limit that leaves the least, */
    char path[CGROUP_PATH_SIZE]; /* and a cgroup's file; printable; "" for the others */
};

void headroom_read(const struct headroom_question *question, struct headroom *out);

/** What leaves the least, in words for a log, cut to size bytes with the NUL. */
void headroom_describe(const struct headroom *headroom, char *out, size_t size);

struct headroom_need {
    const char *root;  /* as above */
    uint64_t size_kib; /* of private memory */
    bool without_swap; /* free swap doesn't count */
};

/**
 * Whether there is room for it, with a reserve for page tables, stacks of threads and what else the
 * process takes meanwhile.
 *
 * 0: *needs_swap (may be NULL) says whether only because of swap, in which case the memory must not
 * be locked. ENOMEM: report's needed_kib, available_kib and limit say why; the rest of it isn't
 * touched, nor anything of it otherwise. report may be NULL.
 */
int headroom_check(const struct headroom_need *need, bool *needs_swap,
                   struct mhkdf_memory_report *report);

#define HEADROOM_TEXT_SIZE (MHKDF_LIMIT_SIZE + 80)

/**
 * Why there was ENOMEM, as "not enough memory: 67M needed, 21M available (...)", cut to size bytes,
 * for which HEADROOM_TEXT_SIZE is enough. Without figures where headroom_check wasn't the reason.
 */
void headroom_explain(const struct mhkdf_memory_report *report, char *out, size_t size);

#endif
