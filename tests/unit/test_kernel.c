/* SPDX-License-Identifier: BSD-2-Clause */
/* Every kernel that runs here gives what the portable code gives, and a faulty one isn't used. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "libcore/derive.h"
#include "libcore/kernel.h"
#include "libcore/mhkdf.h"
#include "tests/unit/hex.h"
#include "tests/unit/plain_kernel.h"
#include "tests/unit/vectors.h"

#define BYTES_MAX 4096
#define KERNELS_MAX 16
/* MHKDF_TEST_CASES in the environment: another number. */
#ifdef __SANITIZE_THREAD__ /* twenty times as slow */
#define RANDOM_CASES 400
#else
#define RANDOM_CASES 3000
#endif

static const uint32_t CHAINS[] = {0, 3, 6, 12};

/* The kernels that are tested: those of this machine, and the one in plain C. */
static const struct kernel *kernels[KERNELS_MAX];
static size_t kernel_count;

static int
find_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; kernel_all[i] != NULL && kernel_count < KERNELS_MAX - 1; i++) {
        print_message("# %s: %s\n", kernel_all[i]->name,
                      kernel_all[i]->is_supported() ? "tested" : "not on this machine");
        if (kernel_all[i]->is_supported())
            kernels[kernel_count++] = kernel_all[i];
    }
    kernels[kernel_count++] = &plain_kernel;
    return 0;
}

/* What builds that aren't for tests choose, with this in the environment; a process of its own,
 * since the choice is made once. */
static void
assert_ignored(const char *name)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        int same = setenv("MHKDF_CPU", name, 1) == 0;
        for (int mode = 0; mode < KERNEL_MODES; mode++)
            same &= kernel_get((enum kernel_mode)mode) ==
                    kernel_choose(kernel_all, (enum kernel_mode)mode, NULL);
        _exit(same ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("MHKDF_CPU=%s changed the choice", name);
}

static void
environment_is_ignored(void **state)
{
    (void)state;
    for (size_t i = 0; kernel_all[i] != NULL; i++)
        assert_ignored(kernel_all[i]->name);
    assert_ignored("portable");
    assert_ignored("");
}

static void
all_agree(void **state)
{
    (void)state;
    for (size_t k = 0; k < kernel_count; k++)
        for (int mode = 0; mode < KERNEL_MODES; mode++)
            if (!kernel_agrees(kernels[k], (enum kernel_mode)mode))
                fail_msg("%s is wrong in mode %d", kernels[k]->name, mode);
}

/* Which modes a fault is in. */
static int
is_wrong(enum plain_fault fault, enum kernel_mode mode)
{
    if (fault == PLAIN_CHAIN)
        return mode != KERNEL_ARGON2 && mode != KERNEL_CHAIN_0;
    return fault != PLAIN_RIGHT;
}

static void
faults_are_found(void **state)
{
    (void)state;
    for (int fault = 0; fault < PLAIN_FAULTS; fault++) {
        plain_fault = (enum plain_fault)fault;
        for (int mode = 0; mode < KERNEL_MODES; mode++) {
            int expected = !is_wrong(plain_fault, (enum kernel_mode)mode);
            int found = kernel_agrees(&plain_kernel, (enum kernel_mode)mode);
            if (found != expected)
                fail_msg("fault %d in mode %d: %d", fault, mode, found);
        }
    }
    plain_fault = PLAIN_RIGHT;
}

static void
faulty_kernel_is_not_chosen(void **state)
{
    static const struct kernel *const first[] = {&plain_kernel, NULL};
    const struct kernel *both[] = {&plain_kernel, NULL, NULL};
    const struct kernel *good = kernel_choose(kernel_all, KERNEL_CHAIN_6, NULL);

    (void)state;
    both[1] = good;
    assert_ptr_equal(kernel_choose(first, KERNEL_CHAIN_6, NULL), &plain_kernel);
    assert_ptr_equal(kernel_choose(both, KERNEL_CHAIN_6, NULL), &plain_kernel);
    assert_ptr_equal(kernel_choose(both, KERNEL_CHAIN_6, "plain"), &plain_kernel);
    assert_ptr_equal(kernel_choose(both, KERNEL_CHAIN_6, "plainer"), NULL);
    plain_fault = PLAIN_CHAIN;
    assert_ptr_equal(kernel_choose(first, KERNEL_CHAIN_6, NULL), NULL);
    assert_ptr_equal(kernel_choose(both, KERNEL_CHAIN_6, NULL), good);
    assert_ptr_equal(kernel_choose(both, KERNEL_CHAIN_6, "plain"), NULL);
    assert_ptr_equal(kernel_choose(both, KERNEL_CHAIN_0, NULL), &plain_kernel);
    plain_fault = PLAIN_RIGHT;
    plain_is_supported = 0;
    assert_ptr_equal(kernel_choose(both, KERNEL_CHAIN_6, NULL), good);
    plain_is_supported = 1;
}

/* The tag by one kernel (NULL: portable) and number of threads, in memory of just its size, which
 * is written past the caches or, being small, not. */
static void
derive_by(const struct derive *in, const struct kernel *kernel, unsigned threads, int streamed,
          uint8_t *tag, uint32_t tag_len)
{
    size_t size = (size_t)derive_size_kib(in) * 1024;
    struct derive_means means = {
        .kernel = kernel, .threads = threads, .stream_from_kib = streamed ? 1 : 0};

    means.memory = aligned_alloc(64, size);
    assert_non_null(means.memory);
    memset(means.memory, 0xa5, size);
    assert_int_equal(derive_with(in, &means, tag, tag_len), 0);
    free(means.memory);
}

static void
assert_all_give(const struct derive *in, uint32_t tag_len, const char *expected)
{
    uint8_t tag[BYTES_MAX];

    for (size_t k = 0; k < kernel_count; k++) {
        for (unsigned threads = 1; threads <= in->lanes && threads <= 3; threads++) {
            for (int streamed = 0; streamed < 2; streamed++) {
                derive_by(in, kernels[k], threads, streamed, tag, tag_len);
                hex_assert_equal(tag, tag_len, expected);
            }
        }
        derive_by(in, kernels[k], in->lanes, 0, tag, tag_len);
        hex_assert_equal(tag, tag_len, expected);
    }
}

static void
mhkdf1_vectors(void **state)
{
    struct vectors vectors;
    uint8_t password[BYTES_MAX], salt[MHKDF_SALT_MAX], key[MHKDF_KEY_MAX], x[11];
    unsigned records = 0;

    (void)state;
    vectors_open(&vectors, "mhkdf1.vec");
    while (vectors_next(&vectors)) {
        uint32_t chain = vectors_number(&vectors, 3);
        int wrapped = vectors_number(&vectors, 4) != 0;
        struct derive in = {.method = FILL_MHKDF1,
                            .version = 0x13,
                            .memory_kib = vectors_number(&vectors, 0),
                            .passes = vectors_number(&vectors, 1),
                            .lanes = vectors_number(&vectors, 2),
                            .chain = chain,
                            .password = password,
                            .salt = salt,
                            .secret = key,
                            .associated = x,
                            .associated_len = wrapped ? 11 : 10};

        memset(x, 0, sizeof x);
        memcpy(x, "mhkdf1w", 7);
        x[wrapped ? 7 : 6] = (uint8_t)chain;
        in.password_len = (uint32_t)hex_decode(vectors.fields[6], password, sizeof password);
        in.salt_len = (uint32_t)hex_decode(vectors.fields[7], salt, sizeof salt);
        in.secret_len = (uint32_t)hex_decode(vectors.fields[8], key, sizeof key);
        assert_all_give(&in, vectors_number(&vectors, 5), vectors.fields[9]);
        records++;
    }
    assert_in_range(records, 300, 10000);
}

static void
argon2_vectors(void **state)
{
    struct vectors vectors;
    uint8_t password[BYTES_MAX], salt[BYTES_MAX], secret[BYTES_MAX], extra[BYTES_MAX];
    unsigned records = 0;

    (void)state;
    vectors_open(&vectors, "argon2.vec");
    while (vectors_next(&vectors)) {
        const char *name = vectors.fields[0];
        struct derive in = {.method = strcmp(name, "argon2d") == 0   ? FILL_ARGON2D
                                      : strcmp(name, "argon2i") == 0 ? FILL_ARGON2I
                                                                     : FILL_ARGON2ID,
                            .version = 0x13,
                            .memory_kib = vectors_number(&vectors, 1),
                            .passes = vectors_number(&vectors, 2),
                            .lanes = vectors_number(&vectors, 3),
                            .password = password,
                            .salt = salt,
                            .secret = secret,
                            .associated = extra};

        in.password_len = (uint32_t)hex_decode(vectors.fields[5], password, sizeof password);
        in.salt_len = (uint32_t)hex_decode(vectors.fields[6], salt, sizeof salt);
        in.secret_len = (uint32_t)hex_decode(vectors.fields[7], secret, sizeof secret);
        in.associated_len = (uint32_t)hex_decode(vectors.fields[8], extra, sizeof extra);
        assert_all_give(&in, vectors_number(&vectors, 4), vectors.fields[9]);
        records++;
    }
    assert_in_range(records, 60, 10000);
}

/* Splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t random_state;

static uint32_t
random_below(uint32_t end)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % end);
}

/* Memory from the least there is; lanes seldom many; now and then segments of more than the 128
 * blocks that data-independent addresses are made for at a time. */
static struct derive
random_cost(void)
{
    static const enum fill_method methods[] = {FILL_MHKDF1,  FILL_MHKDF1,  FILL_MHKDF1,
                                               FILL_ARGON2D, FILL_ARGON2I, FILL_ARGON2ID};
    struct derive in = {.method = methods[random_below(6)], .version = 0x13};

    in.passes = 1 + random_below(3);
    in.lanes = random_below(25) == 0 ? 64 : 1 + random_below(9);
    if (in.method == FILL_MHKDF1)
        in.chain = CHAINS[random_below(4)];
    in.memory_kib = 8 * in.lanes;
    if (random_below(40) == 0 && in.lanes < 6)
        in.memory_kib = in.lanes * (4 * 128 + random_below(600));
    else
        in.memory_kib += random_below(in.lanes == 64 ? 300 : 14 * in.lanes);
    return in;
}

static void
random_costs(void **state)
{
    const char *seed_text = getenv("MHKDF_TEST_SEED"), *cases_text = getenv("MHKDF_TEST_CASES");
    uint64_t seed = seed_text == NULL ? 20190702 : strtoull(seed_text, NULL, 10);
    long cases = cases_text == NULL ? RANDOM_CASES : strtol(cases_text, NULL, 10);

    (void)state;
    print_message("# MHKDF_TEST_SEED=%llu, %ld cases\n", (unsigned long long)seed, cases);
    random_state = seed;
    for (long n = 0; n < cases; n++) {
        struct derive in = random_cost();
        uint8_t input[8], expected[32], tag[32];

        for (size_t i = 0; i < sizeof input; i++)
            input[i] = (uint8_t)random_below(256);
        in.salt = input;
        in.salt_len = sizeof input;
        derive_by(&in, NULL, 1, 0, expected, sizeof expected);
        for (size_t k = 0; k < kernel_count; k++) {
            unsigned threads = 1 + random_below(in.lanes < 12 ? in.lanes : 12);
            int streamed = (int)random_below(2);
            derive_by(&in, kernels[k], threads, streamed, tag, sizeof tag);
            if (memcmp(tag, expected, sizeof tag) != 0)
                fail_msg("case %ld, %s, %u threads, streamed %d: method %d, c = %u, m = %u, t = "
                         "%u, p = %u",
                         n, kernels[k]->name, threads, streamed, (int)in.method, (unsigned)in.chain,
                         (unsigned)in.memory_kib, (unsigned)in.passes, (unsigned)in.lanes);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_is_ignored), /* before anything else makes the choice */
        cmocka_unit_test(all_agree),
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(faulty_kernel_is_not_chosen),
        cmocka_unit_test(mhkdf1_vectors),
        cmocka_unit_test(argon2_vectors),
        cmocka_unit_test(random_costs),
    };

    return cmocka_run_group_tests(tests, find_kernels, NULL);
}
