# SPDX-License-Identifier: BSD-2-Clause
# What mhkdf bench measures, and how. Never linked into anything that guards a login.
noinst_LTLIBRARIES += bench/libbench.la
bench_libbench_la_SOURCES = \
	bench/chain.c bench/chain.h \
	bench/engine.c bench/engine.h \
	bench/engine_crypt.c \
	bench/engine_libargon2.c \
	bench/engine_limit.c \
	bench/engine_ours.c \
	bench/jobs.c bench/jobs.h \
	bench/machine.c bench/machine.h \
	bench/measure.c bench/measure.h \
	bench/pages.c bench/pages.h \
	bench/stats.c bench/stats.h
bench_libbench_la_LIBADD = $(DL_LIBS)
EXTRA_DIST += bench/build-libargon2 bench/compare bench/fixed bench/loaded bench/timing

EXTRA_DIST += bench/arena bench/storm
if WITH_ARENA
noinst_PROGRAMS += bench/arena_sample
bench_arena_sample_LDADD = libcore/libcore.la
endif
