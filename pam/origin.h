/* SPDX-License-Identifier: BSD-2-Clause */
/** Where a login comes from, by what its program told PAM. */
#ifndef PAM_ORIGIN_H
#define PAM_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include <security/pam_modules.h>

/** PAM's name of the service, the handle's; NULL: none. */
const char *origin_service(pam_handle_t *pamh);

/** Whether it is at a terminal of the machine itself, not one that came over the network or of a
 * terminal emulator. */
bool origin_is_console(pam_handle_t *pamh);

/** The uid of the user behind the program, by the local files or, for sudo's and doas's users, the
 * name service too. Where neither knows the name, a number of its own, never 0. */
uint32_t origin_uid(pam_handle_t *pamh);

#endif
