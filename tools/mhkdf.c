/* SPDX-License-Identifier: BSD-2-Clause */
/* The mhkdf command: prepares the process for secrets and hands over to a subcommand. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libcore/mhkdf.h"
#include "tools/arena.h"
#include "tools/bench.h"
#include "tools/hash.h"
#include "tools/message.h"
#include "tools/status.h"
#include "tools/verify.h"

/* The leak checker of test builds traces its own process, so that must stay possible there. */
#if defined(__SANITIZE_ADDRESS__)
#define LEAK_CHECKER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAK_CHECKER 1
#endif
#endif
#ifndef LEAK_CHECKER
#define LEAK_CHECKER 0
#endif

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"arena", arena_run},
    {"bench", bench_run},
    {"hash", hash_run},
    {"verify", verify_run},
};

static const char help[] =
    "usage: mhkdf SUBCOMMAND [ARGUMENT ...]\n"
    "\n"
    "subcommands:\n"
    "  arena      say what mhkdf-arenad has and does\n"
    "  bench      measure how long hashes take here\n"
    "  hash       print the string of a password\n"
    "  verify     say whether a password matches a string\n"
    "\n"
    "options:\n"
    "  --help     print this text and exit; mhkdf SUBCOMMAND --help says more\n"
    "  --version  print the version and exit\n";

/* Takes descriptors 0 to 2 where they are closed, so that nothing that is opened later is mistaken
 * for them. Opened the wrong way round, they still fail when they are used. */
static int
fill_standard_descriptors(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return EBADF;
    return 0;
}

/* No core dump, and no look into this process by others of the same user. Best effort: the hash is
 * as good without. */
static void
keep_secrets(void)
{
    static const struct rlimit none;

    (void)setrlimit(RLIMIT_CORE, &none);
    if (!LEAK_CHECKER)
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int
print_version(void)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "mhkdf %s (libmhkdf %s)\n", PACKAGE_VERSION,
                   mhkdf_version());
    return message_output(NULL, text);
}

static int
run_option(int argc, char **argv)
{
    int help_wanted = strcmp(argv[1], "--help") == 0;

    if (!help_wanted && strcmp(argv[1], "--version") != 0) {
        message_error(NULL, "unknown option %.40s; 'mhkdf --help' lists what there is", argv[1]);
        return STATUS_TROUBLE;
    }
    if (argc > 2) {
        message_error(NULL, "%s takes no argument", argv[1]);
        return STATUS_TROUBLE;
    }
    return help_wanted ? message_output(NULL, help) : print_version();
}

int
main(int argc, char **argv)
{
    if (fill_standard_descriptors() != 0)
        return STATUS_TROUBLE;
    keep_secrets();
    (void)signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        message_error(NULL, "a subcommand is missing; 'mhkdf --help' lists them");
        return STATUS_TROUBLE;
    }
    if (argv[1][0] == '-')
        return run_option(argc, argv);
    for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    message_error(NULL, "unknown subcommand; 'mhkdf --help' lists them");
    return STATUS_TROUBLE;
}
