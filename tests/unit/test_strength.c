/* SPDX-License-Identifier: BSD-2-Clause */
/* What stored hashes are worth: beside a policy, above its ceilings, below its floor. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "policy/config.h"
#include "policy/foreign.h"
#include "policy/strength.h"

#define SALT "AAAAAAAAAAAAAAAAAAAAAA"
#define TAG "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define MHKDF(cost) "$mhkdf$" cost "$" SALT "$" TAG
#define ARGON2(name, cost) "$argon2" name "$v=19$" cost "$" SALT "$" TAG
/* Base64 of settings that are wrapped. */
#define W_SHA512 "JDYkYWJj"                                /* $6$abc */
#define W_DES "YWI"                                        /* ab */
#define W_SHA512_MANY "JDYkcm91bmRzPTk5OTk5OTk5OSRhYmM"    /* $6$rounds=999999999$abc */
#define W_BCRYPT "JDJiJDA1JGFiY2RlZmdoaWprbG1ub3BxcnN0dXU" /* $2b$05$abcdefghijklmnopqrstuu */
#define W_MHKDF_1G "JG1oa2RmJG0xRy50MS5wNC5jNiRBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"

/* A policy as mhkdf.conf would make it. */
static struct config_policy
policy_of(const char *method, uint32_t memory_kib, uint32_t passes, uint32_t chain)
{
    static const struct config_who nobody = {NULL, NULL, false, NULL, NULL};
    struct config config = {.sections = NULL};
    struct config_policy policy;
    const char *why;
    uint32_t number = 0;

    config_look_up(&config, &nobody, &policy);
    assert_int_equal(methods_find(method, &number, &why), 0);
    policy.method = methods_get(number);
    policy.cost.method =
        policy.method->ours != 0 ? (enum mhkdf_method)policy.method->ours : MHKDF_METHOD_MHKDF1;
    policy.cost.memory_kib = memory_kib;
    policy.cost.passes = passes;
    policy.cost.chain = policy.cost.method == MHKDF_METHOD_MHKDF1 ? chain : 0;
    return policy;
}

static const struct stronger_case {
    const char *method;
    uint32_t memory, passes, chain; /* of the policy */
    const char *stored;
    bool is_stronger;
} stronger_cases[] = {
    /* the same */
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p4.c6"), false},
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p1.c6"), false},
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p64.c6"), false},
    /* one thing more, one less */
    {"mhkdf", 65536, 1, 6, MHKDF("m65535K.t1.p4.c6"), true},
    {"mhkdf", 65536, 1, 6, MHKDF("m65537K.t1.p4.c6"), false},
    {"mhkdf", 65536, 2, 6, MHKDF("m64M.t1.p4.c6"), true},
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t2.p4.c6"), false},
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p4.c3"), true},
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p4.c0"), true},
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p4.c12"), false},
    /* more of one for less of another: neither */
    {"mhkdf", 65536, 1, 6, MHKDF("m32M.t2.p4.c6"), true},
    {"mhkdf", 65536, 1, 6, MHKDF("m32M.t3.p4.c6"), false},
    {"mhkdf", 65536, 3, 6, MHKDF("m128M.t1.p4.c6"), false},
    {"mhkdf", 131072, 1, 6, MHKDF("m64M.t3.p4.c6"), false},
    {"mhkdf", 131072, 1, 3, MHKDF("m64M.t1.p4.c6"), false},
    {"mhkdf", 131072, 1, 6, MHKDF("m64M.t1.p4.c12"), false},
    {"mhkdf", 4194304, 1, 6, MHKDF("m4194303K.t1025.p4.c6"), false}, /* beyond 32 bits */
    {"mhkdf", 4194304, 16777215, 6, MHKDF("m4194303K.t16777215.p4.c6"), true},
    /* argon2id is as good a method, without a chain */
    {"mhkdf", 65536, 1, 6, ARGON2("id", "m=65536,t=1,p=4"), true},
    {"mhkdf", 65536, 1, 0, ARGON2("id", "m=65536,t=1,p=4"), false},
    {"mhkdf", 65536, 1, 6, ARGON2("id", "m=65536,t=3,p=4"), false},
    {"mhkdf", 65536, 1, 6, ARGON2("id", "m=19456,t=2,p=1"), true},
    {"argon2id", 65536, 1, 6, MHKDF("m64M.t1.p4.c6"), false},
    {"argon2id", 131072, 3, 6, MHKDF("m64M.t1.p4.c6"), false},
    {"argon2id", 131072, 3, 6, MHKDF("m64M.t1.p4.c0"), true},
    {"argon2id", 65536, 1, 6, ARGON2("id", "m=65536,t=1,p=4"), false},
    {"argon2id", 65536, 2, 6, ARGON2("id", "m=65536,t=1,p=4"), true},
    /* argon2i and argon2d are of the rest */
    {"mhkdf", 65536, 1, 6, ARGON2("i", "m=65536,t=1,p=4"), true},
    /* an imported one is replaced whatever its passes */
    {"mhkdf", 65536, 1, 6, ARGON2("i", "m=65536,t=4,p=1"), true},
    {"mhkdf", 65536, 1, 6, ARGON2("d", "m=65536,t=16777215,p=1"), true},
    {"mhkdf", 65536, 1, 6, ARGON2("i", "m=65537,t=4,p=1"), false},
    {"argon2id", 65536, 3, 6, ARGON2("i", "m=65536,t=10,p=1"), true},
    {"yescrypt", 65536, 1, 6, ARGON2("i", "m=65536,t=4,p=1"), true},
    {"bcrypt", 65536, 1, 6, ARGON2("i", "m=65536,t=4,p=1"), false},
    {"mhkdf", 65536, 1, 6, ARGON2("d", "m=65537,t=1,p=4"), false},
    /* other methods by their order */
    {"mhkdf", 65536, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", true},
    {"mhkdf", 65536, 1, 6, "$gy$j9T$abcdefghijklmnopqrstu.$hash", true},
    {"mhkdf", 65536, 1, 6, "$7$CU..../....abcdefgh$hash", true},
    {"mhkdf", 8, 1, 6, "$6$abc$def", true},
    {"mhkdf", 8, 1, 0, "$2b$31$abcdefghijklmnopqrstuuhash", true},
    {"mhkdf", 8, 1, 0, "$5$abc$def", true},
    {"mhkdf", 8, 1, 0, "$1$abc$def", true},
    {"mhkdf", 8, 1, 0, "_J9..saltHASHHASHHAS", true},
    {"mhkdf", 8, 1, 0, "abJnggxhB/yWI", true},
    {"mhkdf", 8, 1, 0, "$sha1$40000$abc$def", true},
    {"mhkdf", 8, 1, 0, "$3$$8846f7eaee8fb117ad06bdd830b7586c", true},
    /* but less memory is never stronger */
    {"mhkdf", 16384, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", true},
    {"mhkdf", 16383, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", false},
    {"mhkdf", 65536, 1, 6, "$y$jFT$abcdefghijklmnopqrstu.$hash", false},
    {"yescrypt", 65536, 1, 6, MHKDF("m8K.t1.p1.c0"), false},
    {"yescrypt", 65536, 1, 6, ARGON2("i", "m=65536,t=1,p=4"), true},
    {"yescrypt", 65535, 1, 6, ARGON2("i", "m=65536,t=1,p=4"), false},
    {"yescrypt", 16384, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", false},
    {"yescrypt", 32767, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", false},
    {"yescrypt", 32768, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", true},
    {"yescrypt", 32768, 1, 6, "$gy$j9T$abcdefghijklmnopqrstu.$hash", true},
    {"gost-yescrypt", 16384, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", false},
    {"scrypt", 65536, 1, 6, "$y$j9T$abcdefghijklmnopqrstu.$hash", true},
    {"yescrypt", 1024, 1, 6, "$2b$12$abcdefghijklmnopqrstuuhash", true},
    {"bcrypt", 65536, 1, 6, "$y$j75$abcdefghijklmnopqrstu.$hash", false},
    {"bcrypt", 65536, 1, 6, "$2b$04$abcdefghijklmnopqrstuuhash", false},
    {"bcrypt", 65536, 1, 6, "$2y$14$abcdefghijklmnopqrstuuhash", false},
    {"bcrypt", 65536, 1, 6, "$6$abc$def", true},
    {"sha512crypt", 65536, 1, 6, "$6$rounds=1000$abc$def", false},
    {"sha512crypt", 65536, 1, 6, "$5$abc$def", true},
    {"sha512crypt", 65536, 1, 6, "$2b$04$abcdefghijklmnopqrstuuhash", false},
    {"sha256crypt", 65536, 1, 6, "$1$abc$def", false},
    /* wraps end at the next good login, unless something would be lost */
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p4.c6.w" W_SHA512), true},
    {"mhkdf", 65536, 1, 6, MHKDF("m64M.t1.p4.c12.w" W_SHA512), false},
    {"mhkdf", 65536, 1, 6, MHKDF("m65537K.t1.p4.c6.w" W_SHA512), false},
    {"mhkdf", 65536, 1, 6, MHKDF("m8K.t1.p1.c6.w" W_MHKDF_1G), false},
    {"mhkdf", 1048576, 1, 6, MHKDF("m8K.t1.p1.c6.w" W_MHKDF_1G), true},
    {"argon2id", 65536, 1, 6, MHKDF("m64M.t1.p4.c6.w" W_SHA512), false},
    {"yescrypt", 65536, 1, 6, MHKDF("m8K.t1.p1.c0.w" W_SHA512), false},
    /* a key isn't given up */
    {"mhkdf", 1048576, 3, 12, MHKDF("m8K.t1.p1.c0.kkey1"), false},
    {"mhkdf", 1048576, 3, 12, MHKDF("m8K.t1.p1.c0.kkey1.w" W_SHA512), false},
};

static void
stronger(void **unused)
{
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(stronger_cases) / sizeof(stronger_cases[0]); i++) {
        const struct stronger_case *c = &stronger_cases[i];
        struct config_policy policy = policy_of(c->method, c->memory, c->passes, c->chain);
        struct strength new, old;
        strength_of_policy(&policy, &new);
        if (strength_read(c->stored, &old) != 0)
            fail_msg("case %zu: %s can't be read", i, c->stored);
        if (strength_is_more(&new, &old) != c->is_stronger)
            fail_msg("case %zu: %s, %u, %u, %u and %s", i, c->method, c->memory, c->passes,
                     c->chain, c->stored);
    }
}

/* A key that a later version can ask for. */
static void
newer_key(void **unused)
{
    struct strength with = {.rank = 4, .memory_kib = 8, .work_kib = 8, .has_key = true};
    struct strength without = with;

    (void)unused;
    without.has_key = false;
    assert_true(strength_is_more(&with, &without));
    assert_false(strength_is_more(&without, &with));
    assert_false(strength_is_more(&with, &with));
    without.chain = 3;
    assert_false(strength_is_more(&with, &without));
}

/* No two are each stronger than the other, and none than itself, wraps left aside: so no two
 * services rewrite a hash by turns. */
static void
never_both_ways(void **unused)
{
    static const char *const methods[] = {"mhkdf",  "argon2id", "gost-yescrypt", "yescrypt",
                                          "scrypt", "bcrypt",   "sha512crypt",   "sha256crypt"};
    struct strength all[8 * 3 * 3 * 3];
    size_t count = 0, i, j, k;

    (void)unused;
    for (i = 0; i < 8; i++) {
        for (j = 0; j < 27; j++) {
            struct config_policy policy =
                policy_of(methods[i], 32768U << j % 3, 1 + (uint32_t)(j / 3 % 3),
                          (uint32_t[]){0, 6, 12}[j / 9]);
            strength_of_policy(&policy, &all[count++]);
        }
    }
    for (i = 0; i < count; i++) {
        assert_false(strength_is_more(&all[i], &all[i]));
        for (j = 0; j < count; j++) {
            if (!strength_is_more(&all[i], &all[j]))
                continue;
            assert_false(strength_is_more(&all[j], &all[i]));
            for (k = 0; k < count; k++) {
                if (strength_is_more(&all[j], &all[k]))
                    assert_true(strength_is_more(&all[i], &all[k]));
            }
        }
    }
}

static const struct ceiling_case {
    uint32_t memory, passes;
    const char *hash, *wrong; /* NULL: nothing */
} ceiling_cases[] = {
    {65536, 64, MHKDF("m64M.t64.p4.c6"), NULL},
    {65536, 64, MHKDF("m65537K.t1.p4.c6"), "ceiling_memory"},
    {65536, 64, MHKDF("m4294967295K.t16777215.p4.c6"), "ceiling_memory"},
    {65536, 64, MHKDF("m8K.t65.p1.c6"), "ceiling_passes"},
    {65536, 64, ARGON2("id", "m=65537,t=1,p=4"), "ceiling_memory"},
    {65536, 64, ARGON2("i", "m=8,t=16777215,p=1"), "ceiling_passes"},
    {65536, 64, MHKDF("m8K.t1.p1.c6.w" W_SHA512), NULL},
    {65536, 64, MHKDF("m8K.t1.p1.c6.w" W_MHKDF_1G), "ceiling_memory"},
    {65536, 64, MHKDF("m8K.t1.p1.c6.w" W_SHA512_MANY), "too long"},
    {1048576, 64, MHKDF("m8K.t1.p1.c6.w" W_MHKDF_1G), NULL},
    {65536, 64, "$6$abc$def", NULL},
    {65536, 64, "$6$rounds=656000$abc$def", NULL},
    {65536, 64, "$6$rounds=999999999$abc$def", "too long"},
    {65536, 64, "$5$rounds=999999999$abc$def", "too long"},
    {65536, 64, "$5$rounds=99999999999999999999999999$abc$def", "too long"},
    {65536, 64, "$2b$12$abcdefghijklmnopqrstuuhash", NULL},
    {65536, 64, "$2b$15$abcdefghijklmnopqrstuuhash", NULL},
    {65536, 64, "$2b$19$abcdefghijklmnopqrstuuhash", "too long"},
    {65536, 64, "$2a$31$abcdefghijklmnopqrstuuhash", "too long"},
    {65536, 64, "$2y$99$abcdefghijklmnopqrstuuhash", "too long"},
    /* whose time doesn't fit in 64 bits */
    {65536, 64, "$2b$62$abcdefghijklmnopqrstuuhash", "too long"},
    {65536, 64, "$2b$63$abcdefghijklmnopqrstuuhash", "too long"},
    {65536, 64, "$2b$64$abcdefghijklmnopqrstuuhash", "too long"},
    {65536, 64, "$y$j9T$abcdefghijklmnopqrstu.$hash", NULL},
    {8192, 64, "$y$j9T$abcdefghijklmnopqrstu.$hash", "ceiling_memory"},
    {65536, 64, "$y$jFT$abcdefghijklmnopqrstu.$hash", "ceiling_memory"},
    {4194304, 64, "$y$jFT$abcdefghijklmnopqrstu.$hash", NULL},
    /* yescrypt with more and more t */
    {65536, 64, "$y$j9T/o.$abcdefghijklmnopqrstu.$hash", NULL},
    {65536, 64, "$y$j9T/r.$abcdefghijklmnopqrstu.$hash", "too long"},
    {65536, 64, "$y$jjT$abcdefghijklmnopqrstu.$hash", "ceiling_memory"},
    {16384, 64, "$7$AU..../....abcdefgh$hash", NULL},
    {65536, 64, "$7$zU..../....abcdefgh$hash", "ceiling_memory"},
    {65536, 64, "$7$CU....zzzzzabcdefgh$hash", "ceiling_memory"},
    /* with hardly any memory but for very many p, or with very many t */
    {4194304, 64, "$7$0/......./.abcdefgh$hash", NULL},
    {4194304, 64, "$7$0/........Uabcdefgh$hash", "ceiling_memory"},
    {65536, 64, "$7$0/.......U.abcdefgh$hash", "ceiling_memory"},
    {4194304, 64, "$7$0/.......U.abcdefgh$hash", "too long"},
    {65536, 64, "$y$j0./wo...$abcdefgh$hash", NULL},
    {65536, 64, "$y$j0./yzzzz$abcdefgh$hash", "too long"},
    {65536, 64, "$sha1$4294967295$abc$def", "too long"},
    {65536, 64, "$sha1$40000$abc$def", NULL},
    {65536, 64, "$sha1$+4294967295$abc$def", "too long"},
    {65536, 64, "$sha1$-1$abc$def", "too long"},
    {65536, 64, "$md5,rounds=4294963199$abc$def", "too long"},
    {65536, 64, "$md5,rounds=5000$abc$def", NULL},
    {65536, 64, "_zzzzsaltHASHHASHHAS", NULL},
    {65536, 64, "$1$abc$def", NULL},
    {65536, 64, "abJnggxhB/yWI", NULL},
    /* what can't be read is refused without being computed anyway */
    {65536, 64, "$mhkdf$m4294967295K", NULL},
    {65536, 64, "$y$", NULL},
    {65536, 64, "$7$z", NULL},
    {65536, 64, "", NULL},
    /* no limits at all */
    {UINT32_MAX, UINT32_MAX, MHKDF("m4294967295K.t16777215.p4.c6"), NULL},
    {UINT32_MAX, UINT32_MAX, "$2a$31$abcdefghijklmnopqrstuuhash", NULL},
    {UINT32_MAX, UINT32_MAX, "$7$zU..../....abcdefgh$hash", NULL},
};

static void
above_ceiling(void **unused)
{
    struct config_policy policy = policy_of("mhkdf", 8, 1, 6);
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(ceiling_cases) / sizeof(ceiling_cases[0]); i++) {
        const struct ceiling_case *c = &ceiling_cases[i];
        const char *wrong;
        policy.ceiling_kib = c->memory;
        policy.ceiling_passes = c->passes;
        wrong = strength_above_ceiling(&policy, c->hash);
        if ((wrong == NULL) != (c->wrong == NULL) ||
            (wrong != NULL && strstr(wrong, c->wrong) == NULL))
            fail_msg("case %zu: %s: %s", i, c->hash, wrong != NULL ? wrong : "-");
    }
}

static void
below_floor(void **unused)
{
    static const struct {
        uint32_t floor;
        const char *hash;
        bool is_below;
    } cases[] = {
        {0, "$1$abc$def", false},
        {1, "$1$abc$def", true},
        {1, "$2b$12$abcdefghijklmnopqrstuuhash", true},
        {65536, MHKDF("m64M.t1.p4.c6"), false},
        {65536, MHKDF("m65535K.t64.p4.c12"), true},
        {16384, "$y$j9T$abcdefghijklmnopqrstu.$hash", false},
        {16385, "$y$j9T$abcdefghijklmnopqrstu.$hash", true},
        {65536, MHKDF("m64M.t1.p1.c6.w" W_SHA512), false},
        {65536, MHKDF("m8K.t1.p1.c6.w" W_MHKDF_1G), false},
        {65536, MHKDF("m8K.t1.p1.c6.w" W_SHA512), true},
    };
    struct config_policy policy = policy_of("mhkdf", 8, 1, 6);
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        policy.floor_kib = cases[i].floor;
        if (strength_is_below_floor(&policy, cases[i].hash) != cases[i].is_below)
            fail_msg("case %zu", i);
    }
}

static void
all_of_a_password(void **unused)
{
#define N72 "123456789012345678901234567890123456789012345678901234567890123456789012"
    static const struct {
        const char *hash, *password;
        bool all;
    } cases[] = {
        {"abJnggxhB/yWI", "12345678", true},
        {"abJnggxhB/yWI", "123456789", false},
        {"abJnggxhB/yWI", "M\xc3\xbcller", false},
        {"abJnggxhB/yWIJnggxhB/yWI", "123456789", true},
        {"abJnggxhB/yWIJnggxhB/yWI", N72 N72, false},
        {"_J9..saltHASHHASHHAS", N72 "3", true},
        {"_J9..saltHASHHASHHAS", "M\xc3\xbcller", false},
        {"$2b$12$abcdefghijklmnopqrstuuhash", N72, true},
        {"$2b$12$abcdefghijklmnopqrstuuhash", N72 "3", false},
        {"$2a$12$abcdefghijklmnopqrstuuhash", N72 "3", false},
        {"$2b$12$abcdefghijklmnopqrstuuhash", "M\xc3\xbcller", true},
        {"$2x$12$abcdefghijklmnopqrstuuhash", "M\xc3\xbcller", false},
        {"$6$abc$def", N72 N72, true},
        {"$y$j9T$abcdefghijklmnopqrstu.$hash", N72 N72 "\xff", true},
        {MHKDF("m8K.t1.p1.c6"), N72 N72 "\xff", true},
        {MHKDF("m8K.t1.p1.c6.w" W_SHA512), N72 N72 "\xff", true},
        {MHKDF("m8K.t1.p1.c6.w" W_DES), "12345678", true},
        {MHKDF("m8K.t1.p1.c6.w" W_DES), "123456789", false},
        {MHKDF("m8K.t1.p1.c6.w" W_BCRYPT), N72, true},
        {MHKDF("m8K.t1.p1.c6.w" W_BCRYPT), N72 "3", false},
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strength_sees_all(cases[i].hash, cases[i].password) != cases[i].all)
            fail_msg("case %zu", i);
    }
}

static void
costs_of_other_methods(void **unused)
{
    (void)unused;
    assert_int_equal(foreign_work_kib("$y$j9T$abc"), 16384);
    assert_int_equal(foreign_work_kib("$7$AU..../....abc"), 16384);
    assert_int_equal(foreign_work_kib("$7$AU....0....abc"), 2 * 16384);
    assert_int_equal(foreign_work_kib("$6$abc"), 0);
    /* have = 2: t follows, here 1; have = 1: p, here 2 */
    assert_int_equal(foreign_work_kib("$y$j9T/.$abc"), 2 * 16384);
    assert_int_equal(foreign_work_kib("$y$j9T..$abc"), 2 * 16384);
    assert_int_equal(foreign_work_kib("$y$j9T//$abc"), 3 * 16384);
    assert_int_equal(foreign_work_kib("$y$j9T/"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stronger),
        cmocka_unit_test(newer_key),
        cmocka_unit_test(never_both_ways),
        cmocka_unit_test(above_ceiling),
        cmocka_unit_test(below_floor),
        cmocka_unit_test(all_of_a_password),
        cmocka_unit_test(costs_of_other_methods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
