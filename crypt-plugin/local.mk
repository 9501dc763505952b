# SPDX-License-Identifier: BSD-2-Clause
# Nothing of this folder is built or installed here: graft copies it, libcore and a test into a
# source tree of libxcrypt (doc/GRAFT.md).
EXTRA_DIST += \
	crypt-plugin/build-libxcrypt \
	crypt-plugin/crypt-mhkdf.c \
	crypt-plugin/crypt.5.in \
	crypt-plugin/fetch-libxcrypt \
	crypt-plugin/fetch-source \
	crypt-plugin/graft \
	crypt-plugin/swap-libcrypt
