/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Settings inside a wrapped hash: which may be there (SPEC.md section 5).
 */
#ifndef LIBCORE_INNER_H
#define LIBCORE_INNER_H

/**
 * Whether a setting of a method that isn't ours may be wrapped: 0, or EINVAL where the method is
 * unknown, not to be wrapped, or the setting not of the form that SPEC.md cuts from a hash.
 * Nothing behind the NUL of setting is read.
 */
int inner_check_foreign(const char *setting);

#endif
