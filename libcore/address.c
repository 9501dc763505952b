/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <string.h>

#include "libcore/address.h"
#include "libcore/kernel.h"

int
address_is_independent(const struct fill *fill, uint32_t pass, uint32_t slice)
{
    return fill->method == FILL_ARGON2I ||
           (fill->method == FILL_ARGON2ID && pass == 0 && slice < FILL_SLICES / 2);
}

void
address_start(struct address *address, const struct fill *fill, uint32_t pass, uint32_t slice,
              uint32_t lane)
{
    address->fill = fill;
    address->pass = pass;
    address->slice = slice;
    address->lane = lane;
    address->made = 0;
}

/* The block from which the addresses are made, twice compressed. */
static void
set_input(struct address *address)
{
    const struct fill *fill = address->fill;
    struct block *input = &address->output;

    memset(input, 0, sizeof *input);
    input->w[0] = address->pass;
    input->w[1] = address->lane;
    input->w[2] = address->slice;
    input->w[3] = (uint64_t)fill->lanes * fill->lane_blocks;
    input->w[4] = fill->passes;
    input->w[5] = fill->method == FILL_ARGON2I ? 1 : 2;
    input->w[6] = address->made;
}

static void
compress_portable(struct block *block)
{
    static const struct block zero;
    struct compress_scratch scratch;

    compress_argon2(block, &zero, block, COMPRESS_OVERWRITE, &scratch);
    compress_argon2(block, &zero, block, COMPRESS_OVERWRITE, &scratch);
}

uint64_t
address_get(struct address *address, uint32_t index)
{
    const struct kernel *kernel = address->fill->kernel;
    struct block *block = &address->output;
    uint32_t number = index / BLOCK_WORDS + 1;

    if (address->made != number) {
        address->made = number;
        set_input(address);
        if (kernel == NULL) {
            compress_portable(block);
        } else {
            kernel_from_plain(kernel, block);
            kernel->compress(block, block, 1);
            kernel->compress(block, block, 1);
            kernel_to_plain(kernel, block);
        }
    }
    return block->w[index % BLOCK_WORDS];
}
