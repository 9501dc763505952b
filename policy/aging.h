/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Password aging by the fields of a shadow line, judged as pam_unix judges it, whose account phase
 * decides whether somebody has to change the password. Thread-safe.
 */
#ifndef POLICY_AGING_H
#define POLICY_AGING_H

#define AGING_NONE (-1L) /* an empty field */

/** Days; days since 1970-01-01 for last_change and expire. */
struct aging {
    long last_change; /* 0: to be changed at the next login */
    long min;
    long max;
    long warn;
    long inactive;
    long expire;
};

enum aging_state {
    AGING_VALID,          /* nothing to say */
    AGING_CHANGE_DUE,     /* the password must be changed now */
    AGING_TOO_RECENT,     /* it was changed less than min days ago */
    AGING_PASSWORD_DEAD,  /* it was due, and inactive days have passed since */
    AGING_ACCOUNT_EXPIRED /* the account as a whole is over */
};

/** today: days since 1970-01-01. */
enum aging_state aging_judge(const struct aging *aging, long today);

#endif
