/* SPDX-License-Identifier: BSD-2-Clause */
/** Exit statuses of the mhkdf command. */
#ifndef TOOLS_STATUS_H
#define TOOLS_STATUS_H

enum {
    STATUS_OK = 0,
    STATUS_MISMATCH = 1, /* verify: a usable hash, but not of this password */
    STATUS_TROUBLE = 2   /* anything else; a message has been printed */
};

#endif
