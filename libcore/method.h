/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The methods that strings name, and what is particular to each (SPEC.md sections 4 and 6).
 */
#ifndef LIBCORE_METHOD_H
#define LIBCORE_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "libcore/mhkdf.h"

/** How the strings of a method are written: what stands before each part, NULL for what it lacks.
 */
struct method_form {
    const char *memory; /* follows the prefix, a version included */
    const char *passes;
    const char *lanes;
    const char *chain;
    const char *key_id;
    const char *inner;
    char alphabet;  /* of base64.h */
    bool has_units; /* memory is a number with K, M or G */
    bool is_text;   /* the salt is its own text, in this alphabet; otherwise base64 of its bytes */
};

struct method {
    enum mhkdf_method number;
    const char *prefix; /* "$mhkdf$" */
    const struct method_form *form;
    uint32_t default_passes;
    uint32_t default_chain;
};

/** The method whose prefix string starts with, or NULL. */
const struct method *method_find(const char *string);

/** The method with this number, or NULL. */
const struct method *method_get(enum mhkdf_method number);

#endif
