/* SPDX-License-Identifier: BSD-2-Clause */
/* What is particular to the library in front: others' strings get what the library behind gives,
 * ours what libxcrypt would; and all of it early, late and in odd places of a process. Speaks TAP;
 * linked with the front library, for glibc.
 *
 * usage: front KNOWN_ANSWERS ORIGINAL
 *        front KNOWN_ANSWERS missing     (the library behind isn't there)
 *        front KNOWN_ANSWERS calls       (nothing but others' hashes, for strace) */
#define _GNU_SOURCE
#include <crypt.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PHRASE "correct horse"
#define ANSWERS_MAX 32
#define SMALL_STACK (32 * 1024)

static char ours[ANSWERS_MAX][CRYPT_OUTPUT_SIZE], others[ANSWERS_MAX][CRYPT_OUTPUT_SIZE];
static size_t ours_count, others_count;
static struct crypt_data data, data_too;
static void *behind; /* NULL: it is missing */

static unsigned int case_count, failed_count;

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

static int
same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* ---- before main ---- */

#define EARLY_SETTING "$1$saltsalt$"
static char very_early[CRYPT_OUTPUT_SIZE], early[CRYPT_OUTPUT_SIZE];

static void
call_early(char *out)
{
    const char *hash = crypt(PHRASE, EARLY_SETTING);

    if (hash != NULL)
        strcpy(out, hash);
}

/* Before the constructors of all libraries. */
static void
before_all(int argc, char **argv, char **envp)
{
    (void)argc;
    (void)argv;
    (void)envp;
    call_early(very_early);
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = before_all;

static int threads_at_start;

static int
count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    while (tasks != NULL && readdir(tasks) != NULL)
        count++;
    if (tasks != NULL)
        closedir(tasks);
    return count - 2; /* . and .. */
}

__attribute__((constructor)) static void
before_main(void)
{
    threads_at_start = count_threads();
    call_early(early);
}

static void
test_start(void)
{
    const char *hash = crypt(PHRASE, EARLY_SETTING);

    check(same(very_early, hash), "a call from .preinit_array");
    check(same(early, hash), "a call from a constructor");
    check(behind == NULL || hash[0] != '*', "which hashes");
    check(threads_at_start == 1, "no thread is started when it is loaded");
    check(dlerror() == NULL, "nothing is left for dlerror()");
}

/* ---- what functions return ---- */

struct functions {
    char *(*crypt)(const char *, const char *);
    char *(*crypt_r)(const char *, const char *, struct crypt_data *);
    char *(*crypt_rn)(const char *, const char *, void *, int);
    char *(*crypt_ra)(const char *, const char *, void **, int *);
    char *(*crypt_gensalt)(const char *, unsigned long, const char *, int);
    char *(*crypt_gensalt_rn)(const char *, unsigned long, const char *, int, char *, int);
    char *(*crypt_gensalt_ra)(const char *, unsigned long, const char *, int);
    int (*crypt_checksalt)(const char *);
    const char *(*crypt_preferred_method)(void);
};

static struct functions front = {crypt,
                                 crypt_r,
                                 crypt_rn,
                                 crypt_ra,
                                 crypt_gensalt,
                                 crypt_gensalt_rn,
                                 crypt_gensalt_ra,
                                 crypt_checksalt,
                                 crypt_preferred_method};
static struct functions back;

static void *
symbol(void *handle, const char *name)
{
    void *found = dlsym(handle, name);

    if (found == NULL) {
        printf("Bail out! %s isn't there\n", name);
        exit(99);
    }
    return found;
}

static void
look_behind(const char *path)
{
    behind = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (behind == NULL) {
        printf("Bail out! %s\n", dlerror());
        exit(99);
    }
    *(void **)&back.crypt = symbol(behind, "crypt");
    *(void **)&back.crypt_r = symbol(behind, "crypt_r");
    *(void **)&back.crypt_rn = symbol(behind, "crypt_rn");
    *(void **)&back.crypt_ra = symbol(behind, "crypt_ra");
    *(void **)&back.crypt_gensalt = symbol(behind, "crypt_gensalt");
    *(void **)&back.crypt_gensalt_rn = symbol(behind, "crypt_gensalt_rn");
    *(void **)&back.crypt_gensalt_ra = symbol(behind, "crypt_gensalt_ra");
    *(void **)&back.crypt_checksalt = symbol(behind, "crypt_checksalt");
    *(void **)&back.crypt_preferred_method = symbol(behind, "crypt_preferred_method");
}

/* All ways to hash, as one text: results, errors and what is in the structure. */
static void
describe(const struct functions *f, const char *phrase, const char *setting, char *out)
{
    void *allocated = NULL;
    int size = 0;
    const char *hash;

    memset(&data, 0, sizeof(data));
    errno = 0;
    hash = f->crypt(phrase, setting);
    out += sprintf(out, "crypt %s %d;", hash != NULL ? hash : "NULL", errno);
    errno = 0;
    hash = f->crypt_r(phrase, setting, &data);
    out += sprintf(out, "r %s %d %s;", hash != NULL ? hash : "NULL", errno, data.output);
    memset(&data, 0, sizeof(data));
    errno = 0;
    hash = f->crypt_rn(phrase, setting, &data, (int)sizeof(data));
    out += sprintf(out, "rn %s %d %s;", hash != NULL ? hash : "NULL", errno, data.output);
    memset(&data, 0, sizeof(data));
    errno = 0;
    hash = f->crypt_rn(phrase, setting, &data, 400);
    out += sprintf(out, "short %s %d %s;", hash != NULL ? hash : "NULL", errno, data.output);
    errno = 0;
    hash = f->crypt_ra(phrase, setting, &allocated, &size);
    out += sprintf(out, "ra %s %d %d;", hash != NULL ? hash : "NULL", errno, size);
    free(allocated);
    sprintf(out, "check %d", f->crypt_checksalt(setting));
}

static void
test_others(void)
{
    static const char *const settings[] = {"$6$saltstring",
                                           "$5$rounds=1000$salt",
                                           "$1$salt",
                                           "$y$j75$LdJMENpBABJJ3hIHjB1Bi.",
                                           "$2b$04$abcdefghijklmnopqrstuu",
                                           "ab",
                                           "_J9..rasm",
                                           "$3$",
                                           "",
                                           "*0",
                                           "*1",
                                           "*",
                                           "$",
                                           "$mhkd",
                                           "$mhkdf",
                                           "$argon2",
                                           "$argon2x$",
                                           "x",
                                           "$6$a:b",
                                           "$6$\xff",
                                           "$99$x",
                                           NULL};
    static char by_front[8192], by_back[8192], long_phrase[600];
    size_t i;

    memset(long_phrase, 'x', 599);
    for (i = 0; i == 0 || settings[i - 1] != NULL; i++) {
        describe(&front, PHRASE, settings[i], by_front);
        describe(&back, PHRASE, settings[i], by_back);
        check(strcmp(by_front, by_back) == 0, "as the library behind: %s",
              settings[i] != NULL ? settings[i] : "no setting");
    }
    describe(&front, long_phrase, "$6$salt", by_front);
    describe(&back, long_phrase, "$6$salt", by_back);
    check(strcmp(by_front, by_back) == 0, "as the library behind: a phrase that is too long");
    describe(&front, NULL, "$6$salt", by_front);
    describe(&back, NULL, "$6$salt", by_back);
    check(strcmp(by_front, by_back) == 0, "as the library behind: no phrase");
    for (i = 0; i < others_count; i++)
        check(same(crypt(PHRASE, others[i]), others[i]), "%s", others[i]);
}

/* What libxcrypt says of any method that it has, and of one that it hasn't. */
static void
test_failures(const char *setting, int error, int checked, const char *what)
{
    static char text[8192], expected[8192], token[8];

    strcpy(token, setting[0] == '*' && setting[1] == '0' ? "*1" : "*0");
    describe(&front, PHRASE, setting, text);
    sprintf(expected,
            "crypt %s %d;r %s %d %s;rn NULL %d %s;short NULL %d %s;ra NULL %d %d;check %d", token,
            error, token, error, token, error, token, ERANGE, token, error,
            (int)sizeof(struct crypt_data), checked);
    check(strcmp(text, expected) == 0, "%s: %s", what, setting);
    if (strcmp(text, expected) != 0)
        printf("# got      %s\n# expected %s\n", text, expected);
}

static void
test_ours(void)
{
    static char text[8192], expected[8192], long_phrase[600], broken[CRYPT_OUTPUT_SIZE];
    size_t i;

    for (i = 0; i < ours_count; i++) {
        describe(&front, PHRASE, ours[i], text);
        snprintf(expected, sizeof(expected),
                 "crypt %s 0;r %s 0 %s;rn %s 0 %s;short NULL %d *0;ra %s 0 %d;check 0", ours[i],
                 ours[i], ours[i], ours[i], ours[i], ERANGE, ours[i],
                 (int)sizeof(struct crypt_data));
        check(strcmp(text, expected) == 0, "%s", ours[i]);
        check(!same(crypt("wrong horse", ours[i]), ours[i]), "and a wrong phrase");
    }
    test_failures("$mhkdf$", EINVAL, CRYPT_SALT_OK, "malformed");
    test_failures("$argon2id$v=16$m=8,t=1,p=1$c2FsdHNhbHQ", EINVAL, CRYPT_SALT_OK, "malformed");
    strcpy(broken, ours[1]);
    broken[strlen(broken) - 1] = ':';
    test_failures(broken, EINVAL, CRYPT_SALT_INVALID, "with a colon");
    memset(long_phrase, 'x', sizeof(long_phrase) - 1);
    errno = 0;
    check(crypt_rn(long_phrase, ours[0], &data, (int)sizeof(data)) == NULL && errno == ERANGE,
          "a phrase that is too long");
    check(crypt_rn(long_phrase, "$mhkdf$", &data, (int)sizeof(data)) == NULL && errno == ERANGE,
          "and a malformed setting too: the length is looked at first");
    check(crypt_rn(NULL, ours[0], &data, (int)sizeof(data)) == NULL && errno == EINVAL,
          "no phrase");
    strcpy(data.output, ours[0]);
    check(same(crypt_r(PHRASE, data.output, &data), ours[0]),
          "the setting is where the output goes");
}

/* The two crypt() don't disturb each other, and nothing is left in the structure. */
static void
test_buffers(void)
{
    const char *mine = crypt(PHRASE, ours[0]);
    size_t i, left = 0;

    check(same(mine, ours[0]), "crypt()'s buffer holds ours");
    if (behind != NULL) {
        const char *theirs = crypt(PHRASE, EARLY_SETTING);
        check(theirs == back.crypt(PHRASE, EARLY_SETTING),
              "and others' are in the other library's");
    }
    memset(&data_too, 0, sizeof(data_too));
    (void)crypt_r(PHRASE, ours[0], &data_too);
    for (i = 0; i < sizeof(data_too.internal); i++)
        left += data_too.internal[i] != 0;
    check(left == 0, "nothing is left in struct crypt_data");
}

static void
test_gensalt(void)
{
    static const char bytes[64] = "0123456789abcdef0123456789abcdef";
    static const char *const prefixes[] = {"$mhkdf$", "$argon2id$", "$argon2d$", "$argon2i$"};
    char output[CRYPT_GENSALT_OUTPUT_SIZE], short_output[3] = "xx";
    char *made;
    size_t i;

    for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        made = crypt_gensalt_ra(prefixes[i], 1, bytes, 16);
        check(made != NULL && strncmp(made, prefixes[i], strlen(prefixes[i])) == 0 &&
                  same(crypt_gensalt(prefixes[i], 1, bytes, 16), made) &&
                  same(crypt_gensalt_rn(prefixes[i], 1, bytes, 16, output, sizeof(output)), made),
              "gensalt of %s", prefixes[i]);
        check(made != NULL && crypt_checksalt(made) == CRYPT_SALT_OK &&
                  crypt_rn(PHRASE, made, &data, (int)sizeof(data)) != NULL,
              "which is a setting");
        free(made);
        check(crypt_gensalt_rn(prefixes[i], 0, NULL, 0, output, sizeof(output)) != NULL,
              "without random bytes");
        errno = 0;
        check(crypt_gensalt_rn(prefixes[i], 0, bytes, 15, output, sizeof(output)) == NULL &&
                  errno == EINVAL && strcmp(output, "*0") == 0,
              "with too few");
        check(crypt_gensalt_rn(prefixes[i], 0, bytes, -1, output, sizeof(output)) == NULL &&
                  errno == EINVAL,
              "with fewer than none");
        check(crypt_gensalt_rn(prefixes[i], 16, bytes, 16, output, sizeof(output)) == NULL &&
                  errno == EINVAL,
              "a cost that it doesn't have");
        check(crypt_gensalt_rn(prefixes[i], 0, bytes, 16, short_output, 3) == NULL &&
                  errno == ERANGE && strcmp(short_output, "*0") == 0,
              "a small buffer");
        check(crypt_gensalt_rn(prefixes[i], 0, bytes, 16, short_output, 2) == NULL &&
                  errno == ERANGE && strcmp(short_output, "*") == 0,
              "a smaller one");
        check(crypt_gensalt_rn(prefixes[i], 0, bytes, 16, short_output, -1) == NULL &&
                  errno == ERANGE,
              "one of less than nothing");
    }
    if (behind == NULL)
        return;
    check(same(crypt_preferred_method(), back.crypt_preferred_method()) &&
              !same(crypt_preferred_method(), "$mhkdf$"),
          "the preferred method is the distribution's");
    made = crypt_gensalt(NULL, 0, bytes, 16);
    check(made != NULL && same(back.crypt_gensalt(NULL, 0, bytes, 16), made),
          "the default of gensalt too");
    check(same(crypt_gensalt("$6$", 5000, bytes, 16), back.crypt_gensalt("$6$", 5000, bytes, 16)),
          "another method's settings are the distribution's");
    made = crypt_gensalt_ra("$6$", 5000, bytes, 16);
    check(same(made, back.crypt_gensalt("$6$", 5000, bytes, 16)), "allocated ones too");
    free(made);
    errno = 0;
    check(crypt_gensalt("$nonsense$", 0, bytes, 16) == NULL && errno == EINVAL,
          "a nonsense prefix");
}

/* ---- names that new programs don't get ---- */

static void
test_old_names(void)
{
    static const char *const names[] = {"fcrypt", "xcrypt"};
    Dl_info here;
    void *self, *found;
    char block[64] = {0}, block_too[64] = {0}, key[64] = {0};
    size_t i;

    if (dladdr((void *)crypt, &here) == 0 ||
        (self = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD)) == NULL) {
        check(0, "the library finds itself");
        return;
    }
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *(*function)(const char *, const char *);
        found = dlvsym(self, names[i], i == 0 ? "GLIBC_2.2.5" : "XCRYPT_2.0");
        if (found == NULL)
            continue;
        *(void **)&function = found;
        check(same(function(PHRASE, ours[0]), ours[0]), "%s, ours", names[i]);
        check(behind == NULL || same(function(PHRASE, others[0]), others[0]), "%s, another's",
              names[i]);
    }
    found = dlvsym(self, "encrypt", "GLIBC_2.2.5");
    if (found != NULL) {
        void (*encrypt_here)(char *, int), (*setkey_here)(const char *);
        void (*encrypt_r_here)(char *, int, struct crypt_data *);
        void (*setkey_r_here)(const char *, struct crypt_data *);
        *(void **)&encrypt_here = found;
        *(void **)&setkey_here = dlvsym(self, "setkey", "GLIBC_2.2.5");
        *(void **)&encrypt_r_here = dlvsym(self, "encrypt_r", "GLIBC_2.2.5");
        *(void **)&setkey_r_here = dlvsym(self, "setkey_r", "GLIBC_2.2.5");
        key[3] = key[40] = block[7] = block_too[7] = 1;
        errno = 0;
        setkey_here(key);
        encrypt_here(block, 0);
        memset(&data, 0, sizeof(data));
        setkey_r_here(key, &data);
        encrypt_r_here(block_too, 0, &data);
        if (behind == NULL) {
            check(errno == ENOSYS && memcmp(block, block_too, 64) != 0, "no DES: ENOSYS");
        } else {
            check(memcmp(block, block_too, 64) == 0, "setkey and encrypt, and with _r");
            encrypt_here(block, 1);
            for (i = 0; i < 64; i++)
                block[i] = (char)(block[i] != (i == 7));
            check(memchr(block, 1, 64) == NULL, "and back");
        }
    }
    dlclose(self);
}

/* ---- odd places ---- */

static int
hashes_well(void)
{
    size_t i;
    int well = 1;
    struct crypt_data *mine = calloc(1, sizeof(*mine));

    if (mine == NULL)
        return 0;
    for (i = 0; i < ours_count; i++)
        well = well && same(crypt_r(PHRASE, ours[i], mine), ours[i]);
    for (i = 0; behind != NULL && i < others_count; i++)
        well = well && same(crypt_r(PHRASE, others[i], mine), others[i]);
    free(mine);
    return well;
}

static void
in_child(const char *what, int (*run)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(run() ? 0 : 1);
    if (child > 0)
        (void)waitpid(child, &status, 0);
    check(status == 0, "%s (%x)", what, (unsigned)status);
}

static void *
in_thread(void *result)
{
    int i;

    for (i = 0; i < 5; i++)
        if (!hashes_well())
            *(int *)result = 0;
    return NULL;
}

static int
in_threads(void)
{
    pthread_t threads[16];
    pthread_attr_t small;
    int good = 1, i, started = 0;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, SMALL_STACK);
    while (started < 16 && pthread_create(&threads[started], &small, in_thread, &good) == 0)
        started++;
    for (i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return good && started == 16;
}

/* The child borrows this process's memory. */
static void
test_vfork(void)
{
    static volatile int good;
    int status;
    pid_t child = vfork();

    if (child == 0) {
        good = hashes_well();
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    check(good, "in a child of vfork");
    check(hashes_well(), "and in the parent afterwards");
}

static int
in_another_root(void)
{
    char folder[] = "/tmp/mhkdf-front-XXXXXX";

    if (mkdtemp(folder) == NULL || chroot(folder) != 0 || chdir("/") != 0)
        return 0;
    return hashes_well();
}

/* Nothing but read, write and _exit: what allocates nothing can still be hashed. */
static int
in_strict_mode(void)
{
    const char *hash;
    int good = 1;
    size_t i;

    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        return 0;
    for (i = 0; i < others_count; i++) {
        if (strncmp(others[i], "$y$", 3) == 0)
            continue;
        hash = crypt_rn(PHRASE, others[i], &data, (int)sizeof(data));
        good = good && same(hash, others[i]);
    }
    syscall(SYS_exit, good ? 0 : 1);
    return 0;
}

static int
with_little_stack(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    size_t size = SMALL_STACK + 4096;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int good = 1;

    if (stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE) != 0)
        return 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack + 4096, SMALL_STACK);
    if (pthread_create(&thread, &attributes, in_thread, &good) != 0)
        return 0;
    pthread_join(thread, NULL);
    munmap(stack, size);
    return good;
}

static void
read_answers(const char *path)
{
    char line[CRYPT_OUTPUT_SIZE + 2];
    FILE *f = fopen(path, "r");

    if (f == NULL) {
        perror(path);
        exit(99);
    }
    while (fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "$mhkdf", 6) == 0 || strncmp(line, "$argon2", 7) == 0)
            strcpy(ours[ours_count++], line);
        else if (line[0] == '$')
            strcpy(others[others_count++], line);
    }
    fclose(f);
}

/* A wrap of another's hash can't be computed then: the last of ours. */
static void
test_missing(void)
{
    const char *wrap = ours[ours_count - 1];

    errno = 0;
    check(crypt_rn(PHRASE, wrap, &data, (int)sizeof(data)) == NULL && errno == EINVAL,
          "a wrapped hash of another's");
    ours_count--;
    test_failures("$6$saltstring", EINVAL, CRYPT_SALT_INVALID, "another's");
    test_failures("ab", EINVAL, CRYPT_SALT_INVALID, "another's");
    test_failures("*0", EINVAL, CRYPT_SALT_INVALID, "a failure token");
    test_failures("", EINVAL, CRYPT_SALT_INVALID, "nothing");
    check(crypt_preferred_method() == NULL, "no preferred method");
    errno = 0;
    check(crypt_gensalt(NULL, 0, NULL, 0) == NULL && errno == EINVAL, "gensalt has no default");
    check(crypt_gensalt_ra("$6$", 0, NULL, 0) == NULL && errno == EINVAL, "gensalt of another's");
    check(crypt_rn(NULL, NULL, &data, (int)sizeof(data)) == NULL && errno == EINVAL,
          "nothing at all");
}

/* Each between two calls that nothing else makes. */
static int
make_calls(void)
{
    size_t i;
    int good = 1;

    for (i = 0; i < others_count; i++) {
        syscall(SYS_getpgid, 999999);
        good = good && same(crypt_rn(PHRASE, others[i], &data, (int)sizeof(data)), others[i]);
        good = good && crypt_checksalt(others[i]) != CRYPT_SALT_INVALID;
        (void)crypt_gensalt_rn(others[i], 0, NULL, 0, data_too.output, CRYPT_GENSALT_OUTPUT_SIZE);
        (void)crypt(PHRASE, "*0");
    }
    syscall(SYS_getpgid, 999999);
    return good ? 0 : 1;
}

int
main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    read_answers(argv[1]);
    if (strcmp(argv[2], "calls") == 0)
        return make_calls();
    if (strcmp(argv[2], "missing") != 0)
        look_behind(argv[2]);
    test_start();
    if (behind != NULL)
        test_others();
    else
        test_missing();
    test_ours();
    test_buffers();
    test_gensalt();
    test_old_names();
    in_child("in a child of fork", hashes_well);
    in_child("in many threads, with 32 KiB of stack each", in_threads);
    in_child("with 32 KiB of stack and nothing below", with_little_stack);
    test_vfork();
    if (geteuid() == 0)
        in_child("in another root, where there are no files", in_another_root);
    if (behind != NULL)
        in_child("in seccomp's strict mode", in_strict_mode);
    in_child("in a child of fork again", hashes_well);
    printf("1..%u\n", case_count);
    return failed_count != 0;
}
