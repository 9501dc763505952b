/* SPDX-License-Identifier: BSD-2-Clause */
/* Fill kernel for SSSE3. */
#include <config.h>

#include "libcore/kernel.h"

#ifdef KERNEL_X86

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("ssse3"))), apply_to = function)
#else
#pragma GCC target("ssse3")
#pragma GCC optimize("O3,no-var-tracking,no-var-tracking-assignments") /* or it takes minutes */
#endif

#include <immintrin.h>

#include "libcore/kernel_inline.h"
#include "libcore/x86.h"

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
    const V bytes_24 = _mm_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    const V bytes_16 = _mm_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);

    switch (by) {
    case 32:
        return _mm_shuffle_epi32(v, 0xb1);
    case 24:
        return _mm_shuffle_epi8(v, bytes_24);
    case 16:
        return _mm_shuffle_epi8(v, bytes_16);
    default:
        return _mm_or_si128(_mm_srli_epi64(v, 63), _mm_add_epi64(v, v));
    }
}

static KERNEL_INLINE V
narrow_next(V v, V w)
{
    return _mm_alignr_epi8(w, v, 8);
}

#include "libcore/kernel_narrow.h"

static int
is_supported(void)
{
    return x86_has(X86_SSSE3);
}

const struct kernel kernel_ssse3 = {
    .name = "ssse3",
    .is_supported = is_supported,
    .fill = group_fill,
    .compress = group_compress,
};

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
/* Not for this machine; the name is there, as libxcrypt's tests want of each that graft renames. */
const struct kernel kernel_ssse3 = {.name = "ssse3"};
#endif
