/* SPDX-License-Identifier: BSD-2-Clause */
/* Fill kernel for SSE2, which every x86-64 has. */
#include <config.h>

#include "libcore/kernel.h"

#ifdef KERNEL_X86

#ifndef __clang__
#pragma GCC optimize("O3,no-var-tracking,no-var-tracking-assignments") /* or it takes minutes */
#endif

#include <immintrin.h>

#include "libcore/kernel_inline.h"

#define KERNEL_PIN(x, vector) __asm__ __volatile__("" : "+r"(x), "+x"(vector))

#define NARROW_WORDS 2
#define V __m128i

static KERNEL_INLINE V
narrow_load(const uint64_t *words)
{
    return _mm_load_si128((const V *)(const void *)words);
}

static KERNEL_INLINE void
narrow_store(uint64_t *words, V v)
{
    _mm_store_si128((V *)(void *)words, v);
}

static KERNEL_INLINE V
narrow_add(V x, V y)
{
    return _mm_add_epi64(x, y);
}

static KERNEL_INLINE V
narrow_xor(V x, V y)
{
    return _mm_xor_si128(x, y);
}

static KERNEL_INLINE V
narrow_multiply(V x, V y)
{
    return _mm_mul_epu32(x, y);
}

static KERNEL_INLINE V
narrow_rotate(V v, int by)
{
    switch (by) {
    case 32:
        return _mm_shuffle_epi32(v, 0xb1);
    case 24:
        return _mm_or_si128(_mm_srli_epi64(v, 24), _mm_slli_epi64(v, 40));
    case 16:
        return _mm_shufflehi_epi16(_mm_shufflelo_epi16(v, 0x39), 0x39);
    default:
        return _mm_or_si128(_mm_srli_epi64(v, 63), _mm_add_epi64(v, v));
    }
}

static KERNEL_INLINE V
narrow_next(V v, V w)
{
    return _mm_castpd_si128(_mm_shuffle_pd(_mm_castsi128_pd(v), _mm_castsi128_pd(w), 1));
}

#include "libcore/kernel_narrow.h"

static int
is_supported(void)
{
    return 1;
}

const struct kernel kernel_sse2 = {
    .name = "sse2",
    .is_supported = is_supported,
    .fill = group_fill,
    .compress = group_compress,
};
#else
/* Not for this machine; the name is there, as libxcrypt's tests want of each that graft renames. */
const struct kernel kernel_sse2 = {.name = "sse2"};
#endif
