/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Command lines, and the help made from the same table. Options are long (--name VALUE or
 * --name=VALUE), some have a letter too (-m VALUE), are never abbreviated, and may be given once;
 * `--` ends them.
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stddef.h>

struct options_entry {
    const char *name;  /* without the dashes */
    const char *value; /* what the help calls its value; NULL: it has none */
    const char *help;  /* one line */
    const char *given; /* the value that was given, a pointer into argv, or "" where it has none;
                          NULL if it wasn't given */
    char letter;       /* 'm' for -m; 0: none */
};

struct options {
    const char *command; /* "hash" */
    const char *usage;   /* lines for the help, without "usage: " */
    const char *about;   /* text for the help, each line ended */
    struct options_entry *entries;
    size_t count;
    const char *operand_name; /* what the help calls the one operand; NULL: there is none */
    const char *operand_hint; /* said when there is an argument too much */
    const char *operand;      /* what was given, a pointer into argv */
    char **operands;          /* room for operands_max pointers into argv, where there may be none
                                 or several; else NULL */
    size_t operands_max;
    size_t operands_count; /* given */
};

enum options_result {
    OPTIONS_GO,    /* all is filled in */
    OPTIONS_HELP,  /* --help was given and has been printed */
    OPTIONS_ERROR, /* a message has been printed */
};

/** Reads a subcommand's arguments; argv[0] is its name. Unexpected arguments are not repeated in
 * messages, since somebody may have put a password there. */
enum options_result options_read(struct options *options, int argc, char **argv);

#endif
