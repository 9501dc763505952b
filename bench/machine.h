/* SPDX-License-Identifier: BSD-2-Clause */
/** The machine that was measured on, for the report. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>

struct machine {
    char cpu[128];       /* "" where the system doesn't say */
    char system[256];    /* its kernel: "Linux 6.1.0 x86_64" */
    unsigned cpus;       /* that this process may run on */
    uint64_t memory_kib; /* 0: not known */
    double load[3];      /* averages of 1, 5 and 15 minutes; all 0: not known */
    char huge_pages[64]; /* of /sys/kernel/mm/transparent_hugepage/enabled; "" : not known */
};

/** Never fails; what can't be found out is left empty. */
void machine_look(struct machine *machine);

#endif
