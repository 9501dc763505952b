/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Want of memory or descriptors. It doesn't mean that a file is wrong: the user of a set-id program
 * sets its limits, and can bring it about.
 */
#ifndef POLICY_SHORTAGE_H
#define POLICY_SHORTAGE_H

#include <stdbool.h>

/** Whether the errno says so: ENOMEM, EMFILE, ENFILE, EAGAIN. */
bool shortage_is(int error);

#endif
