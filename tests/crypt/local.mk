# SPDX-License-Identifier: BSD-2-Clause
# Tests of the methods within libcrypt. They need a libxcrypt that was grafted and built: ./check
# makes one and calls tests/crypt/run.
EXTRA_DIST += \
	tests/crypt/vectors.c \
	tests/vectors/strings.vec
