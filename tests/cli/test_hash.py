# SPDX-License-Identifier: BSD-2-Clause
"""mhkdf hash with a password on standard input: what it prints, and what it refuses."""

import base64
import os
import re
import resource
import subprocess
import tempfile

import tap
from tool import SANITIZED, run, start

CHEAP = ("--memory", "64K")


def b64(data):
    return base64.b64encode(data).decode().rstrip("=").replace("+", ".")


def hashed(*args, stdin):
    result = run("hash", *args, stdin=stdin)
    tap.equal(result.stderr, b"", "standard error")
    tap.equal(result.returncode, 0, "status")
    tap.check(result.stdout.endswith(b"\n"), "no newline at the end")
    return result.stdout.decode()[:-1]


def refused(*args, stdin, why):
    result = run("hash", *args, stdin=stdin)
    tap.equal((result.returncode, result.stdout), (2, b""), result.stderr.decode())
    tap.contains(result.stderr.decode(), why)
    tap.check(result.stderr.startswith(b"mhkdf hash: ") and result.stderr.count(b"\n") == 1)


def need(setting):
    """Not every libcrypt has every old method."""
    prefix = re.match(r"\$\w+\$", setting)
    probe = PROBES.get(prefix[0]) if prefix else None
    if probe and b"libcrypt doesn't know" in run("hash", "--setting", probe, stdin=b"x").stderr:
        tap.skip(f"this system's libcrypt doesn't have {prefix[0]}")


PROBES = {
    "$2b$": "$2b$04$CCCCCCCCCCCCCCCCCCCCC.",
    "$y$": "$y$j75$cW69xh5Rejo13toRM4cnB.",
    "$gy$": "$gy$j75$cW69xh5Rejo13toRM4cnB.",
    "$7$": "$7$2U..../....salt",
}

ONES, TWOS = b"\1" * 32, b64(b"\2" * 16)

# Setting, tag, password. Of doc/SPEC.md section 7, and of the model in tests/vectors where the salt
# is the text TWOS.
KNOWN = [
    ("$mhkdf$m64K.t2.p4.c0$" + TWOS, "l5LIdIiXDcfb9Pi/j/jj8bZfF2lBfpOmfZhll1IDWKE", ONES),
    ("$mhkdf$m64K.t2.p4.c3$" + TWOS, ".v24qm7hHoC15zMqtsQieKx8lTbkpcNQGj6qdNVpkgM", ONES),
    ("$mhkdf$m64K.t2.p4.c6$" + TWOS, "KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM", ONES),
    ("$mhkdf$m64K.t2.p4.c12$" + TWOS, "Dlz7UW14RIi8Z1.dnNC2heTKnQluVH8RNhhOkl3XFIs", ONES),
    ("$mhkdf$m1100K.t2.p2.c6$" + TWOS, "I6Ue5pJXNyheojZuREcFYoHDpzEklsFGtY6luEv4SXI", ONES),
    ("$argon2i$v=19$m=1100,t=2,p=2$" + TWOS, "ZTrLELyF+G0wygvQim2ekeV24/2EAteeCApZswAE/94", ONES),
    ("$argon2id$v=19$m=1100,t=2,p=2$" + TWOS, "ZNqlvXKbvwy8MPpoG24adKIhEHqcFFb20zxFPUeCKas", ONES),
]  # fmt: skip


@tap.case("known answer: {}", KNOWN)
def _(setting, tag, password):
    expected = setting + "$" + tag
    tap.equal(hashed("--setting", setting, stdin=password), expected)
    tap.equal(hashed("--setting", setting + "$", stdin=password + b"\n"), expected)
    tap.equal(hashed("--setting=" + expected, stdin=password + b"\nmore\n"), expected)


@tap.case("known answer: empty password, tag of 16 bytes")
def _():
    setting = "$mhkdf$m8K.t1.p1.c12$abcdefgh$"
    for stdin in (b"", b"\n", b"\nmore\n"):
        result = run("hash", "--setting", setting + b64(b"\0" * 16), stdin=stdin)
        expected = setting + "xkaoXTooEWLwCr.tC9ba0Q" + "\n"
        tap.equal((result.returncode, result.stdout.decode()), (0, expected))
        tap.equal(result.stderr, b"mhkdf hash: warning: the password is empty\n")


# From libxcrypt's own documentation and tests, and what it computes.
FOREIGN = [
    ("$6$saltstring", "$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1"),
    ("$5$saltstring", "$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
    ("$y$j75$cW69xh5Rejo13toRM4cnB.", "$AON2cZzT5oo0xjRPH77CjVwEti9xdWrHOwNCeWMDvT4"),
]  # fmt: skip


@tap.case("crypt(3) of the system: {}", FOREIGN)
def _(setting, rest):
    tap.equal(hashed("--setting", setting, stdin=b"Hello world!\n"), setting + rest)
    tap.equal(hashed("--setting", setting + rest, stdin=b"Hello world!"), setting + rest)


DEFAULTS = [
    ((), "mhkdf", "m64M.t1.p4.c6"),
    (("--method", "mhkdf", "--memory", "1M"), "mhkdf", "m1M.t1.p4.c6"),
    (("--method=argon2id",), "argon2id", "v=19", "m=65536,t=3,p=4"),
    (("--method=argon2d", "--memory=512K", "--passes=1"), "argon2d", "v=19", "m=512,t=1,p=4"),
    (("--method=argon2i", *CHEAP, "--lanes", "8"), "argon2i", "v=19", "m=64,t=3,p=8"),
    ((*CHEAP, "--passes", "2", "--lanes", "1", "--chain", "0"), "mhkdf", "m64K.t2.p1.c0"),
    ((*CHEAP, "--chain=12"), "mhkdf", "m64K.t1.p4.c12"),
    (("--memory=512K", "--lanes=64", "--chain=3"), "mhkdf", "m512K.t1.p64.c3"),
]


@tap.case("options {}", DEFAULTS)
def _(args, method, *parameters):
    out = hashed(*args, stdin=b"secret\n")
    alphabet = "[A-Za-z0-9./]" if method == "mhkdf" else "[A-Za-z0-9+/]"
    form = rf"{re.escape('$'.join(['', method, *parameters, '']))}{alphabet}{{22}}\${alphabet}{{43}}"
    tap.check(re.fullmatch(form, out), out)
    tap.equal(hashed("--setting", out, stdin=b"secret"), out)


@tap.case("every salt is another")
def _():
    tap.equal(len({hashed(*CHEAP, stdin=b"secret") for _ in range(8)}), 8)


@tap.case("511 bytes are taken, with and without a newline")
def _():
    setting = "$mhkdf$m64K.t1.p1.c6$" + TWOS
    full = hashed("--setting", setting, stdin=b"x" * 511)
    tap.equal(hashed("--setting", setting, stdin=b"x" * 511 + b"\n"), full)
    tap.check(hashed("--setting", setting, stdin=b"x" * 510) != full)


@tap.case("{} bytes are refused", [512, 513, 100000])
def _(length):
    for end in (b"", b"\n"):
        refused(*CHEAP, stdin=b"x" * length + end, why="longer than 511 bytes")
        refused("--setting", "$6$salt", stdin=b"x" * length + end, why="longer than 511 bytes")


@tap.case("a NUL byte is refused: {}", [b"\0", b"\0\n", b"ab\0", b"ab\0cd\n"])
def _(stdin):
    refused(*CHEAP, stdin=stdin, why="NUL")


@tap.case("every other byte is taken as it is")
def _():
    setting = "$mhkdf$m64K.t1.p1.c6$" + TWOS
    password = bytes(range(1, 10)) + bytes(range(11, 256))
    full = hashed("--setting", setting, stdin=password + b"\n")
    for other in (password + b"\r", password + b" ", b" " + password, password[:-1] + b"\x7f"):
        tap.check(hashed("--setting", setting, stdin=other + b"\n") != full, repr(other))


@tap.case("input without an end is refused, not read to its end")
def _():
    with open("/dev/zero", "rb") as zero:
        refused(*CHEAP, stdin=zero, why="longer than 511 bytes")
    endless = subprocess.Popen(["sh", "-c", "yes | tr -d '\\n'"], stdout=subprocess.PIPE)
    refused(*CHEAP, stdin=endless.stdout, why="longer than 511 bytes")
    endless.stdout.close()
    endless.wait()


@tap.case("a line without an end in lines without an end is one password")
def _():
    setting = "$mhkdf$m64K.t1.p1.c6$" + TWOS
    endless = subprocess.Popen(["yes", "secret"], stdout=subprocess.PIPE)
    out = hashed("--setting", setting, stdin=endless.stdout)
    endless.stdout.close()
    endless.wait()
    tap.equal(out, hashed("--setting", setting, stdin=b"secret"))


@tap.case("what follows the newline is left to the next reader")
def _():
    setting = "$mhkdf$m64K.t1.p1.c6$" + TWOS
    with tempfile.TemporaryFile() as lines:
        lines.write(b"one\ntwo\nthree")
        lines.flush()
        os.lseek(lines.fileno(), 0, os.SEEK_SET)
        for password in (b"one", b"two", b"three"):
            out = hashed("--setting", setting, stdin=lines)
            tap.equal(out, hashed("--setting", setting, stdin=password), repr(password))


@tap.case("a pipe that doesn't block is waited for")
def _():
    setting = "$mhkdf$m64K.t1.p1.c6$" + TWOS
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    process = start("hash", "--setting", setting, stdin=reader, stdout=subprocess.PIPE)
    os.close(reader)
    os.write(writer, b"sec")
    os.write(writer, b"ret\n")
    out, _ = process.communicate()
    os.close(writer)
    tap.equal(out.decode().strip(), hashed("--setting", setting, stdin=b"secret"))


@tap.case("a directory in place of input is an error")
def _():
    directory = os.open("/", os.O_RDONLY)
    refused(*CHEAP, stdin=directory, why="can't read the password from standard input: Is a dir")
    os.close(directory)


INNER = "$6$saltstring"
WRAP = "$mhkdf$m64K.t1.p1.c6.w" + b64(INNER.encode()) + "$" + TWOS


@tap.case("a wrapped setting hashes the older hash")
def _():
    out = hashed("--setting", WRAP, stdin=b"Hello world!")
    tap.check(out.startswith(WRAP + "$"), out)
    tap.equal(hashed("--setting", out, stdin=b"Hello world!"), out)
    tap.check(hashed("--setting", WRAP, stdin=b"Hello World!") != out)


UNUSABLE = [
    ("", "malformed"),
    ("*0", "locked entry or a failure token"),
    ("!$6$salt", "locked entry or a failure token"),
    ("x", "malformed"),
    ("$mhkdf$", "malformed"),
    ("$mhkdf$v=1$m=64,t=1,p=1,c=6$" + TWOS, "malformed"),
    ("$mhkdf$m1024K.t1.p1.c6$" + TWOS, "malformed"),
    ("$mhkdf$m64K.t1.p1.c6$" + TWOS + "+", "malformed"),
    ("$argon2id$v=16$m=64,t=1,p=1$" + TWOS, "malformed"),
    ("$6$salt:", "malformed"),
    ("$6$salt\n", "malformed"),
    ("$nosuch$salt", "libcrypt doesn't know"),
    ("$mhkdf$m64K.t1.p1.c6.ksite1$" + TWOS, 'site key "site1"'),
    ("$6$" + "s" * 400, "too long"),
    ("$mhkdf$m64K.t1.p1.c6$" + TWOS + "$" + "A" * 400, "malformed"),
    ("$mhkdf$m64K.t1.p1.c6.w" + b64(b"$6$" + b"s" * 240) + "$" + TWOS, "too long"),
]  # fmt: skip




def wrapped(setting, more=""):
    return "$mhkdf$m64K.t1.p1.c6" + more + ".w" + b64(setting.encode()) + "$" + TWOS


KEYED = "$mhkdf$m64K.t1.p1.c6.ksite1$" + TWOS
UNUSABLE += [
    # What crypt(3) takes, and nobody means.
    ("foo", "of a method that new hashes aren't made with; mhkdf, argon2id"),
    ("ab", "of a method that new hashes aren't made with"),
    ("_J9..rasm", "of a method that new hashes aren't made with"),
    ("$1$salt", "of a method that new hashes aren't made with"),
    ("$sha1$24$saltsalt", "of a method that new hashes aren't made with"),
    ("$3$", "of a method that new hashes aren't made with"),
    ("$2x$05$CCCCCCCCCCCCCCCCCCCCC.", "of a method that new hashes aren't made with"),
    ("$6$", "the salt is missing"),
    ("$5$", "the salt is missing"),
    ("$6$$hash", "the salt is missing"),
    ("$6$rounds=5000$", "the salt is missing"),
    ("$6$rounds=5000", "the salt is missing"),
    ("$y$j9T$", "the salt is missing"),
    ("$gy$j9T$", "the salt is missing"),
    ("$7$CU..../....", "the salt is missing"),
    (wrapped(KEYED), 'needs the site key "site1"'),
    (wrapped(KEYED, ".ksite2"), 'needs the site key "site2"'),
    (wrapped("$6$salt", ".ksite3"), 'needs the site key "site3"'),
    (wrapped(wrapped(KEYED)), 'needs the site key "site1"'),
    (wrapped("$mhkdf$m7K.t1.p1.c6$" + TWOS), "malformed"),
    ("$2b$05$short", "malformed"),
    ("$2b$05CCCCCCCCCCCCCCCCCCCCC.", "malformed"),
    ("$2b$x5$CCCCCCCCCCCCCCCCCCCCC.", "malformed"),
    ("$y$", "malformed"),
    ("$y$j9", "malformed"),
    ("$y$j9T", "malformed"),
    ("$gy$j9", "malformed"),
    ("$7$CU", "malformed"),
    ("$7$CU..../...", "malformed"),
    ("$6$rounds=x$salt", "malformed"),
    ("$5$rounds=0$salt", "malformed"),
    (wrapped("$y$j9"), "malformed"),
]


@tap.case("unusable setting {}", UNUSABLE)
def _(setting, why):
    need(setting)
    refused("--setting", setting, stdin=b"secret", why=why)
    # Before the password is asked for: nobody gets as far as to say that this one is too long.
    refused("--setting", setting, stdin=b"x" * 600, why=why)
    refused("--setting", setting, stdin=b"x" * 600, why="--setting ")


# libcrypt alone can tell, when it has the password.
@tap.case("unusable setting {} shows up late", ["$6$rounds=1000000000$salt", "$2b$32$CCCCCCCCCCCCCCCCCCCCC."])
def _(setting):
    need(setting)
    refused("--setting", setting, stdin=b"secret", why="--setting is malformed")


@tap.case("too little memory for a level inside: {}", [
    ("$mhkdf$m1G.t1.p1.c6$" + TWOS, 1042),
    ("$y$jFT$cW69xh5Rejo13toRM4cnB.", 1041),
    ("$7$EU..../....saltsaltsalt", 261),
    (wrapped("$y$jFT$cW69xh5Rejo13toRM4cnB."), 1041),
])  # fmt: skip
def _(inner, mib):
    if SANITIZED:
        tap.skip("sanitizers reserve more address space than the limit")
    need(inner)
    limit = (200 << 20, 200 << 20)
    result = run(
        *("hash", "--setting", wrapped(inner)),
        stdin=b"secret",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    tap.equal((result.returncode, result.stdout), (2, b""))
    wanted = rf"mhkdf hash: not enough memory: {mib}M needed, 1\d\dM available \(RLIMIT_AS = 204800K\)\n"
    tap.check(re.fullmatch(wanted, result.stderr.decode()), result.stderr)


tap.main()
