/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a library that is loaded is what programs get: a copy of libcrypt whose file is replaced,
 * and caches of the linker that lead there or elsewhere. */
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
static char path[64], other[64], cache[64], soname[32];
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

/* A cache that leads from the soname to these files, in this order, as ldconfig writes it. */
static void
write_cache(const char *const files[], const uint64_t hwcaps[])
{
    struct {
        char magic[20];
        uint32_t count, strings_len;
        uint32_t rest[5];
    } header = {"glibc-ld.so.cache1.1", 0, 0, {0}};
    struct {
        int32_t flags;
        uint32_t name, value, os_version;
        uint64_t hwcap;
    } entries[4];
    char strings[512];
    size_t used = strlen(soname) + 1, i;
    FILE *f = fopen(cache, "w");

    memcpy(strings, soname, used);
    for (i = 0; files[i] != NULL; i++) {
        memset(&entries[i], 0, sizeof(entries[i]));
        entries[i].value = (uint32_t)used;
        entries[i].hwcap = hwcaps != NULL ? hwcaps[i] : 0;
        memcpy(strings + used, files[i], strlen(files[i]) + 1);
        used += strlen(files[i]) + 1;
    }
    header.count = (uint32_t)i;
    header.strings_len = (uint32_t)used;
    for (i = 0; i < header.count; i++) {
        entries[i].name = (uint32_t)(sizeof(header) + header.count * sizeof(entries[0]));
        entries[i].value += entries[i].name;
    }
    assert_non_null(f);
    assert_int_equal(fwrite(&header, sizeof(header), 1, f), 1);
    assert_int_equal(fwrite(entries, sizeof(entries[0]), header.count, f), header.count);
    assert_int_equal(fwrite(strings, used, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static bool
is_current(void)
{
    return loaded_is_current_by(copied, cache);
}

static void
lead_to(const char *first, const char *second)
{
    const char *const files[] = {first, second, NULL};

    write_cache(files, NULL);
}

static int
load_a_copy(void **unused)
{
    Dl_info info;
    struct stat st;
    void *symbol, *handle = dlopen("libcrypt.so.1", RTLD_NOW);
    FILE *f;

    (void)unused;
    strcpy(soname, "libcrypt.so.1");
    if (handle == NULL) {
        handle = dlopen("libcrypt.so.2", RTLD_NOW);
        strcpy(soname, "libcrypt.so.2");
    }
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
    lead_to(path, NULL);
    return 0;
}

static void
same_file_is_current(void **unused)
{
    (void)unused;
    assert_true(is_current());
    assert_true(loaded_is_current((function)crypt_r));
}

static void
equal_file_is_current(void **unused)
{
    (void)unused;
    replace();
    assert_true(is_current());
}

static void
other_contents_are_not(void **unused)
{
    size_t whole = len;

    (void)unused;
    contents[text_offset] ^= 1;
    replace();
    assert_false(is_current());
    contents[text_offset] ^= 1;
    len = text_offset;
    replace();
    assert_false(is_current());
    len = 0;
    replace();
    assert_false(is_current());
    len = whole;
    replace();
    assert_true(is_current());
}

static void
no_file_is_not(void **unused)
{
    (void)unused;
    assert_int_equal(unlink(path), 0);
    assert_false(is_current());
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_current());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(is_current());
    assert_int_equal(rmdir(path), 0);
    replace();
    assert_true(is_current());
}

static void
what_is_in_no_library_is_not(void **unused)
{
    (void)unused;
    assert_false(loaded_is_current((function)load_a_copy));
    assert_false(loaded_is_current(NULL));
}

/* As after somebody's ldconfig, with another line in /etc/ld.so.conf.d or one less. */
static void
another_in_the_cache_is_not(void **unused)
{
    (void)unused;
    put(other);
    lead_to(other, path);
    assert_true(is_current()); /* by its contents it is the same */
    contents[text_offset] ^= 1;
    put(other);
    contents[text_offset] ^= 1;
    assert_false(is_current());
    lead_to(path, other);
    assert_true(is_current());
    lead_to(other, NULL);
    assert_false(is_current());
    /* What isn't there, or is of another machine, is passed over, as the linker does. */
    assert_int_equal(truncate(other, 4), 0);
    lead_to(other, path);
    assert_true(is_current());
    contents[4] ^= 3; /* 64 bits, or 32 */
    put(other);
    contents[4] ^= 3;
    assert_true(is_current());
    assert_int_equal(unlink(other), 0);
    assert_true(is_current());
    lead_to(path, NULL);
}

static void
one_for_some_processors_is_not_told(void **unused)
{
    const char *const files[] = {path, path, NULL};
    uint64_t hwcaps[] = {0, UINT64_C(1) << 62};

    (void)unused;
    write_cache(files, hwcaps);
    assert_false(is_current());
    lead_to(path, NULL);
    assert_true(is_current());
}

static void
without_a_cache_it_is_not_told(void **unused)
{
    (void)unused;
    assert_int_equal(unlink(cache), 0);
    assert_false(is_current());
    lead_to(NULL, NULL); /* one that doesn't have it */
    assert_false(is_current());
    lead_to(path, NULL);
    assert_true(is_current());
}

static void
broken_caches_are_not_told(void **unused)
{
    struct stat st;
    long size, at;
    FILE *f;

    (void)unused;
    assert_int_equal(stat(cache, &st), 0);
    for (size = (long)st.st_size - 2; size >= 0; size--) {
        assert_int_equal(truncate(cache, size), 0);
        assert_false(is_current());
    }
    for (at = 0; at < 24 + 4; at++) { /* the magic, the number of entries */
        lead_to(path, NULL);
        f = fopen(cache, "r+");
        assert_non_null(f);
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        assert_int_equal(fputc(0xee, f), 0xee);
        assert_int_equal(fclose(f), 0);
        if (at < 20)
            assert_false(is_current());
    }
    for (at = 48 + 4; at < 48 + 12; at++) { /* where its texts are */
        lead_to(path, NULL);
        f = fopen(cache, "r+");
        assert_non_null(f);
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        assert_int_equal(fputc(0xee, f), 0xee);
        assert_int_equal(fclose(f), 0);
        (void)is_current();
    }
    lead_to(path, NULL);
    assert_true(is_current());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_file_is_current),
        cmocka_unit_test(equal_file_is_current),
        cmocka_unit_test(other_contents_are_not),
        cmocka_unit_test(no_file_is_not),
        cmocka_unit_test(what_is_in_no_library_is_not),
        cmocka_unit_test(another_in_the_cache_is_not),
        cmocka_unit_test(one_for_some_processors_is_not_told),
        cmocka_unit_test(without_a_cache_it_is_not_told),
        cmocka_unit_test(broken_caches_are_not_told),
    };
    int rc;

    scratch_enter(folder);
    snprintf(path, sizeof(path), "%s/copy.so", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    snprintf(cache, sizeof(cache), "%s/cache", folder);
    rc = cmocka_run_group_tests(tests, load_a_copy, NULL);
    free(contents);
    return rc;
}
