# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += etc/leave-pam etc/mhkdf.conf etc/pam-configs/mhkdf
securityconfdir = $(sysconfdir)/security

if WITH_PAM
pamconfigs_DATA = etc/pam-configs/mhkdf

# An administrator's own mhkdf.conf is neither replaced nor removed.
install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(securityconfdir)"
	test -e "$(DESTDIR)$(securityconfdir)/mhkdf.conf" || \
		$(INSTALL_DATA) "$(srcdir)/etc/mhkdf.conf" "$(DESTDIR)$(securityconfdir)/mhkdf.conf"

uninstall-local:
	! cmp -s "$(srcdir)/etc/mhkdf.conf" "$(DESTDIR)$(securityconfdir)/mhkdf.conf" || \
		rm -f "$(DESTDIR)$(securityconfdir)/mhkdf.conf"
endif

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = etc/completion/mhkdf
