/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

/** `mhkdf bench`: how long hashes take here. argv[0] is "bench"; the result is an exit status. */
int bench_run(int argc, char **argv);

#endif
