# SPDX-License-Identifier: BSD-2-Clause
# A throwaway root, in which ./quickstart and the whole-system tests change what they like.
EXTRA_DIST += \
	tests/root/apt-offline \
	tests/root/fetch-debs \
	tests/root/fetch-source \
	tests/root/install-inside \
	tests/root/login-layer \
	tests/root/need-packages \
	tests/root/source-copy \
	tests/root/test_quickstart \
	tests/root/test_throwaway_root \
	tests/root/throwaway-root
