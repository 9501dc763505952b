/* SPDX-License-Identifier: BSD-2-Clause */
/* mhkdf.conf: in which section a key is found for whom. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/config.h"
#include "tests/lib/scratch.h"

static char folder[] = "/tmp/mhkdf-lookup-XXXXXX";
static char path[64];

/* The memory in M that each section gives, if the file has it, says where a value is from. */
#define D "[default]\nmemory = 1M\n"
#define S "[service sshd]\nmemory = 2M\n"
#define S2 "[service login]\nmemory = 3M\n"
#define G "[group adm]\nmemory = 4M\n"
#define G2 "[group wheel]\nmemory = 5M\n"
#define U "[user bob]\nmemory = 6M\n"
#define U2 "[user eve]\nmemory = 7M\n"
/* The same sections with something else in them. */
#define S0 "[service sshd]\nchain = 3\n"
#define G0 "[group adm]\nchain = 3\n"
#define U0 "[user bob]\nchain = 3\n"

static const struct memory_case {
    const char *text;
    const char *service, *user, *groups; /* groups: ",adm,wheel," */
    unsigned mib;
} memory_cases[] = {
    {"", "sshd", "bob", "", 64},
    {"", NULL, NULL, NULL, 64},
    {D, "sshd", "bob", "", 1},
    {D, NULL, NULL, NULL, 1},
    {"[default]\n", "sshd", "bob", "", 64},
    {S, "sshd", "bob", "", 2},
    {S, "login", "bob", "", 64},
    {S, NULL, "sshd", "", 64},
    {S, "ssh", "bob", "", 64},
    {S, "sshd2", "bob", "", 64},
    {S, "SSHD", "bob", "", 64},
    {G, "sshd", "bob", ",adm,", 4},
    {G, "sshd", "bob", "", 64},
    {G, "sshd", "bob", ",admin,", 64},
    {G, "sshd", "adm", "", 64},
    {G, "sshd", "bob", NULL, 64},
    {U, "sshd", "bob", "", 6},
    {U, "bob", "sshd", "", 64},
    {U, "sshd", "bobb", "", 64},
    {U, "sshd", "bo", "", 64},
    {U, "sshd", "Bob", "", 64},
    {U, "sshd", NULL, "", 64},
    /* two sections, in both orders of the file */
    {D S, "sshd", "bob", "", 2},
    {S D, "sshd", "bob", "", 2},
    {S D, "login", "bob", "", 1},
    {D G, "sshd", "bob", ",adm,", 4},
    {G D, "sshd", "bob", "", 1},
    {D U, "sshd", "bob", "", 6},
    {U D, "sshd", "eve", "", 1},
    {S G, "sshd", "bob", ",adm,", 4},
    {G S, "sshd", "bob", ",adm,", 4},
    {G S, "sshd", "bob", "", 2},
    {S U, "sshd", "bob", "", 6},
    {U S, "sshd", "eve", "", 2},
    {G U, "sshd", "bob", ",adm,", 6},
    {U G, "sshd", "bob", ",adm,", 6},
    {U G, "sshd", "eve", ",adm,", 4},
    {S S2, "login", "bob", "", 3},
    {S2 S, "login", "bob", "", 3},
    {U U2, "login", "eve", "", 7},
    {U2 U, "login", "bob", "", 6},
    /* the first group of the file, not of the user */
    {G G2, "sshd", "bob", ",adm,wheel,", 4},
    {G2 G, "sshd", "bob", ",adm,wheel,", 5},
    {G2 G, "sshd", "bob", ",wheel,adm,", 5},
    {G2 G, "sshd", "bob", ",adm,", 4},
    {G2 G, "sshd", "bob", ",other,", 64},
    /* a section without the key passes it on; but a second group is none's turn */
    {D S0, "sshd", "bob", "", 1},
    {D S G0, "sshd", "bob", ",adm,", 2},
    {D S G U0, "sshd", "bob", ",adm,", 4},
    {D S G0 U0, "sshd", "bob", ",adm,", 2},
    {D S0 G0 U0, "sshd", "bob", ",adm,", 1},
    {S0 G0 U0, "sshd", "bob", ",adm,", 64},
    {D G0 G2, "sshd", "bob", ",adm,wheel,", 1},
    {D S G0 G2, "sshd", "bob", ",adm,wheel,", 2},
    {D G2 G0, "sshd", "bob", ",adm,wheel,", 5},
    /* all of them */
    {D S S2 G G2 U U2, "sshd", "bob", ",adm,", 6},
    {U2 U G2 G S2 S D, "login", "ann", ",wheel,", 5},
    {U2 U G2 G S2 S D, "login", "ann", "", 3},
    {U2 U G2 G S2 S D, "cron", "ann", "", 1},
    {"[user sshd]\nmemory = 8M\n" S, "sshd", "bob", "", 2},
    {"[arena]\nslot_size = 9M\n" D, "sshd", "bob", "", 1},
};

static bool
in_group(void *ctx, const char *group)
{
    char word[64];

    snprintf(word, sizeof(word), ",%s,", group);
    return strstr(ctx, word) != NULL;
}

static void
look_up(const char *text, const struct config_who *who, struct config_policy *out)
{
    FILE *f = fopen(path, "w");
    struct config config;
    struct config_error error;

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    if (config_load(path, (uint32_t)geteuid(), true, &config, &error) != 0)
        fail_msg("%s", error.text);
    config_look_up(&config, who, out);
    config_free(&config);
}

static void
order_of_sections(void **unused)
{
    struct config_policy policy;
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(memory_cases) / sizeof(memory_cases[0]); i++) {
        const struct memory_case *c = &memory_cases[i];
        union {
            const char *groups;
            void *ctx;
        } groups = {c->groups};
        struct config_who who = {c->service, c->user, false, c->groups ? in_group : NULL,
                                 groups.ctx};
        look_up(c->text, &who, &policy);
        if (policy.cost.memory_kib != c->mib * 1024)
            fail_msg("case %zu: %uK for %s, %s, %s in\n%s", i, policy.cost.memory_kib,
                     c->service ? c->service : "-", c->user ? c->user : "-",
                     c->groups ? c->groups : "-", c->text);
    }
}

/* Every key of a policy is looked up, and each alone. */
static const struct key_case {
    const char *key, *value;
    size_t offset;
    uint32_t wanted;
} key_cases[] = {
    {"memory", "5M", offsetof(struct config_policy, cost.memory_kib), 5120},
    {"passes", "2", offsetof(struct config_policy, cost.passes), 2},
    {"lanes", "3", offsetof(struct config_policy, cost.lanes), 3},
    {"chain", "12", offsetof(struct config_policy, cost.chain), 12},
    {"method", "argon2id", offsetof(struct config_policy, cost.method), MHKDF_METHOD_ARGON2ID},
    {"threads", "5", offsetof(struct config_policy, threads), 5},
    {"floor_memory", "6M", offsetof(struct config_policy, floor_kib), 6144},
    {"floor_action", "expire", offsetof(struct config_policy, floor_action), CONFIG_EXPIRE},
    {"ceiling_memory", "5G", offsetof(struct config_policy, ceiling_kib), 5 * 1048576},
    {"ceiling_passes", "66", offsetof(struct config_policy, ceiling_passes), 66},
    {"min_length", "20", offsetof(struct config_policy, min_length), 20},
    {"arena", "require", offsetof(struct config_policy, use), CONFIG_ARENA_REQUIRE},
    {"wait", "7s", offsetof(struct config_policy, wait_ms), 7000},
    {"slots_max", "4", offsetof(struct config_policy, slots_max), 4},
};

static uint32_t
member(const struct config_policy *policy, size_t offset)
{
    uint32_t value;

    memcpy(&value, (const char *)policy + offset, sizeof(value));
    return value;
}

static void
every_key_alone(void **unused)
{
    static const char *const sections[] = {"default", "service sshd", "group adm", "user bob"};
    static char groups[] = ",adm,";
    const struct config_who bob = {"sshd", "bob", false, in_group, groups};
    struct config_policy builtin, policy;
    char text[128];
    size_t i, j, s;

    (void)unused;
    assert_int_equal(sizeof(enum config_use), sizeof(uint32_t));
    look_up("", &bob, &builtin);
    for (i = 0; i < sizeof(key_cases) / sizeof(key_cases[0]); i++) {
        for (s = 0; s < (strcmp(key_cases[i].key, "slots_max") == 0 ? 2 : 4); s++) {
            snprintf(text, sizeof(text), "[%s]\n%s = %s\n", sections[s], key_cases[i].key,
                     key_cases[i].value);
            look_up(text, &bob, &policy);
            for (j = 0; j < sizeof(key_cases) / sizeof(key_cases[0]); j++) {
                uint32_t before = member(&builtin, key_cases[j].offset);
                uint32_t now = member(&policy, key_cases[j].offset);
                if (strcmp(key_cases[i].key, "method") == 0 &&
                    strcmp(key_cases[j].key, "chain") == 0)
                    before = 0; /* argon2id has none */
                if (strcmp(key_cases[i].key, "method") == 0 &&
                    strcmp(key_cases[j].key, "passes") == 0)
                    before = 3;
                if (now != (i == j ? key_cases[j].wanted : before))
                    fail_msg("%s: %s is %u", text, key_cases[j].key, now);
            }
        }
    }
    look_up("[user bob]\nupgrade = no\n", &bob, &policy);
    assert_false(policy.upgrade);
    assert_true(builtin.upgrade);
}

/* What could lock root out counts only where it was said of root himself. */
static void
root_is_exempt(void **unused)
{
#define LIMITS                                                                             \
    "floor_memory = 16M\nfloor_action = deny\nceiling_memory = 128M\nceiling_passes = 2\n" \
    "arena = require\n"
    static const struct {
        const char *section, *user;
        bool is_root, holds;
    } cases[] = {
        {"default", "bob", false, true},        {"default", "root", true, false},
        {"service login", "root", true, false}, {"group adm", "root", true, false},
        {"user root", "root", true, true},      {"user root", "toor", true, false},
        {"user toor", "toor", true, true},      {"service login", "bob", false, true},
        {"group adm", "bob", false, true},      {"user root", "root", false, true},
    };
    static char groups[] = ",adm,";
    struct config_policy policy;
    char text[256];
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct config_who who = {"login", cases[i].user, cases[i].is_root, in_group, groups};
        snprintf(text, sizeof(text), "[%s]\n" LIMITS "memory = 32M\n[default]\n", cases[i].section);
        if (strcmp(cases[i].section, "default") == 0)
            text[strlen(text) - strlen("[default]\n")] = '\0';
        look_up(text, &who, &policy);
        if ((policy.floor_kib == 16384) != cases[i].holds ||
            (policy.floor_action == CONFIG_DENY) != cases[i].holds ||
            (policy.ceiling_kib == 131072) != cases[i].holds ||
            (policy.ceiling_passes == 2) != cases[i].holds ||
            (policy.use == CONFIG_ARENA_REQUIRE) != cases[i].holds)
            fail_msg("case %zu", i);
        if (!cases[i].holds) {
            assert_int_equal(policy.floor_kib, 0);
            assert_int_equal(policy.ceiling_kib, UINT32_MAX);
            assert_int_equal(policy.ceiling_passes, UINT32_MAX);
            assert_int_equal(policy.use, CONFIG_ARENA_TRY);
        }
        /* Everything else holds for root as for everyone. */
        if (strcmp(cases[i].section, "default") == 0)
            assert_int_equal(policy.cost.memory_kib, 32768);
    }
    {
        const struct config_who root = {"login", "root", true, NULL, NULL};
        look_up("[default]\narena = off\n", &root, &policy);
        assert_int_equal(policy.use, CONFIG_ARENA_OFF);
    }
}

static void
slots_of_a_service(void **unused)
{
    static const char text[] = "[default]\nslots_max = 3\n[service sshd]\nslots_max = 1\n"
                               "[service su]\nwait = 1s\n";
    FILE *f = fopen(path, "w");
    struct config config;
    struct config_error error;

    (void)unused;
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(config_load(path, (uint32_t)geteuid(), true, &config, &error), 0);
    assert_int_equal(config_slots_max(&config, "sshd"), 1);
    assert_int_equal(config_slots_max(&config, "su"), 3);
    assert_int_equal(config_slots_max(&config, "login"), 3);
    assert_int_equal(config_slots_max(&config, ""), 3);
    assert_int_equal(config_slots_max(&config, NULL), 3);
    config_free(&config);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_sections),
        cmocka_unit_test(every_key_alone),
        cmocka_unit_test(root_is_exempt),
        cmocka_unit_test(slots_of_a_service),
    };

    umask(022);
    scratch_enter(folder);
    snprintf(path, sizeof(path), "%s/mhkdf.conf", folder);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
