/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * SELinux's label of a file about to be made. Copying the attribute (policy/xattr.h) isn't enough
 * where SELinux confines the process: its policy lets login programs make a file of shadow's label,
 * which this asks for, but not change a file's label to that; and between the two the file would
 * have a label that other programs may read. Concerns the calling thread alone. Without libselinux,
 * or where SELinux is off, it does nothing.
 */
#ifndef POLICY_LABEL_H
#define POLICY_LABEL_H

#include <stdbool.h>

struct label {
    bool changed;   /* label_end has something to do */
    char *previous; /* what was asked for before; NULL: the default */
};

/**
 * Files that this thread makes until label_end get the label of the open file fd; so do those of a
 * child that is forked meanwhile, for as long as it lives. If that can't be had they get another
 * one: whoever needs it compares afterwards.
 */
void label_begin(int fd, struct label *label);

void label_end(struct label *label);

#endif
