# SPDX-License-Identifier: BSD-2-Clause
# Readers of files that somebody else may have written, fed with mutations. "make check" runs a
# fixed number of always the same ones. With clang there is a libFuzzer as well:
#   configure CC=clang CFLAGS='-g -O1 -fsanitize=fuzzer-no-link' --enable-sanitizers
#   make fuzz-config && ./fuzz-config -max_total_time=600 CORPUS
check_PROGRAMS += tests/fuzz/run_config
TESTS += tests/fuzz/run_config
tests_fuzz_run_config_SOURCES = tests/fuzz/run_config.c tests/fuzz/config.c tests/fuzz/fuzz.h
tests_fuzz_run_config_LDADD = policy/libpolicy.la libcore/libcore.la $(INIH_LIBS)

EXTRA_PROGRAMS = fuzz-config
CLEANFILES += fuzz-config$(EXEEXT)
fuzz_config_SOURCES = tests/fuzz/config.c tests/fuzz/fuzz.h
fuzz_config_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_WITH_LIBFUZZER
fuzz_config_CFLAGS = $(AM_CFLAGS) -fsanitize=fuzzer
fuzz_config_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_config_LDADD = policy/libpolicy.la libcore/libcore.la $(INIH_LIBS)
