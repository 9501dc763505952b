# SPDX-License-Identifier: BSD-2-Clause
bin_PROGRAMS += tools/mhkdf
tools_mhkdf_SOURCES = \
	tools/hash.c tools/hash.h \
	tools/message.c tools/message.h \
	tools/mhkdf.c \
	tools/options.c tools/options.h \
	tools/password.c tools/password.h \
	tools/refusal.c tools/refusal.h \
	tools/status.h \
	tools/terminal.c tools/terminal.h \
	tools/verify.c tools/verify.h
tools_mhkdf_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS)
tools_mhkdf_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
tools_mhkdf_LDADD = policy/libpolicy.la libcore/libmhkdf.la
