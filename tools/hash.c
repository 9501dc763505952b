/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/hash.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "libcore/mhkdf.h"
#include "policy/anycrypt.h"
#include "policy/foreign.h"
#include "policy/size.h"
#include "tools/message.h"
#include "tools/options.h"
#include "tools/password.h"
#include "tools/refusal.h"
#include "tools/status.h"

#define COMMAND "hash"
#define CHAIN_MAX 12
#define KIB_PER_LANE_MIN 8

enum { MEMORY, PASSES, LANES, CHAIN, METHOD, SETTING, OPTION_COUNT };

static const struct {
    const char *name;
    enum mhkdf_method method;
} methods[] = {
    {"mhkdf", MHKDF_METHOD_MHKDF1},
    {"argon2id", MHKDF_METHOD_ARGON2ID},
    {"argon2d", MHKDF_METHOD_ARGON2D},
    {"argon2i", MHKDF_METHOD_ARGON2I},
};

static int
read_method(const char *given, enum mhkdf_method *method)
{
    *method = MHKDF_METHOD_MHKDF1;
    if (given == NULL)
        return STATUS_OK;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(given, methods[i].name) == 0) {
            *method = methods[i].method;
            return STATUS_OK;
        }
    }
    message_error(COMMAND,
                  "--method: \"%.40s\" is none of mhkdf, argon2id, argon2d, argon2i; other "
                  "methods need --setting",
                  given);
    return STATUS_TROUBLE;
}

static int
read_memory(const char *given, uint32_t *memory_kib)
{
    int rc = given == NULL ? 0 : size_parse_kib(given, memory_kib);

    if (rc == ERANGE)
        message_error(COMMAND, "--memory: \"%.40s\" is more than 4294967295K", given);
    else if (rc != 0)
        message_error(COMMAND,
                      "--memory: \"%.40s\" is not a size; a whole number and K, M or G was "
                      "expected, such as 64M",
                      given);
    return rc == 0 ? STATUS_OK : STATUS_TROUBLE;
}

/* passes and lanes: whole numbers from 1 to max. */
static int
read_count(const struct options_entry *entry, uint32_t max, uint32_t *count)
{
    int rc = entry->given == NULL ? 0 : size_parse_number(entry->given, max, count);

    if (rc == 0 && *count >= 1)
        return STATUS_OK;
    message_error(COMMAND, "--%s: \"%.40s\" is not a whole number from 1 to %lu", entry->name,
                  entry->given, (unsigned long)max);
    return STATUS_TROUBLE;
}

static int
read_chain(const char *given, enum mhkdf_method method, uint32_t *chain)
{
    if (given == NULL)
        return STATUS_OK;
    if (method != MHKDF_METHOD_MHKDF1) {
        message_error(COMMAND, "--chain is only for --method mhkdf");
        return STATUS_TROUBLE;
    }
    if (size_parse_number(given, CHAIN_MAX, chain) == 0 &&
        (*chain == 0 || *chain == 3 || *chain == 6 || *chain == 12))
        return STATUS_OK;
    message_error(COMMAND, "--chain: \"%.40s\" is none of 0, 3, 6, 12", given);
    return STATUS_TROUBLE;
}

static int
read_cost(const struct options_entry *entries, struct mhkdf_cost *cost)
{
    int ours;

    memset(cost, 0, sizeof(*cost));
    if (read_method(entries[METHOD].given, &cost->method) != 0)
        return STATUS_TROUBLE;
    ours = cost->method == MHKDF_METHOD_MHKDF1;
    cost->memory_kib = MHKDF_MEMORY_DEFAULT_KIB;
    cost->passes = ours ? MHKDF_PASSES_DEFAULT : MHKDF_PASSES_ARGON2;
    cost->lanes = MHKDF_LANES_DEFAULT;
    cost->chain = ours ? MHKDF_CHAIN_DEFAULT : 0;
    if (read_memory(entries[MEMORY].given, &cost->memory_kib) != 0 ||
        read_count(&entries[PASSES], MHKDF_PASSES_MAX, &cost->passes) != 0 ||
        read_count(&entries[LANES], MHKDF_LANES_MAX, &cost->lanes) != 0 ||
        read_chain(entries[CHAIN].given, cost->method, &cost->chain) != 0)
        return STATUS_TROUBLE;
    if (cost->memory_kib >= KIB_PER_LANE_MIN * cost->lanes)
        return STATUS_OK;
    message_error(COMMAND, "--memory: %lu lanes need at least %luK", (unsigned long)cost->lanes,
                  (unsigned long)(KIB_PER_LANE_MIN * cost->lanes));
    return STATUS_TROUBLE;
}

/* A setting of this cost, with a new salt. */
static int
make_setting(const struct mhkdf_cost *cost, char out[MHKDF_STRING_SIZE])
{
    struct mhkdf_setting setting = {.cost = *cost};
    int rc = mhkdf_random_salt(&setting);

    if (rc != 0) {
        message_error(COMMAND, "the system gives no random numbers: %s", strerror(rc));
        return STATUS_TROUBLE;
    }
    rc = mhkdf_encode(&setting, out, MHKDF_STRING_SIZE);
    if (rc == 0)
        return STATUS_OK;
    message_error(COMMAND, "can't write the setting down: %s", strerror(rc));
    return STATUS_TROUBLE;
}

/* What crypt(3) would take, but nobody means: a method that hashes shouldn't be made with any more,
 * or a setting without a salt. */
static int
check_new(const char *setting)
{
    int rc = foreign_check_new(setting);

    if (rc == ENOTSUP)
        message_error(COMMAND,
                      "--setting is of a method that new hashes aren't made with; mhkdf, argon2id, "
                      "argon2d, argon2i, yescrypt, gost-yescrypt, scrypt, bcrypt, sha512crypt or "
                      "sha256crypt was expected");
    else if (rc != 0)
        message_error(COMMAND, "--setting is incomplete: the salt is missing");
    return rc == 0 ? STATUS_OK : STATUS_TROUBLE;
}

/* The setting that was given, or one made from the other options. */
static int
choose_setting(const struct options_entry *entries, char out[MHKDF_STRING_SIZE])
{
    const char *given = entries[SETTING].given;
    struct mhkdf_cost cost;
    int rc;

    if (given == NULL)
        return read_cost(entries, &cost) == 0 ? make_setting(&cost, out) : STATUS_TROUBLE;
    for (int i = 0; i < SETTING; i++) {
        if (entries[i].given != NULL) {
            message_error(COMMAND, "--setting says it all; --%s can't be given with it",
                          entries[i].name);
            return STATUS_TROUBLE;
        }
    }
    rc = refusal_foresee(given);
    if (rc != 0) {
        refusal_explain(COMMAND, "--setting", given, rc, NULL, "");
        return STATUS_TROUBLE;
    }
    if (!mhkdf_is_ours(given) && check_new(given) != 0)
        return STATUS_TROUBLE;
    memcpy(out, given, strlen(given) + 1);
    return STATUS_OK;
}

/* is_given: the setting is --setting's. out: the hash and a newline. */
static int
make_hash(bool is_given, const char *setting, char out[MHKDF_STRING_SIZE + 1])
{
    const char *what = is_given ? "--setting" : "the hash";
    const char *hint =
        is_given ? "" : "; --memory, or for logins \"memory = ...\" in mhkdf.conf, changes this";
    struct password *password = password_new();
    struct mhkdf_memory_report report;
    const struct mhkdf_env resources = {.report = &report};
    int rc = STATUS_TROUBLE, error;

    if (password == NULL) {
        message_error(COMMAND, "not enough memory");
        goto out;
    }
    if (password_read(COMMAND, PASSWORD_SET, password) != 0)
        goto out;
    error = anycrypt_hash_in(password->text, setting, &resources, out);
    if (error != 0) {
        refusal_explain(COMMAND, what, setting, error, &report, hint);
        goto out;
    }
    memcpy(out + strlen(out), "\n", 2);
    rc = STATUS_OK;
out:
    password_free(password);
    return rc;
}

int
hash_run(int argc, char **argv)
{
    struct options_entry entries[OPTION_COUNT] = {
        [MEMORY] = {"memory", "SIZE", "memory; a number and K, M or G [64M]", NULL, 0},
        [PASSES] = {"passes", "N", "passes over it, from 1 [1; argon2: 3]", NULL, 0},
        [LANES] = {"lanes", "N", "parts that can run in parallel, 1 to 64 [4]", NULL, 0},
        [CHAIN] = {"chain", "N", "length of the latency chain: 0, 3, 6 or 12 [6]", NULL, 0},
        [METHOD] = {"method", "NAME", "mhkdf, argon2id, argon2d or argon2i [mhkdf]", NULL, 0},
        [SETTING] = {"setting", "STRING", "use this setting or hash, as crypt(3) does", NULL, 0},
    };
    struct options options = {
        .command = COMMAND,
        .usage = "mhkdf hash [--memory SIZE] [--passes N] [--lanes N] [--chain N]\n"
                 "                  [--method NAME]\n"
                 "       mhkdf hash --setting STRING",
        .about = "Prints the string of a password, for shadow(5) or another list of accounts.\n"
                 "The password is asked for twice on a terminal; else it is standard input up\n"
                 "to the first newline or the end, at most 511 bytes.\n",
        .entries = entries,
        .count = OPTION_COUNT,
        .operand_hint = "a password is never taken from the command line",
    };
    char setting[MHKDF_STRING_SIZE], hash[MHKDF_STRING_SIZE + 1] = "";
    int rc = STATUS_TROUBLE;

    switch (options_read(&options, argc, argv)) {
    case OPTIONS_HELP:
        return STATUS_OK;
    case OPTIONS_ERROR:
        return STATUS_TROUBLE;
    case OPTIONS_GO:
        break;
    }
    if (choose_setting(entries, setting) == 0 &&
        make_hash(entries[SETTING].given != NULL, setting, hash) == 0)
        rc = message_output(COMMAND, hash);
    mhkdf_wipe(hash, sizeof(hash));
    mhkdf_wipe(setting, sizeof(setting));
    return rc;
}
