/* SPDX-License-Identifier: BSD-2-Clause */
/** The words behind pam_mhkdf.so in a PAM configuration; pam_mhkdf(8) describes them. */
#ifndef PAM_OPTIONS_H
#define PAM_OPTIONS_H

#include <stdbool.h>

#include <security/pam_modules.h>

struct options {
    bool nullok; /* has no effect: pam_unix alone decides about accounts without a password */
    bool use_first_pass; /* libpam reads this and use_authtok itself, too */
    bool use_authtok;
    bool nodelay;
    bool unix_behind;
    bool debug;
    const char *conf; /* by conf=, so it must exist; NULL: none was given */
};

/** Reads the options; those that nobody knows are logged and otherwise ignored. */
void options_parse(pam_handle_t *pamh, int argc, const char **argv, struct options *out);

/** Logs once for each PAM handle that nullok has no effect, where it is given. */
void options_log_nullok(pam_handle_t *pamh, const struct options *options);

#endif
