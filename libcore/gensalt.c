/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "libcore/base64.h"
#include "libcore/method.h"
#include "libcore/mhkdf.h"

/* Makes the salt of MHKDF_SALT_DEFAULT random bytes, in the form that the method's strings have. */
static void
set_salt(struct mhkdf_setting *setting, const struct method *method, const uint8_t *rbytes)
{
    if (!method->form->is_text) {
        memcpy(setting->salt, rbytes, MHKDF_SALT_DEFAULT);
        setting->salt_len = MHKDF_SALT_DEFAULT;
        return;
    }
    (void)base64_encode((char *)setting->salt, rbytes, MHKDF_SALT_DEFAULT, method->form->alphabet);
    setting->salt_len = base64_length(MHKDF_SALT_DEFAULT);
}

int
mhkdf_random_salt(struct mhkdf_setting *setting)
{
    const struct method *method = method_get(setting->cost.method);
    uint8_t rbytes[MHKDF_SALT_DEFAULT];
    int error;

    memset(setting->salt, 0, sizeof setting->salt);
    setting->salt_len = 0;
    if (method == NULL)
        return EINVAL;
    if ((error = mhkdf_random(rbytes, sizeof rbytes)) != 0)
        return error;
    set_salt(setting, method, rbytes);
    mhkdf_wipe(rbytes, sizeof rbytes);
    return 0;
}

/* Settings are public, but what is random here is still wiped, with the rest of the stack's. */
int
mhkdf_gensalt(const char *prefix, unsigned long count, const void *rbytes, size_t rbytes_len,
              char *out, size_t out_size)
{
    const struct method *method = method_find(prefix);
    struct mhkdf_setting setting;
    int error = 0;

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
    if (rbytes != NULL)
        set_salt(&setting, method, rbytes);
    else
        error = mhkdf_random_salt(&setting);
    if (error == 0)
        error = mhkdf_encode(&setting, out, out_size);
    mhkdf_wipe(&setting, sizeof setting);
    return error;
}
