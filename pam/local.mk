# SPDX-License-Identifier: BSD-2-Clause
# pam_mhkdf.so. It holds libcore, policy and, where it can, inih: a missing library must not keep
# anyone from logging in.
pam_sources = \
	pam/auth.c pam/auth.h \
	pam/chkpwd.h \
	pam/dummy.c pam/dummy.h \
	pam/even.c pam/even.h \
	pam/finding.c pam/finding.h \
	pam/helper.c pam/helper.h \
	pam/history.c pam/history.h \
	pam/judge.c pam/judge.h \
	pam/leasing.c pam/leasing.h \
	pam/limits.c pam/limits.h \
	pam/log.c pam/log.h \
	pam/names.c pam/names.h \
	pam/options.c pam/options.h \
	pam/origin.c pam/origin.h \
	pam/pam_mhkdf.c \
	pam/password.c pam/password.h \
	pam/place.c pam/place.h \
	pam/ruling.c pam/ruling.h \
	pam/service_file.c pam/service_file.h \
	pam/upgrade.c pam/upgrade.h \
	pam/verdict.c pam/verdict.h \
	pam/verify.c pam/verify.h \
	pam/warning.c pam/warning.h
pam_libs = policy/libpolicy.la libcore/libcore.la $(INIH_LIBS) $(PAM_LIBS) $(CRYPT_LIBS) \
	$(SELINUX_LIBS) $(AUDIT_LIBS)
pam_cppflags = $(AM_CPPFLAGS) -DMHKDF_CHKPWD='"$(sbindir)/mhkdf_chkpwd"'
pam_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,--version-script=$(srcdir)/pam/pam_mhkdf.map
EXTRA_DIST += pam/pam_mhkdf.map

if WITH_PAM
pam_LTLIBRARIES = pam/pam_mhkdf.la
pam_pam_mhkdf_la_SOURCES = $(pam_sources)
pam_pam_mhkdf_la_CPPFLAGS = $(pam_cppflags)
pam_pam_mhkdf_la_LIBADD = $(pam_libs)
pam_pam_mhkdf_la_LDFLAGS = $(pam_ldflags)
pam_pam_mhkdf_la_DEPENDENCIES = policy/libpolicy.la libcore/libcore.la pam/pam_mhkdf.map

# Nothing links with a module; but libtool needs the .la file to uninstall.
install-data-hook:
	rm -f "$(DESTDIR)$(pamdir)/pam_mhkdf.la"

uninstall_hooks += uninstall-pam
uninstall-pam:
	rm -f "$(DESTDIR)$(pamdir)/pam_mhkdf.so"
endif

# The program that verifies for those who can't read shadow: set-group-id SHADOW_GROUP, or where
# there is none set-user-id root. A package that isn't made as root gives it these itself.
chkpwd_sources = \
	pam/chkpwd.c pam/chkpwd.h \
	pam/confine.c pam/confine.h \
	pam/dummy.c pam/dummy.h \
	pam/judge.c pam/judge.h \
	pam/names.c pam/names.h \
	pam/place.c pam/place.h \
	pam/ruling.c pam/ruling.h
chkpwd_libs = policy/libpolicy.la libcore/libcore.la $(INIH_LIBS) $(CRYPT_LIBS) $(CAP_LIBS)
if WITH_PAM
sbin_PROGRAMS += pam/mhkdf_chkpwd
pam_mhkdf_chkpwd_SOURCES = $(chkpwd_sources)
pam_mhkdf_chkpwd_CPPFLAGS = $(pam_cppflags)
pam_mhkdf_chkpwd_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS)
pam_mhkdf_chkpwd_LDADD = $(chkpwd_libs)
pam_mhkdf_chkpwd_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

install-exec-hook:
	@program="$(DESTDIR)$(sbindir)/mhkdf_chkpwd"; \
	if test -n "$(SHADOW_GROUP)"; then owner=0:$(SHADOW_GROUP) mode=2755; else owner=0:0 mode=4755; fi; \
	if chown $$owner "$$program" 2>/dev/null && chmod $$mode "$$program"; then :; \
	else chmod 755 "$$program"; \
		echo "mhkdf_chkpwd has no set-id bit yet. As root: chown $$owner $$program; chmod $$mode $$program"; \
	fi
endif
