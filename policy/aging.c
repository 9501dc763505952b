/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/aging.h"

enum aging_state
aging_judge(const struct aging *aging, long today)
{
    long long age = (long long)today - aging->last_change; /* the field has 32 bits */

    if (aging->expire != AGING_NONE && today >= aging->expire)
        return AGING_ACCOUNT_EXPIRED;
    if (aging->last_change == 0)
        return AGING_CHANGE_DUE;
    if (age < 0) /* changed in the future: no reason to doubt the password */
        return AGING_VALID;
    if (aging->max != AGING_NONE && age > aging->max) {
        if (aging->inactive != AGING_NONE && age - aging->max > aging->inactive)
            return AGING_PASSWORD_DEAD;
        return AGING_CHANGE_DUE;
    }
    if (aging->min != AGING_NONE && age < aging->min)
        return AGING_TOO_RECENT;
    return AGING_VALID;
}
