# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += etc/mhkdf.conf etc/pam-configs/mhkdf
dist_sbin_SCRIPTS += etc/mhkdf-leave etc/mhkdf-leave-pam
securityconfdir = $(sysconfdir)/security

EXTRA_DIST += etc/mhkdf-pam-check
if WITH_PAM
pamconfigs_DATA = etc/pam-configs/mhkdf
folders += $(securityconfdir)
sbin_SCRIPTS += etc/mhkdf-pam-check

# An administrator's own mhkdf.conf is neither replaced nor removed.
install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(securityconfdir)"
	test -e "$(DESTDIR)$(securityconfdir)/mhkdf.conf" || \
		$(INSTALL_DATA) "$(srcdir)/etc/mhkdf.conf" "$(DESTDIR)$(securityconfdir)/mhkdf.conf"

uninstall-local:
	@conf="$(DESTDIR)$(securityconfdir)/mhkdf.conf"; \
	if cmp -s "$(srcdir)/etc/mhkdf.conf" "$$conf"; then rm -f "$$conf"; \
	elif test -e "$$conf"; then echo "$$conf has been edited and stays; nothing reads it any more"; fi
endif

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = etc/completion/mhkdf

systemd_sources = \
	etc/systemd/50-mhkdf.conf \
	etc/systemd/mhkdf-arenad.service.in \
	etc/systemd/mhkdf-arenad.socket \
	etc/systemd/mhkdf.sysusers \
	etc/systemd/mhkdf.tmpfiles
EXTRA_DIST += $(systemd_sources)

if WITH_ARENA
systemdsystemunit_DATA = etc/systemd/mhkdf-arenad.service etc/systemd/mhkdf-arenad.socket
arenaexampledir = $(docdir)/examples
arenaexample_DATA = etc/systemd/50-mhkdf.conf
CLEANFILES += etc/systemd/mhkdf-arenad.service etc/systemd/sysusers/mhkdf.conf \
	etc/systemd/tmpfiles/mhkdf.conf
arenasysusersdir = $(prefix)/lib/sysusers.d
arenasysusers_DATA = etc/systemd/sysusers/mhkdf.conf
arenatmpfilesdir = $(prefix)/lib/tmpfiles.d
arenatmpfiles_DATA = etc/systemd/tmpfiles/mhkdf.conf

etc/systemd/mhkdf-arenad.service: etc/systemd/mhkdf-arenad.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc/systemd && \
		$(SED) 's|@sbindir[@]|$(sbindir)|' "$(srcdir)/etc/systemd/mhkdf-arenad.service.in" >$@

etc/systemd/sysusers/mhkdf.conf: etc/systemd/mhkdf.sysusers
	$(AM_V_GEN)$(MKDIR_P) etc/systemd/sysusers && cp "$(srcdir)/etc/systemd/mhkdf.sysusers" $@

etc/systemd/tmpfiles/mhkdf.conf: etc/systemd/mhkdf.tmpfiles
	$(AM_V_GEN)$(MKDIR_P) etc/systemd/tmpfiles && cp "$(srcdir)/etc/systemd/mhkdf.tmpfiles" $@
endif
