/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_VERIFY_H
#define TOOLS_VERIFY_H

/** `mhkdf verify`: whether a password matches a hash. argv[0] is "verify"; the result is an exit
 * status. */
int verify_run(int argc, char **argv);

#endif
