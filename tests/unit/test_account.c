/* SPDX-License-Identifier: BSD-2-Clause */
/* Accounts are found line by line, wherever they are in files of whatever length, without memory
 * for the file. What is a line and what isn't, test_shadow.c shows. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/account.h"
#include "policy/line_read.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/scratch.h"

#define BOB "bob:x:1000:1000:::\n"

static char etc[] = "/tmp/mhkdf-account-XXXXXX";

static const char *
in_etc(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", etc, name);
    return path;
}

/* A line of some other account, len bytes with its newline, then text, then another's. */
static void
put(const char *name, size_t len, const char *text)
{
    FILE *f = fopen(in_etc(name), "w");

    assert_non_null(f);
    while (len-- > 1)
        fputc('a', f);
    fprintf(f, "\n%scarol:x:1001:1001:::\n", text);
    assert_int_equal(fclose(f), 0);
}

/* However the file falls into the pieces in which it is read. */
static void
found_wherever_it_starts(void **unused)
{
    struct account account;
    uint32_t uid;
    size_t len;

    (void)unused;
    put("shadow", 10000, "bob:HASH:20000:0:99999:7:30:21000:\n");
    for (len = 4096 - 50; len < 4096 + 50; len++) {
        put("passwd", len, BOB);
        uid = 0;
        assert_int_equal(account_find_uid(etc, "bob", &uid), 0);
        assert_int_equal(uid, 1000);
        put("shadow", len, "bob:HASH:20000:0:99999:7:30:21000:\n");
        assert_int_equal(account_find(etc, "bob", &account), 0);
        assert_string_equal(account.hash, "HASH");
        assert_int_equal(account.aging.expire, 21000);
        account_free(&account);
        assert_int_equal(account_find_uid(etc, "carol", &uid), 0);
        assert_int_equal(uid, 1001);
        assert_int_equal(account_find_uid(etc, "ob", &uid), ENOENT);
    }
}

static void
longest_line(void **unused)
{
    char text[2 * LINE_READ_MAX];
    uint32_t uid;
    size_t len;

    (void)unused;
    for (len = LINE_READ_MAX - 2; len < LINE_READ_MAX + 3; len++) {
        int n = snprintf(text, sizeof(text), "bob:x:7:7:");
        memset(text + n, 'g', len - (size_t)n - 2);
        snprintf(text + len - 2, sizeof(text) - len, "::\n" BOB);
        put("passwd", 1, text);
        assert_int_equal(account_find_uid(etc, "bob", &uid), 0);
        assert_int_equal(uid, len <= LINE_READ_MAX ? 7 : 1000);
    }
}

/* Else the time would tell where it is. */
static void
all_is_read(void **unused)
{
    struct line_field fields[LINE_PASSWD_FIELDS];
    char line[LINE_READ_MAX];
    int fd;

    (void)unused;
    put("passwd", 1, BOB "carol:x:1:1:::\n" BOB);
    fd = open(in_etc("passwd"), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(line_read_passwd(fd, "bob", line, fields), 0);
    assert_int_equal(fields[0].len, 3);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), lseek(fd, 0, SEEK_END));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(line_read_passwd(fd, "+", line, fields), ENOENT);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), lseek(fd, 0, SEEK_END));
    close(fd);
    fd = open(etc, O_RDONLY);
    assert_int_equal(line_read_passwd(fd, "bob", line, fields), EISDIR);
    close(fd);
}

#if !TEST_IS_SANITIZED
/* As a user has it who leaves his su no memory. */
static int
find_without_memory(void)
{
    const struct rlimit none = {0, 0};
    struct account account;
    void *kept = malloc(64); /* there is a heap, from which a hash may come */
    void *volatile large;    /* compilers leave out what isn't used */
    uint32_t uid;

    free(kept);
    if (setrlimit(RLIMIT_DATA, &none) != 0)
        return 1;
    large = malloc(1 << 20);
    if (large != NULL)
        return 1;
    if (account_find_uid(etc, "bob", &uid) != 0 || account_find(etc, "bob", &account) != 0)
        return 2;
    return strcmp(account.hash, "HASH") != 0;
}

static void
no_memory_is_needed(void **unused)
{
    int status = 0;
    pid_t pid;

    (void)unused;
    put("passwd", 5 << 20, BOB);
    put("shadow", 5 << 20, "bob:HASH:20000:0:99999:7:30:21000:\n");
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(find_without_memory());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_wherever_it_starts),
        cmocka_unit_test(longest_line),
        cmocka_unit_test(all_is_read),
#if !TEST_IS_SANITIZED
        cmocka_unit_test(no_memory_is_needed),
#endif
    };

    scratch_enter(etc);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
