# SPDX-License-Identifier: BSD-2-Clause
# Each folder of tests has its own part. Programs speak TAP: cmocka's own, or lib/tap.sh's and
# lib/tap.py's. Scripts in Python are named *.py.
EXTRA_DIST += tests/lib/leftover.h tests/lib/pamhost.py tests/lib/run-python tests/lib/tap.py tests/lib/tap.sh tests/lib/tool.py
TEST_EXTENSIONS = .py
PY_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/lib/run-python

include tests/unit/local.mk
include tests/arena/local.mk
include tests/check/local.mk
include tests/cli/local.mk
include tests/crypt/local.mk
include tests/fuzz/local.mk
include tests/pam/local.mk
include tests/programs/local.mk
include tests/root/local.mk
include tests/system/local.mk
include tests/vectors/local.mk
