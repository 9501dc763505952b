/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What a function leaves behind on its stack and in registers: it runs on a stack of its own, and a
 * signal that comes right after it has the kernel write the registers there, too, as the first call
 * of a function that isn't bound yet would. One thread's; not for sanitizers.
 */
#ifndef TESTS_LIB_LEFTOVER_H
#define TESTS_LIB_LEFTOVER_H

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define LEFTOVER_STACK ((size_t)512 * 1024)
#define LEFTOVER_PART 8 /* bytes of a text in a row that are a find */

static struct {
    _Alignas(64) char stack[LEFTOVER_STACK];
    ucontext_t back, there;
    void (*function)(void *arg);
    void *arg;
} leftover;

static void
leftover_ignore(int signal)
{
    (void)signal;
}

static void
leftover_enter(void)
{
    leftover.function(leftover.arg);
    (void)kill(getpid(), SIGUSR1);
    (void)swapcontext(&leftover.there, &leftover.back);
}

/** Runs the function; what it keeps in memory of its own must not be on the stack. */
static void
leftover_run(void (*function)(void *), void *arg)
{
    struct sigaction action = {.sa_handler = leftover_ignore}, before;

    leftover.function = function;
    leftover.arg = arg;
    memset(leftover.stack, 0x55, sizeof(leftover.stack));
    (void)sigaction(SIGUSR1, &action, &before);
    (void)getcontext(&leftover.there);
    leftover.there.uc_stack.ss_sp = leftover.stack;
    leftover.there.uc_stack.ss_size = sizeof(leftover.stack);
    makecontext(&leftover.there, leftover_enter, 0);
    (void)swapcontext(&leftover.back, &leftover.there);
    (void)sigaction(SIGUSR1, &before, NULL);
}

/** How many parts of a text it has left. */
static int
leftover_count(const char *text)
{
    size_t len = strlen(text);
    int found = 0;

    for (size_t at = 0; at + LEFTOVER_PART <= sizeof(leftover.stack); at++)
        for (size_t i = 0; i + LEFTOVER_PART <= len; i++)
            found += memcmp(leftover.stack + at, text + i, LEFTOVER_PART) == 0;
    return found;
}

/* ---- what must be found --------------------------------------------------------------- */

static __attribute__((noinline)) void
leftover_plant_on_stack(void *text)
{
    volatile char copy[64];

    for (size_t i = 0; i < sizeof(copy); i++)
        copy[i] = ((const char *)text)[i];
}

#ifdef __x86_64__
#define LEFTOVER_REGISTERS 1
static __attribute__((noinline)) void
leftover_plant_in_register(void *text)
{
    __asm__ __volatile__("movups (%0), %%xmm5" : : "r"(text) : "xmm5");
}
#endif

#endif
