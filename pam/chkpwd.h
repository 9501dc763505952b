/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How pam_mhkdf.so and mhkdf_chkpwd talk:
 *
 *   mhkdf_chkpwd NAME nullok|nonull [SERVICE UID console|elsewhere]
 *
 * with the password in a pipe on descriptor 0: all bytes up to a NUL, or else to the end. The NUL
 * is there since another thread of the host may have forked meanwhile, and its child keep the pipe
 * open. The answer is the exit status; any other status is none.
 *
 * A caller with real uid 0 may ask for any name, also for nobody's, and says where the login comes
 * from, as pam/origin.h has it: SERVICE, which may be empty; UID, that of the user behind the
 * program, in decimal; and whether it is at the console. Its refusals take as long as the module's
 * own, but for PAM's delay, for which the module asks. Others don't say these, and may ask for
 * their own name.
 */
#ifndef PAM_CHKPWD_H
#define PAM_CHKPWD_H

#define CHKPWD_NULL_IS_OK "nullok"
#define CHKPWD_NULL_IS_WRONG "nonull"
#define CHKPWD_CONSOLE "console"
#define CHKPWD_ELSEWHERE "elsewhere"
#define CHKPWD_NOBODY "" /* NAME of whom there is no account; the real one may be a password */

/** Not 1, 2 or above 125, which shells, loaders and sanitizers use. */
enum chkpwd_answer {
    CHKPWD_RIGHT = 0,
    CHKPWD_WRONG = 10,
    CHKPWD_UNKNOWN,     /* no local account with a hash that a password could match */
    CHKPWD_UNAVAILABLE, /* it couldn't be verified; the log says why */
    CHKPWD_BUSY,    /* not for now: no memory, in the arena or at all, or none to read what holds */
    CHKPWD_REFUSED, /* it isn't the caller's account, or this isn't how to call it */
    CHKPWD_DENIED,  /* the hash is above the ceiling, or below a floor that denies */
    CHKPWD_RIGHT_BELOW /* the password is right, but the hash is below a floor that expires it */
};

#endif
