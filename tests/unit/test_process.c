/* SPDX-License-Identifier: BSD-2-Clause */
/* What a hash does to the process that it runs in: threads, memory, secrets, and faults of each. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "libcore/team.h"
#include "tests/unit/hex.h"
#include "tests/lib/sanitized.h"

/* SPEC.md section 7, c = 6. */
static const struct mhkdf_cost COST = {MHKDF_METHOD_MHKDF1, 64, 2, 4, 6};
static const char TAG[] = "5d18b7a4a7db1e7bdd91626727a1803413ad4b9491b43fb10862a49b8c3a5c21";
static const char STRING[] = "$mhkdf$m64K.t2.p4.c6$AgICAgICAgICAgICAgICAg$"
                             "KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM";
static uint8_t ones[32], twos[16];

/* Faults: the call with this number, and all after it, fail; 0 is the first. -1: none. */
static int fail_threads_from = -1;
static int fail_mappings_from = -1;
static int watching; /* the rest is for one hash at a time */
static int threads_started, mappings_made, unblocked_threads;
static void *last_mapping;
static size_t last_mapping_size;
static int telling_parts_found;
static int mappings_live;
static int advices; /* bit n: madvise(2) with advice n, of a whole mapping */

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
int __real_madvise(void *, size_t, int);
int __wrap_madvise(void *, size_t, int);
int __wrap_munmap(void *, size_t);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                      void *arg)
{
    sigset_t mask;

    if (!watching)
        return __real_pthread_create(thread, attr, run, arg);
    if (fail_threads_from >= 0 && threads_started >= fail_threads_from)
        return EAGAIN;
    threads_started++;
    /* what the worker inherits */
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    if (sigismember(&mask, SIGCHLD) != 1 || sigismember(&mask, SIGINT) != 1 ||
        sigismember(&mask, SIGALRM) != 1)
        unblocked_threads++;
    return __real_pthread_create(thread, attr, run, arg);
}

void *
__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!watching)
        return __real_mmap(at, size, protection, flags, fd, offset);
    if (fail_mappings_from >= 0 && mappings_made >= fail_mappings_from) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    mappings_made++;
    mappings_live++;
    last_mapping = __real_mmap(at, size, protection, flags, fd, offset);
    last_mapping_size = size;
    return last_mapping;
}

static int
is_zero(const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != 0)
            return 0;
    return 1;
}

/* First blocks, last column and S-boxes of COST, in 64 KiB and 39, must be gone; the rest must not
 * (or it wasn't used). */
int
__wrap_munmap(void *at, size_t size)
{
    if (watching && at == last_mapping && size == (64 + 39) * 1024) {
        const uint8_t *memory = at;
        for (size_t lane = 0; lane < 4; lane++) {
            const uint8_t *start = memory + lane * 16 * 1024;
            telling_parts_found += !is_zero(start, 2048) + !is_zero(start + 15 * 1024, 1024);
            telling_parts_found += is_zero(start + 2048, 1024);
        }
        telling_parts_found += !is_zero(memory + 64 * 1024, 39 * 1024);
    }
    if (watching)
        mappings_live--;
    return __real_munmap(at, size);
}

int
__wrap_madvise(void *at, size_t size, int advice)
{
    if (watching && at == last_mapping && size == last_mapping_size)
        advices |= 1 << advice;
    return __real_madvise(at, size, advice);
}

static int
set_up(void **state)
{
    (void)state;
    memset(ones, 1, sizeof ones);
    memset(twos, 2, sizeof twos);
    return 0;
}

static int
reset(void **state)
{
    (void)state;
    watching = 1;
    fail_threads_from = fail_mappings_from = -1;
    threads_started = mappings_made = unblocked_threads = telling_parts_found = 0;
    mappings_live = advices = 0;
    return 0;
}

/* Not inlined: AddressSanitizer would take a frame that is left by cancellation for one in use. */
static __attribute__((noinline)) int
derive(unsigned threads, uint8_t tag[32])
{
    struct mhkdf_input input = {
        .password = ones, .password_len = sizeof ones, .salt = twos, .salt_len = sizeof twos};

    return mhkdf_derive(&COST, &input, threads, tag, 32);
}

static int
count_entries(const char *directory)
{
    DIR *dir = opendir(directory);
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count;
}

static void
any_number_of_threads(void **state)
{
    uint8_t tag[32];

    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        reset(NULL);
        assert_int_equal(derive(threads, tag), 0);
        hex_assert_equal(tag, 32, TAG);
        assert_int_equal(threads_started, (threads < 4 ? threads : 4) - 1);
        assert_int_equal(unblocked_threads, 0);
    }
}

static void
threads_that_cannot_start(void **state)
{
    uint8_t tag[32];

    (void)state;
    for (fail_threads_from = 0; fail_threads_from < 3; fail_threads_from++) {
        threads_started = 0;
        assert_int_equal(derive(4, tag), 0);
        hex_assert_equal(tag, 32, TAG);
    }
}

/* RLIMIT_NPROC counts per user and doesn't hold root, so the child becomes somebody with none left.
 */
static void
process_limit_exhausted(void **state)
{
    pid_t child;
    int status;

    (void)state;
    if ((child = fork()) == 0) {
        struct rlimit none = {0, 0};
        uint8_t tag[32];
        char out[MHKDF_STRING_SIZE];
        pthread_t thread;
        (void)setrlimit(RLIMIT_NPROC, &none);
        if (geteuid() == 0 && setuid(65533) != 0)
            _exit(3);
        if (__real_pthread_create(&thread, NULL, (void *(*)(void *))(void *)abort, NULL) == 0)
            _exit(4);
        if (derive(4, tag) != 0)
            _exit(5);
        if (mhkdf_crypt(ones, sizeof ones, STRING, NULL, out) != 0 || strcmp(out, STRING) != 0)
            _exit(6);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void
signal_mask_and_cancel_state_return(void **state)
{
    sigset_t before, after;
    uint8_t tag[32];
    int cancel_state;

    (void)state;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
    assert_int_equal(derive(4, tag), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    for (int signal = 1; signal < 32; signal++)
        assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
    assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel_state), 0);
    assert_int_equal(cancel_state, PTHREAD_CANCEL_ENABLE);
}

static void
nothing_is_left_behind(void **state)
{
    uint8_t tag[32];
    int descriptors, tasks;

    (void)state;
    assert_int_equal(derive(4, tag), 0);
    descriptors = count_entries("/proc/self/fd");
    tasks = count_entries("/proc/self/task");
    for (int i = 0; i < 50; i++)
        assert_int_equal(derive(4, tag), 0);
    assert_int_equal(count_entries("/proc/self/fd"), descriptors);
    assert_int_equal(count_entries("/proc/self/task"), tasks);
}

static void
mappings_are_given_back(void **state)
{
    static const char *const settings[] = {
        "$mhkdf$m64K.t1.p4.c0$AgICAgICAgICAgICAgICAg",
        "$mhkdf$m64K.t1.p4.c12$AgICAgICAgICAgICAgICAg",
        "$argon2id$v=19$m=64,t=1,p=4$AgICAgICAgICAgICAgICAg",
        "$argon2d$v=19$m=64,t=1,p=4$AgICAgICAgICAgICAgICAg",
    };
    char out[MHKDF_STRING_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        mappings_made = advices = 0;
        assert_int_equal(mhkdf_crypt("p", 1, settings[i], NULL, out), 0);
        assert_true(mappings_made > 0);
        assert_int_equal(mappings_live, 0);
        assert_true((advices & 1 << MADV_DONTDUMP) != 0);
        assert_true((advices & 1 << MADV_WIPEONFORK) != 0);
        assert_true((advices & 1 << MADV_HUGEPAGE) != 0);
    }
}

/* A host that cancels its thread must not have it unwound while workers use its stack. */
static void *
hash_cancelled(void *arg)
{
    (void)pthread_cancel(pthread_self());
    if (derive(4, arg) != 0)
        memset(arg, 0, 32);
    pthread_testcancel();
    return NULL;
}

static void
cancelled_thread(void **state)
{
    pthread_t thread;
    uint8_t tag[32] = {0};
    void *done;

    (void)state;
    watching = 0;
    assert_int_equal(__real_pthread_create(&thread, NULL, hash_cancelled, tag), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_ptr_equal(done, PTHREAD_CANCELED);
    hex_assert_equal(tag, 32, TAG);
}

static void
telling_parts_are_wiped(void **state)
{
    uint8_t tag[32];

    (void)state;
    assert_int_equal(derive(4, tag), 0);
    assert_int_equal(last_mapping_size, (64 + 39) * 1024);
    assert_int_equal(telling_parts_found, 0);
}

static void
no_memory(void **state)
{
    char out[MHKDF_STRING_SIZE] = "#";
    uint8_t tag[32];

    (void)state;
    fail_mappings_from = 0;
    memset(tag, '#', sizeof tag);
    assert_int_equal(derive(4, tag), ENOMEM);
    assert_true(is_zero(tag, sizeof tag));
    assert_int_equal(mhkdf_crypt("p", 1, STRING, NULL, out), ENOMEM);
    assert_string_equal(out, "");
    assert_int_equal(mhkdf_verify("p", 1, STRING, NULL), ENOMEM);
    assert_int_equal(threads_started, 0);
}

/* More than any machine has: refused by the system or by arithmetic, never by a crash. */
static void
too_much_memory(void **state)
{
    static const char greatest[] = "$mhkdf$m4294967295K.t1.p4.c6$AgICAgICAgICAgICAgICAg";
    char out[MHKDF_STRING_SIZE];
    pid_t child;
    int status;

    (void)state;
    if ((child = fork()) == 0) {
        struct rlimit limit = {UINT32_C(1) << 30, UINT32_C(1) << 30};
#if !TEST_IS_SANITIZED
        (void)setrlimit(RLIMIT_AS, &limit);
#else
        (void)limit;
        fail_mappings_from = 0;
#endif
        _exit(mhkdf_crypt("p", 1, greatest, NULL, out) == ENOMEM ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#ifndef __SANITIZE_THREAD__ /* which takes a look at a thread's old stack for a race */
static const char SECRET[] = "Tr0ub4dor&3 is no longer a secret";

/* A stack to look at afterwards. */
#define STACK_SIZE (512 * 1024)

static void *
verify_on_stack(void *arg)
{
    static const char inner[] = "$mhkdf$m64K.t1.p1.c6$AgICAgICAgICAgICAgICAg";
    struct mhkdf_setting wrap = {
        .cost = {MHKDF_METHOD_MHKDF1, 64, 1, 2, 6}, .salt = "saltsalt", .salt_len = 8};
    struct mhkdf_env env = {.threads = 1};
    char setting[MHKDF_STRING_SIZE];

    memcpy(wrap.inner, inner, sizeof inner);
    if (mhkdf_encode(&wrap, setting, sizeof setting) != 0 ||
        mhkdf_crypt(SECRET, strlen(SECRET), inner, &env, arg) != 0 ||
        mhkdf_crypt(SECRET, strlen(SECRET), setting, &env, (char *)arg + MHKDF_STRING_SIZE) != 0)
        return NULL;
    return arg;
}

static void
secrets_leave_the_stack(void **state)
{
    char *stack = __real_mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    char results[2][MHKDF_STRING_SIZE];
    struct mhkdf_setting made;
    pthread_attr_t attr;
    pthread_t thread;
    void *done;

    (void)state;
    assert_true(stack != MAP_FAILED);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstack(&attr, stack, STACK_SIZE), 0);
    assert_int_equal(__real_pthread_create(&thread, &attr, verify_on_stack, results), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_ptr_equal(done, results);
    (void)pthread_attr_destroy(&attr);

    assert_null(memmem(stack, STACK_SIZE, SECRET, 8));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mhkdf_parse(results[i], &made), 0);
        assert_null(memmem(stack, STACK_SIZE, made.tag, 16));
        assert_null(memmem(stack, STACK_SIZE, strrchr(results[i], '$') + 1, 16));
    }
    assert_int_equal(__real_munmap(stack, STACK_SIZE), 0);
}

#ifdef __OPTIMIZE__ /* else frames have gaps that no function reaches, which keep some pointers */
/* What depends on the password is the same in all hashes of one and differs in those of another. */
#define STACK_RUNS 6

struct stack_run {
    char password[9]; /* at the same place in all runs: the stack holds its address */
    size_t words;     /* of the stack below the frame of hash_on_stack; above is the C library's */
    char out[MHKDF_STRING_SIZE];
};

static uint64_t *stack_base; /* of the thread that runs */

static void *
hash_on_stack(void *arg)
{
    static const struct mhkdf_env env = {.threads = 1};
    struct stack_run *run = arg;

    run->words = (size_t)((uint64_t *)__builtin_frame_address(0) - stack_base);
    return mhkdf_crypt(run->password, 8, STRING, &env, run->out) == 0 ? arg : NULL;
}

static void
run_on_stack(uint64_t *stack, struct stack_run *run)
{
    pthread_attr_t attr;
    pthread_t thread;
    void *done;

    stack_base = stack;
    memset(stack, 0, STACK_SIZE);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstack(&attr, stack, STACK_SIZE), 0);
    assert_int_equal(__real_pthread_create(&thread, &attr, hash_on_stack, run), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_non_null(done);
    (void)pthread_attr_destroy(&attr);
}

static void
nothing_of_the_password_stays_on_the_stack(void **state)
{
    uint64_t *stacks[STACK_RUNS];
    struct stack_run run;
    unsigned telling = 0;

    (void)state;
    for (int i = 0; i < STACK_RUNS; i++) {
        stacks[i] = __real_mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        assert_true(stacks[i] != MAP_FAILED);
        memcpy(run.password, i % 2 == 0 ? "password" : "Qassword", sizeof run.password);
        run_on_stack(stacks[i], &run);
    }
    assert_in_range(run.words, 1, STACK_SIZE / sizeof(uint64_t) - 1);
    for (size_t w = 0; w < run.words; w++) {
        int steady = stacks[0][w] != stacks[1][w];
        for (int i = 2; i < STACK_RUNS; i++)
            steady = steady && stacks[i][w] == stacks[i % 2][w];
        telling += (unsigned)steady;
    }
    assert_int_equal(telling, 0);
    for (int i = 0; i < STACK_RUNS; i++)
        assert_int_equal(__real_munmap(stacks[i], STACK_SIZE), 0);
}
#endif
#endif

static void *
hash_many_times(void *arg)
{
    char out[MHKDF_STRING_SIZE];

    for (int i = 0; i < 20; i++)
        if (mhkdf_crypt(ones, sizeof ones, STRING, NULL, out) != 0 || strcmp(out, STRING) != 0)
            return NULL;
    return arg;
}

static void
many_hashes_at_once(void **state)
{
    pthread_t threads[8];
    void *done;

    (void)state;
    watching = 0;
    for (int i = 0; i < 8; i++)
        assert_int_equal(__real_pthread_create(&threads[i], NULL, hash_many_times, threads), 0);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(pthread_join(threads[i], &done), 0);
        assert_ptr_equal(done, threads);
    }
}

static void
at_least_one_cpu(void **state)
{
    (void)state;
    assert_in_range(team_cpus(), 1, 65536);
}

#if !TEST_IS_SANITIZED
/* ---- what a libcrypt leaves of a string that it copies ------------------------------- */

#include "tests/lib/leftover.h"

struct copying {
    char made[MHKDF_STRING_SIZE], copy[MHKDF_STRING_SIZE];
    int error;
};

/* As a libcrypt does it: made in one place, copied to another, and wiped in the first. */
static void
hash_and_copy(void *arg)
{
    static const struct mhkdf_env env = {.threads = 1};
    struct copying *copying = arg;

    copying->error = mhkdf_crypt(SECRET, strlen(SECRET), STRING, &env, copying->made);
    memcpy(copying->copy, copying->made, sizeof copying->copy);
    mhkdf_wipe(copying->made, sizeof copying->made);
}

static void
no_text_stays_in_registers(void **state)
{
    struct copying *copying = calloc(1, sizeof *copying);

    (void)state;
    assert_non_null(copying);
    leftover_run(hash_and_copy, copying);
    assert_int_equal(copying->error, 0);
    assert_int_equal(strlen(copying->copy), strlen(STRING));
    assert_int_equal(leftover_count(copying->copy), 0);
    assert_int_equal(leftover_count(SECRET), 0);
    leftover_run(leftover_plant_on_stack, copying->copy);
    assert_true(leftover_count(copying->copy) > 0);
#ifdef LEFTOVER_REGISTERS
    leftover_run(leftover_plant_in_register, copying->copy);
    assert_true(leftover_count(copying->copy) > 0);
#endif
    free(copying);
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(any_number_of_threads, reset),
        cmocka_unit_test_setup(threads_that_cannot_start, reset),
        cmocka_unit_test_setup(process_limit_exhausted, reset),
        cmocka_unit_test_setup(signal_mask_and_cancel_state_return, reset),
        cmocka_unit_test_setup(nothing_is_left_behind, reset),
        cmocka_unit_test_setup(mappings_are_given_back, reset),
        cmocka_unit_test_setup(cancelled_thread, reset),
        cmocka_unit_test_setup(telling_parts_are_wiped, reset),
        cmocka_unit_test_setup(no_memory, reset),
        cmocka_unit_test_setup(too_much_memory, reset),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test_setup(secrets_leave_the_stack, reset),
#ifdef __OPTIMIZE__
        cmocka_unit_test_setup(nothing_of_the_password_stays_on_the_stack, reset),
#endif
#endif
#if !TEST_IS_SANITIZED
        cmocka_unit_test_setup(no_text_stays_in_registers, reset),
#endif
        cmocka_unit_test_setup(many_hashes_at_once, reset),
        cmocka_unit_test_setup(at_least_one_cpu, reset),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
