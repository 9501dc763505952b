/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Work in a child of this process that the user of a set-id program can neither stop nor slow down:
 * it has a session of its own, all ids of root, the default scheduling and a time limit. Only a
 * control group of the user's own, with its freezer, still has a hold on it.
 *
 * The host doesn't notice the child: its end raises no signal, and none of the host's own calls of
 * wait(2) sees it. Thread-safe, also in a host that has threads of its own.
 */
#ifndef POLICY_APART_H
#define POLICY_APART_H

#include <stdint.h>
#include <sys/types.h>

/**
 * Runs work(ctx) in a child and waits for it. What the child changes in memory stays with the
 * child; of descriptors it has none but the end of a pipe. Since other threads of the host may have
 * held any lock when it was made, work may only do what is async-signal-safe: no allocation, no
 * stdio. All signals but SIGALRM are blocked there.
 *
 * uid: the child's real, effective and saved uid, 0 but for tests; this process has it as its
 * effective one. limit_ms: when the kernel kills the child, unless work says something else with
 * apart_limit.
 * most_ms: when the parent does.
 *
 * 0: *result is what work returned. EPERM: this process hasn't that uid; otherwise errors of
 * pipe2(2) and clone(2): work wasn't begun. ETIME: the child ended without a result, or was killed;
 * nobody knows how far it got.
 */
int apart_run(uint32_t uid, unsigned limit_ms, unsigned most_ms, int (*work)(void *), void *ctx,
              int *result);

/** For work, in the child: SIGALRM, no longer blocked, kills it after limit_ms from now. */
void apart_limit(unsigned limit_ms);

/**
 * As fork(2), but the child's end raises no signal, and only waitpid(2) with __WALL for its pid
 * sees it. It must stay what it is: execve(2) makes an ordinary child of it. The handlers of
 * pthread_atfork(3) don't run. -1: errno says why.
 */
pid_t apart_fork_unseen(void);

#endif
