/* SPDX-License-Identifier: BSD-2-Clause */
/* What configure would find out, for builds of libcore by tests/check/foreign: glibc of today. */
#define _GNU_SOURCE 1
#define HAVE_EXPLICIT_BZERO 1
#define HAVE_GETRANDOM 1
#define HAVE_SCHED_GETAFFINITY 1
#define PACKAGE_VERSION "0"
#define VERSION "0"
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WORDS_BIGENDIAN 1
#endif
