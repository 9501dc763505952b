/* SPDX-License-Identifier: BSD-2-Clause */
/* mhkdf.conf: what is read, and that nothing passes that isn't understood. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/config.h"
#include "tests/lib/scratch.h"

static char folder[] = "/tmp/mhkdf-config-XXXXXX";
static char path[64];

static void
write_file(const char *text, size_t len)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* The file as it was read last, and what it says for a login that no section is about. */
static struct config config;
static struct config_policy policy;
static struct config_error error;

static void
look_up(void)
{
    static const struct config_who nobody = {NULL, NULL, false, NULL, NULL};

    memset(&policy, 0xff, sizeof(policy));
    config_look_up(&config, &nobody, &policy);
}

static int
load_path(const char *from, uint32_t owner, bool must_exist)
{
    int rc;

    config_free(&config);
    memset(&config, 0xff, sizeof(config));
    memset(&error, 0xff, sizeof(error));
    rc = config_load(from, owner, must_exist, &config, &error);
    assert_int_equal(config.is_fallback, rc != 0);
    assert_int_equal(rc == 0, error.text[0] == '\0');
    look_up();
    return rc;
}

static int
load(void)
{
    return load_path(path, (uint32_t)geteuid(), false);
}

static int
load_text(const char *text)
{
    write_file(text, strlen(text));
    return load();
}

/* Refused files don't refuse anything themselves. */
static void
assert_builtin(void)
{
    assert_string_equal(policy.method->name, "mhkdf");
    assert_int_equal(policy.cost.method, MHKDF_METHOD_MHKDF1);
    assert_int_equal(policy.cost.memory_kib, 65536);
    assert_int_equal(policy.cost.passes, 1);
    assert_int_equal(policy.cost.lanes, 4);
    assert_int_equal(policy.cost.chain, 6);
    assert_int_equal(policy.threads, 0);
    assert_int_equal(policy.upgrade, !config.is_fallback);
    assert_int_equal(policy.floor_kib, 0);
    assert_int_equal(policy.floor_action, CONFIG_LOG);
    assert_int_equal(policy.ceiling_kib, config.is_fallback ? UINT32_MAX : 4 * 1024 * 1024);
    assert_int_equal(policy.ceiling_passes, config.is_fallback ? UINT32_MAX : 64);
    assert_int_equal(policy.min_length, 8);
    assert_int_equal(policy.use, CONFIG_ARENA_TRY);
    assert_int_equal(policy.wait_ms, 10000);
    assert_int_equal(policy.slots_max, 0);
    assert_int_equal(config.arena.slots, 2);
    assert_int_equal(config.arena.slot_kib, 65536);
    assert_int_equal(config.arena.pages, CONFIG_PAGES_AUTO);
    assert_int_equal(config.arena.lock, 1);
    assert_int_equal(config.arena.lease_ms, 5000);
    assert_int_equal(config.arena.reserve, 1);
}

static void
missing_file_is_builtin(void **unused)
{
    (void)unused;
    assert_int_equal(load_path("/nonexistent/mhkdf.conf", 0, false), 0);
    assert_builtin();
    assert_int_equal(load_path("/nonexistent/mhkdf.conf", 0, true), ENOENT);
    assert_builtin();
    assert_string_equal(error.text, "/nonexistent/mhkdf.conf: No such file or directory");
}

static const char *const harmless[] = {
    "",
    "\n\n",
    "# comment",
    "  # indented comment\n\t\n",
    "[default]",
    "[default]\n",
    "  [default]  \n\n# memory = 1\n",
    "[default]\nmemory = 64M\npasses=1\nlanes\t=\t4\n  chain = 6\n\n   min_length = 8   ",
    "# 200 characters and more are fine in a comment ......................................"
    "......................................................................................"
    "......................................................................................\n",
};

static void
nothing_set_is_builtin(void **unused)
{
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        assert_int_equal(load_text(harmless[i]), 0);
        assert_builtin();
        assert_string_equal(error.text, "");
    }
}

static void
values_are_read(void **unused)
{
    (void)unused;
    assert_int_equal(load_text("[default]\nmemory = 1G\npasses = 3\nlanes = 64\nchain = 12\n"
                               "min_length = 511\n"),
                     0);
    assert_int_equal(policy.cost.memory_kib, 1048576);
    assert_int_equal(policy.cost.passes, 3);
    assert_int_equal(policy.cost.lanes, 64);
    assert_int_equal(policy.cost.chain, 12);
    assert_int_equal(policy.min_length, 511);

    assert_int_equal(load_text("[default]\nlanes=1\nmemory = 8K\nchain=0\npasses=16777215\n"
                               "min_length=1\nceiling_passes=16777215"),
                     0);
    assert_int_equal(policy.cost.memory_kib, 8);
    assert_int_equal(policy.cost.passes, 16777215);
    assert_int_equal(policy.cost.chain, 0);
    assert_int_equal(load_text("[default]\nmemory=4294967295K\nceiling_memory = 4294967295K\n"), 0);
    assert_int_equal(policy.cost.memory_kib, 4294967295U);
    assert_int_equal(load_text("[default]\nmemory=4095G\nceiling_memory=4095G"), 0);

    assert_int_equal(load_text("[default]\nmethod = argon2id\nthreads = 64\nupgrade = no\n"
                               "floor_memory = 63M\nfloor_action = expire\nceiling_memory = 1G\n"
                               "ceiling_passes = 3\nslots_max = 256\n"),
                     0);
    assert_string_equal(policy.method->name, "argon2id");
    assert_int_equal(policy.cost.method, MHKDF_METHOD_ARGON2ID);
    assert_int_equal(policy.cost.chain, 0);
    assert_int_equal(policy.threads, 64);
    assert_int_equal(policy.upgrade, 0);
    assert_int_equal(policy.floor_kib, 63 * 1024);
    assert_int_equal(policy.floor_action, CONFIG_EXPIRE);
    assert_int_equal(policy.ceiling_kib, 1048576);
    assert_int_equal(policy.cost.passes, 3);
    assert_int_equal(policy.ceiling_passes, 3);
    assert_int_equal(policy.slots_max, 256);
    assert_int_equal(load_text("[default]\nmethod = yescrypt\nfloor_memory = 0\nmemory = 20M"), 0);
    assert_string_equal(policy.method->name, "yescrypt");
    assert_int_equal(policy.method->ours, 0);
}

static void
arena_is_read(void **unused)
{
    (void)unused;
    assert_int_equal(load_text("[arena]\nslots = 256\nslot_size = 1G\npages = thp\nlock = no\n"
                               "lease = 1500ms\nreserve = 255\n[default]\narena = require\n"
                               "wait = 2s\n"),
                     0);
    assert_int_equal(config.arena.slots, 256);
    assert_int_equal(config.arena.slot_kib, 1048576);
    assert_int_equal(config.arena.pages, CONFIG_PAGES_THP);
    assert_int_equal(config.arena.lock, 0);
    assert_int_equal(config.arena.lease_ms, 1500);
    assert_int_equal(config.arena.reserve, 255);
    assert_int_equal(policy.use, CONFIG_ARENA_REQUIRE);
    assert_int_equal(policy.wait_ms, 2000);
    assert_int_equal(policy.cost.memory_kib, 65536);

    assert_int_equal(load_text("[default]\narena = off\nwait = 0ms\n[arena]\nslots = 1\n"
                               "reserve = 0\npages = hugetlb\nlock = yes\nlease = 2147483s"),
                     0);
    assert_int_equal(policy.use, CONFIG_ARENA_OFF);
    assert_int_equal(policy.wait_ms, 0);
    assert_int_equal(config.arena.slots, 1);
    assert_int_equal(config.arena.pages, CONFIG_PAGES_HUGETLB);
    assert_int_equal(config.arena.lease_ms, 2147483000);
}

/* What is wrong, and what the message must name: the line, the key or text, what was expected. */
static const struct bad {
    const char *text;
    const char *where;
    const char *what;
} bad[] = {
    {"memory = 64M\n", ":1: memory:", "[default] was expected"},
    {"[default]\nmemory = 64\n", ":2: memory: '64'", "size with unit"},
    {"[default]\nmemory = 64m\n", ":2: memory: '64m'", "size with unit"},
    {"[default]\nmemory = 64 M\n", ":2: memory: '64 M'", "size with unit"},
    {"[default]\nmemory = 64MB\n", ":2: memory: '64MB'", "size with unit"},
    {"[default]\nmemory = 0M\n", ":2: memory: '0M'", "size with unit"},
    {"[default]\nmemory = -1M\n", ":2: memory: '-1M'", "size with unit"},
    {"[default]\nmemory = +1M\n", ":2: memory: '+1M'", "size with unit"},
    {"[default]\nmemory = 1.5G\n", ":2: memory: '1.5G'", "size with unit"},
    {"[default]\nmemory = 0x40M\n", ":2: memory: '0x40M'", "size with unit"},
    {"[default]\nmemory = 4096G\n", ":2: memory: '4096G'", "below 4096G"},
    {"[default]\nmemory = 4294967296K\n", ":2: memory:", "below 4096G"},
    /* which in 32 bits would be 64M */
    {"[default]\nmemory = 4194368M\n", ":2: memory: '4194368M'", "below 4096G"},
    {"[default]\nmemory = 18446744073709551616K\n", ":2: memory:", "below 4096G"},
    {"[default]\nmemory = 18446744073709551617G\n", ":2: memory:", "below 4096G"},
    {"[default]\nmemory =\n", ":2: memory: ''", "size with unit"},
    {"[default]\nmemory\n", ":2: 'memory'", "'key = value'"},
    {"[default]\nmemory 64M\n", ":2: 'memory 64M'", "'key = value'"},
    {"[default]\nmemory: 64M\n", ":2: 'memory: 64M'", "'key = value'"},
    {"[default]\nmemory: = 64M\n", ":2: 'memory: = 64M'", "'key = value'"},
    {"[default]\n= 64M\n", ":2: '= 64M'", "'key = value'"},
    {"[default]\nmemory = 64M # more\n", ":2: memory: '64M # more'", "size with unit"},
    {"[default]\nmemory = 64M ; more\n", ":2: ", "comments start with '#'"},
    {"[default]\n; comment\n", ":2: ", "comments start with '#'"},
    {"[default]\nMemory = 64M\n", ":2: Memory:", "unknown key"},
    {"[default]\nmemoryx = 64M\n", ":2: memoryx:", "unknown key"},
    {"[default]\nmem ory = 64M\n", ":2: mem ory:", "unknown key"},
    {"[default]\nthread = 1\n", ":2: thread:", "unknown key"},
    {"[default]\nthreads = 65\n", ":2: threads:", "0 to 64"},
    {"[default]\nupgrade = true\n", ":2: upgrade: 'true'", "no or yes was expected"},
    {"[default]\nmethod = md6\n", ":2: method: 'md6'", "sha512crypt or sha256crypt was expected"},
    {"[default]\nmethod =\n", ":2: method: ''",
     "mhkdf, argon2id, yescrypt, gost-yescrypt, scrypt,"},
    {"[default]\nmethod = MHKDF\n", ":2: method:", "mhkdf, argon2id"},
    /* methods that nobody should choose, with the reason */
    {"[default]\nmethod = descrypt\n", ":2: method: 'descrypt'", "(descrypt: it looks at 8 char"},
    {"[default]\nmethod = md5crypt\n", ":2: method: 'md5crypt'", "(md5crypt: it is computed so"},
    {"[default]\nmethod = nt\n", ":2: method: 'nt'", "no salt"},
    {"[default]\nmethod = sha1crypt\n", ":2: method: 'sha1crypt'", "so fast"},
    {"[default]\nmethod = bsdicrypt\n", ":2: method: 'bsdicrypt'", "so fast"},
    {"[default]\nmethod = sunmd5\n", ":2: method: 'sunmd5'", "so fast"},
    {"[default]\nmethod = bcrypt-a\n", ":2: method: 'bcrypt-a'", "write bcrypt"},
    {"[default]\nmethod = sm3-yescrypt\n", ":2: method: 'sm3-yescrypt'", "write yescrypt"},
    {"[default]\nmethod = argon2i\n", ":2: method: 'argon2i'", "write argon2id"},
    {"[default]\nmethod = argon2d\n", ":2: method: 'argon2d'", "write argon2id"},
    {"[default]\nmethod = $y$\n", ":2: method: '$y$'", "not given by its prefix"},
    {"[default]\nmethod = _\n", ":2: method: '_'", "mhkdf, argon2id"},
    /* argon2id has 3 passes where the file doesn't say */
    {"[default]\nceiling_passes = 2\n[user bob]\nmethod = argon2id\n",
     ":4: method: argon2id (in line 4, [user bob]), but ceiling_passes is 2 (in line 2",
     "locked out"},
    {"[default]\nfloor_memory = 64\n", ":2: floor_memory:", "size with unit"},
    {"[default]\nfloor_action = refuse\n", ":2: floor_action:", "log, expire or deny was"},
    {"[default]\nceiling_memory = 7K\n", ":2: ceiling_memory: '7K'", "size with unit"},
    {"[default]\nceiling_passes = 0\n", ":2: ceiling_passes:", "1 to 16777215"},
    {"[default]\nslots_max = 257\n", ":2: slots_max:", "0 to 256"},
    {"[user bob]\nslots_max = 1\n", ":2: slots_max: unknown key in [user bob]", "wait was"},
    {"[group g]\nslots_max = 1\n", ":2: slots_max: unknown key in [group g]", "wait was"},
    {"[service sshd]\nslots = 1\n", ":2: slots: unknown key in [service sshd]", "slots_max was"},
    {"[user bob]\nmemory = 1\n", ":2: memory: '1'", "size with unit"},
    {"[default]\npasses = 0\n", ":2: passes: '0'", "1 to 16777215"},
    {"[default]\npasses = 16777216\n", ":2: passes:", "1 to 16777215"},
    {"[default]\npasses = 4294967297\n", ":2: passes:", "1 to 16777215"},
    {"[default]\npasses = 1 2\n", ":2: passes:", "1 to 16777215"},
    {"[default]\npasses = 1K\n", ":2: passes:", "1 to 16777215"},
    {"[default]\nlanes = 0\n", ":2: lanes:", "1 to 64"},
    {"[default]\nlanes = 65\n", ":2: lanes:", "1 to 64"},
    {"[default]\nlanes = -1\n", ":2: lanes:", "1 to 64"},
    {"[default]\nchain = 1\n", ":2: chain: '1'", "0, 3, 6 or 12"},
    {"[default]\nchain = 13\n", ":2: chain:", "0, 3, 6 or 12"},
    {"[default]\nchain =\n", ":2: chain:", "0, 3, 6 or 12"},
    {"[default]\nmin_length = 0\n", ":2: min_length:", "1 to 511"},
    {"[default]\nmin_length = 512\n", ":2: min_length:", "1 to 511"},
    {"[default]\nmemory = 64M\nmemory = 64M\n", ":3: memory:", "already in line 2"},
    {"[default]\nmemory = 64M\n  more\n", ":3: 'more'", "'key = value'"},
    {"[default]\n[default]\n", ":2: [default]:", "already in line 1"},
    {"[Default]\n", ":1: '[Default]'", "unknown section"},
    {"[default] junk\n", ":1: '[default] junk'", "unknown section"},
    {"[default\n", ":1: '[default'", "unknown section"},
    {"[]\n", ":1: '[]'", "unknown section"},
    {"[service]\n", ":1: '[service]'", "[service NAME], [user NAME]"},
    {"[service ]\n", ":1: '[service ]'", "a name was expected"},
    {"[user\tbob]\n", ":1: '[user?bob]'", "unknown section"},
    {"[user  bob]\n", ":1: '[user  bob]'", "one name without blanks"},
    {"[user bob ]\n", ":1: '[user bob ]'", "one name without blanks"},
    {"[user bob, anna]\n", ":1: '[user bob, anna]'", "one name without blanks"},
    {"[user bob;]\n", ":1: '[user bob;]'", "one name without blanks"},
    {"[user b[o]b]\n", ":1: '[user b[o]b]'", "one name without blanks"},
    {"[user bob] # him\n", ":1: '[user bob] # him'", "unknown section"},
    {"[user bob\n", ":1: '[user bob'", "unknown section"},
    {"[User bob]\n", ":1: '[User bob]'", "unknown section"},
    {"[service SSHd]\n", ":1: '[service SSHd]'", "in lower case"},
    {"[arena x]\n", ":1: '[arena x]'", "unknown section"},
    {"[user bob]\n[service bob]\n[user bob]\n", ":3: [user bob]: given already in line 1", ""},
    {"[default]\nmemory = 8G\n",
     ":2: memory: 8388608K (in line 2, [default]), but ceiling_memory "
     "is 4194304K (the built-in value)",
     "locked out"},
    {"[default]\nceiling_memory = 63M\n",
     ":2: memory: 65536K (the built-in value), but ceiling_memory is 64512K (in line 2, [default])",
     "locked out"},
    {"[service sshd]\nmemory = 1G\n\n[user bob]\nceiling_memory = 512M\n",
     ":5: memory: 1048576K (in line 2, [service sshd]), but ceiling_memory is 524288K (in line 5, "
     "[user bob])",
     "locked out"},
    {"[group g]\nceiling_passes = 2\n[service su]\npasses = 3\n",
     ":4: passes: 3 (in line 4, [service su]), but ceiling_passes is 2 (in line 2, [group g])",
     "locked out"},
    {"[default]\npasses = 65\n", ":2: passes: 65", "ceiling_passes is 64 (the built-in value)"},
    {"[default]\nmemory = 1G\n[service sshd]\nfloor_memory = 1G\nfloor_action = deny\n[user bob]\n"
     "memory = 64M\n",
     ":7: memory: 65536K (in line 7, [user bob]), but floor_memory is 1048576K (in line 4, "
     "[service "
     "sshd])",
     "would be denied"},
    {"[default]\nfloor_memory = 65M\n[user bob]\nfloor_action = deny\n",
     ":2: memory:", "would be denied"},
    {"[default]\nfloor_memory = 65M\nfloor_action = expire\n",
     ":2: memory: 65536K (the built-in value), but floor_memory is 66560K (in line 2, [default])",
     "would expire at once"},
    {"[service sshd]\nfloor_memory = 65M\nfloor_action = expire\n[group g]\nmemory = 66M\n",
     ":2: memory: 65536K (the built-in value)", "would expire at once"},
    {"[service passwd]\nmemory = 1M\n[service sshd]\nfloor_memory = 2M\nfloor_action = expire\n",
     ":4: memory: 1024K (in line 2, [service passwd]), but floor_memory is 2048K (in line 4",
     "would expire at once"},
    {"[default]\nfloor_memory = 65M\nfloor_action = expire\n[user b]\nfloor_action = deny\n",
     ":2: memory:", "would be denied"},
    {"[default]\nmethod = sha512crypt\nfloor_memory = 1K\nfloor_action = expire\n",
     ":3: method: sha512crypt (in line 2, [default]), but floor_memory is 1K (in line 3",
     "would expire at once"},
    /* methods that make hashes of another size than memory */
    {"[default]\nmethod = sha512crypt\n[service sshd]\nfloor_memory = 1M\nfloor_action = deny\n",
     ":4: method: sha512crypt (in line 2, [default]), but floor_memory is 1024K (in line 4",
     "would be denied"},
    {"[default]\nfloor_memory = 20M\nfloor_action = deny\n[user bob]\nmemory = 20M\nmethod = "
     "yescrypt\n",
     ":6: method: yescrypt (in line 6, [user bob]), but floor_memory is 20480K", "would be denied"},
    {"[default]\nmemory = 1G\nfloor_memory = 64M\nfloor_action = deny\n[group g]\nmemory = 64M\n"
     "[service s]\nmethod = bcrypt\n",
     ":8: method: bcrypt", "would be denied"},
    {"[default]\nmemory = 8M\nceiling_memory = 16M\n[service s]\nmethod = scrypt\n",
     ":5: method: scrypt (in line 5, [service s]), but ceiling_memory is 16384K (in line 3",
     "locked out"},
    {"[default]\nmemory = 512K\nceiling_memory = 512K\nmethod = yescrypt\n", ":4: method: yescrypt",
     "locked out"},
    /* hashes that fit no slot */
    {"[arena]\nslot_size = 64M\n[user bob]\nmemory = 65M\n[service s]\narena = require\n",
     ":4: memory: 66560K (in line 4, [user bob]), but slot_size is 65536K (in line 2, [arena])",
     "no slot of the arena holds"},
    {"[default]\narena = require\n[service s]\nmemory = 65M\n",
     ":4: memory: 66560K (in line 4, [service s]), but memory is 65536K (the built-in value)",
     "no slot of the arena holds"},
    /* and passwords that can't be long enough */
    {"[default]\nmin_length = 73\n[user bob]\nmethod = bcrypt\n",
     ":4: min_length: 73 (in line 2, [default]), but method is bcrypt (in line 4, [user bob])",
     "doesn't look at so many bytes"},
    {"[default]\nmethod = bcrypt\nmin_length = 73\n", ":3: min_length: 73", "is bcrypt (in line 2"},
    {"[user bob]\nlanes = 9\n[service sshd]\nmemory = 64K\n",
     ":4: memory: 64K (in line 4, [service "
     "sshd]), but lanes is 9 (in line 2, [user bob])",
     "8K for each"},
    {"[user bob]\nmemory = 24K\n", ":2: memory: 24K", "lanes is 4 (the built-in value)"},
    {"[default]\n\n[arena]\n[arena]\n", ":4: [arena]:", "already in line 3"},
    {"[default]\nslots = 2\n", ":2: slots: unknown key in [default]", "min_length"},
    {"[arena]\nmemory = 2M\n", ":2: memory: unknown key in [arena]", "slot_size"},
    {"[default]\narena = yes\n", ":2: arena: 'yes'", "try, require or off was expected"},
    {"[default]\narena =\n", ":2: arena: ''", "try, require or off"},
    {"[default]\nwait = 10\n", ":2: wait: '10'", "time with unit"},
    {"[default]\nwait = 10m\n", ":2: wait: '10m'", "time with unit"},
    {"[default]\nwait = -1s\n", ":2: wait: '-1s'", "time with unit"},
    {"[default]\nwait = 2147484s\n", ":2: wait:", "time with unit"},
    {"[default]\nwait = 2147483648ms\n", ":2: wait:", "time with unit"},
    {"[default]\nwait = 4294967296ms\n", ":2: wait:", "time with unit"},
    {"[arena]\nslots = 0\n", ":2: slots: '0'", "1 to 256"},
    {"[arena]\nslots = 257\n", ":2: slots:", "1 to 256"},
    {"[arena]\nslots = 1\n", ":2: reserve: 1 (the built-in value), but slots is 1 (in line 2",
     "less than the number of slots was"},
    {"[arena]\nreserve = 2\n\n", ":2: reserve: 2", "slots is 2 (the built-in value)"},
    {"[arena]\nreserve = 256\n", ":2: reserve:", "0 to 255"},
    {"[arena]\nslot_size = 64\n", ":2: slot_size: '64'", "size with unit"},
    {"[arena]\nslot_size = 0K\n", ":2: slot_size: '0K'", "size with unit"},
    {"[arena]\npages = huge\n", ":2: pages: 'huge'", "auto, hugetlb, thp or plain was"},
    {"[arena]\nlock = 1\n", ":2: lock: '1'", "no or yes was expected"},
    {"[arena]\nlease = 0s\n", ":2: lease: '0s'", "at least 100ms"},
    {"[arena]\nlease = 99ms\n", ":2: lease: '99ms'", "at least 100ms"},
    {"default]\n", ":1: 'default]'", "'key = value'"},
    {"[default]\r\nmemory = 64M\r\n", ":1: '[default]?'", "unknown section"},
    {"[default]\nlanes = 64\nmemory = 511K\n", ":3: memory: 511K",
     "lanes is 64 (in line 2, [default]): at least 8K for each"},
    {"[default]\nmemory = 31K\n", ":2: memory: 31K", "lanes is 4 (the built-in value)"},
    {"[default]\nmemory = 64K\n# so\nlanes = 9\n", ":4: memory: 64K", "lanes is 9 (in line 4"},
    {"\xef\xbb\xbf[default]\n", ":1: '???[default]'", "'key = value'"},
    {"\xef\xbb\xbfmemory = 64M\n", ":1: ", "[default] was expected"},
    {"[default]\nmemory = \x1b[2J64M\n", ":2: memory: '?[2J64M'", "size with unit"},
};

static void
bad_input_is_named(void **unused)
{
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int rc = load_text(bad[i].text);
        if (rc != EINVAL || strncmp(error.text, path, strlen(path)) != 0 ||
            strncmp(error.text + strlen(path), bad[i].where, strlen(bad[i].where)) != 0 ||
            strstr(error.text, bad[i].what) == NULL)
            fail_msg("'%s': %d, '%s'", bad[i].text, rc, error.text);
        assert_builtin();
    }
}

/* Sections that never meet needn't fit. */
static void
what_does_not_meet_is_not_refused(void **unused)
{
    static const char *const texts[] = {
        "[user a]\nmemory = 16K\nlanes = 2\n[default]\nlanes = 64\n",
        "[user a]\nmemory = 32K\n[user b]\nlanes = 64\n",
        "[service s]\nlanes = 64\nmemory = 64M\n[default]\nmemory = 32K\n",
        "[default]\nfloor_memory = 1G\nfloor_action = log\n",
        "[default]\nfloor_memory = 64M\nfloor_action = expire\n",
        "[default]\nfloor_action = expire\n[user b]\nfloor_memory = 1G\nfloor_action = log\n",
        "[default]\nmethod = yescrypt\nfloor_memory = 64M\nfloor_action = deny\n",
        "[default]\nmethod = scrypt\nmemory = 40M\nfloor_memory = 32M\nfloor_action = deny\n",
        "[default]\nmethod = bcrypt\nmin_length = 72\n[user a]\nmethod = mhkdf\nmin_length = 73\n",
        "[default]\nmethod = argon2id\nceiling_passes = 3\n",
        "[default]\nmethod = argon2id\npasses = 1\nceiling_passes = 2\n",
        "[default]\nmethod = bcrypt\nmemory = 1G\n",
        "[default]\nmemory = 1G\narena = require\n[user a]\nmemory = 64M\n",
        "[arena]\nslot_size = 64M\n[default]\nmemory = 1G\n",
        "[default]\narena = require\n[user a]\nmemory = 1G\nmethod = yescrypt\n",
        "[user a]\nfloor_action = deny\nfloor_memory = 0\n[user b]\nfloor_memory = 1G\n",
        "[default]\nfloor_action = deny\n[user b]\nfloor_memory = 1G\nfloor_action = log\n",
        "[default]\nmemory = 5G\nceiling_memory = 6G\n[user a]\nceiling_memory = 5G\n",
    };
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (load_text(texts[i]) != 0)
            fail_msg("'%s': %s", texts[i], error.text);
    }
}

static void
sections_are_limited(void **unused)
{
    char *text = malloc(1100 * 20), *end = text;
    unsigned i;

    (void)unused;
    assert_non_null(text);
    for (i = 0; i < 1100; i++)
        end += sprintf(end, "[user u%u]\n", i);
    write_file(text, (size_t)(end - text));
    assert_int_equal(load(), EINVAL);
    assert_non_null(strstr(error.text, ":1023: more than 1024 sections"));
    write_file(text, (size_t)(strstr(text, "[user u1022]") - text));
    assert_int_equal(load(), 0);
    free(text);
}

static void
vendor_file_is_second(void **unused)
{
    char vendor[96];

    (void)unused;
    snprintf(vendor, sizeof(vendor), "%s/vendor.conf", folder);
    assert_non_null(strstr(config_vendor_path(), "/mhkdf/mhkdf.conf"));
    for (unsigned have = 0; have < 4; have++) {
        unlink(path);
        write_file("[default]\nmemory = 2M\n", 22);
        assert_int_equal((have & 2) != 0 ? rename(path, vendor) : unlink(path), 0);
        if ((have & 1) != 0)
            write_file("[default]\nmin_length = 9\n", 25);
        config_free(&config);
        assert_int_equal(config_load_either(path, vendor, (uint32_t)geteuid(), &config, &error), 0);
        look_up();
        /* The one or the other, never a mixture. */
        assert_int_equal(policy.min_length, (have & 1) != 0 ? 9 : 8);
        assert_int_equal(policy.cost.memory_kib, have == 2 ? 2048 : 65536);
        unlink(vendor);
    }
    write_file("x", 1);
    config_free(&config);
    assert_int_equal(
        config_load_either("/nonexistent/mhkdf.conf", path, (uint32_t)geteuid(), &config, &error),
        EINVAL);
    assert_memory_equal(error.text, path, strlen(path));
    assert_true(config.is_fallback);
}

static void
long_line_is_refused(void **unused)
{
    char text[5000];

    (void)unused;
    memset(text, ' ', sizeof(text));
    memcpy(text, "[default]\nmemory =", 18);
    memcpy(text + sizeof(text) - 6, "64M\n", 5);
    write_file(text, sizeof(text) - 2);
    assert_int_equal(load(), EINVAL);
    assert_non_null(strstr(error.text, ":2: a line of 49"));
    assert_builtin();
}

static void
nul_is_refused(void **unused)
{
    static const char *const texts[] = {"[default]\nmemory = 64M\0G\n",
                                        "[default]\nx\0memory = 64M",
                                        "[default]\n# \0memory = 64M "};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_file(texts[i], 25);
        assert_int_equal(load(), EINVAL);
        assert_non_null(strstr(error.text, ":2: a NUL byte"));
    }
}

static void
every_prefix_and_byte_is_handled(void **unused)
{
    static const char text[] = "# c\n[default]\nmemory = 64M\nlanes = 4\n";
    char changed[sizeof(text)];
    size_t i, len = sizeof(text) - 1;
    int c, rc;

    (void)unused;
    for (i = 0; i <= len; i++) {
        write_file(text, i);
        rc = load();
        assert_int_equal(rc == 0, error.text[0] == '\0');
    }
    for (i = 0; i < len; i++) {
        for (c = 0; c < 256; c += 5) {
            memcpy(changed, text, sizeof(text));
            changed[i] = (char)c;
            write_file(changed, len);
            rc = load();
            assert_int_equal(rc == 0, error.text[0] == '\0');
            assert_true(policy.cost.memory_kib >= 8 * policy.cost.lanes);
        }
    }
}

static void
big_file_is_refused(void **unused)
{
    size_t len = 1024 * 1024;
    char *text = malloc(len + 1);

    (void)unused;
    assert_non_null(text);
    memset(text, '\n', len + 1);
    write_file(text, len);
    assert_int_equal(load(), 0);
    write_file(text, len + 1);
    assert_int_equal(load(), EFBIG);
    assert_builtin();
    free(text);
}

static void
file_of_others_is_refused(void **unused)
{
    static const mode_t modes[] = {0664, 0646, 0622, 0666, 02664};
    size_t i;

    (void)unused;
    write_file("[default]\nmemory = 1G\n", 22);
    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(load(), EPERM);
        assert_builtin();
        assert_non_null(strstr(error.text, "lets others write"));
    }
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(load_path(path, (uint32_t)geteuid() + 1, false), EPERM);
    assert_builtin();
    assert_non_null(strstr(error.text, "owned by uid"));
    assert_int_equal(load(), 0);
    assert_int_equal(policy.cost.memory_kib, 1048576);
}

static void
not_a_file_is_refused(void **unused)
{
    (void)unused;
    assert_int_equal(load_path("/", 0, false), EINVAL);
    assert_string_equal(error.text, "/: not a regular file");
    assert_int_equal(load_path("/dev/zero", 0, false), EINVAL);
    assert_builtin();
}

/* Somebody wanted to configure something; only where there is no name at all nobody did. */
static void
link_to_nothing_is_refused(void **unused)
{
    (void)unused;
    unlink(path);
    assert_int_equal(load(), 0);
    assert_int_equal(symlink("nowhere", path), 0);
    assert_int_equal(load(), ENOENT);
    assert_builtin();
    assert_non_null(strstr(error.text, ": a symbolic link to a file that doesn't exist"));
    assert_int_equal(unlink(path), 0);
}

static int
forget(void **unused)
{
    (void)unused;
    config_free(&config);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_file_is_builtin),
        cmocka_unit_test(nothing_set_is_builtin),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(arena_is_read),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(what_does_not_meet_is_not_refused),
        cmocka_unit_test(sections_are_limited),
        cmocka_unit_test(vendor_file_is_second),
        cmocka_unit_test(long_line_is_refused),
        cmocka_unit_test(nul_is_refused),
        cmocka_unit_test(every_prefix_and_byte_is_handled),
        cmocka_unit_test(big_file_is_refused),
        cmocka_unit_test(file_of_others_is_refused),
        cmocka_unit_test(not_a_file_is_refused),
        cmocka_unit_test(link_to_nothing_is_refused),
    };

    umask(022);
    scratch_enter(folder);
    snprintf(path, sizeof(path), "%s/mhkdf.conf", folder);
    return cmocka_run_group_tests(tests, NULL, forget);
}
