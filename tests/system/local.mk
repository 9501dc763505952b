# SPDX-License-Identifier: BSD-2-Clause
# Tests of the whole system, which ./check runs in throwaway roots; "make check" doesn't.
EXTRA_DIST += \
	tests/system/drive.py \
	tests/system/walk.py
