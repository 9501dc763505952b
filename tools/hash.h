/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_HASH_H
#define TOOLS_HASH_H

/** `mhkdf hash`: prints the string of a password. argv[0] is "hash"; the result is an exit status.
 */
int hash_run(int argc, char **argv);

#endif
