/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/shortage.h"

#include <errno.h>

bool
shortage_is(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN;
}
