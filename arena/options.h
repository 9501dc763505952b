/* SPDX-License-Identifier: BSD-2-Clause */
/** mhkdf-arenad's command line. */
#ifndef ARENA_OPTIONS_H
#define ARENA_OPTIONS_H

#include <stdbool.h>

struct options {
    const char *conf;
    bool conf_is_given; /* so it must exist */
    const char *socket;
    const char *user;  /* whom to become where this is root */
    const char *group; /* whose programs may ask, besides root's */
    bool check;        /* say whom mhkdf.conf locks out, and exit */
};

/** Reads argv. True: go on. False: exit with *status, all has been said. */
bool options_read(int argc, char **argv, struct options *out, int *status);

#endif
