/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "libcore/base64.h"
#include "libcore/derive.h"
#include "libcore/inner.h"
#include "libcore/method.h"
#include "libcore/mhkdf.h"

#define STRING_MAX (MHKDF_STRING_SIZE - 1)
#define WRAPS_MAX 2 /* levels of "w" in one string */

/* Of memory, in the strings of $mhkdf$: KiB, MiB, GiB. */
static const char UNITS[] = {'K', 'M', 'G'};
#define UNIT_COUNT sizeof UNITS
#define UNIT_STEP 1024

static int parse_level(const char *string, int level, struct mhkdf_setting *out);

static int
check_inner(const char *inner, int level)
{
    struct mhkdf_setting setting;
    int error;

    if (!mhkdf_is_ours(inner))
        return inner_check_foreign(inner);
    error = parse_level(inner, level, &setting);
    /* It is cut from a hash at the last `$`, so it stops after the salt. */
    if (error == 0 && (setting.tag_len != 0 || inner[strlen(inner) - 1] == '$'))
        error = EINVAL;
    mhkdf_wipe(&setting, sizeof setting);
    return error;
}

/* Characters of hash that a setting of this length becomes. */
static size_t
hash_length(size_t setting_len, size_t tag_len)
{
    return setting_len + 1 + base64_length(tag_len == 0 ? MHKDF_TAG_DEFAULT : tag_len);
}

/* The parser's take_* functions move *at behind what they take, and return 1; or 0, not there. */

static int
take(const char **at, const char *literal)
{
    size_t len = strlen(literal);

    if (strncmp(*at, literal, len) != 0)
        return 0;
    *at += len;
    return 1;
}

static int
take_number(const char **at, const char *name, uint32_t *value)
{
    uint64_t x = 0;
    const char *p;

    if (!take(at, name))
        return 0;
    p = *at;
    if (*p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
        return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        x = 10 * x + (uint64_t)(*p - '0');
        if (x > UINT32_MAX)
            return 0;
    }
    *value = (uint32_t)x;
    *at = p;
    return 1;
}

/* Memory has one spelling: the largest unit that divides it. */
static int
take_memory(const char **at, const struct method_form *form, uint32_t *kib)
{
    uint64_t product;
    size_t unit = 0;

    if (!take_number(at, form->memory, kib))
        return 0;
    if (!form->has_units)
        return 1;
    while (unit < UNIT_COUNT && **at != UNITS[unit])
        unit++;
    if (unit == UNIT_COUNT || (unit < UNIT_COUNT - 1 && *kib % UNIT_STEP == 0))
        return 0;
    (*at)++;
    for (product = *kib; unit > 0; unit--)
        product *= UNIT_STEP;
    if (product > UINT32_MAX)
        return 0;
    *kib = (uint32_t)product;
    return 1;
}

static int
is_key_id_character(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static int
take_key_id(const char **at, const struct method_form *form, char key_id[MHKDF_KEY_ID_MAX + 1])
{
    size_t len = 0;

    if (form->key_id == NULL || !take(at, form->key_id))
        return 1;
    while (is_key_id_character((*at)[len]))
        if (++len > MHKDF_KEY_ID_MAX)
            return 0;
    if (len == 0)
        return 0;
    memcpy(key_id, *at, len);
    key_id[len] = '\0';
    *at += len;
    return 1;
}

/* Takes B64 of min to max bytes; *error is set to ERANGE where it is canonical but longer. */
static int
take_base64(const char **at, char alphabet, uint8_t *bytes, size_t min, size_t max, size_t *len,
            int *error)
{
    size_t text_len = base64_span(*at, alphabet);
    int result = base64_decode(*at, text_len, bytes, max, len, alphabet);

    *at += text_len;
    if (result == ERANGE)
        *error = ERANGE;
    return result == 0 ? *len >= min : result == ERANGE;
}

static int
take_inner(const char **at, const struct method_form *form, char inner[MHKDF_STRING_SIZE],
           int level, int *error)
{
    size_t len = 0;
    int result;

    if (form->inner == NULL || !take(at, form->inner))
        return 1;
    if (level >= WRAPS_MAX)
        return 0;
    if (!take_base64(at, form->alphabet, (uint8_t *)inner, 2, STRING_MAX, &len, error))
        return 0;
    if (*error != 0) /* longer than any setting, so the rest of the string is all that matters */
        return 1;
    inner[len] = '\0';
    if (strlen(inner) != len)
        return 0;
    result = check_inner(inner, level + 1);
    if (result == ERANGE)
        *error = ERANGE;
    return result == 0 || result == ERANGE;
}

static int
take_cost(const char **at, const struct method *method, struct mhkdf_cost *cost)
{
    const struct method_form *form = method->form;

    cost->method = method->number;
    if (!take(at, method->prefix) || !take_memory(at, form, &cost->memory_kib) ||
        !take_number(at, form->passes, &cost->passes) ||
        !take_number(at, form->lanes, &cost->lanes))
        return 0;
    if (form->chain != NULL && !take_number(at, form->chain, &cost->chain))
        return 0;
    return derive_check_cost(cost) == 0;
}

static int
take_salt(const char **at, const struct method_form *form, struct mhkdf_setting *out)
{
    int error = 0;

    if (!form->is_text)
        return take_base64(at, form->alphabet, out->salt, MHKDF_SALT_MIN, MHKDF_SALT_MAX,
                           &out->salt_len, &error) &&
               error == 0;
    out->salt_len = base64_span(*at, form->alphabet);
    if (out->salt_len < MHKDF_SALT_MIN || out->salt_len > MHKDF_SALT_MAX)
        return 0;
    memcpy(out->salt, *at, out->salt_len);
    *at += out->salt_len;
    return 1;
}

static int
take_tag(const char **at, const struct method_form *form, struct mhkdf_setting *out)
{
    int error = 0;

    return take_base64(at, form->alphabet, out->tag, MHKDF_TAG_MIN, MHKDF_TAG_MAX, &out->tag_len,
                       &error) &&
           error == 0;
}

static int
parse_level(const char *string, int level, struct mhkdf_setting *out)
{
    const struct method *method = method_find(string);
    const char *at = string;
    size_t setting_len;
    int range_error = 0;

    memset(out, 0, sizeof *out);
    if (method == NULL || !take_cost(&at, method, &out->cost) ||
        !take_key_id(&at, method->form, out->key_id) ||
        !take_inner(&at, method->form, out->inner, level, &range_error))
        goto malformed;
    if (!take(&at, "$") || !take_salt(&at, method->form, out))
        goto malformed;
    setting_len = (size_t)(at - string);
    if (take(&at, "$") && *at != '\0' && !take_tag(&at, method->form, out))
        goto malformed;
    if (*at != '\0')
        goto malformed;

    if (range_error != 0 || hash_length(setting_len, out->tag_len) > STRING_MAX) {
        mhkdf_wipe(out, sizeof *out);
        return ERANGE;
    }
    return 0;

malformed:
    mhkdf_wipe(out, sizeof *out);
    return EINVAL;
}

int
mhkdf_parse(const char *string, struct mhkdf_setting *out)
{
    return parse_level(string, 0, out);
}

/* Where mhkdf_encode writes. What doesn't fit isn't written, but counted. */
struct writer {
    char *out;
    size_t size; /* bytes, with the NUL */
    size_t len;  /* characters that the whole string needs */
};

static void
put(struct writer *writer, const char *text, size_t len)
{
    if (len < writer->size && writer->len < writer->size - len)
        memcpy(writer->out + writer->len, text, len);
    writer->len += len;
}

static void
put_text(struct writer *writer, const char *text)
{
    put(writer, text, strlen(text));
}

static void
put_number(struct writer *writer, const char *name, uint32_t value)
{
    char digits[10];
    size_t at = sizeof digits;

    put_text(writer, name);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    put(writer, digits + at, sizeof digits - at);
}

static void
put_memory(struct writer *writer, const struct method_form *form, uint32_t kib)
{
    size_t unit = 0;

    if (form->has_units)
        for (; unit < UNIT_COUNT - 1 && kib % UNIT_STEP == 0; unit++)
            kib /= UNIT_STEP;
    put_number(writer, form->memory, kib);
    if (form->has_units)
        put(writer, &UNITS[unit], 1);
}

/* len is less than MHKDF_STRING_SIZE. */
static void
put_base64(struct writer *writer, const char *name, const void *bytes, size_t len, char alphabet)
{
    char text[(MHKDF_STRING_SIZE * 4 + 2) / 3];

    put_text(writer, name);
    put(writer, text, (size_t)(base64_encode(text, bytes, len, alphabet) - text));
    mhkdf_wipe(text, sizeof text);
}

static int
check_salt(const struct method_form *form, const struct mhkdf_setting *setting)
{
    char text[MHKDF_SALT_MAX + 1];

    if (setting->salt_len < MHKDF_SALT_MIN || setting->salt_len > MHKDF_SALT_MAX)
        return EINVAL;
    if (!form->is_text)
        return 0;
    memcpy(text, setting->salt, setting->salt_len);
    text[setting->salt_len] = '\0';
    return base64_span(text, form->alphabet) == setting->salt_len ? 0 : EINVAL;
}

static int
check_setting(const struct mhkdf_setting *setting)
{
    const struct method_form *form;

    if (derive_check_cost(&setting->cost) != 0 || setting->tag_len > MHKDF_TAG_MAX ||
        (setting->tag_len != 0 && setting->tag_len < MHKDF_TAG_MIN))
        return EINVAL;
    form = method_get(setting->cost.method)->form;
    if (check_salt(form, setting) != 0)
        return EINVAL;
    if (memchr(setting->key_id, '\0', sizeof setting->key_id) == NULL ||
        memchr(setting->inner, '\0', sizeof setting->inner) == NULL)
        return EINVAL;
    for (const char *c = setting->key_id; *c != '\0'; c++)
        if (form->key_id == NULL || !is_key_id_character(*c))
            return EINVAL;
    if (setting->inner[0] == '\0')
        return 0;
    return form->inner != NULL ? check_inner(setting->inner, 1) : EINVAL;
}

/* Everything up to the salt; the setting has been checked. */
static void
put_setting(struct writer *writer, const struct method *method, const struct mhkdf_setting *setting)
{
    const struct method_form *form = method->form;

    put_text(writer, method->prefix);
    put_memory(writer, form, setting->cost.memory_kib);
    put_number(writer, form->passes, setting->cost.passes);
    put_number(writer, form->lanes, setting->cost.lanes);
    if (form->chain != NULL)
        put_number(writer, form->chain, setting->cost.chain);
    if (setting->key_id[0] != '\0') {
        put_text(writer, form->key_id);
        put_text(writer, setting->key_id);
    }
    if (setting->inner[0] != '\0')
        put_base64(writer, form->inner, setting->inner, strlen(setting->inner), form->alphabet);
    if (!form->is_text) {
        put_base64(writer, "$", setting->salt, setting->salt_len, form->alphabet);
    } else {
        put_text(writer, "$");
        put(writer, (const char *)setting->salt, setting->salt_len);
    }
}

int
mhkdf_encode(const struct mhkdf_setting *setting, char *out, size_t out_size)
{
    struct writer writer = {.out = out, .size = out_size};
    const struct method *method;
    size_t setting_len;
    int error;

    if (out_size > 0)
        out[0] = '\0';
    if ((error = check_setting(setting)) != 0)
        return error;

    method = method_get(setting->cost.method);
    put_setting(&writer, method, setting);
    setting_len = writer.len;
    if (setting->tag_len != 0)
        put_base64(&writer, "$", setting->tag, setting->tag_len, method->form->alphabet);

    if (writer.len >= out_size || hash_length(setting_len, setting->tag_len) > STRING_MAX) {
        if (out_size > 0)
            mhkdf_wipe(out, writer.len < out_size ? writer.len : out_size);
        return ERANGE;
    }
    out[writer.len] = '\0';
    return 0;
}
