# SPDX-License-Identifier: BSD-2-Clause
# The mhkdf command, as its users meet it.
cli_tests = \
	tests/cli/test_bench.py \
	tests/cli/test_bench_scripts.py \
	tests/cli/test_completion \
	tests/cli/test_hash.py \
	tests/cli/test_options.py \
	tests/cli/test_process.py \
	tests/cli/test_terminal.py \
	tests/cli/test_timing.py \
	tests/cli/test_verify.py
TESTS += $(cli_tests)
EXTRA_DIST += $(cli_tests)

# Something that calls itself libargon2 and is wrong.
check_LTLIBRARIES += tests/cli/libwrongargon2.la
tests_cli_libwrongargon2_la_SOURCES = tests/cli/wrongargon2.c
tests_cli_libwrongargon2_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere

# Preloaded: a close() of standard output that fails, as with a quota or over NFS.
check_LTLIBRARIES += tests/cli/libclosefails.la
tests_cli_libclosefails_la_SOURCES = tests/cli/closefails.c
tests_cli_libclosefails_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
