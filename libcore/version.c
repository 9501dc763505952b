/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/mhkdf.h"

const char *
mhkdf_version(void)
{
    return PACKAGE_VERSION;
}
