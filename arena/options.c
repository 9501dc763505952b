/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "arena/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "libcore/arena_protocol.h"
#include "policy/config.h"

#define STATUS_USAGE 2

static const char help[] =
    "usage: mhkdf-arenad [OPTION ...]\n"
    "\n"
    "Keeps memory for password hashes ready, and lends it to login programs. It stays in the\n"
    "foreground; mhkdf-arenad(8) says more.\n"
    "\n"
    "options:\n"
    "  --conf FILE     read this instead of " CONFIG_PATH "\n"
    "  --socket PATH   listen here instead of " ARENA_SOCKET "\n"
    "  --user NAME     the user to become when started by root (mhkdf-arena)\n"
    "  --group NAME    whose programs may ask, besides root's (shadow)\n"
    "  --check         name the accounts that mhkdf.conf locks out, and exit\n"
    "  --help          print this text and exit\n"
    "  --version       print the version and exit\n";

enum { OPT_CONF = 1, OPT_SOCKET, OPT_USER, OPT_GROUP, OPT_CHECK, OPT_HELP, OPT_VERSION };

static const struct option known[] = {
    {"conf", required_argument, NULL, OPT_CONF}, {"socket", required_argument, NULL, OPT_SOCKET},
    {"user", required_argument, NULL, OPT_USER}, {"group", required_argument, NULL, OPT_GROUP},
    {"check", no_argument, NULL, OPT_CHECK},     {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION}, {NULL, 0, NULL, 0},
};

static bool
print(const char *text, int *status)
{
    *status = fputs(text, stdout) == EOF || fflush(stdout) != 0;
    return false;
}

bool
options_read(int argc, char **argv, struct options *out, int *status)
{
    int option;

    memset(out, 0, sizeof(*out));
    out->conf = CONFIG_PATH;
    out->socket = ARENA_SOCKET;
    out->user = "mhkdf-arena";
    out->group = "shadow";
    *status = STATUS_USAGE;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case OPT_CONF:
            out->conf = optarg;
            out->conf_is_given = true;
            break;
        case OPT_SOCKET:
            out->socket = optarg;
            break;
        case OPT_USER:
            out->user = optarg;
            break;
        case OPT_GROUP:
            out->group = optarg;
            break;
        case OPT_CHECK:
            out->check = true;
            break;
        case OPT_HELP:
            return print(help, status);
        case OPT_VERSION:
            return print("mhkdf-arenad " PACKAGE_VERSION "\n", status);
        default:
            return false;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: no argument was expected; --help lists the options\n", argv[0]);
        return false;
    }
    return true;
}
