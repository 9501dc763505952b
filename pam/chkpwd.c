/* SPDX-License-Identifier: BSD-2-Clause */
/* mhkdf_chkpwd: verifies the caller's own password for programs that can't read shadow. It runs
 * with rights that the caller doesn't have: nothing of his is believed but the name, which must be
 * his, and the password. mhkdf_chkpwd(8). */
#include <config.h>

#include "pam/chkpwd.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "pam/confine.h"
#include "pam/dummy.h"
#include "pam/judge.h"
#include "pam/place.h"
#include "pam/ruling.h"
#include "policy/account.h"
#include "policy/anycrypt.h"
#include "policy/config.h"
#include "policy/shortage.h"
#include "policy/strength.h"

#define SERVICE "mhkdf_chkpwd"
#define PASSWORD_SIZE (MHKDF_CRYPT_PASSWORD_MAX + 2) /* one more than is right, and the NUL */
#define READ_TIMEOUT_MS 10000

/* What is asked. */
struct request {
    const char *name;
    const char *service;  /* whose policy counts; NULL: of none */
    const char *password; /* NULL: one that can't be right */
    bool null_is_ok;
    bool is_by_root;
    bool is_at_console;
    uint32_t uid; /* of the user behind the program that asks */
};

__attribute__((format(printf, 1, 2))) static void
say_to_tests(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    place_copy_log(format, args);
    va_end(args);
}

__attribute__((format(printf, 2, 3))) static void
say(int priority, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsyslog(priority, format, args);
    va_end(args);
    va_start(args, format);
    place_copy_log(format, args);
    va_end(args);
}

/* The module sends all of it before it starts this program. false: it didn't come, or no password
 * is like this. */
static bool
read_password(char password[PASSWORD_SIZE])
{
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    size_t len = 0, end;
    ssize_t n;

    memset(password, 0, PASSWORD_SIZE);
    do {
        if (poll(&ready, 1, READ_TIMEOUT_MS) != 1)
            return false;
        n = read(STDIN_FILENO, password + len, PASSWORD_SIZE - 1 - len);
        if (n < 0)
            return false;
        len += (size_t)n;
        end = strlen(password);
    } while (n > 0 && len < PASSWORD_SIZE - 1 && end == len);
    return end <= MHKDF_CRYPT_PASSWORD_MAX && len - end <= 1;
}

static void
tell(void *ctx, int priority, const char *text)
{
    (void)ctx;
    if (priority != LOG_DEBUG)
        say(priority, "%s", text);
    else /* nobody reads this program's debugging but the tests */
        say_to_tests("%s", text);
}

/* As pam/limits.h: users may have set the limits, and must not have accepted by them what
 * mhkdf.conf refuses. */
static bool
ends_here(const struct request *request, int error)
{
    return shortage_is(error) && request->uid != 0;
}

static int
find_policy(const struct request *request, bool is_root, struct config_policy *policy)
{
    const struct ruling ruling = {
        .service = request->service, .user = request->name, .is_root = is_root, .log = tell};
    struct config_error error;

    return ruling_find(&ruling, policy, &error);
}

/* As pam/leasing.c does. */
static void
plan(const struct request *request, bool is_root, const struct config_policy *policy,
     struct mhkdf_arena *arena, struct mhkdf_memory_report *report, struct mhkdf_env *resources)
{
    memset(report, 0, sizeof(*report));
    memset(arena, 0, sizeof(*arena));
    arena->socket = place_arena();
    arena->service = request->service;
    arena->real_uid = request->uid;
    arena->wait_ms = policy->wait_ms;
    arena->slots_max = policy->slots_max;
    arena->require = policy->use == CONFIG_ARENA_REQUIRE;
    arena->private_when_busy = is_root && request->uid == 0 && request->is_at_console;
    memset(resources, 0, sizeof(*resources));
    resources->arena = policy->use != CONFIG_ARENA_OFF ? arena : NULL;
    resources->report = report;
    resources->threads = policy->threads;
}

static enum chkpwd_answer
judge_and_say(int rc, const char *name, const struct mhkdf_memory_report *report)
{
    struct judge judged;

    judge(rc, name, report, &judged);
    if (judged.text[0] != '\0')
        say(judged.priority, "%s", judged.text);
    return judged.answer;
}

/* The password is right. Nothing is upgraded here. */
static enum chkpwd_answer
judge_floor(const char *name, const struct config_policy *policy, const char *hash)
{
    if (!strength_is_below_floor(policy, hash))
        return CHKPWD_RIGHT;
    if (policy->floor_action == CONFIG_DENY) {
        say(LOG_WARNING, "%s denied: the password is right, but its hash is below floor_memory",
            name);
        return CHKPWD_DENIED;
    }
    say(LOG_NOTICE, "the hash of %s is below floor_memory%s", name,
        policy->floor_action == CONFIG_EXPIRE ? "; the password is to be changed" : "");
    return policy->floor_action == CONFIG_EXPIRE ? CHKPWD_RIGHT_BELOW : CHKPWD_RIGHT;
}

/* In the module's order (pam/verify.c). *was_computed: the hash had its time. */
static enum chkpwd_answer
compare(const struct request *request, const struct config_policy *policy,
        const struct mhkdf_env *resources, const char *hash, bool *was_computed)
{
    const char *password = request->password;
    enum chkpwd_answer answer;
    const char *wrong;
    int rc;

    if (hash == NULL || !account_hash_is_usable(hash))
        return CHKPWD_UNKNOWN;
    if (password == NULL || (password[0] == '\0' && !request->null_is_ok))
        return CHKPWD_WRONG;
    wrong = strength_above_ceiling(policy, hash);
    if (wrong != NULL) {
        say(LOG_WARNING, "the hash of %s is refused: %s", request->name, wrong);
        return CHKPWD_DENIED;
    }
    rc = anycrypt_verify_in(password, hash, resources);
    answer = judge_and_say(rc, request->name, resources->report);
    if (ends_here(request, rc))
        return CHKPWD_BUSY;
    *was_computed = answer == CHKPWD_RIGHT || answer == CHKPWD_WRONG;
    return answer == CHKPWD_RIGHT ? judge_floor(request->name, policy, hash) : answer;
}

/* Not what couldn't be computed, but for want of a site key. */
static bool
is_to_take_time(enum chkpwd_answer answer, const char *hash)
{
    if (answer == CHKPWD_UNAVAILABLE)
        return hash != NULL && strength_needs_key(hash);
    return answer == CHKPWD_WRONG || answer == CHKPWD_UNKNOWN || answer == CHKPWD_DENIED;
}

/* hash: the account's; NULL: there is no such account, or it has none. No caller but root has
 * anything to learn: it is his own account. */
static enum chkpwd_answer
check_hash(const struct request *request, uint32_t uid, const char *hash)
{
    struct config_policy policy;
    struct mhkdf_arena arena;
    struct mhkdf_memory_report report;
    struct mhkdf_env resources;
    const struct dummy dummy = {.policy = &policy,
                                .resources = &resources,
                                .password = request->password,
                                .null_is_ok = request->null_is_ok,
                                .log = tell};
    enum chkpwd_answer answer, computed;
    uint64_t start_us;
    bool was_computed = false;
    int rc = 0;

    if (ends_here(request, find_policy(request, uid == 0, &policy)))
        return CHKPWD_BUSY;
    plan(request, uid == 0, &policy, &arena, &report, &resources);
    if (!confine_drop(resources.arena != NULL)) {
        rc = errno;
        say(LOG_CRIT, "can't give up privileges: %m");
        return ends_here(request, rc) ? CHKPWD_BUSY : CHKPWD_UNAVAILABLE;
    }
    start_us = dummy_now_us();
    answer = compare(request, &policy, &resources, hash, &was_computed);
    if (request->is_by_root && is_to_take_time(answer, hash))
        rc = dummy_take_time(&dummy, was_computed ? hash : NULL, dummy_now_us() - start_us);
    if (rc == 0)
        return answer;
    computed = judge_and_say(rc, NULL, &report);
    return computed == CHKPWD_BUSY ? computed : answer; /* what is denied stays so */
}

static enum chkpwd_answer
cant_read(const struct request *request, int rc)
{
    errno = rc;
    if (rc == EACCES && geteuid() != 0 && getegid() == getgid())
        say(LOG_ERR, "shadow can't be read, since this program runs without its set-id bit: its "
                     "file lost it, or is on a file system that is mounted nosuid, or the caller "
                     "has NoNewPrivileges");
    else
        say(LOG_ERR, "the local accounts can't be read: %m");
    return ends_here(request, rc) ? CHKPWD_BUSY : CHKPWD_UNAVAILABLE;
}

/* Whose account it is comes first, so that nobody learns about another one's hash. */
static enum chkpwd_answer
check(const struct request *request)
{
    enum chkpwd_answer answer = CHKPWD_UNAVAILABLE;
    struct account account;
    uint32_t uid = DUMMY_NO_UID;
    int rc = account_find_uid(place_etc(), request->name, &uid);

    if (rc == 0 && !request->is_by_root && uid != place_real_uid()) {
        say(LOG_NOTICE, "refused: uid %ju asked for the password of %s",
            (uintmax_t)place_real_uid(), request->name);
        return CHKPWD_REFUSED;
    }
    if (rc == 0)
        rc = account_find(place_etc(), request->name, &account);
    if (rc == ENOENT || rc == ENODATA)
        return request->is_by_root ? check_hash(request, uid, NULL) : CHKPWD_UNKNOWN;
    if (rc != 0)
        return cant_read(request, rc);
    if (account.uid == uid) /* the file may have changed between the two */
        answer = check_hash(request, uid, account.hash);
    account_free(&account);
    return answer;
}

/* It makes guessing by hand slow; but a caller can kill this, and start several. What bounds those
 * is the cost of the hash. (For root the module has PAM do it, for all refusals alike.) */
static void
pause_s(time_t seconds)
{
#ifndef MHKDF_TEST_PLACE
    struct timespec left = {seconds, 0};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
#else
    (void)seconds;
#endif
}

static bool
is_pipe(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static enum chkpwd_answer
refuse_use(void)
{
    static const char text[] = "mhkdf_chkpwd: pam_mhkdf(8) runs this program; it is of no use "
                               "otherwise. The attempt has been logged.\n";

    say(LOG_NOTICE, "inappropriate use by uid %ju", (uintmax_t)place_real_uid());
    if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
        pause_s(10);
    return CHKPWD_REFUSED;
}

static bool
read_uid(const char *word, uint32_t *uid)
{
    unsigned long long value;

    if (word[0] == '\0' || strlen(word) > 10 || word[strspn(word, "0123456789")] != '\0')
        return false;
    value = strtoull(word, NULL, 10);
    *uid = (uint32_t)value;
    return value <= UINT32_MAX;
}

/* Only root says where a login comes from: another one's word for it isn't believed. */
static bool
read_words(int argc, char **argv, struct request *request)
{
    request->service = SERVICE;
    request->uid = place_real_uid();
    request->is_by_root = request->uid == 0;
    if (argc != 3 && (argc != 6 || !request->is_by_root))
        return false;
    request->name = argv[1];
    request->null_is_ok = strcmp(argv[2], CHKPWD_NULL_IS_OK) == 0;
    if (!request->null_is_ok && strcmp(argv[2], CHKPWD_NULL_IS_WRONG) != 0)
        return false;
    if (argc == 3)
        return true;
    request->service = argv[3][0] != '\0' ? argv[3] : NULL;
    request->is_at_console = strcmp(argv[5], CHKPWD_CONSOLE) == 0;
    return read_uid(argv[4], &request->uid);
}

int
main(int argc, char **argv)
{
    char password[PASSWORD_SIZE];
    struct request request = {.name = NULL};
    enum chkpwd_answer answer;

    if (!confine_begin())
        return shortage_is(errno) && place_real_uid() != 0 ? CHKPWD_BUSY : CHKPWD_UNAVAILABLE;
    openlog(SERVICE, LOG_PID, LOG_AUTHPRIV);
    if (!read_words(argc, argv, &request) || !is_pipe(STDIN_FILENO))
        return (int)refuse_use();
    request.password = read_password(password) ? password : NULL;
    answer = check(&request);
    mhkdf_wipe(password, sizeof(password));
    if (answer == CHKPWD_WRONG)
        say(LOG_NOTICE, "password check failed for user (%s)", argv[1]);
    if (!request.is_by_root && (answer == CHKPWD_WRONG || answer == CHKPWD_DENIED))
        pause_s(2);
    return (int)answer;
}
