/* SPDX-License-Identifier: BSD-2-Clause */
/* Fill kernel for AVX2 with BMI1 and BMI2. */
#include <config.h>

#include "libcore/kernel.h"

#ifdef KERNEL_X86

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2")
#pragma GCC optimize("O3,no-var-tracking,no-var-tracking-assignments") /* or it takes minutes */
#endif

#include <immintrin.h>

#include "libcore/kernel_inline.h"
#include "libcore/kernel_x86.h"

#define NARROW_WORDS 4
#define V __m256i

static KERNEL_INLINE V
narrow_load(const uint64_t *words)
{
    return _mm256_load_si256((const V *)(const void *)words);
}

static KERNEL_INLINE void
narrow_store(uint64_t *words, V v)
{
    _mm256_store_si256((V *)(void *)words, v);
}

#define GROUP_STREAM _mm_sfence()

static KERNEL_INLINE void
narrow_stream(uint64_t *words, V v)
{
    _mm256_stream_si256((V *)(void *)words, v);
}

static KERNEL_INLINE V
narrow_add(V x, V y)
{
    return _mm256_add_epi64(x, y);
}

static KERNEL_INLINE V
narrow_xor(V x, V y)
{
    return _mm256_xor_si256(x, y);
}

static KERNEL_INLINE V
narrow_multiply(V x, V y)
{
    return _mm256_mul_epu32(x, y);
}

static KERNEL_INLINE V
narrow_rotate(V v, int by)
{
    const V bytes_24 = _mm256_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10, 3, 4,
                                        5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    const V bytes_16 = _mm256_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2, 3,
                                        4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);

    switch (by) {
    case 32:
        return _mm256_shuffle_epi32(v, 0xb1);
    case 24:
        return _mm256_shuffle_epi8(v, bytes_24);
    case 16:
        return _mm256_shuffle_epi8(v, bytes_16);
    default:
        return _mm256_or_si256(_mm256_srli_epi64(v, 63), _mm256_add_epi64(v, v));
    }
}

static KERNEL_INLINE V
narrow_next(V v, V w)
{
    return _mm256_alignr_epi8(w, v, 8);
}

static KERNEL_INLINE V
narrow_turn(V v, int by)
{
    switch (by) {
    case 1:
        return _mm256_permute4x64_epi64(v, 0x39);
    case 2:
        return _mm256_permute4x64_epi64(v, 0x4e);
    default:
        return _mm256_permute4x64_epi64(v, 0x93);
    }
}

#include "libcore/kernel_narrow.h"

static int
is_supported(void)
{
    return x86_has(X86_AVX2 | X86_BMI);
}

const struct kernel kernel_avx2 = {
    .name = "avx2",
    .is_supported = is_supported,
    .fill = group_fill,
    .compress = group_compress,
};

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
/* Not for this machine; the name is there, as libxcrypt's tests want of each that graft renames. */
const struct kernel kernel_avx2 = {.name = "avx2"};
#endif
