/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "policy/foreign.h"

#include <errno.h>
#include <string.h>

/* A block of scrypt and yescrypt is 128 r bytes, and there are N = 2^n_log2 of them; and one for
 * each of p, for which yescrypt has S-boxes, too. */
#define R_PER_KIB 8
#define SBOXES_KIB 12
#define N_LOG2_MAX 32

#define BCRYPT_SALT_LEN 22

/* Bytes of a password that are looked at. */
#define BCRYPT_SEEN 72
#define DES_SEEN 8
#define BIGCRYPT_SEEN 128
#define DES_HASH_LEN 13 /* bigcrypt's are longer */

static const char alphabet[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* The value of the next character, which is passed over; 64 where it isn't one of crypt's. */
static uint32_t
next_digit(const char **text)
{
    const char *at = **text == '\0' ? NULL : strchr(alphabet, **text);

    if (at == NULL)
        return 64;
    (*text)++;
    return (uint32_t)(at - alphabet);
}

/* yescrypt's numbers: the first digit says how many follow. Those below 48 stand alone; of the 16
 * left, half start two digits, half of the rest three, and so on. Later digits count for less. */
static int
next_number(const char **text, uint32_t min, uint64_t *number)
{
    uint32_t first = 0, last = 47, more = 0;
    uint32_t digit = next_digit(text);
    uint64_t value = min;

    if (digit > 63)
        return EINVAL;
    for (; digit > last; more++) {
        value += (uint64_t)(last + 1 - first) << (6 * more);
        first = last + 1;
        last = first + (62 - last) / 2;
    }
    value += (uint64_t)(digit - first) << (6 * more);
    while (more > 0) {
        digit = next_digit(text);
        if (digit > 63)
            return EINVAL;
        value += (uint64_t)digit << (6 * --more);
    }
    *number = value;
    return 0;
}

/* scrypt's: five digits, those that count least first. */
static int
next_fixed(const char **text, uint64_t *number)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 30; shift += 6) {
        uint32_t digit = next_digit(text);
        if (digit > 63)
            return EINVAL;
        value |= (uint64_t)digit << shift;
    }
    *number = value;
    return 0;
}

/* UINT64_MAX where it doesn't fit. */
static uint64_t
multiply(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* What a string of these methods asks for. read_* moves *at, the start of parameters, behind what
 * it needs, and gives EINVAL where they can't be read. */
struct size {
    uint64_t n_log2, r;
    uint64_t parallel;   /* p */
    uint64_t sboxes_kib; /* of each */
    uint64_t times;      /* that the memory is gone through, in all */
};

/* KiB of the N blocks, rounded up, since what takes little memory may still take all the time. */
static uint64_t
product(const struct size *size)
{
    if (size->n_log2 > N_LOG2_MAX || size->r > UINT32_MAX)
        return UINT64_MAX;
    return ((size->r << size->n_log2) + R_PER_KIB - 1) / R_PER_KIB;
}

/* Parallelism and time, where they are not as usual: bits say which numbers follow. */
static int
read_yescrypt_rest(const char **at, struct size *size)
{
    uint64_t have = 0, parallel = 1, more = 0;

    size->times = size->parallel = 1;
    size->sboxes_kib = SBOXES_KIB;
    if (**at == '$' || **at == '\0')
        return 0;
    if (next_number(at, 1, &have) != 0 || ((have & 1) != 0 && next_number(at, 2, &parallel) != 0) ||
        ((have & 2) != 0 && next_number(at, 1, &more) != 0))
        return EINVAL;
    for (have >>= 2; have != 0; have >>= 1) {
        uint64_t unused;
        if ((have & 1) != 0 && next_number(at, 1, &unused) != 0)
            return EINVAL;
    }
    size->parallel = parallel;
    size->times = multiply(parallel, 1 + more);
    return 0;
}

static int
read_yescrypt(const char **at, struct size *size)
{
    uint64_t flavour;

    if (next_number(at, 0, &flavour) != 0 || next_number(at, 1, &size->n_log2) != 0 ||
        next_number(at, 1, &size->r) != 0)
        return EINVAL;
    return read_yescrypt_rest(at, size);
}

static int
read_scrypt(const char **at, struct size *size)
{
    size->n_log2 = next_digit(at);
    if (size->n_log2 > 63 || next_fixed(at, &size->r) != 0)
        return EINVAL;
    if (next_fixed(at, &size->parallel) != 0)
        return EINVAL;
    size->times = size->parallel;
    size->sboxes_kib = 0;
    return 0;
}

/* Whether string starts so; if it does, *rest is what follows. */
static int
starts(const char *string, const char *prefix, const char **rest)
{
    size_t len = strlen(prefix);

    if (strncmp(string, prefix, len) != 0)
        return 0;
    *rest = string + len;
    return 1;
}

static int
is_yescrypt(const char *setting, const char **rest)
{
    return starts(setting, "$y$", rest) || starts(setting, "$gy$", rest) ||
           starts(setting, "$sm3y$", rest);
}

static int
is_bcrypt(const char *setting, const char **rest)
{
    return starts(setting, "$2a$", rest) || starts(setting, "$2b$", rest) ||
           starts(setting, "$2x$", rest) || starts(setting, "$2y$", rest);
}

/* EINVAL: it isn't of a method that takes memory, or can't be read. */
static int
read_size(const char *setting, struct size *size)
{
    const char *at;

    if (is_yescrypt(setting, &at))
        return read_yescrypt(&at, size);
    return starts(setting, "$7$", &at) ? read_scrypt(&at, size) : EINVAL;
}

uint64_t
foreign_memory_kib(const char *setting)
{
    struct size size;
    uint64_t kib, more;

    if (read_size(setting, &size) != 0)
        return 0;
    kib = product(&size);
    more = size.parallel > 1 ? size.parallel - 1 : 0;
    more = multiply(more, size.r + size.sboxes_kib * R_PER_KIB) / R_PER_KIB;
    return kib > UINT64_MAX - more ? UINT64_MAX : kib + more;
}

uint64_t
foreign_work_kib(const char *setting)
{
    struct size size;

    return read_size(setting, &size) == 0 ? multiply(product(&size), size.times) : 0;
}

/* Decimal, from where the text stands; without a number, otherwise. */
static uint64_t
number_or(const char *text, uint64_t otherwise)
{
    uint64_t value = 0;

    if (*text < '0' || *text > '9')
        return otherwise;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = multiply(value, 10);
        if (value != UINT64_MAX)
            value += (uint64_t)(*text - '0');
    }
    return value;
}

/* libcrypt reads these with strtoul(3), which takes a sign, and turns "-1" into as much as there
 * is. */
static uint64_t
sha1_rounds(const char *at)
{
    return *at == '+' || *at == '-' ? UINT64_MAX : number_or(at, 0);
}

/* 2^cost. */
static uint64_t
bcrypt_rounds(const char *at)
{
    uint64_t cost = number_or(at, 0);

    return cost > 63 ? UINT64_MAX : (uint64_t)1 << cost;
}

static uint64_t
bsdi_rounds(const char *at)
{
    uint64_t rounds = 0;

    for (unsigned shift = 0; shift < 24; shift += 6)
        rounds |= (uint64_t)(next_digit(&at) & 63) << shift;
    return rounds;
}

/* Microseconds for one of what a method counts, measured on an ordinary machine of 2020, rounded
 * up: an estimate that is wrong by a factor of three still tells a login from an attack. */
#define US_BCRYPT 60
#define US_SHA1 1
#define US_SUNMD5 2
#define US_BSDI 1
#define ROUNDS_PER_US_SHA 2
#define US_KIB 3

uint64_t
foreign_time_us(const char *setting)
{
    const char *at;

    if (is_bcrypt(setting, &at))
        return multiply(bcrypt_rounds(at), US_BCRYPT);
    if (starts(setting, "$5$rounds=", &at) || starts(setting, "$6$rounds=", &at) ||
        starts(setting, "$sm3$rounds=", &at))
        return number_or(at, 5000) / ROUNDS_PER_US_SHA;
    if (starts(setting, "$sha1$", &at))
        return multiply(sha1_rounds(at), US_SHA1);
    if (starts(setting, "$md5,rounds=", &at))
        return multiply(number_or(at, 0), US_SUNMD5);
    if (starts(setting, "_", &at))
        return multiply(bsdi_rounds(at), US_BSDI);
    return multiply(foreign_work_kib(setting), US_KIB);
}

enum foreign_rank
foreign_rank(const char *setting)
{
    const char *at;

    if (is_yescrypt(setting, &at) || starts(setting, "$7$", &at))
        return FOREIGN_SCRYPT;
    if (is_bcrypt(setting, &at))
        return FOREIGN_BCRYPT;
    return starts(setting, "$6$", &at) ? FOREIGN_SHA512 : FOREIGN_REST;
}

static int
is_7_bit(const char *text)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0x80) != 0)
            return 0;
    }
    return 1;
}

int
foreign_sees_all(const char *setting, const char *password)
{
    size_t len = strlen(password);
    const char *at;

    if (is_bcrypt(setting, &at)) /* $2x$ mixes up characters of 8 bits */
        return len <= BCRYPT_SEEN && (setting[2] != 'x' || is_7_bit(password));
    if (setting[0] == '$')
        return 1;
    if (setting[0] == '_')
        return is_7_bit(password);
    return len <= (strlen(setting) > DES_HASH_LEN ? BIGCRYPT_SEEN : DES_SEEN) && is_7_bit(password);
}

static int
check_yescrypt(const char *at)
{
    struct size size;

    return read_yescrypt(&at, &size) == 0 && strchr(at, '$') != NULL ? 0 : EINVAL;
}

static int
check_scrypt(const char *at)
{
    struct size size;

    return read_scrypt(&at, &size);
}

/* NN$ and the salt. */
static int
check_bcrypt(const char *at)
{
    if (at[0] < '0' || at[0] > '3' || at[1] < '0' || at[1] > '9' || at[2] != '$')
        return EINVAL;
    return strspn(at + 3, alphabet) >= BCRYPT_SALT_LEN ? 0 : EINVAL;
}

int
foreign_check(const char *setting)
{
    const char *at;

    if (is_yescrypt(setting, &at))
        return check_yescrypt(at);
    if (starts(setting, "$7$", &at))
        return check_scrypt(at);
    if (is_bcrypt(setting, &at))
        return check_bcrypt(at);
    if (starts(setting, "$5$rounds=", &at) || starts(setting, "$6$rounds=", &at))
        return *at >= '1' && *at <= '9' ? 0 : EINVAL;
    return 0;
}

/* What follows is the salt, of at least one of crypt's characters. */
static int
check_salt(const char *at)
{
    return strspn(at, alphabet) > 0 ? 0 : EINVAL;
}

static int
check_new_yescrypt(const char *at)
{
    const char *end;

    if (check_yescrypt(at) != 0)
        return EINVAL;
    end = strchr(at, '$');
    return check_salt(end + 1);
}

static int
check_new_scrypt(const char *at)
{
    struct size size;

    return read_scrypt(&at, &size) == 0 ? check_salt(at) : EINVAL;
}

static int
check_new_shacrypt(const char *at)
{
    const char *rounds;

    if (starts(at, "rounds=", &rounds)) {
        at = strchr(rounds, '$');
        if (*rounds < '1' || *rounds > '9' || at == NULL)
            return EINVAL;
        at++;
    }
    return check_salt(at);
}

int
foreign_check_new(const char *setting)
{
    const char *at;

    if (starts(setting, "$y$", &at) || starts(setting, "$gy$", &at))
        return check_new_yescrypt(at);
    if (starts(setting, "$7$", &at))
        return check_new_scrypt(at);
    if (starts(setting, "$2x$", &at))
        return ENOTSUP;
    if (is_bcrypt(setting, &at))
        return check_bcrypt(at);
    if (starts(setting, "$5$", &at) || starts(setting, "$6$", &at))
        return check_new_shacrypt(at);
    return ENOTSUP;
}
