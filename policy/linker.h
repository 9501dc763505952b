/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Which file the dynamic linker gives to a program that starts now and needs a shared library.
 * Thread-safe.
 */
#ifndef POLICY_LINKER_H
#define POLICY_LINKER_H

#include <link.h>
#include <stddef.h>

#define LINKER_CACHE "/etc/ld.so.cache"
#define LINKER_PATH_SIZE 4096

/**
 * Looks soname up in cache, a file as LINKER_CACHE, which glibc's ldconfig(8) writes. machine: the
 * ELF header of a library of the right kind; files of other machines have the same names. path:
 * LINKER_PATH_SIZE bytes.
 *
 * 0; ENOENT: there is no such library in it; ENOTSUP: it can't be told, since there is no cache, or
 * one of an unknown format, or the library is there for processors with certain abilities too,
 * which this doesn't look at; ENOMEM. On failure path is an empty string.
 */
int linker_find(const char *cache, const char *soname, const ElfW(Ehdr) * machine,
                char path[LINKER_PATH_SIZE]);

#endif
