# SPDX-License-Identifier: BSD-2-Clause
dist_man_MANS += man/mhkdf.conf.5
EXTRA_DIST += man/pam_mhkdf.8
if WITH_PAM
man_MANS = man/pam_mhkdf.8
endif
