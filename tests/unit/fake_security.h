/* SPDX-License-Identifier: BSD-2-Clause */
/** libselinux and libaudit as a test wants them: this program's own functions of those names, which
 * the linker prefers. */
#ifndef TESTS_UNIT_FAKE_SECURITY_H
#define TESTS_UNIT_FAKE_SECURITY_H

#define FAKE_LABEL "system_u:object_r:shadow_t:s0"

struct fake_security {
    int selinux;          /* is_selinux_enabled's result */
    const char *fails;    /* name of the function that fails */
    char created_as[128]; /* the label that new files get; "": the default */
    char created[128];    /* what it was when a file was made (fake_security_created) */
    unsigned labels;      /* of those that were handed out: not yet freed */
    int audit_fd;         /* audit_open's result */
    unsigned opened;      /* audit_open's calls without audit_close */
    char record[256];     /* the last record: "type op name uid success" */
};
extern struct fake_security fake_security;

void fake_security_reset(void);

/** A file is made now. */
void fake_security_created(void);

#endif
