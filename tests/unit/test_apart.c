/* SPDX-License-Identifier: BSD-2-Clause */
/* Work in a child: what it is there, and that neither its user nor its host has a hold on it. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/apart.h"
#include "policy/descriptors.h"

/* What the child finds, in memory that both have. */
static struct seen {
    volatile pid_t pid;
    volatile int go_on;
    pid_t session, parent;
    uid_t uids[3];
    gid_t gids[3];
    int groups;
    int descriptors; /* from 0 to 255 */
    bool standard_are_folders;
    bool blocked[NSIG];
    int scheduler, nice, cpus;
    mode_t mask;
    char folder[16];
    struct rlimit file_size, cpu, core;
    int dumpable;
} * seen;

static const struct timespec moment = {0, 1000000};

static int
set_up(void **state)
{
    (void)state;
    memset(seen, 0, sizeof(*seen));
    return 0;
}

static int
run(int (*work)(void *), void *ctx, int *result)
{
    return apart_run(geteuid(), 5000, 10000, work, ctx, result);
}

static void
look_at_descriptors(void)
{
    struct stat st;
    int fd;

    seen->standard_are_folders = true;
    for (fd = 0; fd < 3; fd++)
        seen->standard_are_folders &= fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    for (fd = 0; fd < 256; fd++)
        seen->descriptors += fcntl(fd, F_GETFD) >= 0;
}

static int
look(void *ctx)
{
    sigset_t blocked;
    cpu_set_t cpus;
    int number;

    (void)ctx;
    seen->pid = getpid();
    seen->parent = getppid();
    seen->session = getsid(0);
    getresuid(&seen->uids[0], &seen->uids[1], &seen->uids[2]);
    getresgid(&seen->gids[0], &seen->gids[1], &seen->gids[2]);
    seen->groups = getgroups(0, NULL);
    look_at_descriptors();
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (number = 1; number < NSIG; number++)
        seen->blocked[number] = sigismember(&blocked, number) == 1;
    seen->scheduler = sched_getscheduler(0);
    seen->nice = getpriority(PRIO_PROCESS, 0);
    sched_getaffinity(0, sizeof(cpus), &cpus);
    seen->cpus = CPU_COUNT(&cpus);
    seen->mask = umask(0);
    if (getcwd(seen->folder, sizeof(seen->folder)) == NULL)
        seen->folder[0] = '\0';
    getrlimit(RLIMIT_FSIZE, &seen->file_size);
    getrlimit(RLIMIT_CPU, &seen->cpu);
    getrlimit(RLIMIT_CORE, &seen->core);
    seen->dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    return 42;
}

static void
result_comes_back(void **unused)
{
    int number = 7, result = 0;

    (void)unused;
    assert_int_equal(run(look, &number, &result), 0);
    assert_int_equal(result, 42);
    assert_int_not_equal(seen->pid, getpid());
    assert_int_equal(seen->parent, getpid());
}

static void
child_has_nothing_of_the_host(void **unused)
{
    int fd = open("/dev/null", O_RDWR), again = dup2(fd, 100), result;
    int number;

    (void)unused;
    assert_true(fd >= 0 && again == 100);
    assert_int_equal(run(look, NULL, &result), 0);
    assert_int_equal(seen->session, seen->pid);
    assert_int_not_equal(seen->session, getsid(0));
    assert_int_equal(seen->descriptors, 4); /* three on a folder, and the pipe's end */
    assert_true(seen->standard_are_folders);
    for (number = 1; number < 32; number++) {
        if (seen->blocked[number] != (number != SIGALRM && number != SIGKILL && number != SIGSTOP))
            fail_msg("signal %d", number);
    }
    assert_int_equal(seen->mask, 077);
    assert_string_equal(seen->folder, "/");
    assert_int_equal(seen->core.rlim_cur, 0);
#ifndef SANITIZED
    assert_int_equal(seen->dumpable, 0);
#endif
    close(fd);
    close(again);
}

/* In a process of its own, since none of it can be taken back. */
static int
in_a_process(int (*function)(void))
{
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(function());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int
run_as_slowest(void)
{
    const struct sched_param param = {.sched_priority = 0};
    const struct rlimit little = {100, RLIM_INFINITY};
    cpu_set_t one;
    int result;

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0 || setpriority(PRIO_PROCESS, 0, 19) != 0 ||
        setrlimit(RLIMIT_FSIZE, &little) != 0 || setrlimit(RLIMIT_CPU, &little) != 0 ||
        sched_setscheduler(0, SCHED_IDLE, &param) != 0)
        return 1;
    return run(look, NULL, &result);
}

static void
child_is_not_slowed_down(void **unused)
{
    cpu_set_t cpus;

    (void)unused;
    if (geteuid() != 0) {
        print_message("# only root can try this\n");
        return;
    }
    sched_getaffinity(0, sizeof(cpus), &cpus);
    assert_int_equal(in_a_process(run_as_slowest), 0);
    assert_int_equal(seen->scheduler, SCHED_OTHER);
    assert_int_equal(seen->nice, 0);
    assert_true(seen->cpus >= CPU_COUNT(&cpus));
    assert_true(seen->file_size.rlim_cur == RLIM_INFINITY);
    assert_true(seen->cpu.rlim_cur == RLIM_INFINITY);
}

/* As su is, which another one started. */
static int
become_set_id_program(void)
{
    gid_t group = 100;

    return setgroups(1, &group) != 0 || setresgid(100, 0, 0) != 0 || setresuid(65534, 0, 0) != 0;
}

static int
run_as_set_id_program(void)
{
    int result;

    return become_set_id_program() != 0 ? 1 : run(look, NULL, &result);
}

static void
child_is_root_through_and_through(void **unused)
{
    size_t i;

    (void)unused;
    if (geteuid() != 0) {
        print_message("# only root can try this\n");
        return;
    }
    assert_int_equal(in_a_process(run_as_set_id_program), 0);
    for (i = 0; i < 3; i++) {
        assert_int_equal(seen->uids[i], 0);
        assert_int_equal(seen->gids[i], 0);
    }
    assert_int_equal(seen->groups, 0);
}

static int
wait_for_go(void *ctx)
{
    unsigned i;

    (void)ctx;
    seen->pid = getpid();
    for (i = 0; i < 5000 && !seen->go_on; i++)
        nanosleep(&moment, NULL);
    return seen->go_on == EPERM ? 0 : 1;
}

static int
be_stopped_by_user(void)
{
    pid_t user = fork();
    int result = 1;

    if (user == 0) {
        if (setresuid(65534, 65534, 65534) != 0)
            _exit(1);
        while (seen->pid == 0)
            nanosleep(&moment, NULL);
        seen->go_on = kill(seen->pid, SIGSTOP) == 0 ? 1 : errno;
        if (seen->go_on != EPERM)
            kill(seen->pid, SIGCONT);
        _exit(0);
    }
    if (become_set_id_program() != 0 || run(wait_for_go, NULL, &result) != 0)
        result = 1;
    waitpid(user, NULL, 0);
    return result;
}

static void
user_cant_stop_it(void **unused)
{
    (void)unused;
    if (geteuid() != 0) {
        print_message("# only root can try this\n");
        return;
    }
    assert_int_equal(in_a_process(be_stopped_by_user), 0);
}

static int
hang(void *ctx)
{
    sigset_t all;

    seen->pid = getpid();
    if (ctx != NULL) {
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
    }
    for (;;)
        nanosleep(&moment, NULL);
    return 0;
}

static int
hang_after_a_new_limit(void *ctx)
{
    apart_limit(50);
    return hang(ctx);
}

static int
die(void *ctx)
{
    (void)ctx;
    seen->pid = getpid();
    kill(getpid(), SIGKILL);
    return 0;
}

static void
it_ends_in_time(void **unused)
{
    int deaf = 1, result = 0;

    (void)unused;
    assert_int_equal(apart_run(geteuid(), 50, 60000, hang, NULL, &result), ETIME);
    assert_int_equal(kill(seen->pid, 0), -1);
    assert_int_equal(apart_run(geteuid(), 60000, 60000, hang_after_a_new_limit, NULL, &result),
                     ETIME);
    assert_int_equal(kill(seen->pid, 0), -1);
    assert_int_equal(apart_run(geteuid(), 60000, 50, hang, &deaf, &result), ETIME);
    assert_int_equal(kill(seen->pid, 0), -1);
    assert_int_equal(run(die, NULL, &result), ETIME);
    assert_int_equal(kill(seen->pid, 0), -1);
    assert_int_equal(result, 0);
}

/* What control groups of version 2 are below; NULL: nothing that we may use. */
static const char *
find_groups(void)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char path[64];
    size_t i;

    for (i = 0; geteuid() == 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/cgroup.controllers", places[i]);
        if (access(path, F_OK) == 0)
            return places[i];
    }
    return NULL;
}

static bool
put(const char *group, const char *name, const char *text)
{
    char path[128];
    bool done;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", group, name);
    f = fopen(path, "w");
    if (f == NULL)
        return false;
    done = fputs(text, f) >= 0;
    return fclose(f) == 0 && done;
}

/* When the child is there. */
static _Noreturn void
freeze_child(const char *group)
{
    char text[16];

    while (seen->pid == 0)
        nanosleep(&moment, NULL);
    snprintf(text, sizeof(text), "%d", (int)seen->pid);
    _exit(put(group, "cgroup.procs", text) && put(group, "cgroup.freeze", "1") ? 0 : 1);
}

static void
limit_holds_for_a_frozen_child(void **unused)
{
    const char *groups = find_groups();
    char group[96];
    int result = 0, status = 0;
    pid_t freezer;

    (void)unused;
    if (groups == NULL) {
        print_message("# there are no control groups to freeze\n");
        return;
    }
    snprintf(group, sizeof(group), "%s/mhkdf-test-%d", groups, (int)getpid());
    if (mkdir(group, 0700) != 0) {
        print_message("# no control group can be made\n");
        return;
    }
    freezer = fork();
    if (freezer == 0)
        freeze_child(group);
    assert_int_equal(apart_run(0, 1000, 60000, hang, NULL, &result), ETIME);
    assert_int_equal(kill(seen->pid, 0), -1);
    waitpid(freezer, &status, 0);
    rmdir(group);
    if (status != 0) {
        print_message("# the control group could not be frozen\n");
        return;
    }
}

static volatile sig_atomic_t signals;

static void
count_signal(int number)
{
    (void)number;
    signals++;
}

static void
host_notices_nothing(void **unused)
{
    struct sigaction action = {.sa_handler = count_signal}, before, after;
    sigset_t mask_before, mask_after;
    int result, first, second, number;

    (void)unused;
    sigaction(SIGCHLD, &action, &before);
    sigprocmask(SIG_SETMASK, NULL, &mask_before);
    first = dup(0);
    close(first);
    signals = 0;
    assert_int_equal(run(look, NULL, &result), 0);
    assert_int_equal(run(die, NULL, &result), ETIME);
    assert_int_equal(signals, 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    second = dup(0);
    close(second);
    assert_int_equal(first, second);
    sigaction(SIGCHLD, &before, &after);
    assert_true(after.sa_handler == count_signal);
    sigprocmask(SIG_SETMASK, NULL, &mask_after);
    for (number = 1; number < 32; number++)
        assert_int_equal(sigismember(&mask_before, number), sigismember(&mask_after, number));
    action.sa_handler = SIG_IGN;
    sigaction(SIGCHLD, &action, NULL);
    assert_int_equal(run(look, NULL, &result), 0);
    assert_int_equal(result, 42);
    sigaction(SIGCHLD, &before, NULL);
}

/* With whatever descriptors the host has closed. */
static int
run_without_standard(void)
{
    int result = 0, rc = 0;

    for (int closed = 0; rc == 0 && closed < 8; closed++) {
        for (int fd = 0; fd < 3; fd++) {
            if ((closed & 1 << fd) != 0)
                close(fd);
        }
        memset(seen, 0, sizeof(*seen));
        rc = run(look, NULL, &result);
        if (rc == 0 && (result != 42 || seen->descriptors != 4 || !seen->standard_are_folders))
            rc = 1;
        for (int fd = 0; fd < 3; fd++)
            (void)!open("/dev/null", O_RDWR);
        descriptors_close_from(3);
    }
    return rc;
}

static void
closed_descriptors_are_no_matter(void **unused)
{
    (void)unused;
    assert_int_equal(in_a_process(run_without_standard), 0);
}

static int
run_without_descriptors(void)
{
    const struct rlimit none = {3, 3};
    int result;

    descriptors_close_from(3);
    return setrlimit(RLIMIT_NOFILE, &none) == 0 ? run(look, NULL, &result) : 1;
}

static void
where_there_can_be_no_child(void **unused)
{
    int result = 7;

    (void)unused;
    assert_int_equal(apart_run(geteuid() + 1, 1000, 1000, look, NULL, &result), EPERM);
    assert_int_equal(in_a_process(run_without_descriptors), EMFILE);
    assert_int_equal(seen->pid, 0);
    assert_int_equal(result, 7);
}

static atomic_int stop_threads;

static void *
use_memory(void *unused)
{
    (void)unused;
    while (!stop_threads) {
        volatile char *memory = malloc(100000);
        if (memory != NULL)
            memory[0] = 1;
        free((void *)memory);
    }
    return NULL;
}

/* Whatever lock another thread holds at that moment. */
static void
host_with_threads(void **unused)
{
    pthread_t threads[4];
    int result, i;

    (void)unused;
    stop_threads = 0;
    for (i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_memory, NULL), 0);
    for (i = 0; i < 100; i++)
        assert_int_equal(run(look, NULL, &result), 0);
    stop_threads = 1;
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(result_comes_back, set_up),
        cmocka_unit_test_setup(child_has_nothing_of_the_host, set_up),
        cmocka_unit_test_setup(child_is_not_slowed_down, set_up),
        cmocka_unit_test_setup(child_is_root_through_and_through, set_up),
        cmocka_unit_test_setup(user_cant_stop_it, set_up),
        cmocka_unit_test_setup(it_ends_in_time, set_up),
        cmocka_unit_test_setup(limit_holds_for_a_frozen_child, set_up),
        cmocka_unit_test_setup(host_notices_nothing, set_up),
        cmocka_unit_test_setup(closed_descriptors_are_no_matter, set_up),
        cmocka_unit_test_setup(where_there_can_be_no_child, set_up),
        cmocka_unit_test_setup(host_with_threads, set_up),
    };

    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
