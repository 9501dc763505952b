# SPDX-License-Identifier: BSD-2-Clause
# For test scripts: prints TAP, one line a case, and counts. A script starts with
#     . "$MHKDF_SRCDIR/tests/lib/tap.sh"
# and ends with tap_done. tap_tmp is a directory of the script's own, removed at its end.
# shellcheck shell=sh
tap_count=0
tap_failed=0
tap_tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tap_tmp"' EXIT
trap 'exit 1' HUP INT TERM

# tap_pass NAME; tap_fail NAME [WHAT WAS WRONG]
tap_pass() {
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s\n' "$tap_count" "$1"
}

tap_fail() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_count" "$1"
    [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
}

# tap_skip NAME REASON
tap_skip() {
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# tap_skip_all REASON: instead of any case
tap_skip_all() {
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

# tap_is NAME GOT EXPECTED
tap_is() {
    if [ "$2" = "$3" ]; then
        tap_pass "$1"
    else
        tap_fail "$1" "got:      $2
expected: $3"
    fi
}

# tap_status EXPECTED NAME COMMAND ...: runs it and compares its exit status. Its output is in
# $tap_tmp/out and $tap_tmp/err afterwards.
tap_status() {
    tap_expected=$1
    tap_name=$2
    shift 2
    tap_rc=0
    "$@" >"$tap_tmp/out" 2>"$tap_tmp/err" || tap_rc=$?
    if [ "$tap_rc" -eq "$tap_expected" ]; then
        tap_pass "$tap_name"
    else
        tap_fail "$tap_name" "exit status $tap_rc, expected $tap_expected
$(cat "$tap_tmp/out" "$tap_tmp/err")"
    fi
}

# tap_check NAME COMMAND ...: it must succeed
tap_check() {
    tap_status 0 "$@"
}

tap_done() {
    printf '1..%d\n' "$tap_count"
    [ "$tap_failed" -eq 0 ] || exit 1
    exit 0
}
