/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "libcore/mhkdf.h"
#include "libcore/method.h"

/* Settings are public, but what is random here is still wiped, with the rest of the stack's. */
int
mhkdf_gensalt(const char *prefix, unsigned long count, const void *rbytes, size_t rbytes_len,
              char *out, size_t out_size)
{
    const struct method *method = method_find(prefix);
    struct mhkdf_setting setting;
    int error;

    if (out_size > 0)
        out[0] = '\0';
    if (method == NULL || count > 15 || (rbytes != NULL && rbytes_len < MHKDF_SALT_DEFAULT))
        return EINVAL;

    memset(&setting, 0, sizeof setting);
    setting.cost.method = method->number;
    setting.cost.memory_kib = count == 0 ? MHKDF_MEMORY_DEFAULT_KIB : UINT32_C(1) << (count + 9);
    setting.cost.passes = method->default_passes;
    setting.cost.lanes = MHKDF_LANES_DEFAULT;
    setting.cost.chain = method->default_chain;
    setting.salt_len = MHKDF_SALT_DEFAULT;
    if (rbytes != NULL)
        memcpy(setting.salt, rbytes, MHKDF_SALT_DEFAULT);
    else if ((error = mhkdf_random(setting.salt, MHKDF_SALT_DEFAULT)) != 0)
        return error;
    error = mhkdf_encode(&setting, out, out_size);
    mhkdf_wipe(&setting, sizeof setting);
    return error;
}
