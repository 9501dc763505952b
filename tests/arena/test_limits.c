/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory is left, by files of the test's own. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/limits.h"

#define MIB ((uint64_t)1024 * 1024)

static char root[64];

static int
set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/mhkdf-limits-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int
tear_down(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

static void
put(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
nothing_is_known(void **state)
{
    struct limits limits;

    (void)state;
    limits_read(root, &limits);
    assert_int_equal(limits.available, UINT64_MAX);
    assert_int_equal(limits_free_hugetlb(root), 0);
}

static void
the_machine_alone(void **state)
{
    struct limits limits;

    (void)state;
    put("/proc/meminfo", "MemTotal: 9000000 kB\nMemFree: 1 kB\nMemAvailable:  204800 kB\n");
    limits_read(root, &limits);
    assert_int_equal(limits.available, 200 * MIB);
    assert_string_equal(limits.what, "what this machine has available (200M)");
}

static void
version_2(void **state)
{
    struct limits limits;

    (void)state;
    put("/proc/meminfo", "MemAvailable:  204800 kB\n");
    put("/proc/self/cgroup", "0::/a.slice/b.service\n");
    put("/sys/fs/cgroup/a.slice/b.service/memory.max", "max\n");
    put("/sys/fs/cgroup/a.slice/b.service/memory.current", "1\n");
    limits_read(root, &limits);
    assert_int_equal(limits.available, 200 * MIB);

    /* The limit may be the one of a group further up, and cache can be dropped. */
    put("/sys/fs/cgroup/a.slice/memory.max", "104857600\n");
    put("/sys/fs/cgroup/a.slice/memory.current", "73400320\n");
    put("/sys/fs/cgroup/a.slice/memory.stat", "anon 1\nfile 2\ninactive_file 20971520\nslab 1\n");
    limits_read(root, &limits);
    assert_int_equal(limits.available, 50 * MIB);
    assert_non_null(strstr(limits.what, "/sys/fs/cgroup/a.slice/memory.max (100M)"));

    put("/sys/fs/cgroup/a.slice/b.service/memory.max", "0\n");
    limits_read(root, &limits);
    assert_int_equal(limits.available, 0);
}

static void
version_1(void **state)
{
    struct limits limits;

    (void)state;
    put("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/y\n0::/z\nodd\n7:\n");
    put("/sys/fs/cgroup/memory/y/memory.limit_in_bytes", "104857600\n");
    put("/sys/fs/cgroup/memory/y/memory.usage_in_bytes", "52428800\n");
    put("/sys/fs/cgroup/memory/y/memory.stat", "cache 1\ntotal_inactive_file 10485760\n");
    limits_read(root, &limits);
    assert_int_equal(limits.available, 60 * MIB);
}

static void
a_very_long_name(void **state)
{
    char text[4096];
    struct limits limits;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "0::/", 4);
    text[sizeof(text) - 1] = '\0';
    put("/proc/self/cgroup", text);
    limits_read(root, &limits);
    assert_int_equal(limits.available, UINT64_MAX);
}

static void
huge_pages(void **state)
{
    (void)state;
    put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "10\n");
    put("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "3\n");
    assert_int_equal(limits_free_hugetlb(root), 14 * MIB);
    put("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "11\n");
    assert_int_equal(limits_free_hugetlb(root), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_machine_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(version_2, set_up, tear_down),
        cmocka_unit_test_setup_teardown(version_1, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_very_long_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(huge_pages, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
