/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "libcore/blake2b.h"
#include "libcore/bytes.h"
#include "libcore/derive.h"
#include "libcore/kernel.h"
#include "libcore/memory.h"
#include "libcore/mhkdf.h"
#include "libcore/source.h"
#include "libcore/stack.h"
#include "libcore/team.h"

#define H0_SIZE 64

/* What the members of the team share. */
struct job {
    struct fill fill;
    const uint8_t *h0;
    int populate;
    struct pace *pace; /* NULL: none */
};

static uint64_t
clock_ns(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* y of H0: the RFC's types, and 4 for mhkdf1 and Argon2ds. */
static uint32_t
type_number(enum fill_method method)
{
    switch (method) {
    case FILL_ARGON2D:
        return 0;
    case FILL_ARGON2I:
        return 1;
    case FILL_ARGON2ID:
        return 2;
    case FILL_MHKDF1:
    case FILL_ARGON2DS:
        break;
    }
    return 4;
}

static void
update_with_length(struct blake2b *state, const void *bytes, uint32_t len)
{
    blake2b_update32(state, len);
    blake2b_update(state, bytes, len);
}

static void
make_h0(uint8_t h0[H0_SIZE], const struct derive *in, uint32_t tag_len)
{
    struct blake2b state;

    blake2b_init(&state, H0_SIZE);
    blake2b_update32(&state, in->lanes);
    blake2b_update32(&state, tag_len);
    blake2b_update32(&state, in->memory_kib);
    blake2b_update32(&state, in->passes);
    blake2b_update32(&state, in->version);
    blake2b_update32(&state, type_number(in->method));
    update_with_length(&state, in->password, in->password_len);
    update_with_length(&state, in->salt, in->salt_len);
    update_with_length(&state, in->secret, in->secret_len);
    update_with_length(&state, in->associated, in->associated_len);
    blake2b_final(&state, h0);
}

/* B[lane][0] and B[lane][1]. */
static void
make_first_blocks(const struct job *job, uint32_t lane)
{
    uint8_t position[8], bytes[BLOCK_SIZE];
    const void *parts[] = {job->h0, position};
    const size_t lengths[] = {H0_SIZE, sizeof position};

    bytes_store32(position + 4, lane);
    for (uint32_t column = 0; column < 2; column++) {
        bytes_store32(position, column);
        blake2b_long(bytes, BLOCK_SIZE, parts, lengths, 2);
        struct block *block = &job->fill.memory[(size_t)lane * job->fill.lane_blocks + column];
        block_load(block, bytes);
        kernel_from_plain(job->fill.kernel, block);
    }
    mhkdf_wipe(bytes, sizeof bytes);
}

/* The first blocks of the segments, as if they were whole ones: what comes of it doesn't matter,
 * and all blocks that are read are in the memory. */
static void
fill_part(const struct fill *fill, uint32_t slice, uint32_t blocks, uint32_t first, uint32_t count)
{
    struct fill part = *fill;

    part.memory += (size_t)slice * fill->segment_blocks;
    part.segment_blocks = blocks;
    fill_segments(&part, 0, 0, first, count);
}

/* One step of a fill by its pace: 0 if it was the last one. All members learn the same. */
static int
fill_paced(struct team *team, unsigned member, const struct job *job, uint32_t step, uint32_t first,
           uint32_t count)
{
    const struct fill *fill = &job->fill;
    struct pace *pace = job->pace;
    uint32_t blocks;

    if (member == 0 && step == 0)
        pace->start_ns = clock_ns();
    if (member == 0)
        pace->blocks = pace_blocks(pace, step, fill->segment_blocks, clock_ns());
    team_barrier(team);
    blocks = pace->blocks;
    if (blocks == fill->segment_blocks)
        fill_segments(fill, step / FILL_SLICES, step % FILL_SLICES, first, count);
    else if (blocks > 2)
        fill_part(fill, step % FILL_SLICES, blocks, first, count);
    return blocks == fill->segment_blocks;
}

/* One member's share of the fill: neighbouring lanes, in step with the others at each slice. */
static void
fill_lanes(struct team *team, unsigned member, void *ctx)
{
    const struct job *job = ctx;
    const struct fill *fill = &job->fill;
    uint32_t members = team->members;
    uint32_t first = fill->lanes * member / members;
    uint32_t count = fill->lanes * (member + 1) / members - first;

    if (job->populate)
        memory_populate(fill->memory + (size_t)first * fill->lane_blocks,
                        (size_t)count * fill->lane_blocks * sizeof *fill->memory);
    for (uint32_t lane = first; lane < first + count; lane++)
        make_first_blocks(job, lane);
    for (uint32_t pass = 0; pass < fill->passes; pass++) {
        if (fill->method == FILL_ARGON2DS) {
            team_barrier(team);
            if (member == 0)
                fill_argon2ds_sbox(fill);
        }
        for (uint32_t slice = 0; slice < FILL_SLICES; slice++) {
            team_barrier(team);
            if (job->pace == NULL)
                fill_segments(fill, pass, slice, first, count);
            else if (!fill_paced(team, member, job, pass * FILL_SLICES + slice, first, count))
                return;
        }
    }
}

/* Tag = H'( C || H0 ) for mhkdf1, H'( C ) for the others; C from the last column. */
static void
make_tag(const struct job *job, uint8_t *tag, uint32_t tag_len)
{
    const struct fill *fill = &job->fill;
    const struct block *last = fill->memory + (fill->lane_blocks - 1);
    struct block c = *last;
    uint8_t bytes[BLOCK_SIZE];
    const void *parts[] = {bytes, job->h0};
    const size_t lengths[] = {BLOCK_SIZE, H0_SIZE};

    for (uint32_t lane = 1; lane < fill->lanes; lane++)
        block_xor(&c, last + (size_t)lane * fill->lane_blocks);
    kernel_to_plain(fill->kernel, &c);
    block_store(bytes, &c);
    blake2b_long(tag, tag_len, parts, lengths, fill->method == FILL_MHKDF1 ? 2 : 1);
    mhkdf_wipe(bytes, sizeof bytes);
    mhkdf_wipe(&c, sizeof c);
}

/* What a guess could be tested against cheaply, without filling the memory again. */
static void
wipe_telling_parts(const struct fill *fill)
{
    for (uint32_t lane = 0; lane < fill->lanes; lane++) {
        struct block *start = fill->memory + (size_t)lane * fill->lane_blocks;
        mhkdf_wipe(start, 2 * sizeof *start);
        mhkdf_wipe(start + (fill->lane_blocks - 1), sizeof *start);
    }
    if (fill->chain > 0)
        mhkdf_wipe(fill->states, fill->lanes * sizeof *fill->states);
}

static uint32_t
segment_blocks_of(const struct derive *in)
{
    uint32_t blocks = in->memory_kib / (FILL_SLICES * in->lanes);

    return blocks < 2 ? 2 : blocks; /* Argon2ds takes less than 8 KiB a lane and uses 8 */
}

static uint64_t
blocks_of(const struct derive *in)
{
    return (uint64_t)segment_blocks_of(in) * FILL_SLICES * in->lanes;
}

uint64_t
derive_size_kib(const struct derive *in)
{
    uint64_t state_kib = 0;

    if (in->chain > 0)
        state_kib = (in->lanes * sizeof(struct lane_state) + 1023) / 1024;
    return blocks_of(in) + state_kib;
}

const struct kernel *
derive_kernel(const struct derive *in)
{
    int mode = kernel_mode_of(in->method, in->chain);

    return mode < 0 ? NULL : kernel_get((enum kernel_mode)mode);
}

int
derive_with(const struct derive *in, const struct derive_means *means, uint8_t *tag,
            uint32_t tag_len)
{
    uint8_t h0[H0_SIZE];
    struct memory own = {0};
    struct job job = {
        .h0 = h0, .populate = means->populate || means->memory == NULL, .pace = means->pace};
    struct fill *fill = &job.fill;
    unsigned threads = means->threads < in->lanes ? means->threads : in->lanes;

    if (means->memory == NULL && memory_get(&own, derive_size_kib(in)) != 0)
        return ENOMEM;

    fill->method = in->method;
    fill->passes = in->passes;
    fill->lanes = in->lanes;
    fill->chain = in->chain;
    fill->segment_blocks = segment_blocks_of(in);
    fill->lane_blocks = fill->segment_blocks * FILL_SLICES;
    fill->memory = means->memory == NULL ? own.base : means->memory;
    fill->states = (struct lane_state *)(void *)(fill->memory + blocks_of(in));
    fill->kernel = means->kernel;
    fill->streamed =
        blocks_of(in) >= (means->stream_from_kib == 0 ? DERIVE_STREAM_KIB : means->stream_from_kib);

    if (job.pace != NULL)
        job.pace->steps = fill->passes * FILL_SLICES;
    make_h0(h0, in, tag_len);
    team_run(threads, fill_lanes, &job);
    make_tag(&job, tag, tag_len);

    wipe_telling_parts(fill);
    memory_release(&own);
    mhkdf_wipe(h0, sizeof h0);
    stack_wipe();
    return 0;
}

/* With memory by source.h; means are complete but for that. */
static int
derive_from(const struct derive *in, struct derive_means *means, const struct mhkdf_env *env,
            uint8_t *tag, uint32_t tag_len)
{
    struct source source;
    int cancel_state, error;

    /* A host that cancels this thread must not make it lose a lease or a mapping. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    error = source_get(&source, derive_size_kib(in), env);
    if (error == 0) {
        means->memory = source.base;
        error = derive_with(in, means, tag, tag_len);
        source_release(&source);
    }
    (void)pthread_setcancelstate(cancel_state, NULL);
    return error;
}

int
derive_tag(const struct derive *in, const struct mhkdf_env *env, uint8_t *tag, uint32_t tag_len)
{
    struct derive_means means = {.kernel = derive_kernel(in),
                                 .threads = env->threads == 0 ? team_cpus() : env->threads,
                                 .populate = 1};

    return derive_from(in, &means, env, tag, tag_len);
}

int
derive_check_cost(const struct mhkdf_cost *cost)
{
    switch (cost->method) {
    case MHKDF_METHOD_MHKDF1:
        if (cost->chain != 0 && cost->chain != 3 && cost->chain != 6 && cost->chain != 12)
            return EINVAL;
        break;
    case MHKDF_METHOD_ARGON2D:
    case MHKDF_METHOD_ARGON2I:
    case MHKDF_METHOD_ARGON2ID:
        if (cost->chain != 0)
            return EINVAL;
        break;
    default:
        return EINVAL;
    }
    if (cost->lanes < 1 || cost->lanes > MHKDF_LANES_MAX || cost->memory_kib < 8 * cost->lanes ||
        cost->passes < 1 || cost->passes > MHKDF_PASSES_MAX)
        return EINVAL;
    return 0;
}

static int
check_input(const struct mhkdf_cost *cost, const struct mhkdf_input *input, size_t tag_len)
{
    if (derive_check_cost(cost) != 0 || tag_len < MHKDF_TAG_MIN || tag_len > MHKDF_TAG_MAX ||
        input->salt_len < MHKDF_SALT_MIN || input->salt_len > MHKDF_SALT_MAX ||
        input->key_len > MHKDF_KEY_MAX || input->password_len > UINT32_MAX)
        return EINVAL;
    if (cost->method != MHKDF_METHOD_MHKDF1 && (input->key_len != 0 || input->wrapped))
        return EINVAL;
    return 0;
}

static enum fill_method
fill_method_of(enum mhkdf_method method)
{
    switch (method) {
    case MHKDF_METHOD_ARGON2D:
        return FILL_ARGON2D;
    case MHKDF_METHOD_ARGON2I:
        return FILL_ARGON2I;
    case MHKDF_METHOD_ARGON2ID:
        return FILL_ARGON2ID;
    case MHKDF_METHOD_MHKDF1:
        break;
    }
    return FILL_MHKDF1;
}

/* X of mhkdf1, SPEC.md section 3; returns its length. */
static uint32_t
make_associated(uint8_t x[11], uint32_t chain, int wrapped)
{
    uint32_t len = wrapped ? 7 : 6;

    memcpy(x, "mhkdf1w", len);
    bytes_store32(x + len, chain);
    return len + 4;
}

static int
derive_paced(const struct mhkdf_cost *cost, const struct mhkdf_input *input,
             const struct mhkdf_env *env, struct pace *pace, uint8_t *tag, size_t tag_len)
{
    uint8_t x[11];
    struct derive in;
    struct derive_means means = {
        .threads = env->threads == 0 ? team_cpus() : env->threads, .populate = 1, .pace = pace};
    int error;

    if (tag_len > 0)
        memset(tag, 0, tag_len);
    if ((error = check_input(cost, input, tag_len)) != 0)
        return error;

    in.method = fill_method_of(cost->method);
    in.version = 0x13;
    in.memory_kib = cost->memory_kib;
    in.passes = cost->passes;
    in.lanes = cost->lanes;
    in.chain = cost->chain;
    in.password = input->password;
    in.password_len = (uint32_t)input->password_len;
    in.salt = input->salt;
    in.salt_len = (uint32_t)input->salt_len;
    in.secret = input->key;
    in.secret_len = (uint32_t)input->key_len;
    in.associated = x;
    in.associated_len =
        in.method == FILL_MHKDF1 ? make_associated(x, cost->chain, input->wrapped) : 0;
    means.kernel = derive_kernel(&in);
    return derive_from(&in, &means, env, tag, (uint32_t)tag_len);
}

int
derive_in(const struct mhkdf_cost *cost, const struct mhkdf_input *input,
          const struct mhkdf_env *env, uint8_t *tag, size_t tag_len)
{
    return derive_paced(cost, input, env, NULL, tag, tag_len);
}

int
derive_less(const struct mhkdf_cost *cost, const struct mhkdf_env *env, uint64_t spent_us)
{
    uint8_t salt[MHKDF_SALT_DEFAULT], tag[MHKDF_TAG_DEFAULT];
    const struct mhkdf_input input = {
        .password = "", .password_len = 0, .salt = salt, .salt_len = sizeof salt};
    struct pace pace = {.spent_ns = spent_us > UINT32_MAX ? UINT64_MAX : spent_us * 1000};
    int error;

    (void)mhkdf_random(salt, sizeof salt); /* zeros would do */
    error = derive_paced(cost, &input, env, &pace, tag, sizeof tag);
    mhkdf_wipe(tag, sizeof tag);
    stack_wipe();
    return error;
}

int
mhkdf_derive(const struct mhkdf_cost *cost, const struct mhkdf_input *input, unsigned threads,
             uint8_t *tag, size_t tag_len)
{
    const struct mhkdf_env env = {.threads = threads};

    return derive_in(cost, input, &env, tag, tag_len);
}
