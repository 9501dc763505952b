/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What this x86 processor has, and the operating system saves.
 */
#ifndef LIBCORE_X86_H
#define LIBCORE_X86_H

#ifdef __x86_64__

#define X86_SSSE3 1U
#define X86_AVX2 2U
#define X86_BMI 4U    /* BMI1 and BMI2 */
#define X86_AVX512 8U /* F and VL */
#define X86_AVX 16U

/** Whether all of these are there: 1 or 0. */
int x86_has(unsigned features);

#endif
#endif
