# SPDX-License-Identifier: BSD-2-Clause
# Tests of the methods within libcrypt. They need a libxcrypt that was grafted and built: ./check
# makes one and calls tests/crypt/run. What graft does to a source tree is tried here.
EXTRA_DIST += \
	tests/crypt/build-libxcrypt \
	tests/crypt/fetch-libxcrypt \
	tests/crypt/front.c \
	tests/crypt/libcrypt_tap.py \
	tests/crypt/limits.c \
	tests/crypt/run \
	tests/crypt/run_front \
	tests/crypt/test_graft.py \
	tests/crypt/vectors.c
TESTS += tests/crypt/test_graft.py
