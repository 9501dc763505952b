# SPDX-License-Identifier: BSD-2-Clause
# What the PAM module and the tools share. It doesn't contain libcore: who links it adds
# libcore/libcore.la or libcore/libmhkdf.la, so that no program holds two copies of it. Who uses
# policy/config.h adds inih, in the form that suits it.
# Who changes shadow adds $(SELINUX_LIBS) $(AUDIT_LIBS).
noinst_LTLIBRARIES += policy/libpolicy.la
policy_libpolicy_la_SOURCES = \
	policy/account.c policy/account.h \
	policy/aging.c policy/aging.h \
	policy/anycrypt.c policy/anycrypt.h \
	policy/apart.c policy/apart.h \
	policy/audit.c policy/audit.h \
	policy/calm.c policy/calm.h \
	policy/config.c policy/config.h policy/config_reader.h \
	policy/config_keys.c policy/config_keys.h \
	policy/config_lookup.c policy/config_rules.c \
	policy/descriptors.c policy/descriptors.h \
	policy/file.c policy/file.h \
	policy/foreign.c policy/foreign.h \
	policy/label.c policy/label.h \
	policy/line.c policy/line.h \
	policy/line_read.c policy/line_read.h \
	policy/linker.c policy/linker.h \
	policy/loaded.c policy/loaded.h \
	policy/lock.c policy/lock.h \
	policy/lockout.c policy/lockout.h \
	policy/methods.c policy/methods.h \
	policy/newhash.c policy/newhash.h \
	policy/replace.c policy/replace.h \
	policy/shadow.c policy/shadow.h \
	policy/shortage.c policy/shortage.h \
	policy/size.c policy/size.h \
	policy/strength.c policy/strength.h \
	policy/unshadowed.c policy/unshadowed.h \
	policy/xattr.c policy/xattr.h
policy_libpolicy_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCONFIG_VENDOR_PATH='"$(datadir)/mhkdf/mhkdf.conf"'
policy_libpolicy_la_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS) $(SELINUX_CFLAGS) $(AUDIT_CFLAGS)
policy_libpolicy_la_LIBADD = $(CRYPT_LIBS)
