/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a library that is loaded is still the file: a copy of libcrypt whose file is replaced. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <crypt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/loaded.h"
#include "tests/lib/scratch.h"

typedef void (*function)(void);

static char folder[] = "/tmp/mhkdf-loaded-XXXXXX";
static char path[64], other[64];
static unsigned char *contents;
static size_t len, text_offset; /* of crypt_r's code in the file */
static function copied;         /* crypt_r of the copy */

/* What dlsym gives is data, which ISO C doesn't let become a function. */
static function
as_function(void *symbol)
{
    union {
        void *data;
        function call;
    } u = {.data = symbol};

    assert_non_null(symbol);
    return u.call;
}

static void
put(const char *name)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(contents, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* The way that libraries are replaced. */
static void
replace(void)
{
    put(other);
    assert_int_equal(rename(other, path), 0);
}

static int
load_a_copy(void **unused)
{
    Dl_info info;
    struct stat st;
    void *symbol, *handle = dlopen("libcrypt.so.1", RTLD_NOW);
    FILE *f;

    (void)unused;
    if (handle == NULL)
        handle = dlopen("libcrypt.so.2", RTLD_NOW);
    assert_non_null(handle);
    symbol = dlsym(handle, "crypt_r");
    assert_int_not_equal(dladdr(symbol, &info), 0);
    assert_int_equal(stat(info.dli_fname, &st), 0);
    len = (size_t)st.st_size;
    contents = malloc(len);
    assert_non_null(contents);
    f = fopen(info.dli_fname, "r");
    assert_non_null(f);
    assert_int_equal(fread(contents, 1, len, f), len);
    fclose(f);
    put(path);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    symbol = dlsym(handle, "crypt_r");
    copied = as_function(symbol);
    assert_int_not_equal(dladdr(symbol, &info), 0);
    assert_string_equal(info.dli_fname, path);
    for (text_offset = 0; memcmp(contents + text_offset, symbol, 64) != 0; text_offset++)
        assert_true(text_offset < len - 64);
    return 0;
}

static void
same_file_is_current(void **unused)
{
    (void)unused;
    assert_true(loaded_is_current(copied));
    assert_true(loaded_is_current((function)crypt_r));
}

static void
equal_file_is_current(void **unused)
{
    (void)unused;
    replace();
    assert_true(loaded_is_current(copied));
}

static void
other_contents_are_not(void **unused)
{
    size_t whole = len;

    (void)unused;
    contents[text_offset] ^= 1;
    replace();
    assert_false(loaded_is_current(copied));
    contents[text_offset] ^= 1;
    len = text_offset;
    replace();
    assert_false(loaded_is_current(copied));
    len = 0;
    replace();
    assert_false(loaded_is_current(copied));
    len = whole;
    replace();
    assert_true(loaded_is_current(copied));
}

static void
no_file_is_not(void **unused)
{
    (void)unused;
    assert_int_equal(unlink(path), 0);
    assert_false(loaded_is_current(copied));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(loaded_is_current(copied));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(loaded_is_current(copied));
    assert_int_equal(rmdir(path), 0);
    replace();
    assert_true(loaded_is_current(copied));
}

static void
what_is_in_no_library_is_not(void **unused)
{
    (void)unused;
    assert_false(loaded_is_current((function)load_a_copy));
    assert_false(loaded_is_current(NULL));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_file_is_current),         cmocka_unit_test(equal_file_is_current),
        cmocka_unit_test(other_contents_are_not),       cmocka_unit_test(no_file_is_not),
        cmocka_unit_test(what_is_in_no_library_is_not),
    };
    int rc;

    scratch_enter(folder);
    snprintf(path, sizeof(path), "%s/copy.so", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    rc = cmocka_run_group_tests(tests, load_a_copy, NULL);
    free(contents);
    return rc;
}
