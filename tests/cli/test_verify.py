# SPDX-License-Identifier: BSD-2-Clause
"""mhkdf verify: its exit status says all."""

import base64
import resource

import tap
from tool import SANITIZED, run


def b64(data):
    return base64.b64encode(data).decode().rstrip("=").replace("+", ".")


def verify(string, password, status, why=""):
    result = run("verify", string, stdin=password)
    tap.equal(result.returncode, status, result.stderr.decode())
    tap.equal(result.stdout, b"", "standard output")
    if status < 2:
        tap.equal(result.stderr, b"", "standard error")
    else:
        tap.check(result.stderr.startswith(b"mhkdf verify: "), result.stderr.decode())
        tap.equal(result.stderr.count(b"\n"), 1, "lines of the message")
        tap.contains(result.stderr.decode(), why)


SALT = b64(b"\2" * 16)
MHKDF = "$mhkdf$m64K.t2.p4.c6$" + SALT + "$KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM"
SHA512 = "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1"  # fmt: skip
HELLO = b"Hello world!"

GOOD = [
    (MHKDF, b"\1" * 32),
    ("$argon2id$v=19$m=1100,t=2,p=2$" + SALT + "$" + "ZNqlvXKbvwy8MPpoG24adKIhEHqcFFb20zxFPUeCKas", b"\1" * 32),
    (SHA512, HELLO),
    ("$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5", HELLO),
    ("$y$j75$cW69xh5Rejo13toRM4cnB.$AON2cZzT5oo0xjRPH77CjVwEti9xdWrHOwNCeWMDvT4", HELLO),
    ("$1$salt$qJH7.N4xYta3aEG/dfqo/0", b"password"),
    ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", b"U*U"),
]  # fmt: skip


def need(string):
    """Not every libcrypt has every old method."""
    result = run("verify", string, stdin=b"x")
    if b"libcrypt doesn't know" in result.stderr:
        tap.skip("this system's libcrypt doesn't have this method")


@tap.case("match and mismatch: {}", GOOD)
def _(string, password):
    need(string)
    verify(string, password, 0)
    verify(string, password + b"\n", 0)
    verify(string, password + b"\nrest", 0)
    for other in (password + b"x", password[:-1], password.swapcase() + b"\r", b"", b"x" * 511):
        verify(string, other, 1)


@tap.case("another character at each place of the tag is a mismatch")
def _():
    start = MHKDF.rindex("$") + 1
    for at in range(start, len(MHKDF) - 1):
        other = "A" if MHKDF[at] != "A" else "B"
        verify(MHKDF[:at] + other + MHKDF[at + 1 :], b"\1" * 32, 1)


@tap.case("a tag of another length is a mismatch")
def _():
    for tag in (MHKDF + "A", MHKDF.replace("$KYLe", "$")):
        verify(tag, b"\1" * 32, 1)


@tap.case("the empty password matches its own hash")
def _():
    string = run("hash", "--memory", "64K", stdin=b"").stdout.decode().strip()
    verify(string, b"", 0)
    verify(string, b"\n", 0)
    verify(string, b"x", 1)


@tap.case("wrapped hash around {}", ["$6$saltstring", "$1$salt", "$mhkdf$m32K.t1.p1.c0$" + SALT])
def _(inner):
    setting = "$mhkdf$m64K.t1.p2.c6.w" + b64(inner.encode()) + "$" + SALT
    string = run("hash", "--setting", setting, stdin=HELLO).stdout.decode().strip()
    tap.check(string.startswith(setting + "$"), string)
    verify(string, HELLO, 0)
    verify(string, HELLO + b"!", 1)
    plain = string.replace(".w" + b64(inner.encode()), "")
    verify(plain, HELLO, 1)


KEYED = "$mhkdf$m64K.t1.p1.c6.ksite1$" + SALT
WRAPPED = "$mhkdf$m64K.t1.p1.c0.w" + b64(KEYED.encode()) + "$" + SALT + "$" + "A" * 43
UNUSABLE = [
    ("", "malformed"),
    ("*", "locked"),
    ("!", "locked"),
    ("!" + MHKDF, "locked"),
    ("*0", "locked"),
    ("x", "malformed"),
    (MHKDF[:-1], "malformed"),
    (MHKDF + "AA", "malformed"),
    (MHKDF.replace("m64K", "m0064K"), "malformed"),
    (MHKDF.replace("m64K", "m31K"), "malformed"),
    (MHKDF.replace("m64K", "m64"), "malformed"),
    (MHKDF.replace("m64K.t2.p4.c6", "v=1$m=64,t=2,p=4,c=6"), "malformed"),
    (MHKDF.replace("c6", "c7"), "malformed"),
    (MHKDF.replace("$KYL", "$L"), "malformed"),
    (MHKDF[: MHKDF.rindex("$")], "malformed"),
    (MHKDF[: MHKDF.rindex("$") + 1], "malformed"),
    (MHKDF.replace("c6", "c6.ksite1"), 'site key "site1"'),
    (SHA512[:-1], "malformed"),
    (SHA512 + "A", "malformed"),
    ("$6$saltstring", "malformed"),
    ("$6$salt string$abc", "malformed"),
    ("root:" + SHA512, "malformed"),
    ("$nosuch$salt$hash", "libcrypt doesn't know"),
    (WRAPPED, 'site key "site1"'),
    (WRAPPED.replace("c0", "c0.ksite2"), 'site key "site2"'),
]  # fmt: skip

# Seen before the password is asked for.
UNUSABLE_AT_ONCE = [
    (WRAPPED, 'STRING needs the site key "site1"'),
    ("!" + SHA512, "STRING is a locked entry"),
    (MHKDF[:-1], "STRING is malformed"),
    ("x", "STRING is malformed"),
    ("$6$rounds=x$" + SHA512[3:], "STRING is malformed"),
    ("$nosuch$salt$hash", "STRING has a method"),
    ("$6$" + "x" * 400, "STRING is too long"),
]


@tap.case("nobody is asked for a password in vain: {}", UNUSABLE_AT_ONCE)
def _(string, why):
    verify(string, b"x" * 600, 2, why)


@tap.case("too little memory for a level inside")
def _():
    if SANITIZED:
        tap.skip("sanitizers reserve more address space than the limit")
    inner = "$mhkdf$m1G.t1.p1.c6$" + SALT
    string = "$mhkdf$m64K.t1.p2.c6.w" + b64(inner.encode()) + "$" + SALT + "$" + "A" * 43
    limit = (200 << 20, 200 << 20)
    result = run("verify", string, stdin=HELLO, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
    tap.equal((result.returncode, result.stdout), (2, b""))
    tap.contains(result.stderr, b"mhkdf verify: not enough memory: 1042M needed, 1")
    tap.contains(result.stderr, b"M available (RLIMIT_AS = 204800K)\n")


@tap.case("unusable string {}", UNUSABLE)
def _(string, why):
    verify(string, HELLO, 2, why)
    verify(string, b"", 2, why)


@tap.case("a password that can't be one is no mismatch, but an error")
def _():
    for string in (MHKDF, SHA512):
        verify(string, b"x" * 512, 2, "longer than 511 bytes")
        verify(string, b"a\0b", 2, "NUL")


@tap.case("a string that starts with a dash can be given after --")
def _():
    result = run("verify", "--", "-x", stdin=b"")
    tap.equal(result.returncode, 2)
    tap.contains(result.stderr, b"malformed")
    tap.equal(run("verify", "--", MHKDF, stdin=b"\1" * 32).returncode, 0)


tap.main()
