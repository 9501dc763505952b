/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/message.h"

#define HELP_SIZE 4096
#define HELP_OPTION "help"

/* Where a command line has been read up to. */
struct cursor {
    int argc;
    char **argv;
    int at;
};

static struct options_entry *
find_entry(struct options *options, const char *name, size_t len)
{
    for (size_t i = 0; i < options->count; i++)
        if (strlen(options->entries[i].name) == len &&
            memcmp(options->entries[i].name, name, len) == 0)
            return &options->entries[i];
    return NULL;
}

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Our help texts fit; a longer one would be cut, not overflow. */
static void
append(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text + used, HELP_SIZE - used, format, args);
    va_end(args);
}

static enum options_result
print_help(const struct options *options)
{
    char text[HELP_SIZE] = "";
    char left[32];

    append(text, "usage: %s\n\n%s\noptions:\n", options->usage, options->about);
    for (size_t i = 0; i < options->count; i++) {
        const struct options_entry *e = &options->entries[i];
        (void)snprintf(left, sizeof(left), "--%s %s", e->name, e->value);
        append(text, "  %-16s  %s\n", left, e->help);
    }
    append(text, "  %-16s  print this text and exit\n", "--" HELP_OPTION);
    return message_output(options->command, text) == 0 ? OPTIONS_HELP : OPTIONS_ERROR;
}

static enum options_result
read_option(struct options *options, struct cursor *cursor)
{
    const char *name = cursor->argv[cursor->at] + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals == NULL ? strlen(name) : (size_t)(equals - name);
    struct options_entry *entry = find_entry(options, name, len);
    const char *value;

    if (entry == NULL) {
        message_error(options->command, "unknown option --%.*s; 'mhkdf %s --help' lists them",
                      len > 40 ? 40 : (int)len, name, options->command);
        return OPTIONS_ERROR;
    }
    if (entry->given != NULL) {
        message_error(options->command, "--%s is given twice", entry->name);
        return OPTIONS_ERROR;
    }
    value = equals == NULL ? cursor->argv[++cursor->at] : equals + 1;
    if (value == NULL) {
        message_error(options->command, "--%s: a value is missing: %s was expected", entry->name,
                      entry->value);
        return OPTIONS_ERROR;
    }
    entry->given = value;
    return OPTIONS_GO;
}

static enum options_result
read_operand(struct options *options, const struct cursor *cursor)
{
    if (options->operand_name == NULL || options->operand != NULL) {
        message_error(options->command, "argument %d is one too many; %s", cursor->at,
                      options->operand_hint);
        return OPTIONS_ERROR;
    }
    options->operand = cursor->argv[cursor->at];
    return OPTIONS_GO;
}

static enum options_result
read_argument(struct options *options, struct cursor *cursor)
{
    const char *argument = cursor->argv[cursor->at];

    if (strcmp(argument, "--" HELP_OPTION) == 0)
        return print_help(options);
    if (strncmp(argument, "--", 2) == 0)
        return read_option(options, cursor);
    if (argument[0] == '-' && argument[1] != '\0') {
        message_error(options->command,
                      "unknown option %.2s; options are long: 'mhkdf %s --help' lists them",
                      argument, options->command);
        return OPTIONS_ERROR;
    }
    return read_operand(options, cursor);
}

enum options_result
options_read(struct options *options, int argc, char **argv)
{
    struct cursor cursor = {argc, argv, 1};
    enum options_result result = OPTIONS_GO;
    int options_over = 0;

    for (; result == OPTIONS_GO && cursor.at < argc; cursor.at++) {
        if (options_over)
            result = read_operand(options, &cursor);
        else if (strcmp(argv[cursor.at], "--") == 0)
            options_over = 1;
        else
            result = read_argument(options, &cursor);
    }
    if (result == OPTIONS_GO && options->operand_name != NULL && options->operand == NULL) {
        message_error(options->command, "%s is missing; 'mhkdf %s --help' says more",
                      options->operand_name, options->command);
        result = OPTIONS_ERROR;
    }
    return result;
}
