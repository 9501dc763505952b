/* SPDX-License-Identifier: BSD-2-Clause */
/** The keys of mhkdf.conf, their values, and the sections they are in. For policy/config*.c. */
#ifndef POLICY_CONFIG_KEYS_H
#define POLICY_CONFIG_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "policy/methods.h"

enum config_key {
    CONFIG_KEY_MEMORY,
    CONFIG_KEY_PASSES,
    CONFIG_KEY_LANES,
    CONFIG_KEY_CHAIN,
    CONFIG_KEY_METHOD,
    CONFIG_KEY_THREADS,
    CONFIG_KEY_UPGRADE,
    CONFIG_KEY_FLOOR_MEMORY,
    CONFIG_KEY_FLOOR_ACTION,
    CONFIG_KEY_CEILING_MEMORY,
    CONFIG_KEY_CEILING_PASSES,
    CONFIG_KEY_MIN_LENGTH,
    CONFIG_KEY_ARENA,
    CONFIG_KEY_WAIT,
    CONFIG_KEY_SLOTS_MAX,
    CONFIG_KEY_SLOTS,
    CONFIG_KEY_SLOT_SIZE,
    CONFIG_KEY_PAGES,
    CONFIG_KEY_LOCK,
    CONFIG_KEY_LEASE,
    CONFIG_KEY_RESERVE,
    CONFIG_KEY_COUNT
};

/** Those of policies are looked up in the reverse of this order. */
enum config_kind {
    CONFIG_IN_DEFAULT,
    CONFIG_IN_SERVICE,
    CONFIG_IN_GROUP,
    CONFIG_IN_USER,
    CONFIG_IN_ARENA,
    CONFIG_KIND_COUNT
};

/** A section as it was read. The first of a file is always [default], the second [arena], which
 * start with the built-in values. */
struct config_section {
    enum config_kind kind;
    char *name;    /* of the service, group or user; NULL: it has none */
    unsigned line; /* where it starts; 0: nowhere */
    uint32_t values[CONFIG_KEY_COUNT];
    unsigned lines[CONFIG_KEY_COUNT]; /* where they were given; 0: not here */
};

#define CONFIG_TITLE_SIZE 96

/** The section's first line, such as "[service sshd]", cut where it is very long. */
const char *config_keys_title(const struct config_section *section, char out[CONFIG_TITLE_SIZE]);

const char *config_keys_name(enum config_key key);
uint32_t config_keys_builtin(enum config_key key);

/** passes of the section, or, where section is NULL or doesn't say, the default of the method. */
uint32_t config_keys_passes(const struct config_section *section,
                            const struct methods_entry *method);

/** The key of this name that may be in such a section; CONFIG_KEY_COUNT: there is none. */
enum config_key config_keys_find(enum config_kind kind, const char *name);

/** The names of all keys that may be in such a section: "a, b or c". */
void config_keys_list(enum config_kind kind, char *out, size_t size);

/** Reads a value. EINVAL: it isn't one, and expected gets what would have been. As methods_check,
 * but for ENOSYS: that can't be told. */
int config_keys_parse(enum config_key key, const char *text, uint32_t *value, char *expected,
                      size_t size);

#endif
