/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/pace.h"

uint32_t
pace_blocks(const struct pace *pace, uint32_t step, uint32_t segment_blocks, uint64_t now_ns)
{
    uint64_t step_ns, left_ns;

    if (step == 0)
        return segment_blocks;
    step_ns = (now_ns - pace->start_ns) / step;
    left_ns = step_ns * (pace->steps - step);
    if (step_ns == 0 || left_ns <= pace->spent_ns)
        return 0;
    left_ns -= pace->spent_ns;
    if (left_ns >= step_ns)
        return segment_blocks;
    return (uint32_t)((double)segment_blocks * (double)left_ns / (double)step_ns);
}
