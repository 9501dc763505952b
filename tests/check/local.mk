# SPDX-License-Identifier: BSD-2-Clause
# What ./check needs besides the tests.
EXTRA_DIST += \
	tests/check/cmocka.h \
	tests/check/config.h \
	tests/check/dist \
	tests/check/foreign \
	tests/check/install \
	tests/check/style \
	tests/check/tally.py
