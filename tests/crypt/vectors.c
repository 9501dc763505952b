/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of strings.vec through every function of libcrypt. Speaks TAP; the file's header says
 * what a record is. It uses the public interface alone: libxcrypt's own test suite runs it too, as
 * test/crypt-mhkdf, where crypt-plugin/graft has put it.
 *
 * usage: vectors [FILE]    (without: VECTORS in the folder that $srcdir names)
 *
 * What differs from mhkdf_crypt, which the records describe: libcrypt knows no site key (ENOKEY),
 * and looks at the length of a phrase first (ERANGE). Records of methods that this libcrypt was
 * built without are skipped. */
#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VECTORS
#define VECTORS "strings.vec"
#endif

#define LINE_SIZE 8193 /* longest line, its newline and the NUL */
#define FIELDS_MAX 6

static unsigned int case_count;
static unsigned int failed_count;

/* What a libcrypt without some method can't compute. */
static char lacking[16][CRYPT_OUTPUT_SIZE];
static size_t lacking_count;

static void
end_case(const char *problem, unsigned int line, const char *name)
{
    case_count++;
    if (problem != NULL)
        failed_count++;
    printf("%sok %u - line %u: %.60s%s%s\n", problem != NULL ? "not " : "", case_count, line, name,
           problem != NULL ? " # " : "", problem != NULL ? problem : "");
}

static void
skip_case(const char *reason, unsigned int line, const char *name)
{
    case_count++;
    printf("ok %u - line %u: %.60s # SKIP %s\n", case_count, line, name, reason);
}

static int
hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, c);

    return found == NULL ? -1 : (int)(found - digits);
}

/* Decodes hex in place, with a NUL behind, and returns the number of bytes. */
static size_t
decode_hex(char *text)
{
    size_t len = 0;

    if (strcmp(text, "-") != 0) {
        for (; hex_digit(text[2 * len]) >= 0 && hex_digit(text[2 * len + 1]) >= 0; len++)
            text[len] = (char)(hex_digit(text[2 * len]) * 16 + hex_digit(text[2 * len + 1]));
    }
    text[len] = '\0';
    return len;
}

static int
base64_digit(char c)
{
    const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./";
    const char *found = c == '\0' ? NULL : strchr(digits, c);

    return found == NULL ? -1 : (int)(found - digits);
}

/* What stands behind the costs of an $mhkdf$ string; NULL if it is none. */
static const char *
after_costs(const char *string)
{
    const char *from = strncmp(string, "$mhkdf$", 7) == 0 ? strstr(string, ".c") : NULL;

    return from == NULL ? NULL : from + 2 + strspn(from + 2, "0123456789");
}

static int
has_key(const char *string)
{
    const char *from = after_costs(string);

    return from != NULL && strncmp(from, ".k", 2) == 0;
}

static const char *
after_key(const char *string)
{
    const char *from = after_costs(string);

    return has_key(string) ? from + 2 + strcspn(from + 2, ".$") : from;
}

/* Puts the setting that a string wraps into inner, which may be the same buffer: 1, or 0 if there
 * is none. */
static int
unwrap(const char *string, char *inner)
{
    const char *from = after_key(string);
    unsigned int bits = 0, held = 0;
    size_t len = 0;

    if (from == NULL || strncmp(from, ".w", 2) != 0)
        return 0;
    for (from += 2; base64_digit(*from) >= 0 && len < CRYPT_OUTPUT_SIZE - 1; from++) {
        held = (held << 6 | (unsigned int)base64_digit(*from)) & 0xffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            inner[len++] = (char)(held >> bits & 0xff);
        }
    }
    inner[len] = '\0';
    return 1;
}

/* Whether the string, or one that it wraps, wants a site key; the innermost one is in inner
 * afterwards. */
static int
looks_inside(const char *setting, char inner[CRYPT_OUTPUT_SIZE])
{
    int wants_key = has_key(setting);

    inner[0] = '\0';
    strncat(inner, setting, CRYPT_OUTPUT_SIZE - 1);
    while (unwrap(inner, inner))
        wants_key |= has_key(inner);
    return wants_key;
}

static int
method_is_lacking(const char *setting)
{
    for (size_t i = 0; i < lacking_count; i++) {
        if (strcmp(setting, lacking[i]) == 0)
            return 1;
    }
    return 0;
}

/*
 * The functions of libcrypt, each with one shape. A result is valid until the next call.
 */

static struct crypt_data *data;
static void *ra_data;
static int ra_size;

static char *
call_crypt(const char *phrase, const char *setting)
{
    return crypt(phrase, setting);
}

static char *
call_crypt_r(const char *phrase, const char *setting)
{
    return crypt_r(phrase, setting, data);
}

static char *
call_crypt_rn(const char *phrase, const char *setting)
{
    return crypt_rn(phrase, setting, data, (int)sizeof(*data));
}

static char *
call_crypt_ra(const char *phrase, const char *setting)
{
    return crypt_ra(phrase, setting, &ra_data, &ra_size);
}

struct function {
    const char *name;
    char *(*call)(const char *phrase, const char *setting);
    int gives_token; /* on failure; a libcrypt built without failure tokens gives NULL instead */
};

static const struct function functions[] = {{"crypt", call_crypt, 1},
                                            {"crypt_r", call_crypt_r, 1},
                                            {"crypt_rn", call_crypt_rn, 0},
                                            {"crypt_ra", call_crypt_ra, 0}};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static char problem_text[2 * CRYPT_OUTPUT_SIZE + 200];

static const char *
problem(const char *function, const char *expected, const char *got)
{
    snprintf(problem_text, sizeof(problem_text), "%s: expected %s, got %s, errno %d", function,
             expected, got != NULL ? got : "NULL", errno);
    return problem_text;
}

static const char *
refuses(const char *phrase, const char *setting, int error, int other_error)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct function *f = &functions[i];
        const char *got;

        errno = 0;
        got = f->call(phrase, setting);
        if (errno != error && errno != other_error)
            return problem(f->name, strerror(error), got);
        if (got == NULL)
            continue;
        if (!f->gives_token || strcmp(got, setting) == 0 ||
            (strcmp(got, "*0") != 0 && strcmp(got, "*1") != 0))
            return problem(f->name, f->gives_token ? "a failure token" : "NULL", got);
    }
    return NULL;
}

static const char *
hashes(const char *phrase, const char *setting, const char *expected)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct function *f = &functions[i];
        const char *got = f->call(phrase, setting);

        if (got == NULL || strcmp(got, expected) != 0)
            return problem(f->name, expected, got);
        got = f->call(phrase, expected);
        if (got == NULL || strcmp(got, expected) != 0)
            return problem(f->name, expected, got);
    }
    if (crypt_checksalt(setting) != CRYPT_SALT_OK || crypt_checksalt(expected) != CRYPT_SALT_OK)
        return "crypt_checksalt doesn't say CRYPT_SALT_OK";
    return NULL;
}

/* The number of an error that a record names, or 0 where it has a result. */
static int
error_number(const char *result)
{
    if (strcmp(result, "EINVAL") == 0)
        return EINVAL;
    if (strcmp(result, "ERANGE") == 0)
        return ERANGE;
    if (strcmp(result, "ENOKEY") == 0)
        return ENOKEY;
    return 0;
}

static const char *const prefixes[] = {"$mhkdf$", "$argon2id$", "$argon2d$", "$argon2i$"};

#define PREFIXES (sizeof(prefixes) / sizeof(prefixes[0]))

static int
method_is_disabled(const char *setting)
{
    for (size_t i = 0; i < PREFIXES; i++) {
        if (strncmp(setting, prefixes[i], strlen(prefixes[i])) == 0)
            return crypt_checksalt(prefixes[i]) == CRYPT_SALT_INVALID;
    }
    return 0;
}

static int
all_are_disabled(void)
{
    for (size_t i = 0; i < PREFIXES; i++) {
        if (!method_is_disabled(prefixes[i]))
            return 0;
    }
    return 1;
}

/* older PASSWORD SETTING HASH */
static void
check_older(unsigned int line, char **field)
{
    const char *got;

    decode_hex(field[1]);
    got = crypt(field[1], field[2]);
    if (got != NULL && strcmp(got, field[3]) == 0) {
        end_case(NULL, line, field[2]);
    } else if (crypt_checksalt(field[2]) == CRYPT_SALT_INVALID &&
               lacking_count < sizeof(lacking) / sizeof(lacking[0])) {
        strncat(lacking[lacking_count++], field[2], CRYPT_OUTPUT_SIZE - 1);
        skip_case("this libcrypt lacks the method", line, field[2]);
    } else {
        end_case(problem("crypt", field[3], got), line, field[2]);
    }
}

/* hash PASSWORD SETTING RESULT */
static void
check_hash(unsigned int line, char **field)
{
    char name[64] = "", inner[CRYPT_OUTPUT_SIZE];
    char *setting = field[2];
    int error = error_number(field[3]);
    int wants_key;
    size_t phrase_len = decode_hex(field[1]);

    strncat(name, setting, sizeof(name) - 1);
    if (strncmp(setting, "x:", 2) == 0) {
        setting += 2;
        decode_hex(setting);
    }
    wants_key = looks_inside(setting, inner);
    if (method_is_disabled(setting))
        skip_case("this libcrypt lacks the method", line, name);
    else if (phrase_len >= CRYPT_MAX_PASSPHRASE_SIZE)
        end_case(refuses(field[1], setting, ERANGE, error), line, name);
    else if (error != 0)
        end_case(refuses(field[1], setting, error, error), line, name);
    else if (wants_key)
        end_case(refuses(field[1], setting, ENOKEY, ENOKEY), line, name);
    else if (method_is_lacking(inner))
        skip_case("this libcrypt lacks the wrapped method", line, name);
    else
        end_case(hashes(field[1], setting, field[3]), line, name);
}

static const char *
gensalt(char **field, const char *prefix, const char *rbytes, int nrbytes)
{
    char out[CRYPT_GENSALT_OUTPUT_SIZE];
    unsigned long count = strtoul(field[2], NULL, 10);
    int size = (int)strtol(field[4], NULL, 10), error = error_number(field[5]);
    char *allocated;
    const char *got;
    int differs;

    memset(out, 'x', sizeof(out));
    errno = 0;
    got = crypt_gensalt_rn(prefix, count, rbytes, nrbytes, out, size);
    if (error != 0 && (got != NULL || errno != error || (size > 2 && out[0] != '*')))
        return problem("crypt_gensalt_rn", field[5], got);
    if (error == 0 && (got != out || strcmp(got, field[5]) != 0))
        return problem("crypt_gensalt_rn", field[5], got);
    if (size != CRYPT_GENSALT_OUTPUT_SIZE)
        return NULL;
    errno = 0;
    got = crypt_gensalt(prefix, count, rbytes, nrbytes);
    if (error != 0 ? got != NULL || errno != error : got == NULL || strcmp(got, field[5]) != 0)
        return problem("crypt_gensalt", field[5], got);
    errno = 0;
    allocated = crypt_gensalt_ra(prefix, count, rbytes, nrbytes);
    differs = error != 0 ? allocated != NULL || errno != error
                         : allocated == NULL || strcmp(allocated, field[5]) != 0;
    free(allocated);
    return differs ? problem("crypt_gensalt_ra", field[5], "something else") : NULL;
}

/* gensalt PREFIX COUNT RBYTES SIZE RESULT */
static void
check_gensalt(unsigned int line, char **field)
{
    int nrbytes = (int)decode_hex(field[3]);
    const char *found;

    if (method_is_disabled(field[1])) {
        skip_case("this libcrypt lacks the method", line, field[1]);
        return;
    }
    found = gensalt(field, field[1], field[3], nrbytes);
    /* What stands behind the prefix has no influence. */
    if (found == NULL && error_number(field[5]) == 0)
        found = gensalt(field, field[5], field[3], nrbytes);
    if (found == NULL && crypt_checksalt(field[1]) != CRYPT_SALT_OK)
        found = "crypt_checksalt doesn't say CRYPT_SALT_OK";
    end_case(found, line, field[1]);
}

/* The method that crypt_gensalt picks by itself is the one that the library prefers, and works with
 * random bytes of its own. */
static void
check_preferred(void)
{
    const char *preferred = crypt_preferred_method();
    char first[CRYPT_GENSALT_OUTPUT_SIZE] = "", second[CRYPT_GENSALT_OUTPUT_SIZE] = "";
    const char *found = NULL;

    if (preferred == NULL)
        return;
    if (crypt_gensalt_rn(NULL, 0, NULL, 0, first, (int)sizeof(first)) == NULL ||
        crypt_gensalt_rn(preferred, 0, NULL, 0, second, (int)sizeof(second)) == NULL ||
        strncmp(first, preferred, strlen(preferred)) != 0 ||
        strncmp(second, preferred, strlen(preferred)) != 0 || strlen(first) != strlen(second) ||
        strcmp(first, second) == 0)
        found = problem("crypt_gensalt_rn", preferred, first);
    end_case(found, 0, preferred);
}

static size_t
split(char *line, char **field)
{
    size_t n = 0;

    line[strcspn(line, "\n")] = '\0';
    for (char *p = strtok(line, " "); p != NULL && n < FIELDS_MAX; p = strtok(NULL, " "))
        field[n++] = p;
    return n;
}

static void
check_record(unsigned int line, char **field, size_t fields)
{
    if (strcmp(field[0], "older") == 0 && fields == 4)
        check_older(line, field);
    else if (strcmp(field[0], "hash") == 0 && fields == 4)
        check_hash(line, field);
    else if (strcmp(field[0], "gensalt") == 0 && fields == 6)
        check_gensalt(line, field);
    else if (strcmp(field[0], "key") != 0)
        end_case("no record of a known kind", line, field[0]);
}

static FILE *
open_vectors(int argc, char **argv)
{
    char path[4096];
    const char *srcdir = getenv("srcdir");

    if (argc > 1)
        return fopen(argv[1], "r");
    snprintf(path, sizeof(path), "%s/%s", srcdir != NULL ? srcdir : ".", VECTORS);
    return fopen(path, "r");
}

int
main(int argc, char **argv)
{
    static char text[LINE_SIZE];
    char *field[FIELDS_MAX];
    FILE *in = NULL;

    if (all_are_disabled()) {
        printf("1..0 # SKIP this libcrypt lacks the methods\n");
        return 77; /* as Automake wants it */
    }
    in = open_vectors(argc, argv);
    data = calloc(1, sizeof(*data));
    if (in == NULL || data == NULL) {
        perror("vectors");
        return 99;
    }
    for (unsigned int line = 1; fgets(text, sizeof(text), in) != NULL; line++) {
        size_t fields = text[0] == '#' ? 0 : split(text, field);
        if (fields > 0)
            check_record(line, field, fields);
    }
    check_preferred();
    if (ferror(in) || case_count < 2)
        end_case("the file can't be read, or has no records", 0, "the file of vectors");
    fclose(in);
    free(data);
    free(ra_data);
    printf("1..%u\n", case_count);
    return failed_count == 0 ? 0 : 1;
}
