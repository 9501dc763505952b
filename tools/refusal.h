/* SPDX-License-Identifier: BSD-2-Clause */
/** Why a string can't be used, in words. */
#ifndef TOOLS_REFUSAL_H
#define TOOLS_REFUSAL_H

/**
 * What is wrong with a setting or hash that can be seen without a password, so that nobody is asked
 * for one in vain: as anycrypt_check.
 */
int refusal_foresee(const char *string);

/**
 * Prints a message for an error of refusal_foresee, anycrypt_hash or anycrypt_verify. what names
 * the string ("--setting", "STRING").
 */
void refusal_explain(const char *command, const char *what, const char *string, int rc);

#endif
