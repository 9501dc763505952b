/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/label.h"

#include <stddef.h>

#ifdef HAVE_LIBSELINUX

#include <selinux/selinux.h>

void
label_begin(int fd, struct label *label)
{
    char *wanted = NULL;

    label->changed = false;
    label->previous = NULL;
    if (is_selinux_enabled() <= 0 || fgetfilecon_raw(fd, &wanted) < 0)
        return;
    if (getfscreatecon_raw(&label->previous) == 0) {
        label->changed = setfscreatecon_raw(wanted) == 0;
        if (!label->changed) {
            freecon(label->previous);
            label->previous = NULL;
        }
    }
    freecon(wanted);
}

void
label_end(struct label *label)
{
    if (!label->changed)
        return;
    setfscreatecon_raw(label->previous);
    freecon(label->previous);
    label->previous = NULL;
    label->changed = false;
}

#else

void
label_begin(int fd, struct label *label)
{
    (void)fd;
    label->changed = false;
    label->previous = NULL;
}

void
label_end(struct label *label)
{
    (void)label;
}

#endif
