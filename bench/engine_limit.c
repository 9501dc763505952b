/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the machine's memory allows, with the threads and the memory that a hash would use:
 *   copy    copies with stores that bypass the caches, where there are such stores
 *   random  reads independent random blocks of 1 KiB and writes blocks one after the other, in four
 *           slices: the access pattern of a fill, without its computation and its waiting for
 *           addresses
 */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "bench/engine.h"
#include "libcore/block.h"
#include "libcore/fill.h"
#include "libcore/team.h"

enum { COPY, RANDOM };

/* How many blocks ahead, and into the second-level cache, a read is asked for: the best that was
 * found. */
#define AHEAD 16
#define LINE_WORDS 8

struct job {
    struct block *memory;
    uint64_t blocks; /* even */
    uint32_t passes;
};

#ifdef __SSE2__
#define COPY_CODE "movntdq"
static void
copy(struct block *to, const struct block *from, uint64_t blocks)
{
    __m128i *out = (__m128i *)to;
    const __m128i *in = (const __m128i *)from;

    for (uint64_t i = 0; i < blocks * (BLOCK_SIZE / sizeof(*out)); i++)
        _mm_stream_si128(out + i, _mm_load_si128(in + i));
    _mm_sfence();
}
#else
#define COPY_CODE "memcpy"
static void
copy(struct block *to, const struct block *from, uint64_t blocks)
{
    memcpy(to, from, (size_t)blocks * sizeof(*to));
}
#endif

/* One half of the memory to the other and back: so all of it is read and written once a pass. */
static void
copy_share(struct team *team, unsigned member, void *ctx)
{
    const struct job *job = ctx;
    uint64_t half = job->blocks / 2;
    uint64_t first = half * member / team->members;
    uint64_t count = half * (member + 1) / team->members - first;

    for (uint32_t pass = 0; pass < job->passes; pass++) {
        copy(job->memory + half + first, job->memory + first, count);
        copy(job->memory + first, job->memory + half + first, count);
    }
}

/* Where one thread is in the memory: each has a share of four segments, as lanes have. */
struct place {
    const struct job *job;
    uint64_t seed;
    unsigned shares;
    uint64_t segment; /* blocks */
    unsigned slice;   /* which segment of each share is being written */
};

/* Splitmix64: the next address never waits for memory. Nobody reads what is being written. */
static const struct block *
next_block(struct place *place)
{
    uint64_t z = place->seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t share, offset;
    const struct block *block;

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    share = (z >> 32) * place->shares >> 32;
    offset = (z & 0xffffffffU) * (place->segment * (FILL_SLICES - 1)) >> 32;
    if (offset >= place->segment * place->slice)
        offset += place->segment;
    block = place->job->memory + share * place->segment * FILL_SLICES + offset;
    for (int w = 0; w < BLOCK_WORDS; w += LINE_WORDS)
        __builtin_prefetch(&block->w[w], 0, 2);
    return block;
}

static void
write_segment(struct place *place, struct block *to)
{
    const struct block *ahead[AHEAD];

    for (int i = 0; i < AHEAD; i++)
        ahead[i] = next_block(place);
    for (uint64_t i = 0; i < place->segment; i++) {
        memcpy(&to[i], ahead[i % AHEAD], sizeof(*to));
        ahead[i % AHEAD] = next_block(place);
    }
}

static void
random_share(struct team *team, unsigned member, void *ctx)
{
    const struct job *job = ctx;
    struct place place = {.job = job,
                          .seed = member,
                          .shares = team->members,
                          .segment = job->blocks / FILL_SLICES / team->members};
    struct block *share = job->memory + place.segment * FILL_SLICES * member;

    for (uint32_t pass = 0; pass < job->passes; pass++) {
        for (place.slice = 0; place.slice < FILL_SLICES; place.slice++) {
            write_segment(&place, share + place.segment * place.slice);
            team_barrier(team);
        }
    }
}

static int
open_limit(struct engine *engine, const char *argument, char error[ENGINE_ERROR_SIZE])
{
    struct engine_cost *cost = &engine->cost;

    if (argument != NULL) {
        (void)snprintf(error, ENGINE_ERROR_SIZE, "\"%.60s\": nothing was expected after the colon",
                       engine->name);
        return EINVAL;
    }
    engine->function = ENGINE_LIMIT;
    cost->lanes = 1;
    cost->chain = 0;
    cost->kernel = NULL;
    cost->memory_kib &= ~UINT32_C(1);
    engine->size_kib = cost->memory_kib;
    engine->written_kib = (uint64_t)cost->memory_kib * cost->passes;
    (void)snprintf(engine->code, sizeof(engine->code), "%s",
                   engine->number == COPY ? COPY_CODE : "portable");
    return 0;
}

static int
hash_limit(struct engine *engine, void *memory, uint8_t tag[ENGINE_TAG_SIZE])
{
    struct job job = {memory, engine->cost.memory_kib, engine->cost.passes};

    if (memory == NULL)
        return EINVAL;
    team_run(engine->cost.threads, engine->number == COPY ? copy_share : random_share, &job);
    memset(tag, 0, ENGINE_TAG_SIZE);
    return 0;
}

static const char *const names[] = {"copy", "random", NULL};

const struct engine_kind engine_limit = {names, open_limit, hash_limit, NULL};
