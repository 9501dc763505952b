/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/headroom.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "libcore/cgroup.h"
#include "libcore/procfile.h"

/* What a hash takes besides its memory: page tables, the stacks of threads, and what the process
 * and the kernel (which charges groups in advance) need meanwhile. */
#define RESERVE_KIB 1024
#define RESERVE_PART 64

static uint64_t
add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void
lower(struct headroom *out, uint64_t available_kib, enum headroom_limit limit, uint64_t limit_kib)
{
    if (available_kib >= out->available_kib)
        return;
    out->available_kib = available_kib;
    out->limit = limit;
    out->limit_kib = limit_kib;
}

static void
lower_to_rest(struct headroom *out, rlim_t limit, const struct procfile_field *used,
              enum headroom_limit which)
{
    uint64_t limit_kib = (uint64_t)limit / 1024;

    if (limit != RLIM_INFINITY && used->is_found)
        lower(out, limit_kib > used->value ? limit_kib - used->value : 0, which, limit_kib);
}

/* What the process has already is looked up only where there is a limit. */
static void
read_limits(const char *root, bool is_shared, struct headroom *out)
{
    struct procfile_field used[] = {{"VmSize:", 0, false}, {"VmData:", 0, false}};
    struct rlimit as, data;

    if (getrlimit(RLIMIT_AS, &as) != 0)
        as.rlim_cur = RLIM_INFINITY;
    if (is_shared || getrlimit(RLIMIT_DATA, &data) != 0)
        data.rlim_cur = RLIM_INFINITY;
    if (as.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY)
        return;
    procfile_fields(root, "/proc/self/status", used, 2);
    lower_to_rest(out, as.rlim_cur, &used[0], HEADROOM_AS);
    lower_to_rest(out, data.rlim_cur, &used[1], HEADROOM_DATA);
}

/* swap_kib: what counts of swap. */
static void
read_machine(const char *root, bool with_swap, uint64_t *swap_kib, struct headroom *out)
{
    struct procfile_field fields[] = {{"MemAvailable:", 0, false}, {"SwapFree:", 0, false}};

    procfile_fields(root, "/proc/meminfo", fields, with_swap ? 2 : 1);
    *swap_kib = fields[1].value;
    if (fields[0].is_found)
        lower(out, add(fields[0].value, *swap_kib), HEADROOM_MACHINE,
              add(fields[0].value, *swap_kib));
}

static void
read_cgroups(const char *root, const struct headroom_question *question, uint64_t swap_kib,
             struct headroom *out)
{
    struct procfile_field swappiness = {"", 60, false}; /* the kernel's default */
    struct cgroup_question of_groups = {.root = root,
                                        .with_high = !question->with_swap,
                                        .swap_kib = swap_kib,
                                        .enough_kib = question->enough_kib};
    struct cgroup_room room;

    if (swap_kib > 0)
        procfile_fields(root, "/proc/sys/vm/swappiness", &swappiness, 1);
    of_groups.swappiness = swappiness.value;
    cgroup_read(&of_groups, &room);
    lower(out, room.available_kib, HEADROOM_CGROUP, room.limit_kib);
    if (out->limit == HEADROOM_CGROUP)
        memcpy(out->path, room.path, sizeof(out->path));
}

void
headroom_read(const struct headroom_question *question, struct headroom *out)
{
    const char *root = question->root != NULL ? question->root : "";
    int saved = errno, cancel_state;
    uint64_t swap_kib;

    out->available_kib = out->limit_kib = UINT64_MAX;
    out->limit = HEADROOM_UNLIMITED;
    out->path[0] = '\0';
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    read_limits(root, question->is_shared, out);
    read_machine(root, question->with_swap, &swap_kib, out);
    read_cgroups(root, question, swap_kib, out);
    (void)pthread_setcancelstate(cancel_state, NULL);
    errno = saved;
}

void
headroom_describe(const struct headroom *headroom, char *out, size_t size)
{
    const char *name = "no limit";

    switch (headroom->limit) {
    case HEADROOM_UNLIMITED:
        break;
    case HEADROOM_MACHINE:
        name = "MemAvailable of this machine";
        break;
    case HEADROOM_CGROUP:
        name = headroom->path;
        break;
    case HEADROOM_AS:
        name = "RLIMIT_AS";
        break;
    case HEADROOM_DATA:
        name = "RLIMIT_DATA";
        break;
    }
    if (headroom->limit == HEADROOM_UNLIMITED || headroom->limit == HEADROOM_MACHINE)
        (void)snprintf(out, size, "%s", name);
    else
        (void)snprintf(out, size, "%s = %" PRIu64 "K", name, headroom->limit_kib);
}

int
headroom_check(const struct headroom_need *need, bool *needs_swap,
               struct mhkdf_memory_report *report)
{
    uint64_t size_kib = need->size_kib;
    uint64_t needed_kib = add(add(size_kib, size_kib / RESERVE_PART), RESERVE_KIB);
    struct headroom_question question = {.root = need->root, .enough_kib = needed_kib};
    struct headroom headroom;

    if (needs_swap != NULL)
        *needs_swap = false;
    if (size_kib < HEADROOM_MIN_KIB)
        return 0;
    headroom_read(&question, &headroom);
    if (headroom.available_kib < needed_kib && !need->without_swap) {
        question.with_swap = true;
        headroom_read(&question, &headroom);
        if (needs_swap != NULL)
            *needs_swap = true;
    }
    if (headroom.available_kib >= needed_kib)
        return 0;
    if (report != NULL) {
        report->needed_kib = needed_kib;
        report->available_kib = headroom.available_kib;
        headroom_describe(&headroom, report->limit, sizeof(report->limit));
    }
    return ENOMEM;
}

void
headroom_explain(const struct mhkdf_memory_report *report, char *out, size_t size)
{
    if (report->needed_kib == 0)
        (void)snprintf(out, size, "not enough memory");
    else
        (void)snprintf(
            out, size, "not enough memory: %" PRIu64 "M needed, %" PRIu64 "M available (%s)",
            add(report->needed_kib, 1023) / 1024, report->available_kib / 1024, report->limit);
}
