/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_ARENA_H
#define TOOLS_ARENA_H

/** `mhkdf arena status`: what mhkdf-arenad has to say. argv[0] is "arena"; the result is an exit
 * status. */
int arena_run(int argc, char **argv);

#endif
