/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How pam_mhkdf.so and mhkdf_chkpwd talk:
 *
 *   mhkdf_chkpwd NAME nullok|nonull
 *
 * with the password in a pipe on descriptor 0: all bytes to the end, without a NUL. The answer is
 * the exit status; any other status is none.
 */
#ifndef PAM_CHKPWD_H
#define PAM_CHKPWD_H

#define CHKPWD_NULL_IS_OK "nullok"
#define CHKPWD_NULL_IS_WRONG "nonull"

/** Not 1, 2 or above 125, which shells, loaders and sanitizers use. */
enum chkpwd_answer {
    CHKPWD_RIGHT = 0,
    CHKPWD_WRONG = 10,
    CHKPWD_UNKNOWN,     /* no local account with a hash that a password could match */
    CHKPWD_UNAVAILABLE, /* it couldn't be verified; the log says why */
    CHKPWD_BUSY,        /* not for now: no memory in the arena */
    CHKPWD_REFUSED,     /* it isn't the caller's account, or this isn't how to call it */
    CHKPWD_DENIED       /* the hash is above the ceiling, or below a floor that denies */
};

#endif
