/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs that call crypt(3) rely on: no allocation for settings that are refused, nothing
 * left behind, small stacks, many threads, strings that end where memory ends, clear errors. Speaks
 * TAP; linked with a grafted libcrypt.so. For glibc: it puts itself in front of malloc and mmap. */
#define _GNU_SOURCE
#include <crypt.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/leftover.h"

#define PASSWORD "correct horse battery staple"
#define SALT "AgICAgICAgICAgICAgICAg"
#define MHKDF "$mhkdf$m64K.t2.p4.c6$" SALT
#define ARGON2ID "$argon2id$v=19$m=64,t=2,p=4$" SALT
#define ARGON2D "$argon2d$v=19$m=64,t=2,p=4$" SALT
#define ARGON2I "$argon2i$v=19$m=64,t=2,p=4$" SALT

/* Stack that a call may use, the inner call of a wrapped hash included; libcore takes up to 20 KiB.
 */
#define STACK_LIMIT (24 * 1024)

static unsigned int case_count;
static unsigned int failed_count;

static void __attribute__((format(printf, 2, 3))) check(int good, const char *format, ...)
{
    va_list args;

    case_count++;
    if (!good)
        failed_count++;
    printf("%sok %u - ", good ? "" : "not ", case_count);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

static void *
must(void *pointer)
{
    if (pointer == NULL) {
        perror("limits");
        exit(99);
    }
    return pointer;
}

/*
 * What is allocated, counted
 */

struct counts {
    unsigned long heap;
    unsigned long maps;
    unsigned long unmaps;
    unsigned long threads;
};

static struct counts counts; /* only looked at while no other thread runs */
static int heap_fails;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static int
heap_call_fails(void)
{
    __atomic_add_fetch(&counts.heap, 1, __ATOMIC_RELAXED);
    if (heap_fails)
        errno = ENOMEM;
    return heap_fails;
}

void *
malloc(size_t size)
{
    return heap_call_fails() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
    return heap_call_fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
    return heap_call_fails() ? NULL : __libc_realloc(old, size);
}

static void *
real_function(const char *name)
{
    return must(dlsym(RTLD_NEXT, name));
}

void *
mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t);

    *(void **)&real = real_function("mmap");
    __atomic_add_fetch(&counts.maps, 1, __ATOMIC_RELAXED);
    return real(addr, size, prot, flags, fd, offset);
}

void *
mmap64(void *addr, size_t size, int prot, int flags, int fd, off64_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off64_t);

    *(void **)&real = real_function("mmap64");
    __atomic_add_fetch(&counts.maps, 1, __ATOMIC_RELAXED);
    return real(addr, size, prot, flags, fd, offset);
}

int
munmap(void *addr, size_t size)
{
    int (*real)(void *, size_t);

    *(void **)&real = real_function("munmap");
    __atomic_add_fetch(&counts.unmaps, 1, __ATOMIC_RELAXED);
    return real(addr, size);
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    *(void **)&real = real_function("pthread_create");
    __atomic_add_fetch(&counts.threads, 1, __ATOMIC_RELAXED);
    return real(thread, attr, start, arg);
}

/*
 * Settings
 */

static struct crypt_data *data;

/* An $mhkdf$ setting that wraps another; to be freed. */
static char *
wrap(const char *inner)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./";
    char encoded[4096] = "";
    size_t len = strlen(inner), n = 0;
    char *setting = NULL;

    for (size_t i = 0; i < len; i += 3) {
        unsigned int left = len - i < 3 ? (unsigned int)(len - i) : 3, bits = 0;
        for (unsigned int j = 0; j < 3; j++)
            bits = bits << 8 | (j < left ? (unsigned char)inner[i + j] : 0U);
        for (unsigned int j = 0; j < left + 1; j++)
            encoded[n++] = digits[bits >> (18 - 6 * j) & 63];
    }
    if (asprintf(&setting, "$mhkdf$m64K.t1.p4.c6.w%s$%s", encoded, SALT) < 0)
        must(NULL);
    return setting;
}

static const char *const inner_settings[] = {"$6$saltstring",
                                             "$5$saltstring",
                                             "$1$saltsalt",
                                             "$y$j75$LdJMENpBABJJ3hIHjB1Bi.",
                                             "$gy$j75$LdJMENpBABJJ3hIHjB1Bi.",
                                             "$7$20..../....saltsalt",
                                             "$2b$04$abcdefghijklmnopqrstuu",
                                             "$sha1$24$saltsalt",
                                             "_J9..rasm",
                                             "ab",
                                             ARGON2ID};

#define INNER_SETTINGS (sizeof(inner_settings) / sizeof(inner_settings[0]))

static const char *const plain_settings[] = {MHKDF, ARGON2ID, ARGON2D, ARGON2I};

#define PLAIN_SETTINGS (sizeof(plain_settings) / sizeof(plain_settings[0]))

/* The hash in memory of its own; NULL on failure. To be freed. */
static char *
hash_of(const char *phrase, const char *setting)
{
    struct crypt_data *d = must(calloc(1, sizeof(*d)));
    const char *hash = crypt_rn(phrase, setting, d, (int)sizeof(*d));
    char *copy = hash == NULL ? NULL : must(strdup(hash));

    free(d);
    return copy;
}

static int
is_all_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0)
            return 0;
    }
    return 1;
}

/* Refused by crypt_r with this error, with a failure token, and without an allocation. */
static void
check_refusal(const char *name, const char *phrase, const char *setting, int error)
{
    struct counts before = counts;
    const char *got;
    int is_token, got_errno;

    errno = 0;
    got = crypt_r(phrase, setting, data);
    got_errno = errno;
    is_token = got == NULL ||
               ((strcmp(got, "*0") == 0 || strcmp(got, "*1") == 0) && strcmp(got, setting) != 0);
    check(is_token && got_errno == error && memcmp(&before, &counts, sizeof(before)) == 0 &&
              is_all_zero(data->internal, sizeof(data->internal)),
          "refused, nothing allocated: %s (%s, errno %d)", name, got != NULL ? got : "NULL",
          got_errno);
}

static void
test_refusals(void)
{
    char *long_phrase = must(malloc(513)), *long_setting = must(malloc(5000));
    char *deep = wrap(ARGON2ID), *bad_inside = wrap("$argon2id$v=19$m=1,t=1,p=1$" SALT);
    struct counts before = counts;

    /* The counting itself. */
    free(hash_of(PASSWORD, MHKDF));
    check(counts.heap > before.heap && counts.maps == before.maps + 1 &&
              counts.unmaps == before.unmaps + 1,
          "a good setting allocates, one mapping, and gives it back");

    memset(long_phrase, 'x', 512);
    long_phrase[512] = '\0';
    memset(long_setting, 'A', 4999);
    memcpy(long_setting, MHKDF, strlen(MHKDF));
    long_setting[4999] = '\0';
    for (int i = 0; i < 3; i++) {
        char *deeper = wrap(deep);
        free(deep);
        deep = deeper;
    }

    check_refusal("a phrase of 512 bytes, $mhkdf$", long_phrase, MHKDF, ERANGE);
    check_refusal("a phrase of 512 bytes, $argon2id$", long_phrase, ARGON2ID, ERANGE);
    check_refusal("a phrase of 512 bytes, $argon2d$", long_phrase, ARGON2D, ERANGE);
    check_refusal("a phrase of 512 bytes, $argon2i$", long_phrase, ARGON2I, ERANGE);
    check_refusal("a salt of 5000 characters", PASSWORD, long_setting, EINVAL);
    long_setting[384] = '\0';
    check_refusal("a setting of 384 characters", PASSWORD, long_setting, EINVAL);
    long_setting[383] = '\0';
    check_refusal("a setting of 383 characters", PASSWORD, long_setting, EINVAL);
    check_refusal("4 TiB and a salt too short", PASSWORD, "$mhkdf$m4294967295K.t1.p4.c6$AAAA",
                  EINVAL);
    check_refusal("4 TiB and a tag too short", PASSWORD,
                  "$mhkdf$m4294967295K.t1.p4.c6$" SALT "$AAAA", EINVAL);
    check_refusal("more than 4 TiB", PASSWORD, "$argon2id$v=19$m=4294967296,t=1,p=4$" SALT, EINVAL);
    check_refusal("too many passes", PASSWORD, "$argon2d$v=19$m=4096,t=16777216,p=4$" SALT, EINVAL);
    check_refusal("too many lanes", PASSWORD, "$argon2i$v=19$m=4096,t=1,p=65$" SALT, EINVAL);
    check_refusal("a prefix alone", PASSWORD, "$mhkdf$", EINVAL);
    check_refusal("the unreleased form", PASSWORD, "$mhkdf$v=1$m=64,t=1,p=4,c=6$" SALT, EINVAL);
    check_refusal("Argon2 1.0", PASSWORD, "$argon2id$m=64,t=1,p=4$" SALT, EINVAL);
    check_refusal("a bad character", PASSWORD, MHKDF ":", EINVAL);
    check_refusal("a site key", PASSWORD, "$mhkdf$m64K.t1.p4.c6.kmain$" SALT, ENOKEY);
    check_refusal("wrapped: a bad one of ours", PASSWORD, bad_inside, EINVAL);
    check_refusal("wrapped too deep", PASSWORD, deep, EINVAL);
    free(long_phrase);
    free(long_setting);
    free(deep);
    free(bad_inside);
}

static void
test_phrases(void)
{
    static const size_t lengths[] = {0, 1, 127, 128, 510, 511};
    char phrase[513], *last = NULL;

    for (size_t i = 0; i < PLAIN_SETTINGS; i++) {
        for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
            char *hash, *again;

            memset(phrase, 0xe4, sizeof(phrase));
            phrase[lengths[j]] = '\0';
            hash = hash_of(phrase, plain_settings[i]);
            again = hash == NULL ? NULL : hash_of(phrase, hash);
            check(hash != NULL && again != NULL && strcmp(hash, again) == 0 &&
                      (last == NULL || strcmp(hash, last) != 0),
                  "%.9s.. takes a phrase of %zu bytes", plain_settings[i], lengths[j]);
            free(last);
            free(again);
            last = hash;
        }
    }
    free(last);
}

/* With random bytes of its own, and with a number of bytes that is none. */
static void
test_gensalt(void)
{
    static const char *const prefixes[] = {"$mhkdf$", "$argon2id$", "$argon2d$", "$argon2i$"};
    static const char rbytes[64] = "negative numbers must not be taken for large ones";
    char first[CRYPT_GENSALT_OUTPUT_SIZE], second[CRYPT_GENSALT_OUTPUT_SIZE];

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const char *prefix = prefixes[i], *got;
        char *hash;

        check(crypt_gensalt_rn(prefix, 1, NULL, 0, first, sizeof(first)) != NULL &&
                  crypt_gensalt_rn(prefix, 1, NULL, 0, second, sizeof(second)) != NULL &&
                  strncmp(first, prefix, strlen(prefix)) == 0 && strcmp(first, second) != 0,
              "crypt_gensalt_rn of %s, twice, with random bytes of its own", prefix);
        hash = hash_of(PASSWORD, first);
        check(hash != NULL && strncmp(hash, first, strlen(first)) == 0, "crypt takes it");
        free(hash);
        errno = 0;
        got = crypt_gensalt_rn(prefix, 1, rbytes, -1, first, sizeof(first));
        check(got == NULL && errno == EINVAL && first[0] == '*', "%s with -1 random bytes", prefix);
    }
}

/* A copy of the string, or of its start, that ends where memory ends. */
static char *
at_end_of_memory(const char *string, size_t len)
{
    static char *page;
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    char *copy;

    if (page == NULL) {
        page =
            mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || mprotect(page + page_size, page_size, PROT_NONE) != 0)
            must(NULL);
    }
    memset(page, 'A', page_size);
    copy = page + page_size - len - 1;
    memcpy(copy, string, len);
    copy[len] = '\0';
    return copy;
}

static void
test_end_of_memory(void)
{
    char *wrapped = wrap("$1$saltsalt"), *hashes[PLAIN_SETTINGS + 1];

    for (size_t i = 0; i <= PLAIN_SETTINGS; i++) {
        const char *hash = i < PLAIN_SETTINGS ? plain_settings[i] : wrapped;
        size_t good = 0, same = 0;

        hashes[i] = must(hash_of(PASSWORD, hash));
        for (size_t len = 0; len <= strlen(hashes[i]); len++) {
            char *cut = must(strndup(hashes[i], len));
            char *expected = hash_of(PASSWORD, cut);
            char *got = hash_of(PASSWORD, at_end_of_memory(hashes[i], len));

            same += expected == NULL ? got == NULL : got != NULL && strcmp(got, expected) == 0;
            good += got != NULL;
            free(cut);
            free(expected);
            free(got);
        }
        check(same == strlen(hashes[i]) + 1 && good > 2,
              "every start of %.30s.. at the end of memory (%zu are settings)", hashes[i], good);
        free(hashes[i]);
    }
    hashes[0] = must(hash_of(PASSWORD, MHKDF));
    hashes[1] = must(hash_of(at_end_of_memory(PASSWORD, strlen(PASSWORD)), MHKDF));
    check(strcmp(hashes[0], hashes[1]) == 0, "a phrase at the end of memory");
    free(hashes[0]);
    free(hashes[1]);
    free(wrapped);
}

static void
test_unaligned(void)
{
    char *expected = must(hash_of(PASSWORD, MHKDF)), *block = must(malloc(sizeof(*data) + 16));

    for (size_t offset = 0; offset < 16; offset += offset < 3 ? 1 : 4) {
        void *unaligned = block + offset;
        const char *got;

        memset(block, 0x55, sizeof(*data) + 16);
        got = crypt_rn(PASSWORD, MHKDF, unaligned, (int)sizeof(*data));
        check(got != NULL && strcmp(got, expected) == 0, "struct crypt_data at offset %zu", offset);
    }
    free(block);
    free(expected);
}

/*
 * Stacks
 */

struct call {
    const char *setting;
    struct crypt_data *data;
    char *got;
};

static void *
run_call(void *arg)
{
    struct call *call = arg;

    call->got = crypt_rn(PASSWORD, call->setting, call->data, (int)sizeof(*call->data));
    return NULL;
}

static void *
run_nothing(void *arg)
{
    return arg;
}

/* Bytes of stack that a thread has touched, from a painted stack. */
static size_t
stack_used(void *(*start)(void *), void *arg)
{
    size_t size = 512 * 1024, untouched = 0;
    unsigned char *stack =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pthread_attr_t attr;
    pthread_t thread;

    if (stack == MAP_FAILED)
        must(NULL);
    memset(stack, 0xa5, size);
    if (pthread_attr_init(&attr) != 0 || pthread_attr_setstack(&attr, stack, size) != 0 ||
        pthread_create(&thread, &attr, start, arg) != 0 || pthread_join(thread, NULL) != 0)
        must(NULL);
    while (untouched < size && stack[untouched] == 0xa5)
        untouched++;
    pthread_attr_destroy(&attr);
    munmap(stack, size);
    return size - untouched;
}

static int
runs_on_stack(size_t size, struct call *call)
{
    pthread_attr_t attr;
    pthread_t thread;

    if (pthread_attr_init(&attr) != 0 || pthread_attr_setstacksize(&attr, size) != 0 ||
        pthread_create(&thread, &attr, run_call, call) != 0 || pthread_join(thread, NULL) != 0)
        must(NULL);
    pthread_attr_destroy(&attr);
    return call->got != NULL;
}

static void
check_stack(const char *setting, const char *name, size_t own)
{
    struct call call = {.setting = setting, .data = must(calloc(1, sizeof(*data)))};
    size_t used, alone = 0, least = (size_t)sysconf(_SC_THREAD_STACK_MIN);

    if (name != setting) { /* what the wrapped method takes by itself isn't ours */
        struct call inner = {.setting = name, .data = call.data};
        alone = stack_used(run_call, &inner);
    }
    used = stack_used(run_call, &call);
    /* An inner call runs while the outer one waits, on top of it. */
    check(call.got != NULL && used - own <= STACK_LIMIT + (alone > own ? alone - own : 0),
          "%s%.30s uses %zu bytes of stack", name != setting ? "a wrapped " : "", name, used - own);
    least += STACK_LIMIT + (alone > own ? alone - own : 0);
    check(runs_on_stack(least, &call), "a thread with %zu bytes of stack runs it", least);
    free(call.data);
}

static void
test_stacks(void)
{
    size_t own = stack_used(run_nothing, NULL);

    for (size_t i = 0; i < PLAIN_SETTINGS; i++)
        check_stack(plain_settings[i], plain_settings[i], own);
    for (size_t i = 0; i < INNER_SETTINGS; i++) {
        char *wrapped = wrap(inner_settings[i]);

        if (crypt_checksalt(inner_settings[i]) != CRYPT_SALT_INVALID)
            check_stack(wrapped, inner_settings[i], own);
        free(wrapped);
    }
}

/*
 * What is left on the stack, and in registers
 */

static void
run_crypt_r(void *arg)
{
    struct call *call = arg;

    call->got = crypt_r(PASSWORD, call->setting, call->data);
}

static void
test_leftovers(void)
{
    char hash[CRYPT_OUTPUT_SIZE];

    for (size_t i = 0; i < PLAIN_SETTINGS; i++) {
        struct call call = {.setting = plain_settings[i], .data = must(calloc(1, sizeof(*data)))};
        int left;

        leftover_run(run_crypt_r, &call);
        must(call.got);
        strcpy(hash, strrchr(call.data->output, '$') + 1);
        left = leftover_count(hash);
        check(left == 0, "%.30s: the hash stays in %d places of the stack", call.setting, left);
        left = leftover_count(PASSWORD);
        check(left == 0, "%.30s: the phrase stays in %d places", call.setting, left);
        free(call.data);
    }
    must(crypt_r(PASSWORD, MHKDF, data));
    leftover_run(leftover_plant_on_stack, data->output);
    check(leftover_count(data->output) > 0, "what is planted on the stack is found");
#ifdef LEFTOVER_REGISTERS
    leftover_run(leftover_plant_in_register, data->output);
    check(leftover_count(data->output) > 0, "what is planted in a register is found");
#endif
}

/*
 * Many at once
 */

#define CALLERS 16
#define CALLS 12

struct caller {
    pthread_t thread;
    unsigned int number;
    unsigned int wrong;
    char *const *settings;
    char *const *hashes;
    size_t count;
};

static void *
run_caller(void *arg)
{
    struct caller *caller = arg;

    for (unsigned int i = 0; i < CALLS; i++) {
        size_t which = (caller->number + i) % caller->count;
        char *got = hash_of(PASSWORD, caller->settings[which]);

        caller->wrong += got == NULL || strcmp(got, caller->hashes[which]) != 0;
        free(got);
    }
    return NULL;
}

static void
test_many_threads(void)
{
    struct caller callers[CALLERS] = {0};
    char *settings[PLAIN_SETTINGS + INNER_SETTINGS], *hashes[PLAIN_SETTINGS + INNER_SETTINGS];
    size_t count = 0;
    unsigned int wrong = 0;

    for (size_t i = 0; i < PLAIN_SETTINGS; i++)
        settings[count++] = must(strdup(plain_settings[i]));
    for (size_t i = 0; i < INNER_SETTINGS; i++) {
        if (crypt_checksalt(inner_settings[i]) != CRYPT_SALT_INVALID)
            settings[count++] = wrap(inner_settings[i]);
    }
    for (size_t i = 0; i < count; i++)
        hashes[i] = must(hash_of(PASSWORD, settings[i]));
    for (unsigned int i = 0; i < CALLERS; i++) {
        callers[i] =
            (struct caller){.number = i, .settings = settings, .hashes = hashes, .count = count};
        if (pthread_create(&callers[i].thread, NULL, run_caller, &callers[i]) != 0)
            must(NULL);
    }
    for (unsigned int i = 0; i < CALLERS; i++) {
        if (pthread_join(callers[i].thread, NULL) != 0)
            must(NULL);
        wrong += callers[i].wrong;
    }
    check(wrong == 0, "%d threads with %d calls each, %u wrong", CALLERS, CALLS, wrong);
    for (size_t i = 0; i < count; i++) {
        free(settings[i]);
        free(hashes[i]);
    }
}

/*
 * What is wrong, and what is left
 */

static void
test_wraps(void)
{
    static const char *const bad[] = {"$2b$99$abcdefghijklmnopqrstuu", "$y$j75", "$7$"};

    for (size_t i = 0; i < INNER_SETTINGS; i++) {
        char *setting = wrap(inner_settings[i]), *hash = hash_of(PASSWORD, setting);
        char *again = hash == NULL ? NULL : hash_of(PASSWORD, hash);
        char *other = hash == NULL ? NULL : hash_of("another", hash);

        if (crypt_checksalt(inner_settings[i]) == CRYPT_SALT_INVALID)
            check(hash == NULL, "wrapped %s: not in this libcrypt", inner_settings[i]);
        else
            check(hash != NULL && again != NULL && strcmp(hash, again) == 0 && other != NULL &&
                      strcmp(hash, other) != 0,
                  "wrapped %s: the right phrase, and a wrong one", inner_settings[i]);
        free(setting);
        free(hash);
        free(again);
        free(other);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *setting = wrap(bad[i]);
        const char *got;

        errno = 0;
        got = crypt_r(PASSWORD, setting, data);
        check((got == NULL || got[0] == '*') && errno == EINVAL, "wrapped %s: refused", bad[i]);
        free(setting);
    }
}

/* In a child, since limits can't be raised again: 0, or the number of the step that went wrong. */
static int
in_child(int (*run)(void))
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0)
        _exit(run());
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        must(NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static unsigned long
mapped_pages(void)
{
    unsigned long pages = 0;
    FILE *in = must(fopen("/proc/self/statm", "r"));

    if (fscanf(in, "%lu", &pages) != 1)
        must(NULL);
    fclose(in);
    return pages;
}

static int
run_out_of_memory(void)
{
    static const char large[] = "$mhkdf$m1G.t1.p4.c6$" SALT;
    struct rlimit limit;
    const char *got;

    /* 256 MiB more than now. */
    limit.rlim_cur = mapped_pages() * (rlim_t)sysconf(_SC_PAGESIZE) + (256 << 20);
    limit.rlim_max = limit.rlim_cur;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    errno = 0;
    got = crypt_r(PASSWORD, large, data);
    if ((got != NULL && got[0] != '*') || errno != ENOMEM)
        return 2;
    errno = 0;
    if (crypt_rn(PASSWORD, large, data, (int)sizeof(*data)) != NULL || errno != ENOMEM)
        return 3;
    return crypt_rn(PASSWORD, MHKDF, data, (int)sizeof(*data)) == NULL ? 4 : 0;
}

static int
run_out_of_heap(void)
{
    char *wrapped = wrap("$6$saltstring");
    const char *got;

    heap_fails = 1;
    errno = 0;
    got = crypt_r(PASSWORD, wrapped, data);
    if ((got != NULL && got[0] != '*') || errno != ENOMEM)
        return 1;
    heap_fails = 0;
    got = crypt_r(PASSWORD, wrapped, data);
    return got == NULL || got[0] == '*' ? 2 : 0;
}

static char *expected_hash;

static int
run_hash(void)
{
    const char *got = crypt_rn(PASSWORD, MHKDF, data, (int)sizeof(*data));

    return got == NULL ? 1 : strcmp(got, expected_hash) == 0 ? 0 : 2;
}

static int
run_without_threads(void)
{
    struct rlimit limit = {0, 0};
    pthread_t thread;

    /* Root is above this limit. */
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 10;
    if (setrlimit(RLIMIT_NPROC, &limit) != 0)
        return 11;
    if (pthread_create(&thread, NULL, run_nothing, NULL) == 0)
        return 12;
    return run_hash();
}

static void
test_left_behind(void)
{
    char *wrapped = wrap("$6$saltstring");
    unsigned long before, after;
    struct counts start;
    sigset_t mask, mask_after;
    int fd_before, fd_after;

    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    for (int i = 0; i < 20; i++) /* libc keeps stacks of threads for the next ones */
        free(hash_of(PASSWORD, i % 2 ? MHKDF : wrapped));
    fd_before = dup(0);
    before = mapped_pages();
    start = counts;
    for (int i = 0; i < 20; i++)
        free(hash_of(PASSWORD, i % 2 ? MHKDF : wrapped));
    check(counts.maps - start.maps == counts.unmaps - start.unmaps, "as many unmapped as mapped");
    after = mapped_pages();
    fd_after = dup(0);
    check(after == before, "no memory is left mapped (%lu pages, %lu before)", after, before);
    check(fd_after == fd_before + 1, "no descriptor is left open");
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    check(sigismember(&mask_after, SIGUSR1) == 1 && sigismember(&mask_after, SIGUSR2) == 0 &&
              sigismember(&mask_after, SIGCHLD) == 0,
          "signals are blocked as before");
    close(fd_before);
    close(fd_after);
    check(is_all_zero(data->internal, sizeof(data->internal)), "scratch memory is wiped");
    free(wrapped);
}

int
main(void)
{
    int rc;

    data = must(calloc(1, sizeof(*data)));
    for (size_t i = 0; i < PLAIN_SETTINGS; i++) {
        if (crypt_checksalt(plain_settings[i]) != CRYPT_SALT_OK) {
            check(0, "this libcrypt knows %s", plain_settings[i]);
            printf("1..1\n");
            return 1;
        }
    }
    expected_hash = must(hash_of(PASSWORD, MHKDF));
    test_refusals();
    test_phrases();
    test_gensalt();
    test_end_of_memory();
    test_unaligned();
    test_stacks();
    test_leftovers();
    test_many_threads();
    test_wraps();
    rc = in_child(run_out_of_memory);
    check(rc == 0, "out of memory: ENOMEM, and the next call works (%d)", rc);
    rc = in_child(run_out_of_heap);
    check(rc == 0, "no memory for the inner call: ENOMEM, and the next call works (%d)", rc);
    rc = in_child(run_hash);
    check(rc == 0, "after fork() (%d)", rc);
    rc = in_child(run_without_threads);
    check(rc == 0, "where no thread can be started (%d)", rc);
    test_left_behind();
    free(expected_hash);
    free(data);
    printf("1..%u\n", case_count);
    return failed_count == 0 ? 0 : 1;
}
