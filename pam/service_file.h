/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * The files that say which modules a PAM service has, read as libpam 1.5 and later read them. A
 * module can't ask libpam what stands beside it. Thread-safe.
 */
#ifndef PAM_SERVICE_FILE_H
#define PAM_SERVICE_FILE_H

/**
 * Gets one module of the stack. name: without folder and ending ("pam_unix"); arguments: as in the
 * line, "" where there are none; both are gone after the call.
 */
typedef void service_file_visit(void *ctx, const char *name, const char *arguments);

/**
 * Calls visit for each module that the service has for password changes, in the order of the
 * stack. Includes and substacks are followed; the service "other" counts where this one has no
 * module for password changes. What libpam couldn't read either (no such file, no file, over 1 MiB,
 * includes without end) is left out.
 *
 * service: PAM's name, which comes from the program and may be anything: NULL, or one that names no
 * file of a folder, has no module.
 */
void service_file_each_password(const char *service, service_file_visit *visit, void *ctx);

#endif
