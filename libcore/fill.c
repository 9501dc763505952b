/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <string.h>

#include "libcore/address.h"
#include "libcore/fill.h"
#include "libcore/kernel.h"
#include "libcore/mhkdf.h"
#include "libcore/reference.h"

/* Blocks of a function that is inlined would lie on the stack under everything its caller calls. */
#define OWN_FRAME __attribute__((noinline))

/* Where in a lane a segment starts, and which of its blocks is the first to be computed. */
struct segment {
    struct block *start;      /* the segment's first block */
    const struct block *prev; /* what precedes, in the lane, the first block to be computed */
    uint32_t first;           /* index of that block in the segment */
};

static struct segment
find_segment(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane)
{
    struct block *lane_start = fill->memory + (size_t)lane * fill->lane_blocks;
    struct segment segment;

    segment.start = lane_start + (size_t)slice * fill->segment_blocks;
    segment.first = pass == 0 && slice == 0 ? 2 : 0;
    if (pass != 0 && slice == 0)
        segment.prev = lane_start + (fill->lane_blocks - 1);
    else
        segment.prev = segment.start + segment.first - 1;
    return segment;
}

/* s = G(0, s, none, 0), in the order of the fill's kernel. */
static void
compress_alone(const struct fill *fill, struct block *s, struct compress_scratch *scratch)
{
    static const struct block zero;

    if (fill->kernel != NULL)
        fill->kernel->compress(s, s, 0);
    else
        compress_mhkdf1(s, &zero, s, NULL, 0, COMPRESS_OVERWRITE, scratch);
}

/* SPEC.md section 3, S-box. Its words are in plain order, since the chain looks them up by number.
 */
static OWN_FRAME void
make_sbox(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane)
{
    struct sbox *sbox = &fill->states[lane].sbox;
    struct compress_scratch scratch;
    struct block s = *find_segment(fill, pass, slice, lane).prev;
    struct block plain;

    for (int k = 0; k < SBOX_WORDS / BLOCK_WORDS; k++) {
        compress_alone(fill, &s, &scratch);
        compress_alone(fill, &s, &scratch);
        plain = s;
        kernel_to_plain(fill->kernel, &plain);
        memcpy(&sbox->w[k * BLOCK_WORDS], plain.w, sizeof plain.w);
    }
    mhkdf_wipe(&s, sizeof s);
    mhkdf_wipe(&plain, sizeof plain);
    mhkdf_wipe(&scratch, sizeof scratch);
}

static void
compress_block(const struct fill *fill, struct block *out, const struct block *prev,
               const struct block *ref, uint32_t pass, uint32_t lane,
               struct compress_scratch *scratch)
{
    enum compress_write write = pass == 0 ? COMPRESS_OVERWRITE : COMPRESS_XOR;

    switch (fill->method) {
    case FILL_MHKDF1:
        compress_mhkdf1(out, prev, ref, fill->chain == 0 ? NULL : &fill->states[lane].sbox,
                        fill->chain, write, scratch);
        break;
    case FILL_ARGON2DS:
        compress_argon2ds(out, prev, ref, &fill->states[0].sbox, scratch);
        break;
    case FILL_ARGON2D:
    case FILL_ARGON2I:
    case FILL_ARGON2ID:
        compress_argon2(out, prev, ref, write, scratch);
        break;
    }
}

OWN_FRAME void
fill_portable(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane)
{
    struct segment segment = find_segment(fill, pass, slice, lane);
    const struct block *prev = segment.prev;
    int independent = address_is_independent(fill, pass, slice);
    struct compress_scratch scratch;
    struct reference reference;
    struct address address;

    reference_start(&reference, fill, pass, slice);
    if (independent)
        address_start(&address, fill, pass, slice, lane);
    for (uint32_t index = segment.first; index < fill->segment_blocks; index++) {
        uint64_t j = independent ? address_get(&address, index) : prev->w[0];
        const struct block *ref = reference_find(&reference, lane, index, j);
        struct block *out = segment.start + index;
        compress_block(fill, out, prev, ref, pass, lane, &scratch);
        prev = out;
    }
    mhkdf_wipe(&scratch, sizeof scratch);
}

void
fill_segments(const struct fill *fill, uint32_t pass, uint32_t slice, uint32_t lane, uint32_t count)
{
    if (fill->method == FILL_MHKDF1 && fill->chain > 0)
        for (uint32_t i = 0; i < count; i++)
            make_sbox(fill, pass, slice, lane + i);
    if (fill->kernel == NULL) {
        for (uint32_t i = 0; i < count; i++)
            fill_portable(fill, pass, slice, lane + i);
        return;
    }
    while (count > 0) {
        /* groups of the same size, as nearly as can be */
        uint32_t groups = (count + KERNEL_LANES_MAX - 1) / KERNEL_LANES_MAX;
        uint32_t in_group = (count + groups - 1) / groups;
        fill->kernel->fill(fill, pass, slice, lane, in_group);
        lane += in_group;
        count -= in_group;
    }
}

void
fill_argon2ds_sbox(const struct fill *fill)
{
    static const struct block zero;
    struct compress_scratch scratch;
    struct block s = fill->memory[0];

    for (int k = 0; k < SBOX_WORDS / BLOCK_WORDS; k++) {
        compress_argon2(&s, &zero, &s, COMPRESS_OVERWRITE, &scratch);
        compress_argon2(&s, &zero, &s, COMPRESS_OVERWRITE, &scratch);
        memcpy(&fill->states[0].sbox.w[k * BLOCK_WORDS], s.w, sizeof s.w);
    }
    mhkdf_wipe(&s, sizeof s);
    mhkdf_wipe(&scratch, sizeof scratch);
}
