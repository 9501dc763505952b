/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <string.h>

#include "libcore/mhkdf.h"
#include "libcore/x86.h"

/* What was copied with vector registers stays in them, and comes to the stack when the program next
 * calls a function that isn't bound yet, or gets a signal: so they are cleared too. No function
 * that returns has to keep them. (On AArch64 the lower halves of eight have to be kept, and stay.)
 */
#if defined(__x86_64__)

enum { UNKNOWN, SSE, AVX, AVX512 };

/* CPUID is slow in a virtual machine, so it is asked once; twice doesn't matter. */
static int
registers(void)
{
    static int kind = UNKNOWN;
    int found = __atomic_load_n(&kind, __ATOMIC_RELAXED);

    if (found == UNKNOWN) {
        found = x86_has(X86_AVX | X86_AVX512) ? AVX512 : x86_has(X86_AVX) ? AVX : SSE;
        __atomic_store_n(&kind, found, __ATOMIC_RELAXED);
    }
    return found;
}

#define LOWER                                                                                \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#ifdef __AVX512F__
#define UPPER                                                                                 \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"
#else
#define UPPER "memory" /* the compiler has no use for them */
#endif

static void
clear_registers(void)
{
    int kind = registers();

    if (kind == SSE)
        __asm__ __volatile__(".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
                             "pxor %%xmm\\r, %%xmm\\r\n\t"
                             ".endr" ::
                                 : LOWER);
    else
        __asm__ __volatile__("vzeroall" ::: LOWER);
    if (kind == AVX512)
        __asm__ __volatile__(".irp r,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
                             "vpxord %%ymm\\r, %%ymm\\r, %%ymm\\r\n\t"
                             ".endr" ::
                                 : UPPER);
}

#elif defined(__aarch64__)

static void
clear_registers(void)
{
    __asm__ __volatile__(
        ".irp r,0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "movi v\\r\\().2d, #0\n\t"
        ".endr" ::
            : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20",
              "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

#else

static void
clear_registers(void)
{
}

#endif

void
mhkdf_wipe(void *buf, size_t len)
{
    if (len == 0)
        return;
    memset(buf, 0, len);
    /* The compiler must believe that somebody reads the zeros. */
    __asm__ __volatile__("" : : "r"(buf) : "memory");
    clear_registers();
}

int
mhkdf_equal(const void *a, const void *b, size_t len)
{
    const volatile unsigned char *x = a;
    const volatile unsigned char *y = b;
    unsigned char difference = 0;

    for (size_t i = 0; i < len; i++)
        difference = (unsigned char)(difference | (x[i] ^ y[i]));
    return difference == 0;
}
