/* SPDX-License-Identifier: BSD-2-Clause */
/* Fill kernel for NEON (Advanced SIMD) of AArch64. */
#include <config.h>

#include "libcore/kernel.h"

#ifdef KERNEL_NEON

#ifndef __clang__
#pragma GCC optimize("O3,no-var-tracking,no-var-tracking-assignments") /* or it takes minutes */
#endif

#include <arm_neon.h>
#include <sys/auxv.h>

#include "libcore/kernel_inline.h"

/* As in kernel_x86.h. */
#define KERNEL_PIN(x, vector) __asm__ __volatile__("" : "+r"(x), "+w"(vector))

#define NARROW_WORDS 2
#define V uint64x2_t

static KERNEL_INLINE V
narrow_load(const uint64_t *words)
{
    return vld1q_u64(words);
}

static KERNEL_INLINE void
narrow_store(uint64_t *words, V v)
{
    vst1q_u64(words, v);
}

static KERNEL_INLINE V
narrow_add(V x, V y)
{
    return vaddq_u64(x, y);
}

static KERNEL_INLINE V
narrow_xor(V x, V y)
{
    return veorq_u64(x, y);
}

static KERNEL_INLINE V
narrow_multiply(V x, V y)
{
    return vmull_u32(vmovn_u64(x), vmovn_u64(y));
}

static KERNEL_INLINE V
narrow_rotate(V v, int by)
{
    switch (by) {
    case 32:
        return vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u64(v)));
    case 24:
        return vsriq_n_u64(vshlq_n_u64(v, 40), v, 24);
    case 16:
        return vsriq_n_u64(vshlq_n_u64(v, 48), v, 16);
    default:
        return vsriq_n_u64(vaddq_u64(v, v), v, 63);
    }
}

static KERNEL_INLINE V
narrow_next(V v, V w)
{
    return vextq_u64(v, w, 1);
}

#include "libcore/kernel_narrow.h"

static int
is_supported(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_ASIMD) != 0;
}

const struct kernel kernel_neon = {
    .name = "neon",
    .is_supported = is_supported,
    .fill = group_fill,
    .compress = group_compress,
};
#else
/* Not for this machine; the name is there, as libxcrypt's tests want of each that graft renames. */
const struct kernel kernel_neon = {.name = "neon"};
#endif
