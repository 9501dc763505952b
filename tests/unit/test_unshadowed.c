/* SPDX-License-Identifier: BSD-2-Clause */
/* Local accounts without a line in shadow. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/unshadowed.h"

static char folder[] = "/tmp/unshadowed-XXXXXX";

static void
put(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)unlink(path);
    if (text == NULL)
        return;
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
check(const char *passwd, const char *shadow, const char *expected)
{
    char name[UNSHADOWED_NAME_SIZE] = "";
    int rc;

    put("passwd", passwd);
    put("shadow", shadow);
    rc = unshadowed_find(folder, name);
    if (rc != (expected == NULL ? ENOENT : 0) || (expected != NULL && strcmp(name, expected) != 0))
        fail_msg("%s: %d, %s", passwd, rc, name);
}

#define SHADOW "root:*:1::::::\nbob:$6$a$b:1::::::\neve:!:1::::::\n"

static void
finds_the_one_that_is_missing(void **state)
{
    (void)state;
    check("root:x:0:0::/:\nbob:x:1:1::/:\neve:x:2:2::/:\n", SHADOW, NULL);
    check("eve:x:2:2::/:\nroot:x:0:0::/:\nbob:x:1:1::/:\n", SHADOW, NULL); /* another order */
    check("root:x:0:0::/:\nann:x:5:5::/:\nbob:x:1:1::/:\n", SHADOW, "ann");
    check("root:x:0:0::/:\nbob:x:1:1::/:\neve:x:2:2::/:\nann:x:5:5::/:", SHADOW, "ann");
    check("bo:x:5:5::/:\n", SHADOW, "bo");
    check("bobb:x:5:5::/:\n", SHADOW, "bobb");
    check("ann:##ann:5:5::/:\n", SHADOW, "ann");
    check("root:x:0:0::/:\n", "", "root");
}

static void
others_refer_to_nothing(void **state)
{
    (void)state;
    check("ann:*:5:5::/:\nann:$6$a$b:5:5::/:\nann::5:5::/:\nann:##bob:5:5::/:\n", SHADOW, NULL);
    check("+:x:5:5::/:\n-ann:x:5:5::/:\n\nann\n#x:x:1:1::/:\n", SHADOW, NULL);
    check("", "", NULL);
    check(NULL, SHADOW, NULL);
    check("root:x:0:0::/:\n", NULL, NULL);
}

/* Long lines, and an order that would take forever. */
static void
ends_in_time(void **state)
{
    static char passwd[400000], shadow[400000];
    char *p = passwd, *q = shadow;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        p += sprintf(p, "user%d:x:1:1::/:/bin/sh\n", i);
        q += sprintf(q, "user%d:!:1::::::\n", i);
    }
    check(passwd, shadow, NULL);
    (void)strcpy(p, "ann:x:1:1::/:\n");
    check(passwd, shadow, "ann");
    p = passwd;
    for (int i = 4999; i >= 0; i--)
        p += sprintf(p, "user%d:x:1:1::/:/bin/sh\n", i);
    check(passwd, shadow, NULL);
    p = passwd + sprintf(passwd, "bob:x:1:1:");
    memset(p, 'x', 100000);
    (void)strcpy(p + 100000, ":/:\nann:x:1:1::/:\n");
    check(passwd, SHADOW, "ann");
}

static int
make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **state)
{
    (void)state;
    put("passwd", NULL);
    put("shadow", NULL);
    return rmdir(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_one_that_is_missing),
        cmocka_unit_test(others_refer_to_nothing),
        cmocka_unit_test(ends_in_time),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
