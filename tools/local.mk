# SPDX-License-Identifier: BSD-2-Clause
bin_PROGRAMS += tools/mhkdf
tools_mhkdf_SOURCES = \
	tools/arena.c tools/arena.h \
	tools/bench.c tools/bench.h \
	tools/bench_json.c \
	tools/bench_report.c tools/bench_report.h \
	tools/hash.c tools/hash.h \
	tools/message.c tools/message.h \
	tools/mhkdf.c \
	tools/options.c tools/options.h \
	tools/password.c tools/password.h \
	tools/refusal.c tools/refusal.h \
	tools/status.h \
	tools/terminal.c tools/terminal.h \
	tools/verify.c tools/verify.h
tools_mhkdf_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS) $(JANSSON_CFLAGS)
tools_mhkdf_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
# The bench looks at libcore's internals, so this command holds all of it instead of using the shared
# library: two copies would disagree about which kernel runs.
tools_mhkdf_LDADD = bench/libbench.la policy/libpolicy.la libcore/libcore.la $(JANSSON_LIBS)
