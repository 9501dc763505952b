/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory may still be taken, by files of the test's own: of the machine, of cgroups of
 * both versions, and such as no kernel writes. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libcore/headroom.h"

#define MIB 1024 /* KiB */

static char root[64];

static int
set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/mhkdf-headroom-XXXXXX");
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

/* The path of a file, whose folders are there. */
static const char *
path_of(const char *name)
{
    static char path[4096];

    (void)snprintf(path, sizeof(path), "%s%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    return path;
}

static void
put(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A file of the group "folder" with a number of MiB. */
static void
put_mib(const char *folder, const char *name, uint64_t mib)
{
    char path[1024], text[64];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)snprintf(text, sizeof(text), "%ju\n", (uintmax_t)mib * MIB * 1024);
    put(path, text);
}

static struct headroom
look(bool with_swap)
{
    const struct headroom_question question = {
        .root = root, .with_swap = with_swap, .enough_kib = UINT64_MAX};
    struct headroom headroom;

    errno = ENOTTY;
    headroom_read(&question, &headroom);
    assert_int_equal(errno, ENOTTY);
    return headroom;
}

/* What there is, in KiB, without and with swap. */
static void
expect(uint64_t without, uint64_t with)
{
    assert_int_equal(look(false).available_kib, without);
    assert_int_equal(look(true).available_kib, with);
}

static void
expect_path(const char *path)
{
    struct headroom headroom = look(false);
    char expected[512];

    assert_int_equal(headroom.limit, HEADROOM_CGROUP);
    (void)snprintf(expected, sizeof(expected), "%s%s", root, path);
    assert_string_equal(headroom.path, expected);
}

/* ---- the machine --------------------------------------------------------------------- */

static void
nothing_is_known(void **state)
{
    (void)state;
    expect(UINT64_MAX, UINT64_MAX);
    assert_int_equal(look(false).limit, HEADROOM_UNLIMITED);
}

static void
the_machine_alone(void **state)
{
    char text[64];
    struct headroom headroom;

    (void)state;
    put("/proc/meminfo", "MemTotal:  9000000 kB\nMemFree: 1 kB\nMemAvailable:  204800 kB\n"
                         "SwapTotal: 5000 kB\nSwapFree:\t 3000 kB\nZswap: 1 kB\n");
    expect(204800, 207800);
    headroom = look(false);
    assert_int_equal(headroom.limit, HEADROOM_MACHINE);
    headroom_describe(&headroom, text, sizeof(text));
    assert_string_equal(text, "MemAvailable of this machine");

    put("/proc/meminfo", "MemAvailable: 204800 kB\n");
    expect(204800, 204800);
    put("/proc/meminfo", "MemAvailable: 0 kB\n");
    expect(0, 0);
}

/* ---- cgroups, version 2 -------------------------------------------------------------- */

#define CGROUP2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define OTHERS "22 27 0:21 / /proc rw - proc proc rw\n23 27 0:22 / /sys rw - sysfs sysfs rw\n"

static void
version_2(void **state)
{
    static const char a[] = "/sys/fs/cgroup/a.slice", b[] = "/sys/fs/cgroup/a.slice/b.service";

    (void)state;
    put("/proc/self/mountinfo", OTHERS CGROUP2);
    put("/proc/self/cgroup", "0::/a.slice/b.service\n");
    put_mib(b, "memory.current", 1);
    put("/sys/fs/cgroup/a.slice/b.service/memory.max", "max\n");
    expect(UINT64_MAX, UINT64_MAX);

    /* The limit may be the one of a group further up. */
    put_mib(a, "memory.max", 100);
    put_mib(a, "memory.current", 70);
    expect(30 * MIB, 30 * MIB);
    expect_path("/sys/fs/cgroup/a.slice/memory.max");
    assert_int_equal(look(false).limit_kib, 100 * MIB);

    /* Page cache is dropped, but for what has yet to be written. */
    put("/sys/fs/cgroup/a.slice/memory.stat",
        "anon 1\nfile 41943040\nfile_dirty 3145728\nfile_writeback 1048576\ninactive_anon 5048576\n"
        "inactive_file 15728640\nactive_file 5242880\nunevictable 7\n");
    expect(46 * MIB, 46 * MIB);

    /* The least of all levels counts, and the machine. */
    put_mib(b, "memory.max", 20);
    expect(19 * MIB, 19 * MIB);
    expect_path("/sys/fs/cgroup/a.slice/b.service/memory.max");
    put("/proc/meminfo", "MemAvailable: 5000 kB\n");
    expect(5000, 5000);
    assert_int_equal(look(false).limit, HEADROOM_MACHINE);

    put("/sys/fs/cgroup/a.slice/b.service/memory.max", "0\n");
    expect(0, 0);
}

/* No more is taken for droppable than is in use. */
static void
cache_is_part_of_usage(void **state)
{
    static const char a[] = "/sys/fs/cgroup/a";

    (void)state;
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", "0::/a\n");
    put_mib(a, "memory.max", 64);
    put_mib(a, "memory.current", 10);
    put("/sys/fs/cgroup/a/memory.stat", "inactive_file 18446744073709551615\nactive_file 9\n");
    expect(64 * MIB, 64 * MIB);
    put("/sys/fs/cgroup/a/memory.stat", "inactive_file 5\nfile_dirty 18446744073709551615\n");
    expect(54 * MIB, 54 * MIB);
}

/* memory.high kills nobody, but slows down: a login waits, an upgrade is left out. */
static void
high_counts_where_swap_does_not(void **state)
{
    static const char a[] = "/sys/fs/cgroup/a";

    (void)state;
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", "0::/a\n");
    put_mib(a, "memory.max", 64);
    put_mib(a, "memory.high", 32);
    put_mib(a, "memory.current", 10);
    expect(22 * MIB, 54 * MIB);
    expect_path("/sys/fs/cgroup/a/memory.high");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    expect(22 * MIB, UINT64_MAX);
    put("/sys/fs/cgroup/a/memory.high", "max\n");
    expect(UINT64_MAX, UINT64_MAX);
}

static void
swap_of_version_2(void **state)
{
    static const char a[] = "/sys/fs/cgroup/a", b[] = "/sys/fs/cgroup/a/b";

    (void)state;
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/meminfo", "MemAvailable: 999999 kB\nSwapFree: 51200 kB\n");
    put_mib(b, "memory.max", 64);
    put_mib(b, "memory.current", 60);
    expect(4 * MIB, 54 * MIB);
    put_mib(b, "memory.swap.current", 10);
    put("/sys/fs/cgroup/a/b/memory.swap.max", "max\n");
    expect(4 * MIB, 54 * MIB);
    put_mib(b, "memory.swap.max", 30);
    expect(4 * MIB, 24 * MIB);
    put_mib(a, "memory.max", 40);
    put_mib(a, "memory.current", 39);
    put_mib(a, "memory.swap.max", 10);
    put_mib(a, "memory.swap.current", 10);
    expect(1 * MIB, 1 * MIB);
    put_mib(a, "memory.swap.max", 15);
    put("/proc/sys/vm/swappiness", "60\n");
    expect(1 * MIB, 6 * MIB);
    put("/proc/sys/vm/swappiness", "0\n");
    expect(1 * MIB, 1 * MIB);
}

/* ---- cgroups, version 1 -------------------------------------------------------------- */

#define CGROUP1                                                                   \
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"                  \
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" \
    "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"           \
    "35 31 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define UNLIMITED "9223372036854771712\n"

static void
version_1(void **state)
{
    static const char y[] = "/sys/fs/cgroup/memory/x/y", x[] = "/sys/fs/cgroup/memory/x";

    (void)state;
    put("/proc/self/mountinfo", OTHERS CGROUP1);
    put("/proc/self/cgroup", "5:cpu,cpuacct:/z\n4:memory:/x/y\n1:name=systemd:/\n0::/w\n");
    put_mib(y, "memory.limit_in_bytes", 100);
    put_mib(y, "memory.usage_in_bytes", 50);
    put("/sys/fs/cgroup/memory/x/y/memory.stat",
        "inactive_file 99048576\nactive_file 99048576\ntotal_cache 1\ntotal_dirty 4194304\n"
        "total_writeback 0\ntotal_inactive_file 10485760\ntotal_active_file 5242880\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED);
    put_mib("/sys/fs/cgroup/memory", "memory.usage_in_bytes", 5000);
    /* of version 2, which doesn't have the memory here */
    put_mib("/sys/fs/cgroup/unified/w", "memory.max", 1);
    expect(61 * MIB, 61 * MIB);
    expect_path("/sys/fs/cgroup/memory/x/y/memory.limit_in_bytes");

    put_mib(x, "memory.limit_in_bytes", 60);
    put_mib(x, "memory.usage_in_bytes", 55);
    expect(5 * MIB, 5 * MIB);
    put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", UNLIMITED);
    expect(61 * MIB, 61 * MIB);
}

/* Its limits are of memory and swap together. */
static void
swap_of_version_1(void **state)
{
    static const char y[] = "/sys/fs/cgroup/memory/y";

    (void)state;
    put("/proc/self/mountinfo", CGROUP1);
    put("/proc/self/cgroup", "4:memory:/y\n");
    put("/proc/meminfo", "MemAvailable: 999999 kB\nSwapFree: 51200 kB\n");
    put_mib(y, "memory.limit_in_bytes", 64);
    put_mib(y, "memory.usage_in_bytes", 60);
    put("/sys/fs/cgroup/memory/y/memory.stat", "total_inactive_file 5242880\n");
    expect(9 * MIB, 59 * MIB);
    put_mib(y, "memory.memsw.limit_in_bytes", 80);
    put_mib(y, "memory.memsw.usage_in_bytes", 66);
    expect(9 * MIB, 19 * MIB);
    /* Some of the group is in swap already: its limit of both holds without swap, too. */
    put_mib(y, "memory.memsw.usage_in_bytes", 78);
    expect(7 * MIB, 7 * MIB);
    put_mib(y, "memory.memsw.usage_in_bytes", 66);
    put("/sys/fs/cgroup/memory/y/memory.swappiness", "60\n");
    expect(9 * MIB, 19 * MIB);
    put("/sys/fs/cgroup/memory/y/memory.swappiness", "0\n");
    expect(9 * MIB, 9 * MIB);
}

/* ---- mounts -------------------------------------------------------------------------- */

/* A container whose mounts show its own group alone, by its path outside. */
static void
part_of_the_hierarchy(void **state)
{
    (void)state;
    put("/proc/self/mountinfo",
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put("/proc/self/cgroup", "4:memory:/docker/abc\n");
    put_mib("/sys/fs/cgroup/memory", "memory.limit_in_bytes", 64);
    put_mib("/sys/fs/cgroup/memory", "memory.usage_in_bytes", 4);
    expect(60 * MIB, 60 * MIB);

    put("/proc/self/cgroup", "4:memory:/docker/abc/in/it\n");
    put_mib("/sys/fs/cgroup/memory/in/it", "memory.limit_in_bytes", 32);
    put_mib("/sys/fs/cgroup/memory/in/it", "memory.usage_in_bytes", 2);
    expect(30 * MIB, 30 * MIB);

    /* Another group, whose name starts like it. */
    put_mib("/sys/fs/cgroup/memoryd", "memory.limit_in_bytes", 1);
    put("/proc/self/cgroup", "4:memory:/docker/abcd\n");
    expect(UINT64_MAX, UINT64_MAX);
    put("/proc/self/cgroup", "4:memory:/\n");
    expect(UINT64_MAX, UINT64_MAX);
}

/* In a cgroup namespace the paths start at the namespace's own group. */
static void
namespaces(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", "0::/\n");
    put_mib("/sys/fs/cgroup", "memory.max", 64);
    put_mib("/sys/fs/cgroup", "memory.current", 4);
    expect(60 * MIB, 60 * MIB);
    expect_path("/sys/fs/cgroup/memory.max");

    /* A process that is elsewhere than its namespace; its way there leads out of the mount. */
    put_mib("/sys/fs/elsewhere", "memory.max", 1);
    put("/proc/self/cgroup", "0::/../elsewhere\n");
    expect(UINT64_MAX, UINT64_MAX);
    put("/proc/self/cgroup", "0::/..\n");
    expect(UINT64_MAX, UINT64_MAX);
    put("/proc/self/mountinfo", "30 23 0:26 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/../a\n");
    put_mib("/sys/fs/cgroup/a", "memory.max", 32);
    put_mib("/sys/fs/cgroup/a", "memory.current", 2);
    expect(30 * MIB, 30 * MIB);
    put("/proc/self/cgroup", "0::/..a\n"); /* that is a name */
    put("/proc/self/mountinfo", CGROUP2);
    put_mib("/sys/fs/cgroup/..a", "memory.max", 16);
    expect(16 * MIB, 16 * MIB);
}

static void
names_with_blanks_and_commas(void **state)
{
    struct headroom headroom;

    (void)state;
    put("/proc/self/mountinfo", "30 23 0:26 / /a\\040b\\134c\\011d rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/x:y z,w\001\n");
    put_mib("/a b\\c\td/x:y z,w\001", "memory.max", 64);
    expect(64 * MIB, 64 * MIB);
    headroom = look(false);
    assert_non_null(strstr(headroom.path, "/a?b\\c?d/x:y?z,w?/memory.max"));

    put("/proc/self/mountinfo", "30 23 0:26 / /m rw - cgroup none rw,freezer,memory,pids\n");
    put("/proc/self/cgroup", "4:freezer,memory,pids:/g\n0::/\n");
    put_mib("/m/g", "memory.limit_in_bytes", 32);
    expect(32 * MIB, 32 * MIB);
}

/* The first mount that shows the group is the one. */
static void
several_mounts(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", "30 23 0:26 /other /one rw - cgroup2 cgroup2 rw\n"
                                "31 23 0:26 / /gone rw - cgroup2 cgroup2 rw\n"
                                "32 23 0:26 / /two rw shared:1 master:2 - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/g\n");
    put_mib("/one", "memory.max", 1);
    put_mib("/two/g", "memory.max", 64);
    expect(64 * MIB, 64 * MIB);
}

static void
usual_places_without_mountinfo(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:memory:/g\n");
    put_mib("/sys/fs/cgroup/memory/g", "memory.limit_in_bytes", 64);
    expect(64 * MIB, 64 * MIB);
    put("/proc/self/cgroup", "0::/g\n");
    put_mib("/sys/fs/cgroup/g", "memory.max", 32);
    expect(32 * MIB, 32 * MIB);
    put("/proc/self/cgroup", "0::/../g\n");
    expect(UINT64_MAX, UINT64_MAX);
}

/* ---- what no kernel writes ----------------------------------------------------------- */

static void
numbers_that_are_none(void **state)
{
    static const char *const texts[] = {
        "", "\n", "max", "-1\n", "x1\n", "99999999999999999999\n", "+1", "0x", "\n\n\n"};

    (void)state;
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", "0::/a\n");
    put_mib("/sys/fs/cgroup/a", "memory.current", 1);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char line[128];
        put("/sys/fs/cgroup/a/memory.max", texts[i]);
        (void)snprintf(line, sizeof(line), "MemAvailable:%sSwapFree:%s", texts[i], texts[i]);
        put("/proc/meminfo", line);
        expect(strncmp(texts[i], "0x", 2) == 0 ? 0 : UINT64_MAX,
               strncmp(texts[i], "0x", 2) == 0 ? 0 : UINT64_MAX);
    }
    put("/sys/fs/cgroup/a/memory.max", "18446744073709551615\n"); /* as "max" */
    expect(UINT64_MAX, UINT64_MAX);
    /* A limit is known, and the usage isn't. */
    put_mib("/sys/fs/cgroup/a", "memory.max", 64);
    put("/sys/fs/cgroup/a/memory.current", "much\n");
    put("/sys/fs/cgroup/a/memory.stat", "inactive_file \nactive_file -7\nfile_dirty\n");
    expect(64 * MIB, 64 * MIB);
    /* More is in use than may be. */
    put_mib("/sys/fs/cgroup/a", "memory.current", 65);
    expect(0, 0);
    put("/proc/meminfo",
        "MemAvailable: 18446744073709551614 kB\nSwapFree: 18446744073709551615 kB\n");
    expect(0, (uint64_t)UINT64_MAX / 1024);
}

static void
lines_that_are_no_mounts_or_groups(void **state)
{
    static const char *const mounts[] = {"\n",
                                         " \n",
                                         "30\n",
                                         "30 23 0:26 /\n",
                                         "30 23 0:26 / /sys/fs/cgroup\n",
                                         "30 23 0:26 / /sys/fs/cgroup rw -\n",
                                         "30 23 0:26 / /sys/fs/cgroup rw - \n",
                                         "30 23 0:26 / /sys/fs/cgroup rw shared:1\n",
                                         "30 23 0:26 / /sys/fs/cgroup rw - cgroup2x\n",
                                         "- - - - - - - - -\n",
                                         "\\\n",
                                         "\\1",
                                         "30 23 0:26 / \\04",
                                         "30 23 0:26 \\ \\777 rw - cgroup2"};
    static const char *const groups[] = {"",
                                         "\n",
                                         "0\n",
                                         "0:\n",
                                         "0::\n",
                                         "0::a\n",
                                         "::",
                                         ":::",
                                         "4:memory\n",
                                         "4:memory:\n",
                                         "4:memory:x\n",
                                         "4:xmemory:/\n",
                                         "4:memoryx:/a\n",
                                         "4:name=memory:/a\n"};

    (void)state;
    put_mib("/sys/fs/cgroup/a", "memory.max", 1);
    put_mib("/sys/fs/cgroup/memory/a", "memory.limit_in_bytes", 1);
    put_mib("/sys/fs/cgroup/memory", "memory.limit_in_bytes", 1);
    put_mib("/sys/fs/cgroup", "memory.max", 1);
    put("/proc/self/cgroup", "0::/a\n");
    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
        put("/proc/self/mountinfo", mounts[i]);
        expect(UINT64_MAX, UINT64_MAX);
    }
    put("/proc/self/mountinfo", CGROUP1 CGROUP2);
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        put("/proc/self/cgroup", groups[i]);
        expect(UINT64_MAX, UINT64_MAX);
    }
}

/* They are passed over, and what is behind them counts; so does what stops within a line. */
static void
lines_without_end(void **state)
{
    static char text[200000];
    size_t len;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "0::/", 4);
    strcpy(text + 100000, "\n0::/a\n");
    put("/proc/self/cgroup", text);
    memset(text, ' ', 100000);
    strcpy(text + 100000, "\n" CGROUP2);
    put("/proc/self/mountinfo", text);
    put_mib("/sys/fs/cgroup/a", "memory.max", 64);
    expect(64 * MIB, 64 * MIB);

    /* Longer than what a path may be here, though a line holds it. */
    for (len = 1900; len < 2100; len++) {
        memset(text, 'x', len);
        memcpy(text, "0::/", 4);
        text[len] = '\0';
        put("/proc/self/cgroup", text);
        expect(UINT64_MAX, UINT64_MAX);
    }
    memset(text, '0', 10000);
    memcpy(text, "MemAvailable: ", 14);
    text[10000] = '\0';
    put("/proc/meminfo", text);
    expect(UINT64_MAX, UINT64_MAX);
    put("/proc/meminfo", "MemAvailable: 77");
    expect(77, 77);
}

/* A deep group is looked at level by level; of its path, the end is kept. */
static void
deep_groups(void **state)
{
    char path[2048] = "/sys/fs/cgroup", group[2048] = "0::";
    struct headroom headroom;

    (void)state;
    for (int i = 0; i < 60; i++) {
        strcat(path, "/level-of-many");
        strcat(group, "/level-of-many");
    }
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", group);
    put_mib(path, "memory.max", 64);
    expect(64 * MIB, 64 * MIB);
    headroom = look(false);
    assert_int_equal(strlen(headroom.path), CGROUP_PATH_SIZE - 1);
    assert_memory_equal(headroom.path, "...", 3);
    assert_string_equal(headroom.path + CGROUP_PATH_SIZE - 26, "/level-of-many/memory.max");
    put_mib("/sys/fs/cgroup", "memory.max", 32);
    expect(32 * MIB, 32 * MIB);
}

/* In place of files: a pipe to which nobody writes, a folder, something without an end. */
static void
files_that_are_none(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path_of("/proc/meminfo"), 0600), 0);
    assert_int_equal(symlink("/dev/zero", path_of("/proc/self/cgroup")), 0);
    assert_int_equal(mkdir(path_of("/proc/self/mountinfo"), 0700), 0);
    expect(UINT64_MAX, UINT64_MAX);
    assert_int_equal(unlink(path_of("/proc/self/cgroup")), 0);
    put("/proc/self/cgroup", "0::/a\n");
    expect(UINT64_MAX, UINT64_MAX);
    assert_int_equal(rmdir(path_of("/proc/self/mountinfo")), 0);
    put("/proc/self/mountinfo", CGROUP2);
    assert_int_equal(symlink("/dev/zero", path_of("/sys/fs/cgroup/a/memory.max")), 0);
    assert_int_equal(mkfifo(path_of("/sys/fs/cgroup/a/memory.current"), 0600), 0);
    expect(UINT64_MAX, UINT64_MAX);
    put("/sys/fs/cgroup/memory.max", "4096\n");
    expect(4, 4);
}

/* ---- limits of the process ----------------------------------------------------------- */

/* In a child with this limit: what there is. */
static struct headroom
look_limited(int which, uint64_t kib, bool is_shared)
{
    const struct headroom_question question = {
        .root = root, .is_shared = is_shared, .enough_kib = UINT64_MAX};
    struct headroom headroom;
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {(rlim_t)kib * 1024, RLIM_INFINITY};
        int error =
            which == RLIMIT_AS ? setrlimit(RLIMIT_AS, &limit) : setrlimit(RLIMIT_DATA, &limit);
        if (error != 0)
            _exit(1);
        headroom_read(&question, &headroom);
        _exit(write(ends[1], &headroom, sizeof(headroom)) != (ssize_t)sizeof(headroom));
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &headroom, sizeof(headroom)), sizeof(headroom));
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return headroom;
}

static void
limits_of_the_process(void **state)
{
    struct headroom headroom;
    char text[64];

    (void)state;
    put("/proc/self/status",
        "Name:\tx\nVmPeak:\t  9000 kB\nVmSize:\t  8000 kB\nVmData:\t  500 kB\n");
    headroom = look_limited(RLIMIT_AS, 20000, false);
    assert_int_equal(headroom.available_kib, 12000);
    assert_int_equal(headroom.limit, HEADROOM_AS);
    headroom_describe(&headroom, text, sizeof(text));
    assert_string_equal(text, "RLIMIT_AS = 20000K");
    assert_int_equal(look_limited(RLIMIT_AS, 7000, true).available_kib, 0);

    headroom = look_limited(RLIMIT_DATA, 20000, false);
    assert_int_equal(headroom.available_kib, 19500);
    assert_int_equal(headroom.limit, HEADROOM_DATA);
    headroom_describe(&headroom, text, sizeof(text));
    assert_string_equal(text, "RLIMIT_DATA = 20000K");
    assert_int_equal(look_limited(RLIMIT_DATA, 20000, true).available_kib, UINT64_MAX);

    put("/proc/self/status", "VmSize: much\n");
    assert_int_equal(look_limited(RLIMIT_AS, 20000, false).available_kib, UINT64_MAX);
}

/* ---- the check ----------------------------------------------------------------------- */

static int
check(uint64_t size_kib, bool without_swap, bool *needs_swap, struct mhkdf_memory_report *report)
{
    const struct headroom_need need = {
        .root = root, .size_kib = size_kib, .without_swap = without_swap};

    errno = ENOTTY;
    *needs_swap = true;
    memset(report, 0x5a, sizeof(*report));
    int rc = headroom_check(&need, needs_swap, report);
    assert_int_equal(errno, ENOTTY);
    return rc;
}

static void
checks_with_a_reserve(void **state)
{
    struct mhkdf_memory_report report;
    char text[HEADROOM_TEXT_SIZE];
    bool needs_swap;

    (void)state;
    /* 64 MiB, a 64th of it, and 1 MiB. */
    put("/proc/meminfo", "MemAvailable: 67584 kB\n");
    assert_int_equal(check(65536, true, &needs_swap, &report), 0);
    assert_false(needs_swap);
    assert_int_equal(report.needed_kib, 0x5a5a5a5a5a5a5a5a);
    put("/proc/meminfo", "MemAvailable: 67583 kB\n");
    assert_int_equal(check(65536, true, &needs_swap, &report), ENOMEM);
    assert_int_equal(report.needed_kib, 67584);
    assert_int_equal(report.available_kib, 67583);
    assert_string_equal(report.limit, "MemAvailable of this machine");
    assert_int_equal(report.size_kib, 0x5a5a5a5a5a5a5a5a);
    headroom_explain(&report, text, sizeof(text));
    assert_string_equal(
        text, "not enough memory: 66M needed, 65M available (MemAvailable of this machine)");
    report.needed_kib = 0;
    headroom_explain(&report, text, sizeof(text));
    assert_string_equal(text, "not enough memory");
    assert_int_equal(
        headroom_check(&(struct headroom_need){.root = root, .size_kib = 65536}, NULL, NULL),
        ENOMEM);
    /* Whatever there is. */
    assert_int_equal(check(UINT64_MAX, true, &needs_swap, &report), ENOMEM);
    assert_int_equal(report.needed_kib, UINT64_MAX);
    headroom_explain(&report, text, sizeof(text));
    put("/proc/meminfo", "MemAvailable: 0 kB\n");
    assert_int_equal(check(1024, true, &needs_swap, &report), ENOMEM);
    assert_int_equal(check(1023, true, &needs_swap, &report), 0);
    assert_int_equal(check(0, true, &needs_swap, &report), 0);
}

static void
checks_with_swap(void **state)
{
    struct mhkdf_memory_report report;
    bool needs_swap;

    (void)state;
    put("/proc/meminfo", "MemAvailable: 60000 kB\nSwapFree: 7584 kB\n");
    assert_int_equal(check(65536, false, &needs_swap, &report), 0);
    assert_true(needs_swap);
    assert_int_equal(check(32768, false, &needs_swap, &report), 0);
    assert_false(needs_swap);
    assert_int_equal(check(65536, true, &needs_swap, &report), ENOMEM);
    assert_int_equal(report.available_kib, 60000);
    put("/proc/meminfo", "MemAvailable: 60000 kB\nSwapFree: 7583 kB\n");
    assert_int_equal(check(65536, false, &needs_swap, &report), ENOMEM);
    assert_int_equal(report.available_kib, 67583);
}

/* Where it is plain that there is enough, the group's memory.stat is left alone. */
static void
is_as_exact_as_it_must_be(void **state)
{
    struct headroom_question question = {.root = root, .enough_kib = 10 * MIB};
    struct headroom headroom;

    (void)state;
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", "0::/a\n");
    put_mib("/sys/fs/cgroup/a", "memory.max", 64);
    put_mib("/sys/fs/cgroup/a", "memory.current", 54);
    put("/sys/fs/cgroup/a/memory.stat", "inactive_file 10485760\n");
    headroom_read(&question, &headroom);
    assert_int_equal(headroom.available_kib, 10 * MIB);
    question.enough_kib++;
    headroom_read(&question, &headroom);
    assert_int_equal(headroom.available_kib, 20 * MIB);
}

/* ---- this process, by this machine's files ------------------------------------------- */

static int
count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

static void
leaves_nothing_behind(void **state)
{
    const struct headroom_need need = {.size_kib = UINT64_MAX / 2};
    int before = count_descriptors();

    (void)state;
    put("/proc/self/mountinfo", CGROUP2);
    put("/proc/self/cgroup", "0::/a\n");
    put_mib("/sys/fs/cgroup/a", "memory.max", 64);
    for (int i = 0; i < 50; i++) {
        (void)look(true);
        (void)headroom_check(&need, NULL, NULL);
    }
    assert_int_equal(count_descriptors(), before);
}

static void
without_descriptors_nothing_is_known(void **state)
{
    struct rlimit before, none;
    int rc;

    (void)state;
    put("/proc/meminfo", "MemAvailable: 1 kB\n");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    rc = headroom_check(&(struct headroom_need){.root = root, .size_kib = 4096}, NULL, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(rc, 0);
}

static double
now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void
answers_about_this_machine(void **state)
{
    const struct headroom_question question = {.enough_kib = UINT64_MAX};
    struct headroom headroom;
    char text[HEADROOM_TEXT_SIZE];
    double start = now_us();

    (void)state;
    for (int i = 0; i < 100; i++)
        (void)headroom_check(&(struct headroom_need){.size_kib = 65536}, NULL, NULL);
    print_message("# %.0f microseconds for a check\n", (now_us() - start) / 100);
    headroom_read(&question, &headroom);
    headroom_describe(&headroom, text, sizeof(text));
    print_message("# %juK: %s\n", (uintmax_t)headroom.available_kib, text);
    if (access("/proc/meminfo", R_OK) == 0)
        assert_int_not_equal(headroom.limit, HEADROOM_UNLIMITED);
    assert_true(headroom.available_kib > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(nothing_is_known),
        CASE(the_machine_alone),
        CASE(version_2),
        CASE(cache_is_part_of_usage),
        CASE(high_counts_where_swap_does_not),
        CASE(swap_of_version_2),
        CASE(version_1),
        CASE(swap_of_version_1),
        CASE(part_of_the_hierarchy),
        CASE(namespaces),
        CASE(names_with_blanks_and_commas),
        CASE(several_mounts),
        CASE(usual_places_without_mountinfo),
        CASE(numbers_that_are_none),
        CASE(lines_that_are_no_mounts_or_groups),
        CASE(lines_without_end),
        CASE(deep_groups),
        CASE(files_that_are_none),
        CASE(limits_of_the_process),
        CASE(checks_with_a_reserve),
        CASE(checks_with_swap),
        CASE(is_as_exact_as_it_must_be),
        CASE(leaves_nothing_behind),
        CASE(without_descriptors_nothing_is_known),
        CASE(answers_about_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
