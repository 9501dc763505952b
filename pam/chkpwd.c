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
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "pam/confine.h"
#include "pam/names.h"
#include "pam/place.h"
#include "policy/account.h"
#include "policy/anycrypt.h"
#include "policy/config.h"
#include "policy/strength.h"

#define SERVICE "mhkdf_chkpwd"
#define PASSWORD_SIZE (MHKDF_CRYPT_PASSWORD_MAX + 2) /* one more than is right, and the NUL */
#define READ_TIMEOUT_MS 10000

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
    size_t len = 0;
    ssize_t n;

    do {
        if (poll(&ready, 1, READ_TIMEOUT_MS) != 1)
            return false;
        n = read(STDIN_FILENO, password + len, PASSWORD_SIZE - 1 - len);
        if (n < 0)
            return false;
        len += (size_t)n;
    } while (n > 0 && len < PASSWORD_SIZE - 1);
    password[len] = '\0';
    return len <= MHKDF_CRYPT_PASSWORD_MAX && strlen(password) == len;
}

static enum chkpwd_answer
judge(const char *name, int rc)
{
    switch (rc) {
    case 0:
        return CHKPWD_RIGHT;
    case EKEYREJECTED:
        return CHKPWD_WRONG;
    case EINVAL:
    case ERANGE:
        say(LOG_ERR, "the hash of %s in shadow is malformed", name);
        return CHKPWD_UNKNOWN;
    case ENOSYS:
        say(LOG_ERR, "the hash of %s is of a method that isn't available here", name);
        return CHKPWD_UNKNOWN;
    case EBUSY:
    case ECONNREFUSED:
        say(LOG_ERR, "no memory for the password of %s: all of the arena is in use%s", name,
            rc == EBUSY ? "" : ", or it is required and unavailable");
        return CHKPWD_BUSY;
    default:
        errno = rc;
        say(LOG_CRIT, "the password of %s can't be verified: %m", name);
        return CHKPWD_UNAVAILABLE;
    }
}

static bool
in_group(void *user, const char *group)
{
    return names_is_in_group(user, group);
}

static void
find_policy(const char *name, bool is_root, struct config_policy *policy)
{
    union {
        const char *name;
        void *ctx;
    } asked = {name};
    const struct config_who who = {SERVICE, name, is_root, in_group, asked.ctx};
    struct config_error error;
    struct config config;

    if (config_load_either(place_conf(), place_vendor_conf(), place_conf_owner(), &config,
                           &error) != 0)
        say(LOG_ERR, "%s", error.text);
    config_look_up(&config, &who, policy);
    config_free(&config);
}

static enum chkpwd_answer
verify(const char *name, const struct account *account, const char *password)
{
    struct config_policy policy;
    struct mhkdf_arena arena = {.socket = place_arena(), .service = SERVICE};
    struct mhkdf_env resources = {.arena = NULL};
    enum chkpwd_answer answer;
    const char *wrong;
    bool with_arena;

    find_policy(name, account->uid == 0, &policy);
    with_arena = policy.use != CONFIG_ARENA_OFF;
    arena.real_uid = place_real_uid();
    arena.wait_ms = policy.wait_ms;
    arena.slots_max = policy.slots_max;
    arena.require = policy.use == CONFIG_ARENA_REQUIRE;
    if (!confine_drop(with_arena)) {
        say(LOG_CRIT, "can't give up privileges: %m");
        return CHKPWD_UNAVAILABLE;
    }
    wrong = strength_above_ceiling(&policy, account->hash);
    if (wrong != NULL) {
        say(LOG_WARNING, "the hash of %s is refused: %s", name, wrong);
        return CHKPWD_DENIED;
    }
    if (with_arena)
        resources.arena = &arena;
    resources.threads = policy.threads;
    answer = judge(name, anycrypt_verify_in(password, account->hash, &resources));
    if (answer == CHKPWD_RIGHT && policy.floor_action == CONFIG_DENY &&
        strength_is_below_floor(&policy, account->hash)) {
        say(LOG_WARNING, "%s denied: the password is right, but its hash is below floor_memory",
            name);
        return CHKPWD_DENIED;
    }
    return answer;
}

static enum chkpwd_answer
check_account(const char *name, const struct account *account, const char *password,
              bool null_is_ok)
{
    if (password == NULL)
        return CHKPWD_WRONG;
    if (account->hash[0] == '\0')
        return null_is_ok && password[0] == '\0' ? CHKPWD_RIGHT : CHKPWD_WRONG;
    if (!account_hash_is_usable(account->hash))
        return CHKPWD_UNKNOWN;
    if (password[0] == '\0' && !null_is_ok)
        return CHKPWD_WRONG;
    return verify(name, account, password);
}

static enum chkpwd_answer
cant_read(int rc)
{
    errno = rc;
    if (rc == EACCES && geteuid() != 0 && getegid() == getgid())
        say(LOG_ERR, "shadow can't be read, since this program runs without its set-id bit: its "
                     "file lost it, or is on a file system that is mounted nosuid, or the caller "
                     "has NoNewPrivileges");
    else
        say(LOG_ERR, "the local accounts can't be read: %m");
    return CHKPWD_UNAVAILABLE;
}

/* Whose account it is comes first, so that nobody learns about another one's hash. password may be
 * NULL: one that can't be right. */
static enum chkpwd_answer
check(const char *name, const char *password, bool null_is_ok)
{
    uint32_t caller = place_real_uid();
    enum chkpwd_answer answer;
    struct account account;
    uint32_t uid = 0;
    int rc = account_find_uid(place_etc(), name, &uid);

    if (rc == 0 && caller != 0 && uid != caller) {
        say(LOG_NOTICE, "refused: uid %ju asked for the password of %s", (uintmax_t)caller, name);
        return CHKPWD_REFUSED;
    }
    if (rc == 0)
        rc = account_find(place_etc(), name, &account);
    if (rc != 0)
        return rc == ENOENT || rc == ENODATA ? CHKPWD_UNKNOWN : cant_read(rc);
    /* The file may have changed between the two. */
    answer = account.uid == uid ? check_account(name, &account, password, null_is_ok)
                                : CHKPWD_UNAVAILABLE;
    account_free(&account);
    return answer;
}

/* It makes guessing by hand slow; but a caller can kill this, and start several. What bounds those
 * is the cost of the hash. */
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
is_used_well(int argc, char **argv)
{
    return argc == 3 && is_pipe(STDIN_FILENO) &&
           (strcmp(argv[2], CHKPWD_NULL_IS_OK) == 0 || strcmp(argv[2], CHKPWD_NULL_IS_WRONG) == 0);
}

int
main(int argc, char **argv)
{
    char password[PASSWORD_SIZE];
    enum chkpwd_answer answer;
    const char *given;

    if (!confine_begin())
        return CHKPWD_UNAVAILABLE;
    openlog(SERVICE, LOG_PID, LOG_AUTHPRIV);
    if (!is_used_well(argc, argv))
        return (int)refuse_use();
    given = read_password(password) ? password : NULL;
    answer = check(argv[1], given, strcmp(argv[2], CHKPWD_NULL_IS_OK) == 0);
    mhkdf_wipe(password, sizeof(password));
    if (answer == CHKPWD_WRONG)
        say(LOG_NOTICE, "password check failed for user (%s)", argv[1]);
    if (answer == CHKPWD_WRONG || answer == CHKPWD_DENIED)
        pause_s(2);
    return (int)answer;
}
