/* SPDX-License-Identifier: BSD-2-Clause */
/* Changing /etc/shadow: odd files, every failure, sudden death, other writers. policy's files are
 * compiled anew with faults.h in front of them. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "policy/account.h"
#include "policy/aging.h"
#include "policy/lock.h"
#include "policy/shadow.h"
#include "tests/lib/scratch.h"
#include "tests/unit/fake_security.h"

int faults_hit(const char *call);
bool faults_clock_is_unset;
size_t faults_write_max;

static char etc[] = "/tmp/mhkdf-shadow-XXXXXX";

/* Faults: at call number fault_at (from 1; 0: never), counted over all calls or those of
 * fault_call; fault_errno 0: the process kills itself instead. */
static unsigned fault_at, fault_count;
static const char *fault_call;
static int fault_errno;
static char fault_name[32];
static void (*fault_before)(const char *call); /* called before each call */
static pid_t killer;                           /* a process that survives its own faults; 0: none */
static unsigned replaced;                      /* reads that replace_and_empty has seen */

int
faults_hit(const char *call)
{
    if (fault_before != NULL)
        fault_before(call);
    if (fault_call != NULL && strcmp(fault_call, call) != 0)
        return 0;
    if (++fault_count != fault_at)
        return 0;
    snprintf(fault_name, sizeof(fault_name), "%s", call);
    if (fault_errno == 0 && getpid() == killer)
        return 0;
    if (fault_errno == 0)
        kill(getpid(), SIGKILL);
    errno = fault_errno;
    return 1;
}

static void
set_fault(const char *call, unsigned at, int error)
{
    fault_call = call;
    fault_at = at;
    fault_errno = error;
    fault_count = 0;
    fault_name[0] = '\0';
}

static const char *
in_etc(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", etc, name);
    return path;
}

static void
put(const char *name, const char *text, size_t len)
{
    FILE *f = fopen(in_etc(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* The caller frees. */
static char *
get(const char *name, size_t *len)
{
    FILE *f = fopen(in_etc(name), "r");
    char *text = malloc(1 << 20);

    assert_non_null(text);
    assert_non_null(f);
    *len = fread(text, 1, (1 << 20) - 1, f);
    text[*len] = '\0';
    fclose(f);
    return text;
}

static void
assert_holds(const char *name, const char *text, size_t text_len)
{
    size_t len;
    char *found = get(name, &len);

    if (len != text_len || memcmp(found, text, len) != 0)
        fail_msg("after %s: %s holds %zu bytes '%.200s', not %zu bytes '%.200s'", fault_name, name,
                 len, found, text_len, text);
    free(found);
}

/* Beside passwd, shadow and the lock there is nothing in the folder. */
static void
assert_clean(void)
{
    DIR *dir = opendir(etc);
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, "passwd") != 0 && strcmp(entry->d_name, "shadow") != 0 &&
            strcmp(entry->d_name, "real") != 0 && entry->d_name[0] != '.')
            fail_msg("after %s: %s was left", fault_name, entry->d_name);
    }
    closedir(dir);
}

static unsigned
open_descriptors(void)
{
    unsigned n = 0;
    int fd;

    for (fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

static bool apart; /* changes are made in a child */

static int
change(const char *name, const char *old_hash, const char *new_hash, bool set_day)
{
    const struct shadow_change c = {name, old_hash, new_hash, set_day, 100, apart, geteuid()};

    return shadow_change(etc, &c);
}

static const char *
today(void)
{
    static char text[24];

    snprintf(text, sizeof(text), "%ld", (long)(time(NULL) / 86400));
    return text;
}

#define OTHERS_BEFORE                      \
    "root:$y$j9T$x$y:19000:0:99999:7:::\n" \
    "# a comment: with colons:::::::\n"    \
    "\n"                                   \
    "bob\n"                                \
    "bob:short:1\n"                        \
    "bob:not:a:number:0:99999:7:::\n"      \
    "bob :blank:1:0:99999:7:::\n"          \
    "bob:minus:-1:0:99999:7:::\n"          \
    "bobby:$6$a$b:1:0:99999:7:::\n"        \
    "+bob:x:1:0:99999:7:::\n"
#define OTHERS_AFTER              \
    "bob:second:3:0:99999:7:::\n" \
    "-@netgroup:::::::\n"         \
    "+::::::::\n"                 \
    "last:without:newline"

static void
only_the_fields_change(void **unused)
{
    static const char before[] = OTHERS_BEFORE "bob:old:19500:1:90:7:30:20000:\n" OTHERS_AFTER;
    char after[2048];

    (void)unused;
    put("shadow", before, sizeof(before) - 1);
    assert_int_equal(change("bob", "old", "$mhkdf$new", false), 0);
    snprintf(after, sizeof(after), "%s",
             OTHERS_BEFORE "bob:$mhkdf$new:19500:1:90:7:30:20000:\n" OTHERS_AFTER);
    assert_holds("shadow", after, strlen(after));
    do {
        snprintf(after, sizeof(after),
                 OTHERS_BEFORE "bob:$mhkdf$newer:%s:1:90:7:30:20000:\n" OTHERS_AFTER, today());
        assert_int_equal(change("bob", NULL, "$mhkdf$newer", true), 0);
    } while (strstr(after, today()) == NULL); /* midnight passed */
    assert_holds("shadow", after, strlen(after));
    /* Day 0 would say that it is to be changed again. */
    faults_clock_is_unset = true;
    assert_int_equal(change("bob", NULL, "NEW", true), 0);
    faults_clock_is_unset = false;
    snprintf(after, sizeof(after), "%s", OTHERS_BEFORE "bob:NEW::1:90:7:30:20000:\n" OTHERS_AFTER);
    assert_holds("shadow", after, strlen(after));
    assert_clean();
}

/* Text with its length, since it may hold NULs. */
#define TEXT(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

static void
odd_files_are_kept(void **unused)
{
    static const struct {
        struct {
            const char *text;
            size_t len;
        } before, after;
    } cases[] = {
        {TEXT("bob:a:1::::::"), TEXT("bob:NEW:1::::::")},
        {TEXT("bob::1::::::\n"), TEXT("bob:NEW:1::::::\n")},
        {TEXT("bob:!:::::::\n"), TEXT("bob:NEW:::::::\n")},
        {TEXT("bob:a:-1:-1:-1::::\nbob:b:1::::::\n"),
         TEXT("bob:a:-1:-1:-1::::\nbob:NEW:1::::::\n")},
        {TEXT("bob:a:1:0:9\n"), TEXT("bob:NEW:1:0:9\n")},
        {TEXT("bob:a:1:0:9:\r\n"), TEXT("bob:NEW:1:0:9:\r\n")},
        {TEXT("\t bob:a:+1: 0:9::::9\n"), TEXT("\t bob:NEW:+1: 0:9::::9\n")},
        {TEXT("bob:a:1::::::\0:\nbob:b:1::::::\n"), TEXT("bob:NEW:1::::::\0:\nbob:b:1::::::\n")},
        {TEXT("\0\0:\nbob:a:1::::::\n\0"), TEXT("\0\0:\nbob:NEW:1::::::\n\0")},
        {TEXT("\r\nbob:a:1::::::\n\r"), TEXT("\r\nbob:NEW:1::::::\n\r")},
        {TEXT("bob:a:1::::::\r\nbob:b:1::::::\n"), TEXT("bob:a:1::::::\r\nbob:NEW:1::::::\n")},
        {TEXT("bob:a\0:1::::::\nbob:b:1::::::\n"), TEXT("bob:a\0:1::::::\nbob:NEW:1::::::\n")},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put("shadow", cases[i].before.text, cases[i].before.len);
        assert_int_equal(change("bob", NULL, "NEW", false), 0);
        assert_holds("shadow", cases[i].after.text, cases[i].after.len);
    }
    assert_clean();
}

static void
long_lines_are_kept(void **unused)
{
    size_t long_len = 100 * 1024, len, found_len;
    char *before = malloc(2 * long_len + 100);
    char *found;

    (void)unused;
    assert_non_null(before);
    memset(before, 'a', long_len);
    len = long_len + (size_t)sprintf(before + long_len, "\nbob:");
    memset(before + len, 'h', long_len);
    len += long_len + (size_t)sprintf(before + len + long_len, ":1::::::\n");
    put("shadow", before, len);
    assert_int_equal(change("bob", NULL, "NEW", false), 0);
    found = get("shadow", &found_len);
    assert_int_equal(found_len, len - long_len + 3);
    assert_memory_equal(found, before, long_len + 5);
    assert_string_equal(found + long_len + 5, "NEW:1::::::\n");
    free(found);
    free(before);
    assert_clean();
}

static void
refusals_change_nothing(void **unused)
{
    static const char text[] = "bob:old:1::::::\n+mallory:x:1::::::\n";
    static const struct {
        const char *name, *old_hash, *new_hash;
        int rc;
    } cases[] = {
        {"bob", "older", "NEW", ESTALE},  {"bob", "ol", "NEW", ESTALE},
        {"bob", "", "NEW", ESTALE},       {"alice", "old", "NEW", ENOENT},
        {"bo", "old", "NEW", ENOENT},     {"", "old", "NEW", ENOENT},
        {"+mallory", "x", "NEW", ENOENT}, {"bob:old", NULL, "NEW", ENOENT},
        {"\nbob", NULL, "NEW", ENOENT},   {"bob", "old", "", EINVAL},
        {"bob", "old", "a:b", EINVAL},    {"bob", "old", "a\nroot::0::::::", EINVAL},
        {"bob", "old", "a b", EINVAL},    {"bob", "old", "\xc3\xa4", EINVAL},
        {"bob", "old", "a\x7f", EINVAL},
    };
    size_t i;

    (void)unused;
    put("shadow", text, sizeof(text) - 1);
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(change(cases[i].name, cases[i].old_hash, cases[i].new_hash, true),
                         cases[i].rc);
        assert_holds("shadow", text, sizeof(text) - 1);
    }
    assert_clean();
}

static void
missing_and_strange_files(void **unused)
{
    (void)unused;
    assert_int_equal(unlink(in_etc("shadow")), 0);
    assert_int_equal(change("bob", NULL, "NEW", false), ENOENT);
    assert_int_equal(mkdir(in_etc("shadow"), 0700), 0);
    assert_int_equal(change("bob", NULL, "NEW", false), EINVAL);
    assert_int_equal(rmdir(in_etc("shadow")), 0);
    assert_int_equal(mkfifo(in_etc("shadow"), 0600), 0);
    assert_int_equal(change("bob", NULL, "NEW", false), EINVAL);
    assert_int_equal(unlink(in_etc("shadow")), 0);
    assert_clean();
}

static void
link_is_followed(void **unused)
{
    char target[64];
    ssize_t n;

    (void)unused;
    unlink(in_etc("shadow"));
    put("real", "bob:old:1::::::\n", 16);
    assert_int_equal(symlink("real", in_etc("shadow")), 0);
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    n = readlink(in_etc("shadow"), target, sizeof(target));
    assert_int_equal(n, 4);
    assert_holds("real", "bob:NEW:1::::::\n", 16);
    unlink(in_etc("shadow"));
    unlink(in_etc("real"));
    assert_clean();
}

static void
owner_mode_and_attributes_stay(void **unused)
{
    struct stat before, after;
    char value[8];
    bool has_xattr;

    (void)unused;
    put("shadow", "bob:old:1::::::\n", 16);
    assert_int_equal(chmod(in_etc("shadow"), 0640), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(in_etc("shadow"), 12, 42), 0);
    has_xattr = setxattr(in_etc("shadow"), "user.mhkdf", "value", 5, 0) == 0;
    assert_int_equal(stat(in_etc("shadow"), &before), 0);
    assert_int_equal(change("bob", NULL, "NEW", false), 0);
    assert_int_equal(stat(in_etc("shadow"), &after), 0);
    assert_int_equal(after.st_mode, before.st_mode);
    assert_int_equal(after.st_uid, before.st_uid);
    assert_int_equal(after.st_gid, before.st_gid);
    assert_int_not_equal(after.st_ino, before.st_ino);
    if (has_xattr) {
        assert_int_equal(getxattr(in_etc("shadow"), "user.mhkdf", value, sizeof(value)), 5);
        assert_memory_equal(value, "value", 5);
    }
    unlink(in_etc("shadow"));
}

#define ACL "system.posix_acl_access"

/* An ACL of the file is kept; one that the folder would give is not taken. */
static void
access_lists_stay(void **unused)
{
    /* version 2; owner rw, uid 33 r, group r, mask r, others nothing */
    static const unsigned char acl[] = "\2\0\0\0"
                                       "\1\0\6\0\377\377\377\377"
                                       "\2\0\4\0\41\0\0\0"
                                       "\4\0\4\0\377\377\377\377"
                                       "\20\0\4\0\377\377\377\377"
                                       "\40\0\0\0\377\377\377\377";
    const size_t len = sizeof(acl) - 1;
    unsigned char found[64];
    struct stat st;

    (void)unused;
    put("shadow", "bob:old:1::::::\n", 16);
    if (setxattr(in_etc("shadow"), ACL, acl, len, 0) != 0) {
        print_message("# left out: no ACLs on this file system\n");
        return;
    }
    assert_int_equal(change("bob", NULL, "NEW", false), 0);
    assert_int_equal(getxattr(in_etc("shadow"), ACL, found, sizeof(found)), len);
    assert_memory_equal(found, acl, len);
    assert_int_equal(unlink(in_etc("shadow")), 0);
    put("shadow", "bob:old:1::::::\n", 16);
    assert_int_equal(chmod(in_etc("shadow"), 0640), 0);
    assert_int_equal(setxattr(etc, "system.posix_acl_default", acl, len, 0), 0);
    assert_int_equal(change("bob", NULL, "NEW", false), 0);
    assert_int_equal(removexattr(etc, "system.posix_acl_default"), 0);
    assert_int_equal(getxattr(in_etc("shadow"), ACL, found, sizeof(found)), -1);
    assert_int_equal(stat(in_etc("shadow"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    unlink(in_etc("shadow"));
}

static void
leftover_is_replaced(void **unused)
{
    (void)unused;
    put("shadow", "bob:old:1::::::\n", 16);
    put("nshadow", "root::0::::::\n", 14);
    assert_int_equal(change("bob", NULL, "NEW", false), 0);
    assert_holds("shadow", "bob:NEW:1::::::\n", 16);
    assert_clean();
    put("real", "precious", 8);
    assert_int_equal(symlink("real", in_etc("nshadow")), 0);
    assert_int_equal(change("bob", NULL, "old", false), 0);
    assert_holds("real", "precious", 8);
    unlink(in_etc("real"));
    assert_clean();
}

#define OLD "root:r:1::::::\nbob:old:1::::::\n"
#define NEW "root:r:1::::::\nbob:NEW:1::::::\n"

/* What may fail without harm: it is retried, or there is another way. */
static bool
is_survivable(const char *call, unsigned at, int error)
{
    static const char *const eintr[] = {"read", "write", "fcntl", "open"};
    size_t i;

    for (i = 0; error == EINTR && i < sizeof(eintr) / sizeof(eintr[0]); i++) {
        if (strcmp(call, eintr[i]) == 0)
            return true;
    }
    if (strcmp(call, "fcntl") == 0 && error == EACCES)
        return true; /* "locked by someone else", as POSIX has it */
    if (at > 1 && (strcmp(call, "fsync") == 0 || strcmp(call, "fcntl") == 0))
        return true; /* of the folder, and the unlocking, when all is done */
    /* user.* that can't be copied, and the lock's check that is tried again */
    return strcmp(call, "fgetxattr") == 0 || strcmp(call, "fsetxattr") == 0 ||
           strcmp(call, "fstat") == 0;
}

/* Both are tried again: a signal that came before the lock or in the middle of it, and a lock of
 * someone else's, in either of POSIX's words. */
static void
lock_is_tried_again(void **unused)
{
    static const struct {
        const char *call;
        int error;
    } cases[] = {{"open", EINTR}, {"fcntl", EINTR}, {"fcntl", EAGAIN}, {"fcntl", EACCES}};

    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc;
        put("shadow", OLD, strlen(OLD));
        set_fault(cases[i].call, 1, cases[i].error);
        rc = change("bob", "old", "NEW", false);
        fault_at = 0;
        if (rc != 0)
            fail_msg("%s: %d gives %d", cases[i].call, cases[i].error, rc);
        assert_holds("shadow", NEW, strlen(NEW));
        assert_clean();
    }
}

static void
every_failure_leaves_the_old_file(void **unused)
{
    static const int errors[] = {ENOSPC, EIO, EROFS, EACCES, EMFILE, ENOMEM, EINTR, EDQUOT};
    static const char *const calls[] = {"open",      "openat",       "read",     "write",
                                        "fsync",     "fcntl",        "fchown",   "fchmod",
                                        "fstat",     "fstatat",      "renameat", "flistxattr",
                                        "fgetxattr", "fremovexattr", "malloc",   "realpath"};
    unsigned descriptors = open_descriptors(), hits = 0, at;
    size_t e, c;

    (void)unused;
    for (e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
        for (c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
            for (at = 1;; at++) {
                int rc;
                unlink(in_etc("shadow"));
                put("shadow", OLD, strlen(OLD));
                setxattr(in_etc("shadow"), "user.mhkdf", "value", 5, 0);
                set_fault(calls[c], at, errors[e]);
                rc = change("bob", "old", "NEW", false);
                fault_at = 0;
                if (fault_count < at)
                    break;
                hits++;
                if (rc == 0) {
                    assert_holds("shadow", NEW, strlen(NEW));
                    if (!is_survivable(calls[c], at, errors[e]))
                        fail_msg("%s number %u: %d passed unnoticed", calls[c], at, errors[e]);
                } else {
                    assert_holds("shadow", OLD, strlen(OLD));
                }
                assert_clean();
                assert_int_equal(open_descriptors(), descriptors);
            }
            /* Each call of the list is really made; attributes depend on the file system. */
            if (at == 1 && strstr(calls[c], "getxattr") == NULL)
                fail_msg("%s is never called", calls[c]);
        }
    }
    assert_true(hits > 100);
    set_fault(NULL, 0, 0);
    unlink(in_etc("shadow"));
}

/* So it is where shadow is a mount point. */
static void
busy_shadow_leaves_no_copy(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    set_fault("renameat", 1, EBUSY);
    assert_int_equal(change("bob", "old", "NEW", false), EBUSY);
    set_fault(NULL, 0, 0);
    assert_holds("shadow", OLD, strlen(OLD));
    assert_clean();
}

static void
take_our_name(const char *call)
{
    if (strcmp(call, "fstatat") == 0) {
        unlink(in_etc("nshadow"));
        put("nshadow", "theirs", 6);
    }
}

static void
file_of_another_writer_is_left(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    fault_before = take_our_name;
    assert_int_equal(change("bob", "old", "NEW", false), EBUSY);
    fault_before = NULL;
    assert_holds("shadow", OLD, strlen(OLD));
    assert_holds("nshadow", "theirs", 6);
    unlink(in_etc("nshadow"));
}

static unsigned calls_seen;

static void
assert_private(const char *call)
{
    struct stat st;

    if (strcmp(call, "write") != 0)
        return;
    calls_seen++;
    assert_int_equal(stat(in_etc("nshadow"), &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
}

static void
new_file_is_private_while_it_is_written(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(chmod(in_etc("shadow"), 0644), 0);
    calls_seen = 0;
    fault_before = assert_private;
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    fault_before = NULL;
    assert_true(calls_seen > 0);
    unlink(in_etc("shadow"));
}

static void
file_and_folder_are_stored(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    set_fault("fsync", 0, 0);
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    assert_int_equal(fault_count, 2);
    set_fault(NULL, 0, 0);
}

/* What decides who has access is copied, or the file is not replaced. */
static void
labels_are_copied_or_nothing(void **unused)
{
    static const char acl[] = "\2\0\0\0"
                              "\1\0\6\0\377\377\377\377"
                              "\2\0\4\0\41\0\0\0"
                              "\4\0\4\0\377\377\377\377"
                              "\20\0\4\0\377\377\377\377"
                              "\40\0\0\0\377\377\377\377";
    static const struct {
        const char *name, *value;
        size_t len;
        bool decides;
    } cases[] = {
        {ACL, acl, sizeof(acl) - 1, true},
        {"security.mhkdf", "label", 5, true},
        {"security.selinux", FAKE_LABEL, sizeof(FAKE_LABEL), true},
        {"user.mhkdf", "value", 5, false},
    };
    static const char *const calls[] = {"fsetxattr", "fgetxattr"};
    size_t i, c;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (c = 0; c < 2; c++) {
            unlink(in_etc("shadow"));
            put("shadow", OLD, strlen(OLD));
            if (setxattr(in_etc("shadow"), cases[i].name, cases[i].value, cases[i].len, 0) != 0) {
                print_message("# left out: no %s here\n", cases[i].name);
                continue;
            }
            set_fault(calls[c], 1, EPERM);
            assert_int_equal(change("bob", "old", "NEW", false), cases[i].decides ? EPERM : 0);
            assert_true(fault_count > 0);
            set_fault(NULL, 0, 0);
            if (cases[i].decides)
                assert_holds("shadow", OLD, strlen(OLD));
            assert_clean();
        }
    }
    unlink(in_etc("shadow"));
}

#ifdef HAVE_LIBSELINUX

static void
note_label(const char *call)
{
    if (strcmp(call, "openat") == 0)
        fake_security_created();
}

/* The file is made with shadow's label, and the thread's own setting is as before afterwards. */
static void
label_is_asked_for(void **unused)
{
    static const struct {
        int selinux;
        const char *fails, *before, *created;
    } cases[] = {
        {1, NULL, "", FAKE_LABEL},
        {1, NULL, "of:the:host:s0", FAKE_LABEL},
        {0, NULL, "", ""},
        {-1, NULL, "", ""},
        {1, "fgetfilecon_raw", "of:the:host:s0", "of:the:host:s0"},
        {1, "getfscreatecon_raw", "of:the:host:s0", "of:the:host:s0"},
        {1, "setfscreatecon_raw", "of:the:host:s0", "of:the:host:s0"},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        put("shadow", OLD, strlen(OLD));
        fake_security_reset();
        fake_security.selinux = cases[i / 2].selinux;
        fake_security.fails = cases[i / 2].fails;
        snprintf(fake_security.created_as, sizeof(fake_security.created_as), "%s",
                 cases[i / 2].before);
        fault_before = note_label;
        if (i % 2 == 1) /* it can't even be made */
            set_fault("openat", 3, ENOSPC);
        assert_int_equal(change("bob", "old", "NEW", false), i % 2 == 1 ? ENOSPC : 0);
        set_fault(NULL, 0, 0);
        fault_before = NULL;
        assert_string_equal(fake_security.created, cases[i / 2].created);
        assert_string_equal(fake_security.created_as, cases[i / 2].before);
        assert_int_equal(fake_security.labels, 0);
        assert_clean();
    }
    fake_security_reset();
}

#endif

#ifdef HAVE_LIBAUDIT

static void
changes_are_audited(void **unused)
{
    static const struct {
        bool set_day;
        int fault;
        const char *record;
    } cases[] = {
        {true, 0, "1108 change-password bob -1 1"},
        {true, ENOSPC, "1108 change-password bob -1 0"},
        {false, 0, "1108 rehash-password bob -1 1"},
        {false, ENOSPC, ""},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        bool there_is_audit = i % 2 == 0;
        put("shadow", OLD, strlen(OLD));
        fake_security_reset();
        fake_security.audit_fd = there_is_audit ? 1000 : -1;
        set_fault("write", cases[i / 2].fault != 0 ? 1 : 0, cases[i / 2].fault);
        assert_int_equal(change("bob", "old", "NEW", cases[i / 2].set_day), cases[i / 2].fault);
        set_fault(NULL, 0, 0);
        assert_string_equal(fake_security.record, there_is_audit ? cases[i / 2].record : "");
        assert_int_equal(fake_security.opened, 0);
    }
    fake_security_reset();
}

#endif

static void
label_before(const char *call)
{
    struct stat st;

    if (strcmp(call, "fsetxattr") == 0) {
        assert_int_equal(stat(in_etc("nshadow"), &st), 0);
        assert_int_equal(st.st_size, 0);
    }
}

/* What is in the file is never under another label than it should be. */
static void
label_comes_before_the_contents(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    if (setxattr(in_etc("shadow"), "user.mhkdf", "value", 5, 0) != 0)
        print_message("# left out: no attributes here\n");
    fault_before = label_before;
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    fault_before = NULL;
    unlink(in_etc("shadow"));
}

static void
short_writes_are_continued(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    faults_write_max = 1;
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    faults_write_max = SIZE_MAX;
    assert_holds("shadow", NEW, strlen(NEW));
}

static void
file_size_limit_is_an_error(void **unused)
{
    const struct rlimit limit = {8, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(change("bob", "old", "NEW", false), EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_holds("shadow", OLD, strlen(OLD));
    assert_clean();
}

/* Dies at each call in turn: the file is whole, and the next change finds no obstacle. */
static void
death_at_each_call_leaves_a_whole_file(void **unused)
{
    unsigned at;
    int status = 0;

    (void)unused;
    for (at = 1;; at++) {
        pid_t pid;
        size_t len;
        char *found;
        put("shadow", OLD, strlen(OLD));
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            faults_write_max = 5;
            set_fault(NULL, at, 0);
            _exit(change("bob", "old", "NEW", false));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        found = get("shadow", &len);
        assert_true(strcmp(found, OLD) == 0 || strcmp(found, NEW) == 0);
        free(found);
        assert_int_equal(change("bob", NULL, "third", false), 0);
        assert_clean();
        if (!WIFSIGNALED(status))
            break;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(at > 20);
}

static void
death_at_any_moment_leaves_a_whole_file(void **unused)
{
    unsigned round;

    (void)unused;
    srand(1);
    put("shadow", OLD, strlen(OLD));
    for (round = 0; round < 200; round++) {
        struct timespec pause = {0, rand() % 3000000};
        pid_t pid = fork();
        size_t len;
        char *found;
        assert_true(pid >= 0);
        if (pid == 0) {
            for (;;) {
                change("bob", NULL, "NEW", false);
                change("bob", NULL, "old", false);
            }
        }
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        found = get("shadow", &len);
        assert_true(strcmp(found, OLD) == 0 || strcmp(found, NEW) == 0);
        free(found);
    }
    assert_int_equal(change("bob", NULL, "NEW", false), 0);
    assert_clean();
}

/* The counter that is user n's hash goes up by one, if it is still what it was. */
static int
count_up(unsigned n, unsigned times)
{
    char name[16], old_hash[16], new_hash[16];
    unsigned i;

    snprintf(name, sizeof(name), "user%u", n);
    for (i = 0; i < times; i++) {
        struct shadow_change c = {name, old_hash, new_hash, false, 60000, apart, geteuid()};
        int rc;
        snprintf(old_hash, sizeof(old_hash), "%u", i);
        snprintf(new_hash, sizeof(new_hash), "%u", i + 1);
        rc = shadow_change(etc, &c);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* A writer with the traditional kind of lock, as lckpwdf(3) takes it, in its own way: it counts up
 * the number in the first line. */
static int
count_up_like_shadow_utils(unsigned times)
{
    unsigned i, value;

    for (i = 0; i < times; i++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(in_etc(".pwd.lock"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        size_t len;
        char *text;
        FILE *f;
        if (fd < 0 || fcntl(fd, F_SETLKW, &lock) != 0)
            return 1;
        text = get("shadow", &len);
        value = (unsigned)strtoul(text + 6, NULL, 10);
        f = fopen(in_etc("shadow+"), "w");
        if (f == NULL || fprintf(f, "other:%u:%s", value + 1, strchr(text + 6, ':') + 1) < 0 ||
            fclose(f) != 0 || rename(in_etc("shadow+"), in_etc("shadow")) != 0)
            return 1;
        free(text);
        close(fd);
    }
    return 0;
}

static void
writers_lose_nothing(void **unused)
{
    enum { USERS = 4, TIMES = 100 };
    static const char start[] = "other:0:1::::::\nuser0:0:1::::::\nuser1:0:1::::::\n"
                                "user2:0:1::::::\nuser3:0:1::::::\n";
    static const char end[] = "other:100:1::::::\nuser0:100:1::::::\nuser1:100:1::::::\n"
                              "user2:100:1::::::\nuser3:100:1::::::\n";
    pid_t pids[USERS + 1];
    unsigned i;

    (void)unused;
    put("shadow", start, sizeof(start) - 1);
    for (i = 0; i <= USERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            _exit(i < USERS ? count_up(i, TIMES) : count_up_like_shadow_utils(TIMES));
    }
    for (i = 0; i <= USERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_holds("shadow", end, sizeof(end) - 1);
    assert_clean();
}

static void
one_writer_wins(void **unused)
{
    enum { WRITERS = 8 };
    pid_t pids[WRITERS];
    unsigned i, won = 0, late = 0;

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    for (i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            const struct shadow_change c = {"bob", "old", "NEW", false, 60000, apart, geteuid()};
            _exit(shadow_change(etc, &c));
        }
    }
    for (i = 0; i < WRITERS; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        assert_true(WIFEXITED(status));
        won += WEXITSTATUS(status) == 0;
        late += WEXITSTATUS(status) == ESTALE;
    }
    assert_int_equal(won, 1);
    assert_int_equal(late, WRITERS - 1);
}

/* What somebody does who doesn't take the lock, while the new file is written; each time, or
 * once. */
static struct {
    void (*edit)(void);
    unsigned most, done;
} editor;

static void
edit_meanwhile(const char *call)
{
    if (strcmp(call, "fchown") == 0 && editor.done < editor.most) {
        editor.done++;
        editor.edit();
    }
}

static int
change_while_edited(void (*edit)(void), unsigned most)
{
    int rc;

    editor.edit = edit;
    editor.most = most;
    editor.done = 0;
    fault_before = edit_meanwhile;
    rc = change("bob", "old", "NEW", false);
    fault_before = NULL;
    return rc;
}

#define LOCKED "root:!:1::::::\nbob:old:1::::::\n"
#define LOCKED_AND_NEW "root:!:1::::::\nbob:NEW:1::::::\n"

/* As "root:r:...": neither the length nor the file is another one. */
static void
write_in_place(void)
{
    int fd = open(in_etc("shadow"), O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "!", 1, 5), 1);
    close(fd);
}

static void
write_anew(void)
{
    put("shadow", LOCKED, strlen(LOCKED));
}

static void
replace_as_editors_do(void)
{
    put("edited", LOCKED, strlen(LOCKED));
    assert_int_equal(rename(in_etc("edited"), in_etc("shadow")), 0);
}

static void
append_account(void)
{
    FILE *f = fopen(in_etc("shadow"), "a");

    assert_non_null(f);
    fputs("more:m:1::::::\n", f);
    fclose(f);
}

static void
lock_the_account(void)
{
    put("edited", "bob:!old:1::::::\n", 17);
    assert_int_equal(rename(in_etc("edited"), in_etc("shadow")), 0);
}

static void
remove_the_account(void)
{
    put("edited", "root:r:1::::::\n", 15);
    assert_int_equal(rename(in_etc("edited"), in_etc("shadow")), 0);
}

static void
grow_very_much(void)
{
    FILE *f = fopen(in_etc("shadow"), "a");
    unsigned i;

    assert_non_null(f);
    for (i = 0; i < 10000; i++)
        fprintf(f, "more%05u:m:1::::::\n", i);
    fclose(f);
}

static void
edits_without_the_lock_are_not_undone(void **unused)
{
    static void (*const edits[])(void) = {write_in_place, write_anew, replace_as_editors_do};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        put("shadow", OLD, strlen(OLD));
        assert_int_equal(change_while_edited(edits[i], 1), 0);
        assert_holds("shadow", LOCKED_AND_NEW, strlen(LOCKED_AND_NEW));
        assert_clean();
    }
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(change_while_edited(append_account, 2), 0);
    assert_holds("shadow", NEW "more:m:1::::::\nmore:m:1::::::\n", strlen(NEW) + 30);
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(change_while_edited(lock_the_account, 1), ESTALE);
    assert_holds("shadow", "bob:!old:1::::::\n", 17);
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(change_while_edited(remove_the_account, 1), ENOENT);
    assert_holds("shadow", "root:r:1::::::\n", 15);
    assert_clean();
}

static void
remove_shadow(void)
{
    unlink(in_etc("shadow"));
}

static void
redirect(void)
{
    put("real", LOCKED, strlen(LOCKED));
    assert_int_equal(symlink("real", in_etc("edited")), 0);
    assert_int_equal(rename(in_etc("edited"), in_etc("shadow")), 0);
}

static void
shadow_that_is_gone_or_elsewhere(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(change_while_edited(remove_shadow, 1), ENOENT);
    assert_clean();
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(change_while_edited(redirect, 1), 0);
    assert_holds("real", LOCKED_AND_NEW, strlen(LOCKED_AND_NEW));
    unlink(in_etc("shadow"));
    unlink(in_etc("real"));
    assert_clean();
}

/* It isn't tried for ever. */
static void
who_edits_all_the_time_keeps_his_file(void **unused)
{
    unsigned descriptors = open_descriptors();

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(change_while_edited(replace_as_editors_do, 1000), ETXTBSY);
    assert_in_range(editor.done, 2, 20);
    assert_holds("shadow", LOCKED, strlen(LOCKED));
    assert_clean();
    assert_int_equal(open_descriptors(), descriptors);
}

static void
grow_before_it_is_read(const char *call)
{
    if (strcmp(call, "fcntl") == 0 && editor.done++ < editor.most)
        grow_very_much();
}

/* The memory for it is got before the lock. */
static void
file_that_grows_before_it_is_read(void **unused)
{
    size_t len;
    char *found;

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    editor.done = 0;
    editor.most = 1;
    fault_before = grow_before_it_is_read;
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    fault_before = NULL;
    found = get("shadow", &len);
    assert_memory_equal(found, NEW, strlen(NEW));
    assert_int_equal(len, strlen(NEW) + 10000 * strlen("more00000:m:1::::::\n"));
    free(found);
    assert_clean();
}

/* The kernel can't tell two changes of one moment apart. */
static void
change_of_the_same_moment_is_seen(void **unused)
{
    unsigned i;

    (void)unused;
    for (i = 0; i < 20; i++) {
        put("shadow", OLD, strlen(OLD));
        assert_int_equal(change_while_edited(write_in_place, 1), 0);
        assert_int_equal(editor.done, 1);
        assert_holds("shadow", LOCKED_AND_NEW, strlen(LOCKED_AND_NEW));
    }
}

static int
in_child(void **unused)
{
    (void)unused;
    apart = true;
    return 0;
}

static int
in_process(void **unused)
{
    (void)unused;
    apart = false;
    return 0;
}

/* The child dies at each call in turn: what it answers is true, or it didn't answer. */
static void
death_of_the_child(void **unused)
{
    unsigned at, answers = 0, deaths = 0;

    (void)unused;
    for (at = 1; answers == 0; at++) {
        int rc;
        put("shadow", OLD, strlen(OLD));
        faults_write_max = 5;
        killer = getpid();
        set_fault(NULL, at, 0);
        rc = change("bob", "old", "NEW", false);
        set_fault(NULL, 0, 0);
        faults_write_max = SIZE_MAX;
        if (rc == 0)
            assert_holds("shadow", NEW, strlen(NEW));
        else
            assert_holds("shadow", OLD, strlen(OLD));
        assert_true(rc == 0 || rc == ETIME);
        deaths += rc == ETIME;
        answers += rc == 0 && at > 40;
        unlink(in_etc("nshadow"));
    }
    killer = 0;
    assert_true(deaths > 10);
}

/* A user's limits and closed descriptors. */
static void
child_needs_nothing_of_the_host(void **unused)
{
    unsigned descriptors = open_descriptors();

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    assert_holds("shadow", NEW, strlen(NEW));
    assert_int_equal(open_descriptors(), descriptors);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void
no_child_no_change(void **unused)
{
    const struct shadow_change c = {"bob", "old", "NEW", false, 100, true, geteuid() + 1};

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(shadow_change(etc, &c), EPERM);
    assert_holds("shadow", OLD, strlen(OLD));
    set_fault("pipe2", 1, EMFILE);
    assert_int_equal(change("bob", "old", "NEW", false), EMFILE);
    set_fault("syscall", 1, EAGAIN); /* clone(2) */
    assert_int_equal(change("bob", "old", "NEW", false), EAGAIN);
    set_fault(NULL, 0, 0);
    assert_holds("shadow", OLD, strlen(OLD));
    assert_clean();
}

static void
lock_is_waited_for_and_given_up(void **unused)
{
    struct lock lock;

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(lock_take(etc, 0, &lock), 0);
    assert_int_equal(change("bob", "old", "NEW", false), ETIMEDOUT);
    assert_holds("shadow", OLD, strlen(OLD));
    lock_release(&lock);
    assert_int_equal(change("bob", "old", "NEW", false), 0);
}

/* A child that another thread of the host started meanwhile has the lock's file open, too. */
static void
lock_is_not_left_to_a_child(void **unused)
{
    struct lock lock, again;
    pid_t pid;
    int rc;

    (void)unused;
    assert_int_equal(lock_take(etc, 0, &lock), 0);
    assert_true((fcntl(lock.fd, F_GETFD) & FD_CLOEXEC) != 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        for (;;)
            pause();
    }
    lock_release(&lock);
    rc = lock_take(etc, 0, &again);
    if (rc == 0)
        lock_release(&again);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(rc, 0);
}

static unsigned locked;

static void
remove_before_first_lock(const char *call)
{
    if (strcmp(call, "fcntl") == 0 && locked++ == 0)
        unlink(in_etc(".pwd.lock"));
}

/* Removed after it was opened: who comes next locks another file, so this lock is worth nothing. */
static void
lock_on_a_removed_file_is_not_trusted(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    fault_before = remove_before_first_lock;
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    fault_before = NULL;
    assert_int_equal(locked, 4); /* twice, each with its release */
    assert_holds("shadow", NEW, strlen(NEW));
}

/* A lock file that someone removed and made anew is not mistaken for the one in use. */
static void
lock_file_may_be_replaced(void **unused)
{
    struct lock lock;

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(lock_take(etc, 0, &lock), 0);
    assert_int_equal(unlink(in_etc(".pwd.lock")), 0);
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    lock_release(&lock);
    unlink(in_etc(".pwd.lock"));
}

/* As lckpwdf(3) has it: the file that the link points to is locked, and made where it is missing.
 */
static void
lock_file_may_be_a_link(void **unused)
{
    struct flock by_others = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd;

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    unlink(in_etc(".pwd.lock"));
    assert_int_equal(symlink("real", in_etc(".pwd.lock")), 0);
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    fd = open(in_etc("real"), O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &by_others), 0);
    assert_int_equal(change("bob", NULL, "old", false), ETIMEDOUT);
    close(fd);
    unlink(in_etc(".pwd.lock"));
    unlink(in_etc("real"));
}

static volatile sig_atomic_t signals;

static void
count_signal(int number)
{
    (void)number;
    signals++;
}

static unsigned tries;

static void
assert_calm(const char *call)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ};
    sigset_t mask;
    size_t i;

    /* what comes before the lock's file is opened needs no calm */
    if (calls_seen == 0 && strcmp(call, "open") != 0)
        return;
    calls_seen++;
    assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (sigismember(&mask, numbers[i]) != 1)
            fail_msg("signal %d isn't blocked at %s", numbers[i], call);
    }
}

/* From before the lock is there until it is released no signal can stop the process. */
static void
lock_is_held_calmly(void **unused)
{
    (void)unused;
    put("shadow", OLD, strlen(OLD));
    calls_seen = 0;
    fault_before = assert_calm;
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    fault_before = NULL;
    assert_true(calls_seen > 10);
}

static void
signal_in_each_try(const char *call)
{
    if (strcmp(call, "fcntl") == 0) {
        /* what came in the try before has arrived; what comes now waits */
        assert_int_equal(signals, tries++);
        raise(SIGUSR1);
        assert_int_equal(signals, tries - 1);
    }
}

static void
waiting_can_be_interrupted(void **unused)
{
    struct sigaction action = {.sa_handler = count_signal}, old;
    struct lock lock;

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    assert_int_equal(lock_take(etc, 0, &lock), 0);
    calm_end(&lock.calm);
    sigaction(SIGUSR1, &action, &old);
    signals = 0;
    fault_before = signal_in_each_try;
    assert_int_equal(change("bob", "old", "NEW", false), ETIMEDOUT);
    fault_before = NULL;
    sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(signals, tries);
    lock_release(&lock);
    signals = 0;
}

static void
signals_are_as_before(void **unused)
{
    struct sigaction action = {.sa_handler = count_signal}, old;
    sigset_t before, after;
    int i;

    (void)unused;
    put("shadow", OLD, strlen(OLD));
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGUSR1, &action, &old);
    kill(getpid(), SIGUSR2);
    assert_int_equal(change("bob", "old", "NEW", false), 0);
    sigprocmask(SIG_SETMASK, NULL, &after);
    for (i = 1; i < 32; i++)
        assert_int_equal(sigismember(&after, i), sigismember(&before, i));
    raise(SIGUSR1);
    assert_int_equal(signals, 1);
    sigaction(SIGUSR1, &old, NULL);
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGUSR2, SIG_DFL);
}

static void
accounts_are_found(void **unused)
{
    static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
                                 "toor:x:000:0::/root:/bin/sh\n"
                                 "bad:x::0::/root:/bin/sh\n"
                                 "few:x:1\n"
                                 "bob:x:1000:1000:,,,:/home/bob:/bin/sh\n"
                                 "bob:x:0:0:,,,:/home/bob:/bin/sh\n"
                                 "tcb:##tcb:1001:1001:::\n"
                                 "old:$1$a$b:1002:1002:::\n"
                                 "open::1003:1003:::\n"
                                 "gone:x:4294967294:1004:::\n"
                                 "big:x:4294967295:1004:::\n"
                                 "+nis:x:1005:1005:::\n"
                                 "last:*:1006:1006:::";
    static const char shadow[] = "root:R:1:0:99999:7:::\ntoor:T:1::::::\nbad:B:1::::::\n"
                                 "few:F:1::::::\nbob:B:20000:1:90:7:30:21000:\ntcb:C:1::::::\n"
                                 "old:O:1::::::\n+nis:N:1::::::\nnobody:N:1::::::\n";
    struct account a;

    (void)unused;
    put("passwd", passwd, sizeof(passwd) - 1);
    put("shadow", shadow, sizeof(shadow) - 1);
    assert_int_equal(account_find(etc, "bob", &a), 0);
    assert_int_equal(a.uid, 1000);
    assert_true(a.shadowed);
    assert_string_equal(a.hash, "B");
    assert_int_equal(a.aging.last_change, 20000);
    assert_int_equal(a.aging.min, 1);
    assert_int_equal(a.aging.max, 90);
    assert_int_equal(a.aging.warn, 7);
    assert_int_equal(a.aging.inactive, 30);
    assert_int_equal(a.aging.expire, 21000);
    account_free(&a);
    account_free(&a);
    assert_int_equal(account_find(etc, "toor", &a), 0);
    assert_int_equal(a.uid, 0);
    assert_int_equal(a.aging.max, AGING_NONE);
    account_free(&a);
    assert_int_equal(account_find(etc, "tcb", &a), 0);
    assert_string_equal(a.hash, "C");
    account_free(&a);
    assert_int_equal(account_find(etc, "old", &a), 0);
    assert_false(a.shadowed);
    assert_string_equal(a.hash, "$1$a$b");
    account_free(&a);
    assert_int_equal(account_find(etc, "open", &a), 0);
    assert_false(a.shadowed);
    assert_string_equal(a.hash, "");
    account_free(&a);
    assert_int_equal(account_find(etc, "last", &a), 0);
    assert_string_equal(a.hash, "*");
    account_free(&a);
    assert_int_equal(account_find(etc, "gone", &a), ENODATA);
    assert_int_equal(a.uid, 4294967294U);
    assert_null(a.hash);
    assert_int_equal(account_find(etc, "big", &a), ENOENT);
    assert_int_equal(account_find(etc, "bad", &a), ENOENT);
    assert_int_equal(account_find(etc, "few", &a), ENOENT);
    assert_int_equal(account_find(etc, "+nis", &a), ENOENT);
    assert_int_equal(account_find(etc, "nobody", &a), ENOENT);
    assert_int_equal(account_find(etc, "", &a), ENOENT);
    assert_int_equal(account_find(etc, "bob:x", &a), ENOENT);
    unlink(in_etc("shadow"));
    assert_int_equal(account_find(etc, "bob", &a), ENODATA);
    unlink(in_etc("passwd"));
    assert_int_equal(account_find(etc, "bob", &a), ENOENT);
}

/* What vipw and the next writer do, just before shadow is read. */
static void
replace_and_empty(const char *call)
{
    /* two of passwd, then shadow is open */
    if (strcmp(call, "read") != 0 || ++replaced != 3)
        return;
    assert_int_equal(link(in_etc("shadow"), in_etc("shadow-")), 0);
    put("new", "bob:NEW:20000::::::\n", 20);
    assert_int_equal(rename(in_etc("new"), in_etc("shadow")), 0);
    put("shadow-", "", 0);
}

static void
file_replaced_while_it_is_read(void **unused)
{
    struct account a;

    (void)unused;
    put("passwd", "bob:x:1000:1000:::\n", 19);
    put("shadow", "bob:OLD:20000::::::\n", 20);
    replaced = 0;
    fault_before = replace_and_empty;
    assert_int_equal(account_find(etc, "bob", &a), 0);
    fault_before = NULL;
    assert_string_equal(a.hash, "NEW");
    account_free(&a);
    unlink(in_etc("shadow-"));
}

static void
hashes_are_usable_or_not(void **unused)
{
    (void)unused;
    assert_true(account_hash_is_usable("$mhkdf$"));
    assert_true(account_hash_is_usable("x"));
    assert_false(account_hash_is_usable(""));
    assert_false(account_hash_is_usable("!"));
    assert_false(account_hash_is_usable("*"));
    assert_false(account_hash_is_usable("!$mhkdf$"));
    assert_false(account_hash_is_usable("*0"));
}

static void
aging_is_judged_like_pam_unix(void **unused)
{
    static const struct {
        struct aging aging;
        enum aging_state state; /* on day 100 */
    } cases[] = {
        {{90, 0, 99999, 7, -1, -1}, AGING_VALID},
        {{0, 0, 99999, 7, -1, -1}, AGING_CHANGE_DUE},
        {{90, 0, 10, 7, -1, -1}, AGING_VALID},
        {{89, 0, 10, 7, -1, -1}, AGING_CHANGE_DUE},
        {{89, 0, 10, 7, 1, -1}, AGING_CHANGE_DUE},
        {{88, 0, 10, 7, 1, -1}, AGING_PASSWORD_DEAD},
        {{88, 0, 10, 7, -1, -1}, AGING_CHANGE_DUE},
        {{90, 10, 99999, 7, -1, -1}, AGING_VALID},
        {{91, 10, 99999, 7, -1, -1}, AGING_TOO_RECENT},
        {{100, 1, 99999, 7, -1, -1}, AGING_TOO_RECENT},
        {{101, 10, 99999, 7, -1, -1}, AGING_VALID},
        {{101, 0, 0, 7, 0, -1}, AGING_VALID},
        {{90, 0, 99999, 7, -1, 101}, AGING_VALID},
        {{90, 0, 99999, 7, -1, 100}, AGING_ACCOUNT_EXPIRED},
        {{0, 0, 99999, 7, -1, 0}, AGING_ACCOUNT_EXPIRED},
        {{-1, -1, -1, -1, -1, -1}, AGING_VALID},
        {{-1, 10, -1, -1, -1, -1}, AGING_VALID},
        {{-1, 0, 30, -1, -1, -1}, AGING_CHANGE_DUE},
        {{91, 20, 5, 7, -1, -1}, AGING_CHANGE_DUE},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(aging_judge(&cases[i].aging, 100), cases[i].state);
}

#define CHILD_TEST(name) cmocka_unit_test_setup_teardown(name, in_child, in_process)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_fields_change),
        cmocka_unit_test(odd_files_are_kept),
        cmocka_unit_test(long_lines_are_kept),
        cmocka_unit_test(refusals_change_nothing),
        cmocka_unit_test(missing_and_strange_files),
        cmocka_unit_test(link_is_followed),
        cmocka_unit_test(owner_mode_and_attributes_stay),
        cmocka_unit_test(access_lists_stay),
        cmocka_unit_test(leftover_is_replaced),
        cmocka_unit_test(lock_is_tried_again),
        cmocka_unit_test(every_failure_leaves_the_old_file),
        cmocka_unit_test(busy_shadow_leaves_no_copy),
        cmocka_unit_test(file_of_another_writer_is_left),
        cmocka_unit_test(new_file_is_private_while_it_is_written),
        cmocka_unit_test(file_and_folder_are_stored),
        cmocka_unit_test(labels_are_copied_or_nothing),
#ifdef HAVE_LIBSELINUX
        cmocka_unit_test(label_is_asked_for),
#endif
#ifdef HAVE_LIBAUDIT
        cmocka_unit_test(changes_are_audited),
#endif
        cmocka_unit_test(label_comes_before_the_contents),
        cmocka_unit_test(short_writes_are_continued),
        cmocka_unit_test(file_size_limit_is_an_error),
        cmocka_unit_test(death_at_each_call_leaves_a_whole_file),
        cmocka_unit_test(death_at_any_moment_leaves_a_whole_file),
        cmocka_unit_test(writers_lose_nothing),
        cmocka_unit_test(one_writer_wins),
        cmocka_unit_test(edits_without_the_lock_are_not_undone),
        cmocka_unit_test(shadow_that_is_gone_or_elsewhere),
        cmocka_unit_test(who_edits_all_the_time_keeps_his_file),
        cmocka_unit_test(file_that_grows_before_it_is_read),
        cmocka_unit_test(change_of_the_same_moment_is_seen),
        CHILD_TEST(only_the_fields_change),
        CHILD_TEST(odd_files_are_kept),
        CHILD_TEST(long_lines_are_kept),
        CHILD_TEST(refusals_change_nothing),
        CHILD_TEST(missing_and_strange_files),
        CHILD_TEST(link_is_followed),
        CHILD_TEST(owner_mode_and_attributes_stay),
        CHILD_TEST(access_lists_stay),
        CHILD_TEST(leftover_is_replaced),
        CHILD_TEST(busy_shadow_leaves_no_copy),
#ifdef HAVE_LIBAUDIT
        CHILD_TEST(changes_are_audited),
#endif
        CHILD_TEST(short_writes_are_continued),
        CHILD_TEST(writers_lose_nothing),
        CHILD_TEST(one_writer_wins),
        CHILD_TEST(lock_is_waited_for_and_given_up),
        CHILD_TEST(lock_file_may_be_a_link),
        CHILD_TEST(signals_are_as_before),
        CHILD_TEST(death_of_the_child),
        CHILD_TEST(child_needs_nothing_of_the_host),
        CHILD_TEST(no_child_no_change),
        cmocka_unit_test(lock_is_waited_for_and_given_up),
        cmocka_unit_test(lock_is_not_left_to_a_child),
        cmocka_unit_test(lock_on_a_removed_file_is_not_trusted),
        cmocka_unit_test(lock_file_may_be_replaced),
        cmocka_unit_test(lock_file_may_be_a_link),
        cmocka_unit_test(lock_is_held_calmly),
        cmocka_unit_test(waiting_can_be_interrupted),
        cmocka_unit_test(signals_are_as_before),
        cmocka_unit_test(accounts_are_found),
        cmocka_unit_test(file_replaced_while_it_is_read),
        cmocka_unit_test(hashes_are_usable_or_not),
        cmocka_unit_test(aging_is_judged_like_pam_unix),
    };

    faults_write_max = SIZE_MAX;
    fake_security_reset();
    umask(022);
    scratch_enter(etc);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
