/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/message.h"

#define HELP_SIZE 4096
#define HELP_WIDTH_MIN 16
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

/* "--name VALUE" or "-n, --name VALUE". */
static void
describe(const struct options_entry *entry, char *left, size_t size)
{
    char letter[] = "-x, ";

    letter[1] = entry->letter;
    (void)snprintf(left, size, "%s--%s%s%s", entry->letter == 0 ? "" : letter, entry->name,
                   entry->value == NULL ? "" : " ", entry->value == NULL ? "" : entry->value);
}

static enum options_result
print_help(const struct options *options)
{
    char text[HELP_SIZE] = "";
    char left[32];
    int width = HELP_WIDTH_MIN;

    append(text, "usage: %s\n\n%s\noptions:\n", options->usage, options->about);
    for (size_t i = 0; i < options->count; i++) {
        describe(&options->entries[i], left, sizeof(left));
        if ((int)strlen(left) > width)
            width = (int)strlen(left);
    }
    for (size_t i = 0; i < options->count; i++) {
        describe(&options->entries[i], left, sizeof(left));
        append(text, "  %-*s  %s\n", width, left, options->entries[i].help);
    }
    append(text, "  %-*s  print this text and exit\n", width, "--" HELP_OPTION);
    return message_output(options->command, text) == 0 ? OPTIONS_HELP : OPTIONS_ERROR;
}

/* value: what came with the option itself, after = or a letter; NULL: nothing did. */
static enum options_result
take_option(const struct options *options, struct options_entry *entry, const char *value,
            struct cursor *cursor)
{
    if (entry->given != NULL) {
        message_error(options->command, "--%s is given twice", entry->name);
        return OPTIONS_ERROR;
    }
    if (entry->value == NULL && value != NULL) {
        message_error(options->command, "--%s takes no value", entry->name);
        return OPTIONS_ERROR;
    }
    if (entry->value == NULL)
        value = "";
    else if (value == NULL)
        value = cursor->argv[++cursor->at];
    if (value == NULL) {
        message_error(options->command, "--%s: a value is missing: %s was expected", entry->name,
                      entry->value);
        return OPTIONS_ERROR;
    }
    entry->given = value;
    return OPTIONS_GO;
}

static enum options_result
read_option(struct options *options, struct cursor *cursor)
{
    const char *name = cursor->argv[cursor->at] + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals == NULL ? strlen(name) : (size_t)(equals - name);
    struct options_entry *entry = find_entry(options, name, len);

    if (entry == NULL) {
        message_error(options->command, "unknown option --%.*s; 'mhkdf %s --help' lists them",
                      len > 40 ? 40 : (int)len, name, options->command);
        return OPTIONS_ERROR;
    }
    return take_option(options, entry, equals == NULL ? NULL : equals + 1, cursor);
}

/* -m VALUE or -mVALUE */
static enum options_result
read_letter(struct options *options, struct cursor *cursor)
{
    const char *argument = cursor->argv[cursor->at];
    int has_letters = 0;

    for (size_t i = 0; i < options->count; i++) {
        if (options->entries[i].letter == argument[1])
            return take_option(options, &options->entries[i],
                               argument[2] == '\0' ? NULL : argument + 2, cursor);
        has_letters |= options->entries[i].letter != 0;
    }
    message_error(options->command, "unknown option %.2s; %s'mhkdf %s --help' lists them", argument,
                  has_letters ? "" : "options are long: ", options->command);
    return OPTIONS_ERROR;
}

static enum options_result
read_operand(struct options *options, const struct cursor *cursor)
{
    if (options->operands_count < options->operands_max) {
        options->operands[options->operands_count++] = cursor->argv[cursor->at];
        return OPTIONS_GO;
    }
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
    if (argument[0] == '-' && argument[1] != '\0')
        return read_letter(options, cursor);
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
