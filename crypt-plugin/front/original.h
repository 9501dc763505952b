/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The distribution's libcrypt, which has all methods but ours.
 */
#ifndef FRONT_ORIGINAL_H
#define FRONT_ORIGINAL_H

#include <crypt.h>

/** Its functions; NULL: it isn't there, or has no such function. */
struct original {
    char *(*crypt)(const char *, const char *);
    char *(*crypt_r)(const char *, const char *, struct crypt_data *);
    char *(*crypt_rn)(const char *, const char *, void *, int);
    char *(*crypt_ra)(const char *, const char *, void **, int *);
    char *(*crypt_gensalt)(const char *, unsigned long, const char *, int);
    char *(*crypt_gensalt_rn)(const char *, unsigned long, const char *, int, char *, int);
    char *(*crypt_gensalt_ra)(const char *, unsigned long, const char *, int);
    int (*crypt_checksalt)(const char *);
    const char *(*crypt_preferred_method)(void);
    void (*encrypt)(char *, int);
    void (*encrypt_r)(char *, int, struct crypt_data *);
    void (*setkey)(const char *);
    void (*setkey_r)(const char *, struct crypt_data *);
    int shortage; /* errno of a library that is there, and couldn't be loaded for want of memory or
                     descriptors; else 0 */
};

/**
 * The functions of the distribution's libcrypt. It is opened by a constructor of this library, or
 * by the first call where a program's own start comes before that; afterwards this makes no system
 * call. It is never closed, and never tried again. Thread-safe; errno and dlerror() stay as they
 * are.
 */
const struct original *original_get(void);

#endif
