# SPDX-License-Identifier: BSD-2-Clause
# Tests of functions, each program one file of the library. They are linked with the convenience
# libraries, which show internals.
if HAVE_CMOCKA
unit_tests = \
	tests/unit/test_anycrypt \
	tests/unit/test_config \
	tests/unit/test_known_answers
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

unit_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ldadd = libcore/libcore.la $(CMOCKA_LIBS)

tests_unit_test_anycrypt_CFLAGS = $(unit_cflags)
tests_unit_test_anycrypt_LDADD = policy/libpolicy.la $(unit_ldadd)

tests_unit_test_config_CFLAGS = $(unit_cflags)
tests_unit_test_config_LDADD = policy/libpolicy.la $(INIH_LIBS) $(unit_ldadd)

tests_unit_test_known_answers_SOURCES = tests/unit/test_known_answers.c tests/unit/hex.h
tests_unit_test_known_answers_CFLAGS = $(unit_cflags)
tests_unit_test_known_answers_LDADD = $(unit_ldadd)
endif
