/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What is left to this process by the memory cgroups that it is in, of version 1 or 2: its own, and
 * those above as far as its mounts show them. For headroom.h.
 */
#ifndef LIBCORE_CGROUP_H
#define LIBCORE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_PATH_SIZE 160

struct cgroup_question {
    const char *root;    /* where /proc and /sys are; "": as they are */
    bool with_high;      /* memory.high of version 2 is a limit */
    uint64_t swap_kib;   /* free swap of the machine that counts; 0: none */
    uint64_t swappiness; /* vm.swappiness */
    uint64_t enough_kib; /* where there is more than this, the answer may be too small */
};

struct cgroup_room {
    uint64_t available_kib; /* of the group that leaves the least; UINT64_MAX: there is no limit */
    uint64_t limit_kib;
    char path[CGROUP_PATH_SIZE]; /* the limit's file: the end of it, printable */
};

/** Errors and odd contents are no limit. Changes errno. */
void cgroup_read(const struct cgroup_question *question, struct cgroup_room *out);

#endif
