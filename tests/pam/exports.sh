#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The module that gets installed: what it shows, what it needs, and that no test seam is in it.
. "$MHKDF_SRCDIR/tests/lib/tap.sh"
module=$MHKDF_BUILDDIR/pam/.libs/pam_mhkdf.so

tap_is 'only the six functions of a module are exported' \
    "$(nm -D --defined-only "$module" | awk '{print $3}' | LC_ALL=C sort | tr '\n' ' ')" \
    'pam_sm_acct_mgmt pam_sm_authenticate pam_sm_chauthtok pam_sm_close_session pam_sm_open_session pam_sm_setcred '

needed=$(readelf -d "$module" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
case $needed in
*libmhkdf*) tap_fail 'libmhkdf.so is not needed' "$needed" ;;
*) tap_pass 'libmhkdf.so is not needed' ;;
esac

name='the environment is not read'
if nm -D "$module" | grep -q 'getenv' && ! nm -D "$module" | grep -q '__asan_init\|__tsan_init'; then
    tap_fail "$name" "$(nm -D "$module" | grep getenv)"
elif LC_ALL=C grep -q MHKDF_TEST_ "$module"; then
    tap_fail "$name" 'MHKDF_TEST_ is in it'
else
    tap_pass "$name"
fi
tap_done
