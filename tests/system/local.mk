# SPDX-License-Identifier: BSD-2-Clause
# Tests of the whole system, which ./check runs in throwaway roots; "make check" doesn't.
EXTRA_DIST += \
	tests/system/arenad.py \
	tests/system/attack.py \
	tests/system/common.py \
	tests/system/drive.py \
	tests/system/host.py \
	tests/system/killat.c \
	tests/system/test_arena.py \
	tests/system/test_attack.py \
	tests/system/test_chkpwd.py \
	tests/system/test_faillock.py \
	tests/system/test_fire.py \
	tests/system/test_headroom.py \
	tests/system/test_history.py \
	tests/system/test_install.py \
	tests/system/test_libcrypt.py \
	tests/system/test_leave.py \
	tests/system/test_logins.py \
	tests/system/test_odd.py \
	tests/system/test_pam_check.py \
	tests/system/test_passwords.py \
	tests/system/test_rescue.py \
	tests/system/test_shadow.py \
	tests/system/test_stopped.py \
	tests/system/test_timing.py \
	tests/system/test_unix.py \
	tests/system/test_upgrade.py \
	tests/system/turns.py \
	tests/system/walk.py
