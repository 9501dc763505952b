/* SPDX-License-Identifier: BSD-2-Clause */
/* Private memory: where it lies, what the kernel has been told about it, and when it is there. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcore/memory.h"
#include "libcore/mhkdf.h"
#include "libcore/source.h"

#define HUGE_KIB 2048
#define MEMORY_KIB (8 * HUGE_KIB)

struct mapping {
    unsigned long rss_kib;
    char flags[256]; /* of two letters each, with blanks around */
};

/* What smaps says of the mapping that starts at base. */
static void
look(const void *base, struct mapping *out)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");
    char line[1024];
    bool at_it = false;

    assert_non_null(smaps);
    memset(out, 0, sizeof(*out));
    while (fgets(line, sizeof(line), smaps) != NULL && out->flags[0] == '\0') {
        char *end;
        unsigned long start = strtoul(line, &end, 16);

        if (*end == '-')
            at_it = start == (uintptr_t)base;
        else if (at_it && strncmp(line, "Rss:", 4) == 0)
            out->rss_kib = strtoul(line + 4, NULL, 10);
        else if (at_it && strncmp(line, "VmFlags:", 8) == 0)
            (void)snprintf(out->flags, sizeof(out->flags), "%.250s", line + 8);
    }
    fclose(smaps);
    assert_true(out->flags[0] != '\0');
}

static void
has_flag(const struct mapping *mapping, const char *flag)
{
    if (strstr(mapping->flags, flag) == NULL)
        fail_msg("no%s in%s", flag, mapping->flags);
}

static void
is_aligned_advised_and_not_there_yet(void **state)
{
    static const uint64_t sizes[] = {HUGE_KIB, HUGE_KIB + 4, 3 * HUGE_KIB - 4, MEMORY_KIB,
                                     MEMORY_KIB + 36};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct memory memory;
        struct mapping mapping;

        assert_int_equal(memory_get(&memory, sizes[i]), 0);
        assert_int_equal(memory.size, sizes[i] * 1024);
        assert_int_equal((uintptr_t)memory.base % (HUGE_KIB * 1024), 0);
        look(memory.base, &mapping);
        has_flag(&mapping, " dd"); /* not dumped */
        has_flag(&mapping, " wf"); /* wiped in children */
        has_flag(&mapping, " hg"); /* huge pages */
        if (memory.locked)
            has_flag(&mapping, " lo");
        assert_int_equal(mapping.rss_kib, 0); /* locking it has brought nothing in */
        memory_release(&memory);
        assert_null(memory.base);
    }
}

static void
populates_parts(void **state)
{
    struct memory memory;
    struct mapping mapping;
    size_t half = (size_t)MEMORY_KIB * 512;

    (void)state;
    assert_int_equal(memory_get(&memory, MEMORY_KIB), 0);
    errno = ENOTTY;
    memory_populate(memory.base, half);
    assert_int_equal(errno, ENOTTY);
    look(memory.base, &mapping);
    if (mapping.rss_kib == 0)
        print_message("# this kernel has no MADV_POPULATE_WRITE\n");
    else
        assert_int_equal(mapping.rss_kib, half / 1024);
    for (size_t i = 0; i < memory.size; i++)
        assert_int_equal(((uint8_t *)memory.base)[i], 0);
    memory_release(&memory);
}

/* Some 4,096 where there are none of 2 MiB. */
static void
takes_few_page_faults(void **state)
{
    struct rusage before, after;
    struct memory memory;
    FILE *enabled = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    char text[64] = "";

    (void)state;
    if (enabled != NULL) {
        (void)!fgets(text, sizeof(text), enabled);
        fclose(enabled);
    }
    assert_int_equal(memory_get(&memory, MEMORY_KIB), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    memory_populate(memory.base, memory.size); /* a write would touch a sanitizer's memory, too */
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    memory_release(&memory);
    print_message("# %ld page faults for %d huge pages\n", after.ru_minflt - before.ru_minflt,
                  MEMORY_KIB / HUGE_KIB);
    if (text[0] == '\0' || strstr(text, "[never]") != NULL)
        print_message("# this kernel doesn't give any\n");
    else
        assert_true(after.ru_minflt - before.ru_minflt < MEMORY_KIB / 4);
}

static void
children_see_zeros(void **state)
{
    struct memory memory;
    int status = -1;
    pid_t child;

    (void)state;
    assert_int_equal(memory_get(&memory, MEMORY_KIB), 0);
    memset(memory.base, 1, memory.size);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const uint8_t *bytes = memory.base;
        int sum = 0;

        for (size_t i = 0; i < memory.size; i += 512)
            sum |= bytes[i];
        _exit(sum);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(((uint8_t *)memory.base)[0], 1);
    memory_release(&memory);
}

/* As somebody without CAP_IPC_LOCK, who has this limit: what a report says. */
static void
report_with_limit(rlim_t limit, struct mhkdf_memory_report *report)
{
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit both = {limit, limit};
        const struct mhkdf_env env = {.report = report};
        struct source source;

        if (setrlimit(RLIMIT_MEMLOCK, &both) != 0 || (geteuid() == 0 && setuid(65534) != 0) ||
            source_get(&source, HUGE_KIB, &env) != 0)
            _exit(1);
        memset(source.base, 1, (size_t)HUGE_KIB * 1024); /* it is there all the same */
        source_release(&source);
        _exit(write(ends[1], report, sizeof(*report)) != (ssize_t)sizeof(*report));
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], report, sizeof(*report)), sizeof(*report));
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void
says_whether_it_is_locked(void **state)
{
    struct mhkdf_memory_report report;
    struct rlimit limit;

    (void)state;
    report_with_limit(0, &report);
    assert_int_equal(report.from, MHKDF_MEMORY_PRIVATE);
    assert_int_equal(report.size_kib, HUGE_KIB);
    assert_int_equal(report.locked, 0);
    assert_int_equal(report.lock_limit_kib, 0);

    report_with_limit(1024 * 1024, &report);
    assert_int_equal(report.locked, 0);
    assert_int_equal(report.lock_limit_kib, 1024);

    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (limit.rlim_max >= 2 * HUGE_KIB * 1024) {
        report_with_limit(2 * HUGE_KIB * 1024, &report);
        assert_int_equal(report.locked, 1);
        assert_int_equal(report.lock_limit_kib, 2 * HUGE_KIB);
    }
}

static void
what_is_too_much_is_an_error(void **state)
{
    static const uint64_t sizes[] = {0, UINT64_MAX, UINT64_MAX / 1024, (uint64_t)1 << 50};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct memory memory;

        errno = ENOTTY;
        assert_int_equal(memory_get(&memory, sizes[i]), ENOMEM);
        assert_int_equal(errno, ENOTTY);
        assert_null(memory.base);
        memory_release(&memory);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_aligned_advised_and_not_there_yet),
        cmocka_unit_test(populates_parts),
        cmocka_unit_test(takes_few_page_faults),
        cmocka_unit_test(children_see_zeros),
        cmocka_unit_test(says_whether_it_is_locked),
        cmocka_unit_test(what_is_too_much_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
