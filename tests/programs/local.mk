# SPDX-License-Identifier: BSD-2-Clause
# Tests with other software, which ./check runs in throwaway roots; "make check" doesn't.
EXTRA_DIST += \
	tests/programs/packages \
	tests/programs/programs.py \
	tests/programs/test_ansible.py \
	tests/programs/test_crypt.py \
	tests/programs/test_ldap.py
