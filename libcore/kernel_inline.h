/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How kernels tell the compiler that a function is no call and a loop no loop: what is constant in
 * a slot shall be so to the compiler.
 */
#ifndef LIBCORE_KERNEL_INLINE_H
#define LIBCORE_KERNEL_INLINE_H

#ifdef SANITIZED /* their checks at every load of unrolled code would take minutes to compile */
#define KERNEL_INLINE inline
#else
#define KERNEL_INLINE inline __attribute__((always_inline))
#endif
/* For what is always written before it is read: zeroing it first would cost 5%. */
#if __GNUC__ >= 12 || defined __clang__
#define KERNEL_UNINITIALIZED __attribute__((uninitialized))
#else
#define KERNEL_UNINITIALIZED
#endif
#ifdef SANITIZED
#define KERNEL_UNROLL
#elif defined __clang__
#define KERNEL_UNROLL _Pragma("unroll")
#pragma clang diagnostic ignored "-Wpass-failed" /* sanitizers get in the way; it is speed alone \
                                                  */
#else
#define KERNEL_UNROLL _Pragma("GCC unroll 64")
#endif

#endif
