/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * For the kernels with BMI1 and BMI2: the chain's step by hand, and what holds it at its place
 * between vector instructions. Included before kernel_group.h.
 */
#ifndef LIBCORE_KERNEL_X86_H
#define LIBCORE_KERNEL_X86_H

#include <stdint.h>

#include "libcore/compress.h"
#include "libcore/x86.h"

/* Compilers would gather the chain's steps in one place, where they wait for each other. */
#define KERNEL_PIN(x, vector) __asm__ __volatile__("" : "+r"(x), "+v"(vector))

/*
 * One step: 8 cycles on Zen 4. BEXTR takes start 32 and length 9 from the same register from which
 * SHRX takes 32. By hand, because compilers keep what they run out of registers for in vector
 * registers, whose way back is longer than the step.
 */
static inline __attribute__((always_inline)) uint64_t
kernel_x86_step(uint64_t x, const struct sbox *sbox)
{
    uint64_t lo, hi, at;

    __asm__("mov %k[x], %k[lo]\n\t"
            "shrx %[field], %[x], %[hi]\n\t"
            "bextr %[field], %[x], %[at]\n\t"
            "and $511, %k[x]\n\t"
            "imul %[lo], %[hi]\n\t"
            "add (%[box],%[at],8), %[hi]\n\t"
            "xor 4096(%[box],%[x],8), %[hi]"
            : [x] "+&r"(x), [lo] "=&r"(lo), [hi] "=&r"(hi), [at] "=&r"(at)
            : [field] "r"((uint64_t)(9 << 8 | 32)), [box] "r"(sbox), "m"(*sbox)
            : "cc");
    return hi;
}

#define GROUP_STEP(x, sbox) kernel_x86_step(x, sbox)

#endif
