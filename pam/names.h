/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What the name service, of whatever sources, says about users and groups. The module that the
 * tests load asks the environment instead (pam/place.h). Thread-safe.
 */
#ifndef PAM_NAMES_H
#define PAM_NAMES_H

#include <stdbool.h>

/** Whether there is an account of this name. */
bool names_knows(const char *user);

/** Whether the user is a member of the group, or it is his primary one. */
bool names_is_in_group(const char *user, const char *group);

#endif
