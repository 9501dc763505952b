# SPDX-License-Identifier: BSD-2-Clause
# Each folder of tests has its own part. Programs speak TAP (cmocka's own, or lib.sh's and tap.py's).
include tests/unit/local.mk
include tests/cli/local.mk
include tests/pam/local.mk
