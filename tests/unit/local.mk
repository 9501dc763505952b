# SPDX-License-Identifier: BSD-2-Clause
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_anycrypt
TESTS += tests/unit/test_anycrypt
tests_unit_test_anycrypt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_anycrypt_LDADD = policy/libpolicy.la libcore/libcore.la $(CMOCKA_LIBS)
endif
