# SPDX-License-Identifier: BSD-2-Clause
# What the PAM module and the tools share. It doesn't contain libcore: who links it adds
# libcore/libcore.la or libcore/libmhkdf.la, so that no program holds two copies of it.
noinst_LTLIBRARIES += policy/libpolicy.la
policy_libpolicy_la_SOURCES = \
	policy/anycrypt.c policy/anycrypt.h
policy_libpolicy_la_LIBADD = $(CRYPT_LIBS)
