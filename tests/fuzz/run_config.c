/* SPDX-License-Identifier: BSD-2-Clause */
/* Feeds the reader of mhkdf.conf with mutations of good files, always the same ones: a seed and a
 * number of them may be given as arguments. For more, tests/fuzz/config.c is made for libFuzzer. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define SIZE 8192

static const char *const seeds[] = {
    "[default]\nmemory = 64M\npasses = 1\nlanes = 4\nchain = 6\nmethod = mhkdf\nthreads = 0\n",
    "# comment\n\n[service sshd]\nmemory = 1G\nslots_max = 1\nwait = 5s\narena = require\n",
    "[user bob]\nupgrade = no\nfloor_memory = 64M\nfloor_action = expire\nmin_length = 12\n",
    "[group wheel]\nceiling_memory = 2G\nceiling_passes = 8\nfloor_action = deny\n",
    "[arena]\nslots = 4\nreserve = 1\nslot_size = 1G\npages = auto\nlock = yes\nlease = 30s\n",
    "[user root]\nmemory=8K\nlanes=1\npasses=3\nchain=12\nmethod=argon2id\n[user a]\nlanes=64\n",
};

/* What is put in: text that means something somewhere. */
static const char *const words[] = {
    "[default]\n",
    "[user bob]\n",
    "[user a]\n",
    "[group ab]\n",
    "[service a]\n",
    "[arena]\n",
    "memory = ",
    "lanes = ",
    "passes = ",
    "chain = 3\n",
    "method = $y$\n",
    "ceiling_memory = 32K\n",
    "ceiling_passes = 2\n",
    "floor_memory = 1G\n",
    "floor_action = deny\n",
    "floor_action = expire\n",
    "4294967295",
    "4294967296",
    "16777215",
    "0",
    "K\n",
    "M\n",
    "G\n",
    "ms\n",
    "=",
    "]",
    ";",
    "#",
    "\n",
    " ",
    "\t",
    "\r\n",
    ":",
    "[user ",
    "[",
    "-1",
    "18446744073709551616",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t state;

/* xorshift64* */
static uint32_t
next(uint32_t bound)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * UINT64_C(2685821657736338717)) >> 33) % bound;
}

static void
insert(uint8_t *text, size_t *len, size_t at, const void *what, size_t what_len)
{
    if (*len + what_len > SIZE)
        return;
    memmove(text + at + what_len, text + at, *len - at);
    memcpy(text + at, what, what_len);
    *len += what_len;
}

static void
mutate(uint8_t *text, size_t *len)
{
    size_t at = next((uint32_t)*len + 1), n;
    const char *word;

    switch (next(6)) {
    case 0: /* another byte */
        if (at < *len)
            text[at] = (uint8_t)next(256);
        break;
    case 1: /* some are gone */
        n = next(12);
        if (at + n <= *len) {
            memmove(text + at, text + at + n, *len - at - n);
            *len -= n;
        }
        break;
    case 2: /* a piece twice */
        n = next(40);
        if (at + n <= *len) {
            uint8_t piece[40];
            memcpy(piece, text + at, n);
            insert(text, len, next((uint32_t)*len + 1), piece, n);
        }
        break;
    case 3: /* another file's text */
        word = seeds[next(COUNT(seeds))];
        insert(text, len, next(2) == 0 ? *len : at, word, strlen(word));
        break;
    default:
        word = words[next(COUNT(words))];
        insert(text, len, at, word, strlen(word));
        break;
    }
}

int
main(int argc, char **argv)
{
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000, good = 0, i;
    static uint8_t text[SIZE];

    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261130;
    state |= 1;
    for (i = 0; i < rounds; i++) {
        const char *seed = seeds[next(COUNT(seeds))];
        size_t len = strlen(seed);
        memcpy(text, seed, len);
        for (uint32_t n = next(8); n > 0; n--)
            mutate(text, &len);
        good += fuzz_one(text, len) == 0;
    }
    printf("1..2\n%sok 1 - %lu files without a crash\n", i == rounds ? "" : "not ", rounds);
    /* Otherwise it is only error messages that are tried. */
    printf("%sok 2 - some of them are good, some not (%lu good)\n",
           good > rounds / 20 && good < rounds ? "" : "not ", good);
    return good > rounds / 20 && good < rounds ? 0 : 1;
}
