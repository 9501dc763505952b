/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include "libcore/x86.h"

#ifdef __x86_64__
#include <cpuid.h>

/* Bits of CPUID leaves 1 (ecx) and 7 (ebx), Intel SDM volume 2, and of XCR0, volume 1 chapter 13.
 */
#define LEAF1_SSSE3 (1U << 9)
#define LEAF1_OSXSAVE (1U << 27)
#define LEAF1_AVX (1U << 28)
#define LEAF7_BMI1 (1U << 3)
#define LEAF7_AVX2 (1U << 5)
#define LEAF7_BMI2 (1U << 8)
#define LEAF7_AVX512F (1U << 16)
#define LEAF7_AVX512VL (1U << 31)
#define XCR0_YMM 0x06U /* SSE and AVX state */
#define XCR0_ZMM 0xe6U /* and opmask, upper halves, upper registers */

static unsigned
read_xcr0(void)
{
    unsigned low, high;

    __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return low;
}

static int
has_all(unsigned value, unsigned bits)
{
    return (value & bits) == bits;
}

int
x86_has(unsigned features)
{
    unsigned eax, ebx, ecx, edx, leaf1, leaf7 = 0, xcr0 = 0, found = 0;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        return 0;
    leaf1 = ecx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        leaf7 = ebx;
    if (leaf1 & LEAF1_OSXSAVE)
        xcr0 = read_xcr0();

    if (leaf1 & LEAF1_SSSE3)
        found |= X86_SSSE3;
    if (has_all(leaf7, LEAF7_BMI1 | LEAF7_BMI2))
        found |= X86_BMI;
    if (has_all(leaf1, LEAF1_AVX) && has_all(xcr0, XCR0_YMM))
        found |= X86_AVX;
    if ((found & X86_AVX) && has_all(leaf7, LEAF7_AVX2))
        found |= X86_AVX2;
    if (has_all(leaf7, LEAF7_AVX512F | LEAF7_AVX512VL) && has_all(xcr0, XCR0_ZMM))
        found |= X86_AVX512;
    return has_all(found, features);
}
#endif
