/* SPDX-License-Identifier: BSD-2-Clause */
/* Values that others published or that SPEC.md section 7 fixes. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libcore/derive.h"
#include "libcore/mhkdf.h"
#include "tests/unit/hex.h"

static uint8_t ones[32], twos[16], threes[8], fours[12], fives[32], counting[16];

static int
set_up(void **state)
{
    (void)state;
    memset(ones, 1, sizeof ones);
    memset(twos, 2, sizeof twos);
    memset(threes, 3, sizeof threes);
    memset(fours, 4, sizeof fours);
    memset(fives, 5, sizeof fives);
    for (unsigned i = 0; i < sizeof counting; i++)
        counting[i] = (uint8_t)i;
    return 0;
}

/* RFC 9106 section 5: m = 32, t = 3, p = 4, T = 32, with secret and associated data. */
static void
check_rfc(enum fill_method method, uint32_t version, uint32_t memory_kib, uint32_t chain,
          const char *expected)
{
    struct derive in = {.method = method,
                        .version = version,
                        .memory_kib = memory_kib,
                        .passes = 3,
                        .lanes = 4,
                        .chain = chain,
                        .password = ones,
                        .password_len = sizeof ones,
                        .salt = twos,
                        .salt_len = sizeof twos,
                        .secret = threes,
                        .secret_len = sizeof threes,
                        .associated = fours,
                        .associated_len = sizeof fours};
    uint8_t tag[32];

    for (unsigned threads = 1; threads <= in.lanes; threads++) {
        const struct mhkdf_env env = {.threads = threads};

        assert_int_equal(derive_tag(&in, &env, tag, sizeof tag), 0);
        hex_assert_equal(tag, sizeof tag, expected);
    }
}

static void
rfc9106_argon2d(void **state)
{
    (void)state;
    check_rfc(FILL_ARGON2D, 0x13, 32, 0,
              "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb");
}

static void
rfc9106_argon2i(void **state)
{
    (void)state;
    check_rfc(FILL_ARGON2I, 0x13, 32, 0,
              "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8");
}

static void
rfc9106_argon2id(void **state)
{
    (void)state;
    check_rfc(FILL_ARGON2ID, 0x13, 32, 0,
              "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659");
}

static void
argon2ds_2015(void **state)
{
    (void)state;
    check_rfc(FILL_ARGON2DS, 0x10, 16, 6,
              "fe5a9ec7d78f5fbbfa6cdc5f50c7b926fc2c6e9437aad3e3601ebbce58922c72");
}

/* The rows of SPEC.md section 7 that go through the public function. */
struct row {
    struct mhkdf_cost cost;
    struct mhkdf_input input;
    const char *tag;
};

static void
check_row(const struct row *row)
{
    size_t tag_len = strlen(row->tag) / 2;
    uint8_t tag[MHKDF_TAG_MAX];

    for (unsigned threads = 0; threads <= row->cost.lanes; threads++) {
        assert_int_equal(mhkdf_derive(&row->cost, &row->input, threads, tag, tag_len), 0);
        hex_assert_equal(tag, tag_len, row->tag);
    }
}

#define PLAIN                                                              \
    {                                                                      \
        .password = ones, .password_len = 32, .salt = twos, .salt_len = 16 \
    }

static void
spec_argon2(void **state)
{
    static const struct row rows[] = {
        {{MHKDF_METHOD_ARGON2I, 1100, 2, 2, 0},
         PLAIN,
         "653acb10bc85f86d30ca0bd08a6d9e91e576e3fd8402d79e080a59b30004ffde"},
        {{MHKDF_METHOD_ARGON2ID, 1100, 2, 2, 0},
         PLAIN,
         "64daa5bd729bbf0cbc30fa681b6e1a74a221107a9c1456f6d33c453d478229ab"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(&rows[i]);
}

static void
spec_mhkdf1_chains(void **state)
{
    static const struct row rows[] = {
        {{MHKDF_METHOD_MHKDF1, 64, 2, 4, 0},
         PLAIN,
         "109e25b84bf2d627be68efe9baa4d501d360d113c3d8bb5fb3b0922cb00a762c"},
        {{MHKDF_METHOD_MHKDF1, 64, 2, 4, 3},
         PLAIN,
         "ae9923f7110f3c5ec7eb8c40f9a4660148a621107405090bbe8a2664c1c5d5b0"},
        {{MHKDF_METHOD_MHKDF1, 64, 2, 4, 6},
         PLAIN,
         "5d18b7a4a7db1e7bdd91626727a1803413ad4b9491b43fb10862a49b8c3a5c21"},
        {{MHKDF_METHOD_MHKDF1, 64, 2, 4, 12},
         PLAIN,
         "d824eb95380d9d9c242c8ae69602378c7014d770093a6656b95e1cec1bfd1ecb"},
        {{MHKDF_METHOD_MHKDF1, 1100, 2, 2, 6},
         PLAIN,
         "be7a00bab745138dea2f6be9b2daab5315fa1b2e2fe989af3062d12d3cbc5439"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(&rows[i]);
}

static void
spec_mhkdf1_wrapped(void **state)
{
    struct row row = {{MHKDF_METHOD_MHKDF1, 64, 2, 4, 6},
                      PLAIN,
                      "3f1207a180ee79574736c2b71cfd694a4e8d39feeb5dddacbef985c1e35394ec"};

    (void)state;
    row.input.wrapped = 1;
    check_row(&row);
}

static void
spec_mhkdf1_key_and_long_tag(void **state)
{
    struct row row = {{MHKDF_METHOD_MHKDF1, 75, 3, 3, 6},
                      {.password = "password",
                       .password_len = 8,
                       .salt = counting,
                       .salt_len = 16,
                       .key = fives,
                       .key_len = 32},
                      "1ccf64d36b0e89d9afdf843347b064e57755a96d5aeeaae730cdc9e1266d7f54"
                      "aa6b29a9f32d6b712ac52f27afd4dab2a3e4769b37f8f3b504d79c7cd1541a5b"};

    (void)state;
    check_row(&row);
}

static void
spec_mhkdf1_smallest(void **state)
{
    struct row row = {{MHKDF_METHOD_MHKDF1, 8, 1, 1, 12},
                      {.password = NULL, .password_len = 0, .salt = twos, .salt_len = 8},
                      "6aa948c3d91b4a0116ea30a1f78405d6"};

    (void)state;
    check_row(&row);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfc9106_argon2d),      cmocka_unit_test(rfc9106_argon2i),
        cmocka_unit_test(rfc9106_argon2id),     cmocka_unit_test(argon2ds_2015),
        cmocka_unit_test(spec_argon2),          cmocka_unit_test(spec_mhkdf1_chains),
        cmocka_unit_test(spec_mhkdf1_wrapped),  cmocka_unit_test(spec_mhkdf1_key_and_long_tag),
        cmocka_unit_test(spec_mhkdf1_smallest),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
