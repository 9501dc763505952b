# SPDX-License-Identifier: BSD-2-Clause
dist_man_MANS += \
	man/mhkdf-ldap.7 \
	man/mhkdf-leave.8 \
	man/mhkdf-libcrypt.8 \
	man/mhkdf.1 \
	man/mhkdf.3 \
	man/mhkdf.conf.5 \
	man/mhkdf_strings.5

# man mhkdf_crypt and the like lead to mhkdf.3.
man_links = \
	man/mhkdf_crypt.3 \
	man/mhkdf_derive.3 \
	man/mhkdf_encode.3 \
	man/mhkdf_equal.3 \
	man/mhkdf_gensalt.3 \
	man/mhkdf_is_ours.3 \
	man/mhkdf_parse.3 \
	man/mhkdf_random.3 \
	man/mhkdf_random_salt.3 \
	man/mhkdf_verify.3 \
	man/mhkdf_version.3 \
	man/mhkdf_wipe.3
CLEANFILES += $(man_links)
man_MANS = $(man_links)

$(man_links): man/local.mk
	$(AM_V_GEN)$(MKDIR_P) man && echo '.so man3/mhkdf.3' >$@

CLEANFILES += man/mhkdf-leave-pam.8
man_MANS += man/mhkdf-leave-pam.8
man/mhkdf-leave-pam.8: man/local.mk
	$(AM_V_GEN)$(MKDIR_P) man && echo '.so man8/mhkdf-leave.8' >$@

EXTRA_DIST += man/mhkdf-pam-check.8 man/mhkdf_chkpwd.8 man/pam_mhkdf.8
if WITH_PAM
man_MANS += man/mhkdf-pam-check.8 man/mhkdf_chkpwd.8 man/pam_mhkdf.8
endif

EXTRA_DIST += man/mhkdf-arenad.8
if WITH_ARENA
man_MANS += man/mhkdf-arenad.8
endif
