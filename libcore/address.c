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
    memset(&address->input, 0, sizeof address->input);
    address->input.w[0] = pass;
    address->input.w[1] = lane;
    address->input.w[2] = slice;
    address->input.w[3] = (uint64_t)fill->lanes * fill->lane_blocks;
    address->input.w[4] = fill->passes;
    address->input.w[5] = fill->method == FILL_ARGON2I ? 1 : 2;
    address->kernel = fill->kernel;
}

static void
make_block(struct address *address)
{
    static const struct block zero;
    struct compress_scratch scratch;
    struct block *out = &address->output;

    *out = address->input;
    if (address->kernel == NULL) {
        compress_argon2(out, &zero, out, COMPRESS_OVERWRITE, &scratch);
        compress_argon2(out, &zero, out, COMPRESS_OVERWRITE, &scratch);
        return;
    }
    kernel_from_plain(address->kernel, out);
    address->kernel->compress(out, out, 1);
    address->kernel->compress(out, out, 1);
    kernel_to_plain(address->kernel, out);
}

uint64_t
address_get(struct address *address, uint32_t index)
{
    uint64_t number = index / BLOCK_WORDS + 1;

    if (address->input.w[6] != number) {
        address->input.w[6] = number;
        make_block(address);
    }
    return address->output.w[index % BLOCK_WORDS];
}
