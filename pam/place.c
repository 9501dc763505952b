/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "pam/place.h"

#include <sys/types.h>
#include <unistd.h>

#include "policy/config.h"
#include "policy/shadow.h"

#ifndef MHKDF_TEST_PLACE

const char *
place_etc(void)
{
    return "/etc";
}

uint32_t
place_real_uid(void)
{
    return getuid();
}

const char *
place_arena(void)
{
    return NULL;
}

const char *
place_chkpwd(void)
{
    return MHKDF_CHKPWD;
}

/* Where Linux-PAM installs it, or a link leads to there. */
const char *
place_unix_chkpwd(void)
{
    return "/sbin/unix_chkpwd";
}

uint32_t
place_conf_owner(void)
{
    return 0;
}

uint32_t
place_lock_wait_ms(void)
{
    return SHADOW_WAIT_MS;
}

uint32_t
place_apart_uid(void)
{
    return 0;
}

bool
place_may_raise_limits(void)
{
    return true;
}

const char *
place_conf(void)
{
    return CONFIG_PATH;
}

const char *
place_vendor_conf(void)
{
    return config_vendor_path();
}

const char *
place_pam_folder(unsigned number)
{
    static const char *const folders[] = {"/etc/pam.d", "/usr/lib/pam.d"};

    return number < sizeof(folders) / sizeof(folders[0]) ? folders[number] : NULL;
}

void
place_copy_log(const char *format, va_list args)
{
    (void)format;
    (void)args;
}

#else

#include <stdio.h>
#include <stdlib.h>

const char *
place_etc(void)
{
    const char *etc = getenv("MHKDF_TEST_ETC");

    return etc != NULL ? etc : "/nonexistent";
}

uint32_t
place_real_uid(void)
{
    const char *uid = getenv("MHKDF_TEST_UID");

    return uid != NULL ? (uint32_t)strtoul(uid, NULL, 10) : getuid();
}

const char *
place_arena(void)
{
    const char *socket = getenv("MHKDF_TEST_ARENA");

    return socket != NULL ? socket : "/nonexistent/arena";
}

const char *
place_chkpwd(void)
{
    const char *program = getenv("MHKDF_TEST_CHKPWD");

    return program != NULL ? program : "/nonexistent";
}

const char *
place_unix_chkpwd(void)
{
    const char *program = getenv("MHKDF_TEST_UNIX_CHKPWD");

    return program != NULL ? program : "/nonexistent";
}

uint32_t
place_conf_owner(void)
{
    return getuid();
}

uint32_t
place_lock_wait_ms(void)
{
    const char *ms = getenv("MHKDF_TEST_LOCK_MS");

    return ms != NULL ? (uint32_t)strtoul(ms, NULL, 10) : SHADOW_WAIT_MS;
}

uint32_t
place_apart_uid(void)
{
    return getuid();
}

bool
place_may_raise_limits(void)
{
    return getenv("MHKDF_TEST_KEEP_LIMITS") == NULL;
}

const char *
place_conf(void)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/mhkdf.conf", place_etc());
    return path;
}

const char *
place_vendor_conf(void)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/vendor.conf", place_etc());
    return path;
}

const char *
place_pam_folder(unsigned number)
{
    static const char *const names[] = {"pam.d", "vendor-pam.d"};
    static char path[256];

    if (number >= sizeof(names) / sizeof(names[0]))
        return NULL;
    snprintf(path, sizeof(path), "%s/%s", place_etc(), names[number]);
    return path;
}

void
place_copy_log(const char *format, va_list args)
{
    const char *path = getenv("MHKDF_TEST_LOG");
    FILE *log = path != NULL ? fopen(path, "a") : NULL;

    if (log == NULL)
        return;
    vfprintf(log, format, args);
    fputc('\n', log);
    fclose(log);
}

#endif
