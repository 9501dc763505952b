/* SPDX-License-Identifier: BSD-2-Clause */
/** File descriptors of other people. Async-signal-safe. */
#ifndef PAM_DESCRIPTORS_H
#define PAM_DESCRIPTORS_H

/** Closes first and all above it; without close_range(2), those below the limit on their number. */
void descriptors_close_from(int first);

#endif
