/* SPDX-License-Identifier: BSD-2-Clause */
/** Why a string can't be used, in words. */
#ifndef TOOLS_REFUSAL_H
#define TOOLS_REFUSAL_H

#include "libcore/mhkdf.h"

/**
 * What is wrong with a setting or hash that can be seen without a password, so that nobody is asked
 * for one in vain: as anycrypt_check.
 */
int refusal_foresee(const char *string);

/**
 * Prints a message for an error of refusal_foresee, anycrypt_hash_in or anycrypt_verify_in. what
 * names the string ("--setting", "STRING"). report: what the latter two reported, or NULL. hint:
 * the end of a message that says that memory is short, or "".
 */
void refusal_explain(const char *command, const char *what, const char *string, int rc,
                     const struct mhkdf_memory_report *report, const char *hint);

#endif
