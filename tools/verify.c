/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "tools/verify.h"

#include <errno.h>

#include "policy/anycrypt.h"
#include "tools/message.h"
#include "tools/options.h"
#include "tools/password.h"
#include "tools/refusal.h"
#include "tools/status.h"

#define COMMAND "verify"

static int
compare(const char *hash)
{
    struct password *password = password_new();
    struct mhkdf_memory_report report;
    const struct mhkdf_env resources = {.report = &report};
    int rc = STATUS_TROUBLE, error;

    if (password == NULL) {
        message_error(COMMAND, "not enough memory");
        goto out;
    }
    if (password_read(COMMAND, PASSWORD_CHECK, password) != 0)
        goto out;
    error = anycrypt_verify_in(password->text, hash, &resources);
    if (error == 0)
        rc = STATUS_OK;
    else if (error == EKEYREJECTED)
        rc = STATUS_MISMATCH;
    else
        refusal_explain(COMMAND, "STRING", hash, error, &report, "");
out:
    password_free(password);
    return rc;
}

int
verify_run(int argc, char **argv)
{
    struct options options = {
        .command = COMMAND,
        .usage = "mhkdf verify STRING",
        .about =
            "Says by its exit status whether a password matches the hash STRING: 0 yes, 1 no,\n"
            "2 it can't be told, and standard error says why. The password is asked for once\n"
            "on a terminal; else it is standard input up to the first newline or the end.\n",
        .operand_name = "STRING",
        .operand_hint =
            "one hash was expected, and a password is never taken from the command line",
    };
    int rc;

    switch (options_read(&options, argc, argv)) {
    case OPTIONS_HELP:
        return STATUS_OK;
    case OPTIONS_ERROR:
        return STATUS_TROUBLE;
    case OPTIONS_GO:
        break;
    }
    rc = refusal_foresee(options.operand);
    if (rc == 0)
        return compare(options.operand);
    refusal_explain(COMMAND, "STRING", options.operand, rc, NULL, "");
    return STATUS_TROUBLE;
}
