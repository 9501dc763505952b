/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/mhkdf.h"
#include "libcore/stack.h"

void
stack_wipe(void)
{
    char used[STACK_WIPED];

    mhkdf_wipe(used, sizeof used);
}
