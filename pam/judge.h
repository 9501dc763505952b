/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What it means that a verification ended as it did: the same in pam_mhkdf.so and in mhkdf_chkpwd.
 * Nothing of PAM's here. Thread-safe.
 */
#ifndef PAM_JUDGE_H
#define PAM_JUDGE_H

#include "libcore/mhkdf.h"
#include "pam/chkpwd.h"

#define JUDGE_TEXT_SIZE 512

struct judge {
    enum chkpwd_answer answer;
    int priority;               /* of syslog(3) */
    char text[JUDGE_TEXT_SIZE]; /* for the log; empty: there is nothing to say */
};

/**
 * rc: what anycrypt_verify_in returned. name: the account, in the text; NULL: nobody's, of whom the
 * text says no name. report: what it reported.
 */
void judge(int rc, const char *name, const struct mhkdf_memory_report *report, struct judge *out);

#endif
