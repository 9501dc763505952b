/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The methods that strings name, and what is particular to each (SPEC.md sections 4 and 6).
 */
#ifndef LIBCORE_METHOD_H
#define LIBCORE_METHOD_H

#include <stdint.h>

#include "libcore/mhkdf.h"

struct method {
    enum mhkdf_method number;
    const char *prefix;  /* "$mhkdf$" */
    const char *version; /* "v=1$", which follows the prefix */
    uint32_t default_passes;
    uint32_t default_chain;
};

/** The method whose prefix string starts with, or NULL. */
const struct method *method_find(const char *string);

/** The method with this number, or NULL. */
const struct method *method_get(enum mhkdf_method number);

#endif
