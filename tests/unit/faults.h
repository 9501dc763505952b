/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Put in front of a source file under test (-include), this makes each of its system calls and
 * allocations pass through faults_hit(), which may have it fail, or kill the process, before it
 * does anything. On the source's level, so that large-file and fortify variants of the names don't
 * matter.
 */
#ifndef TESTS_UNIT_FAULTS_H
#define TESTS_UNIT_FAULTS_H

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/** Counts a call; not 0: it shall fail, and errno is set. Defined by the test. */
int faults_hit(const char *call);

/** At most this many bytes are written at once. Defined by the test. */
extern size_t faults_write_max;

/** The clock hasn't been set: it is 1970. Defined by the test. */
extern bool faults_clock_is_unset;

#define FAULTS_TRY(call, failure, real) (faults_hit(call) ? (failure) : (real))

#define open(...) FAULTS_TRY("open", -1, open(__VA_ARGS__))
#define openat(...) FAULTS_TRY("openat", -1, openat(__VA_ARGS__))
#define read(...) FAULTS_TRY("read", -1, read(__VA_ARGS__))
#define write(fd, buf, len) \
    FAULTS_TRY("write", -1, write((fd), (buf), (len) < faults_write_max ? (len) : faults_write_max))
#define pipe2(...) FAULTS_TRY("pipe2", -1, pipe2(__VA_ARGS__))
#define syscall(...) FAULTS_TRY("syscall", -1, syscall(__VA_ARGS__))
#define fsync(...) FAULTS_TRY("fsync", -1, fsync(__VA_ARGS__))
#define fcntl(...) FAULTS_TRY("fcntl", -1, fcntl(__VA_ARGS__))
#define fchown(...) FAULTS_TRY("fchown", -1, fchown(__VA_ARGS__))
#define fchmod(...) FAULTS_TRY("fchmod", -1, fchmod(__VA_ARGS__))
#define fstatat(...) FAULTS_TRY("fstatat", -1, fstatat(__VA_ARGS__))
#define fstat(...) FAULTS_TRY("fstat", -1, fstat(__VA_ARGS__))
#define renameat(...) FAULTS_TRY("renameat", -1, renameat(__VA_ARGS__))
#define flistxattr(...) FAULTS_TRY("flistxattr", -1, flistxattr(__VA_ARGS__))
#define fgetxattr(...) FAULTS_TRY("fgetxattr", -1, fgetxattr(__VA_ARGS__))
#define fsetxattr(...) FAULTS_TRY("fsetxattr", -1, fsetxattr(__VA_ARGS__))
#define fremovexattr(...) FAULTS_TRY("fremovexattr", -1, fremovexattr(__VA_ARGS__))
#define malloc(...) FAULTS_TRY("malloc", NULL, malloc(__VA_ARGS__))
#define time(...) (faults_clock_is_unset ? (time_t)60 : time(__VA_ARGS__))
#define realpath(...) FAULTS_TRY("realpath", NULL, realpath(__VA_ARGS__))

#endif
