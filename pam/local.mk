# SPDX-License-Identifier: BSD-2-Clause
# pam_mhkdf.so. It holds libcore, policy and, where it can, inih: a missing library must not keep
# anyone from logging in.
pam_sources = \
	pam/auth.c pam/auth.h \
	pam/finding.c pam/finding.h \
	pam/leasing.c pam/leasing.h \
	pam/log.c pam/log.h \
	pam/options.c pam/options.h \
	pam/pam_mhkdf.c \
	pam/password.c pam/password.h \
	pam/place.c pam/place.h \
	pam/verify.c pam/verify.h
pam_libs = policy/libpolicy.la libcore/libcore.la $(PAM_INIH_LIBS) $(PAM_LIBS) $(CRYPT_LIBS)
pam_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,--version-script=$(srcdir)/pam/pam_mhkdf.map
EXTRA_DIST += pam/pam_mhkdf.map

if WITH_PAM
pam_LTLIBRARIES = pam/pam_mhkdf.la
pam_pam_mhkdf_la_SOURCES = $(pam_sources)
pam_pam_mhkdf_la_LIBADD = $(pam_libs)
pam_pam_mhkdf_la_LDFLAGS = $(pam_ldflags)
pam_pam_mhkdf_la_DEPENDENCIES = policy/libpolicy.la libcore/libcore.la pam/pam_mhkdf.map

# Nothing links with a module; but libtool needs the .la file to uninstall.
install-data-hook:
	rm -f "$(DESTDIR)$(pamdir)/pam_mhkdf.la"

uninstall-hook:
	rm -f "$(DESTDIR)$(pamdir)/pam_mhkdf.so"
endif
