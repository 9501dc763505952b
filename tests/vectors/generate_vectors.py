#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes and checks the vector files beside it from mhkdf_model.py.

    generate_vectors.py [FILE ..]    write mhkdf1.vec, argon2.vec, strings.vec
                                     (or those named); some two minutes of CPU time
    generate_vectors.py --check N    compute N records of the files anew;
                                     exit 1 if any differs from what stands there

Everything is deterministic: a new run gives the same bytes, so a difference in
version control is a difference of the model. The files are committed because
the C tests read them and must not need Python.
"""

import multiprocessing
import os
import sys
from hashlib import shake_256

sys.dont_write_bytecode = True                  # leaves no __pycache__ in a source tree
import mhkdf_model as model

HERE = os.path.dirname(os.path.abspath(__file__))

# --check leaves out what takes longer than some seconds.
CHECK_COST_LIMIT = 9000

COMMON_HEADER = """\
# SPDX-License-Identifier: BSD-2-Clause
# Made by generate_vectors.py from the model mhkdf_model.py; not to be edited by hand.
#
# One record a line, fields separated by one space. Lines that start with # and
# empty lines are comments. Byte strings are lower-case hex, - is the empty one.
# No line is longer than 8,191 characters.
"""

MHKDF1_HEADER = COMMON_HEADER + """\
# Fields:
#   m t p c     memory in KiB, passes, lanes, chain steps; decimal
#   w           1 if X has the "w" of a wrapped hash, else 0
#   T           tag length in bytes
#   password salt key tag       bytes; key is the site key K
"""

ARGON2_HEADER = COMMON_HEADER + """\
# Argon2 of RFC 9106, version 0x13. Fields:
#   type        argon2d, argon2i or argon2id
#   m t p       memory in KiB, passes, lanes; decimal
#   T           tag length in bytes
#   password salt key extra tag     bytes; key is K and extra is X of the RFC.
#                                   In $argon2*$ strings both are always empty.
"""

STRINGS_HEADER = COMMON_HEADER + """\
# The first field names the kind of record:
#   key ID BYTES
#       A site key that exists for the hash records. All come first; any other
#       key id is one of a key that isn't there.
#   older PASSWORD SETTING HASH
#       What a method that isn't ours gives, for wraps around it: made with
#       libxcrypt. SETTING is what a wrap keeps (s of the specification). A
#       system without the method skips the hash records that need it.
#   hash PASSWORD SETTING RESULT
#       crypt(PASSWORD, SETTING). RESULT is the output string, or the name of
#       the error: EINVAL, ERANGE, ENOKEY. Passwords have no zero byte. An
#       output string taken as the setting gives itself again.
#       A SETTING that starts with x: is hex of its bytes, because it has some
#       which would not stand in this file as they are; it has no zero byte.
#   gensalt PREFIX COUNT RBYTES SIZE RESULT
#       crypt_gensalt for a count, random bytes, and a buffer of SIZE bytes
#       (with room for the final zero byte). RESULT as above.
"""


# ---------------------------------------------------------------------------
# Fields
# ---------------------------------------------------------------------------

def to_hex(data):
    return data.hex() or "-"


def from_hex(field):
    return b"" if field == "-" else bytes.fromhex(field)


def setting_to_field(setting):
    if all("!" <= ch <= "~" for ch in setting):
        return setting
    return "x:" + setting.encode("latin-1").hex()


def setting_from_field(field):
    if field.startswith("x:"):
        return bytes.fromhex(field[2:]).decode("latin-1")
    return field


def some_bytes(label, number, length):
    """Bytes without a pattern, the same in every run."""
    return shake_256(f"{label} {number}".encode()).digest(length)


def without_zeros(data):
    return bytes(byte or 1 for byte in data)


def password_of_kind(kind, number):
    """Empty, one byte, 511 bytes, 8-bit bytes that aren't UTF-8, an ordinary phrase."""
    if kind == 0:
        return b""
    if kind == 1:
        return bytes([1 + number % 255])
    if kind == 2:
        return without_zeros(some_bytes("password", number, 511))
    if kind == 3:
        high = bytes(byte | 0x80 for byte in some_bytes("password", number, number % 40))
        return b"\xff\xfe\x80" + high
    return b"correct horse battery staple %d" % number


# ---------------------------------------------------------------------------
# mhkdf1.vec: a record's input is (m, t, p, c, wrapped, T, password, salt, key)
# ---------------------------------------------------------------------------

PASSES, LANES, STEPS = (1, 2, 3), (1, 2, 3, 4, 8), (0, 3, 6, 12)
TAG_LENGTHS = (32, 16, 64, 17, 32, 33, 63)
KEY_LENGTHS = (0, 32, 0, 1, 64, 0, 16, 33, 63)


def published():
    p, s = model.PASSWORD, model.SALT
    for c in STEPS:
        yield 64, 2, 4, c, 0, 32, p, s, b""
    yield 64, 2, 4, 6, 1, 32, p, s, b""
    yield 75, 3, 3, 6, 0, 64, b"password", bytes(range(16)), b"\5" * 32
    yield 8, 1, 1, 12, 0, 16, b"", b"\2" * 8, b""
    yield 1100, 2, 2, 6, 0, 32, p, s, b""


def every_combination():
    """Passes x lanes x steps x wrapped; the other fields go round at their own pace."""
    number = 0
    for t in PASSES:
        for p in LANES:
            for c in STEPS:
                for wrapped in (0, 1):
                    m = 8 * p + number * 7 % 61
                    yield (m, t, p, c, wrapped, TAG_LENGTHS[number % 7],
                           password_of_kind(number // 2 % 5, number),
                           some_bytes("salt", number, 8 + number * 11 % 57),
                           some_bytes("key", number, KEY_LENGTHS[number % 9]))
                    number += 1


def every_length():
    """Every length of salt, key and tag: the steps of the padding and of BLAKE2b's blocks."""
    for n in range(8, 65):
        yield (8 + n % 9, 1 + n % 2, 1, STEPS[n % 4], 0, 32, b"salt of %d bytes" % n,
               some_bytes("salt length", n, n), b"")
    for n in range(1, 65):
        yield (16 + n % 5, 1, 1 + n % 2, STEPS[n % 4], n % 2, 32, b"key of %d bytes" % n,
               some_bytes("salt", n, 16), some_bytes("key length", n, n))
    for n in range(16, 65):
        yield (8, 1 + n % 3, 1, STEPS[n % 4], 0, n, b"tag of %d bytes" % n,
               some_bytes("salt", n, 16), b"")


def every_password_length():
    for n in (2, 55, 63, 64, 65, 72, 73, 80, 81, 82, 127, 128, 129, 255, 256, 510, 512, 1000, 3000):
        yield (8 + n % 16, 1, 1, 6, 0, 32, some_bytes("password", n, n), b"\2" * 16, b"")
    yield 8, 1, 1, 6, 0, 32, b"\0", b"\2" * 16, b""
    yield 8, 1, 1, 6, 0, 32, b"\0\0zero bytes\0", b"\0" * 16, b"\0"


def every_size():
    """Memory: each remainder by 4p, then some sizes with long segments, then many lanes."""
    for p, sizes in ((1, range(8, 21)), (2, range(16, 33, 3)), (3, range(24, 49, 5)),
                     (4, range(32, 65, 7)), (8, range(64, 129, 13))):
        for m in sizes:
            yield (m, 2, p, STEPS[1 + m % 3], 0, 32, b"memory of %d KiB" % m,
                   some_bytes("salt", m, 16), b"")
    large = [(256, 3, 1, 3), (500, 2, 3, 6), (777, 1, 1, 6), (1000, 1, 8, 12), (1023, 2, 1, 6),
             (1024, 1, 1, 0), (1024, 1, 1, 3), (1024, 1, 2, 6), (1024, 2, 4, 6), (1024, 3, 4, 12),
             (1024, 1, 8, 6), (1025, 2, 8, 3), (2048, 1, 4, 6), (2049, 2, 3, 0), (4095, 2, 3, 3),
             (4096, 1, 4, 6), (4096, 3, 1, 6), (4096, 1, 8, 12), (4096, 2, 2, 0),
             (40, 2, 5, 6), (100, 2, 7, 3), (300, 1, 16, 6), (520, 1, 63, 12), (512, 2, 64, 6)]
    for number, (m, t, p, c) in enumerate(large):
        yield (m, t, p, c, number % 2, 32, password_of_kind(4, number),
               some_bytes("salt", number, 16), some_bytes("key", number, KEY_LENGTHS[number % 9]))


def mhkdf1_inputs():
    inputs = [*published(), *every_combination(), *every_length(), *every_password_length(),
              *every_size()]
    check_coverage(inputs)
    return inputs


def check_coverage(inputs):
    """What the file promises; a change of the lists above must not lose it unseen."""
    m, t, p, c, wrapped, tag_length, password, salt, key = (set(column) for column in zip(*inputs))
    assert min(m) == 8 and max(m) == 4096
    assert t >= set(PASSES) and p >= set(LANES) and c == set(STEPS) and wrapped == {0, 1}
    assert set(map(len, salt)) == set(range(8, 65)) and set(map(len, key)) == set(range(65))
    assert tag_length == set(range(16, 65)) and set(map(len, password)) >= {0, 1, 511}
    assert any(record[0] % (4 * record[2]) for record in inputs)
    assert len(set(inputs)) == len(inputs)


def mhkdf1_line(record):
    m, t, p, c, wrapped, tag_length, password, salt, key = record
    tag = model.mhkdf1(password, salt, key, m, t, p, c, tag_length, bool(wrapped))
    return " ".join(map(str, (m, t, p, c, wrapped, tag_length))) + " " + " ".join(
        map(to_hex, (password, salt, key, tag)))


def mhkdf1_parse(line, known):
    fields = line.split(" ")
    return (*map(int, fields[:6]), *map(from_hex, fields[6:9]))


def mhkdf1_cost(record):
    m, t, p, c = record[:4]
    return t * (m + (64 * p if c else 0))       # blocks, and those made for S-boxes


# ---------------------------------------------------------------------------
# argon2.vec: (type, m, t, p, T, password, salt, key, extra)
# ---------------------------------------------------------------------------

def argon2_inputs():
    inputs = []
    for name in model.ARGON2_TYPES:
        inputs.append((name, 32, 3, 4, 32, model.PASSWORD, model.SALT, model.KEY, model.EXTRA))
        inputs.append((name, 1100, 2, 2, 32, model.PASSWORD, model.SALT, b"", b""))
    number = 0
    for name in model.ARGON2_TYPES:
        for t in PASSES:
            for p in LANES:
                m = 8 * p + number * 7 % 61
                inputs.append((name, m, t, p, TAG_LENGTHS[number % 7],
                               password_of_kind(number % 5, number),
                               some_bytes("salt", number, 8 + number * 11 % 57), b"", b""))
                number += 1
    # Segments of 127, 128, 129 and 256 blocks: where the next address block begins.
    for name in model.ARGON2_TYPES:
        for m, t, p in ((508, 1, 1), (512, 2, 1), (516, 1, 1), (1024, 1, 4), (2050, 2, 2),
                        (4096, 1, 4), (512, 1, 64)):
            inputs.append((name, m, t, p, 32, password_of_kind(4, m),
                           some_bytes("salt", m, 16), b"", b""))
    return inputs


def argon2_line(record):
    name, m, t, p, tag_length, password, salt, key, extra = record
    tag = model.argon2(name, password, salt, m, t, p, tag_length, key, extra)
    return f"{name} {m} {t} {p} {tag_length} " + " ".join(
        map(to_hex, (password, salt, key, extra, tag)))


def argon2_parse(line, known):
    fields = line.split(" ")
    return (fields[0], *map(int, fields[1:5]), *map(from_hex, fields[5:9]))


def argon2_cost(record):
    return record[1] * record[2]


# ---------------------------------------------------------------------------
# strings.vec: ("key", id, bytes), ("older", password, setting, hash),
#              ("hash", known, password, setting), ("gensalt", prefix, count, rbytes, size)
# ---------------------------------------------------------------------------

class Known:
    """What the hash records of a file rest on: its key and older records."""

    def __init__(self):
        self.keys = {}
        self.hashes = {}

    def older(self, password, setting):
        return self.hashes.get((password, setting))

    def add(self, record):
        kind, *fields = record
        if kind == "key":
            self.keys[fields[0]] = fields[1]
        if kind == "older":
            self.hashes[fields[0], fields[1]] = fields[2]


KEYS = {"a": some_bytes("site key", 0, 32), "main2026B": some_bytes("site key", 1, 64),
        "0123456789abcdef": some_bytes("site key", 2, 16)}

OLDER_PASSWORD = "Gr\u00fc\u00dfe 7".encode()
OLDER_HASHES = (
    "abbEVgpWph7eI",
    "_J9..rasmX4c8006n7Cw",
    "$1$saltsalt$/9X.b2Zz5xmbYJHvbLXH4.",
    "$5$saltstring$U3euVxtFyT3NLliTutguX./VG75TcEIAHCp2mtqfDf7",
    "$6$saltstring$jfSAGmbTKHZbH00plEYV3iKRniUEtuzhB7Oo/gVobEdBmOBXb878EqfGOunC7dmi"
    "/HUFkYcxcWRRkIXsiY7zD1",
    "$6$rounds=1000$saltstring$ng3z49vc76RBTAZjzUTl1la6a2gG6FDef/EnGAf.bitUO4sydv3IhJ3YhbKo"
    "F4WI4THTjvvFBvkBlJOeuqEKp.",
    "$2b$04$abcdefghijklmnopqrstuuD0x2Loz4WdY9kHQ14utPfTng1AdTvrq",
    "$y$j75$LdJMENpBABJJ3hIHjB1Bi.$m0mlqPM.FLjBPy9j12dStG3BljkIMb7x2SVw.qjaffA",
    "$gy$j75$LdJMENpBABJJ3hIHjB1Bi.$o6fqct0u4dL9pAredDhsPb/xhBnM2qTmfa2jW5x7Dg7",
    "$7$20..../....saltsalt$HdjBmpATSkzNc8U3P/RmJCTfRQ/vxStKynZmFeR7c4.",
    "$sha1$24$saltsalt$6qJbLll4xl/X6Zhf7YUzeFyJRWzg",
)

SALT8 = "AAECAwQF"                              # of 8 characters
SALT22 = model.b64_encode(some_bytes("salt", 0, 16))
SALT64 = model.b64_encode(some_bytes("salt", 1, 48))
PHC_SALT8 = model.phc_encode(bytes(range(8)))   # of 8 bytes
PHC_SALT16 = model.phc_encode(some_bytes("salt", 0, 16))
PHC_SALT64 = model.phc_encode(some_bytes("salt", 1, 64))


def tag_of_length(length, encode=model.b64_encode):
    """A tag that is well formed and has nothing to do with any password."""
    return encode(some_bytes("tag", length, length))


def encode_for(setting):
    return model.b64_encode if setting.startswith("$mhkdf$") else model.phc_encode


def mhkdf(costs="m8K.t1.p1.c3", salt=SALT8, key=None, inner=None):
    key_part = "" if key is None else f".k{key}"
    inner_part = "" if inner is None else ".w" + model.b64_encode(inner.encode("latin-1"))
    return f"$mhkdf${costs}{key_part}{inner_part}${salt}"


def argon2(name="argon2id", costs="m=8,t=1,p=1", salt=PHC_SALT8):
    return f"${name}$v=19${costs}${salt}"


def good_plain():
    settings = [mhkdf("m64K.t1.p4.c6", SALT22), mhkdf("m75K.t2.p3.c0", SALT64),
                mhkdf("m8K.t3.p1.c12"), mhkdf("m32K.t1.p2.c3", SALT22, "a"),
                mhkdf("m40K.t1.p4.c6", SALT22, "main2026B"),
                mhkdf(key="0123456789abcdef"), mhkdf("m1M.t1.p4.c6", SALT22),
                mhkdf("m1025K.t1.p1.c0", "./" * 4), mhkdf("m1M.t1.p1.c0", "........"),
                mhkdf("m8K.t1.p1.c0", key="k", salt=SALT64[:63])]
    settings += [argon2(name, costs, salt) for name in model.ARGON2_TYPES for costs, salt in
                 (("m=64,t=1,p=4", PHC_SALT16), ("m=75,t=2,p=3", PHC_SALT64),
                  ("m=8,t=3,p=1", PHC_SALT8))]
    for number, setting in enumerate(settings):
        yield password_of_kind(number % 5, number), setting
        yield password_of_kind((number + 1) % 5, number), setting + "$"
        for length in (32, (16, 17, 33, 48, 63, 64)[number % 6]):
            yield b"tag of %d" % length, setting + "$" + tag_of_length(length, encode_for(setting))
    for setting, tag in model.published_strings()[:2]:
        yield b"correct horse", setting
        yield b"correct horse", f"{setting}${tag}"
    # The defaults themselves: what most users will have.
    yield b"default", mhkdf("m64M.t1.p4.c6", SALT22)
    yield b"default", argon2("argon2id", "m=65536,t=3,p=4", PHC_SALT16)


def good_wraps():
    inner = [argon2(name, "m=32,t=2,p=2", PHC_SALT16) for name in model.ARGON2_TYPES]
    inner += [mhkdf("m32K.t1.p4.c0", SALT22), mhkdf("m16K.t1.p2.c6"), mhkdf(key="a")]
    for number, setting in enumerate(inner):
        once = mhkdf("m64K.t1.p4.c6", SALT22, inner=setting)
        yield password_of_kind(number % 5, number), once
        yield b"wrapped", once + "$"
        yield b"wrapped", once + "$" + tag_of_length((16, 32, 64)[number % 3])
        keyed = mhkdf("m17K.t2.p1.c12", key="main2026B", inner=setting)
        yield password_of_kind((number + 2) % 5, number), keyed
        twice = mhkdf("m32K.t1.p2.c3", SALT22, inner=mhkdf(inner=setting))
        yield password_of_kind((number + 3) % 5, number), twice
        yield b"wrapped twice", mhkdf(key="a", inner=mhkdf(inner=setting)) + "$" + tag_of_length(32)


def good_wraps_of_older():
    for number, old in enumerate(OLDER_HASHES):
        inner = model.setting_of_hash(old)
        yield OLDER_PASSWORD, mhkdf("m64K.t1.p4.c6", SALT22, inner=inner)
        yield OLDER_PASSWORD, mhkdf("m16K.t2.p1.c12", SALT22, inner=mhkdf(
            "m32K.t1.p2.c0", key=None if number % 2 else "a", inner=inner))


def of_output_length(length):
    """A setting twice wrapped whose output string has just this length."""
    for inner_salt in range(8, 65):
        inner = mhkdf(inner=argon2(salt=PHC_SALT64), salt=SALT64[:inner_salt])
        for salt_length in range(8, 65):
            setting = mhkdf(salt=SALT64[:salt_length], inner=inner)
            if len(setting) + 1 + 43 == length:
                return setting
    raise AssertionError("no such setting")


def bad_parameters():
    for costs in ("m7K.t1.p1.c3", "m0K.t1.p1.c3", "m08K.t1.p1.c3", "m+8K.t1.p1.c3", "m-8K.t1.p1.c3",
                  "m 8K.t1.p1.c3", "m8 K.t1.p1.c3", "m8K .t1.p1.c3", "mK.t1.p1.c3", "m.t1.p1.c3",
                  "m8.t1.p1.c3", "m8k.t1.p1.c3", "m1m.t1.p1.c3", "m8KiB.t1.p1.c3", "m8KB.t1.p1.c3",
                  "m1T.t1.p1.c3", "m0x8K.t1.p1.c3", "m8.0K.t1.p1.c3", "m8KK.t1.p1.c3",
                  "m1KM.t1.p1.c3", "mM.t1.p1.c3", "m0M.t1.p1.c3", "m0G.t1.p1.c3",
                  # a larger unit divides it
                  "m1024K.t1.p1.c3", "m65536K.t1.p1.c3", "m1048576K.t1.p1.c3", "m1024M.t1.p1.c3",
                  # beyond 2^32 - 1 KiB, 32 and 64 bits
                  "m4294967296K.t1.p1.c3", "m4294967297K.t1.p1.c3", "m4194304M.t1.p1.c3",
                  "m4194305M.t1.p1.c3", "m4096G.t1.p1.c3", "m4097G.t1.p1.c3",
                  "m4294967295G.t1.p1.c3", "m4294967295M.t1.p1.c3",
                  "m18446744073709551623K.t1.p1.c3", "m18014398509481985M.t1.p1.c3",
                  "m17592186044417G.t1.p1.c3", "m" + "8" * 100 + "K.t1.p1.c3",
                  "m15K.t1.p2.c3", "m63K.t1.p8.c3", "m511K.t1.p64.c3",
                  "m8K.t0.p1.c3", "m8K.t01.p1.c3", "m8K.t16777216.p1.c3", "m8K.t1K.p1.c3",
                  "m8K.t4294967297.p1.c3", "m8K.t.p1.c3", "m8K.t1.p0.c3", "m8K.t+1.p1.c3",
                  "m520K.t1.p65.c3", "m8K.t1.p4294967297.c3", "m8K.t1.p01.c3", "m8K.t1.p.c3",
                  "m8K.t1.p1.c1", "m8K.t1.p1.c2", "m8K.t1.p1.c4", "m8K.t1.p1.c7",
                  "m8K.t1.p1.c24", "m8K.t1.p1.c00", "m8K.t1.p1.c06", "m8K.t1.p1.c",
                  "m8K.t1.p1.c-3", "m8K.t1.p1.c4294967299",
                  "m8K.t1.p1", "m8K.t1.c3", "m8K.p1.c3", "t1.p1.c3", "", ".", "m8K",
                  "t1.m8K.p1.c3", "m8K.t1.c3.p1", "m8K.m8K.t1.p1.c3", "m8K.t1.t1.p1.c3",
                  "m8K.t1.p1.c3.", ".m8K.t1.p1.c3", "m8K..t1.p1.c3", "m8K.t1.p1.c3.c3",
                  "m8Kt1p1c3", "M8K.T1.P1.C3", "m8K.T1.p1.c3", "m8K;t1;p1;c3", "m8K.t1.p1.c3.x1",
                  "m8K,t1,p1,c3", "m=8K.t=1.p=1.c=3", "m8K.t1.p1.c3.a3"):
        yield mhkdf(costs)
    for costs in ("m=7,t=1,p=1", "m=8,t=0,p=1", "m=8,t=1,p=0", "m=520,t=1,p=65", "m=08,t=1,p=1",
                  "m=4294967304,t=1,p=1", "m=8,t=16777216,p=1", "m=8,t=1", "m=8,p=1,t=1",
                  "m=8,t=1,p=1,c=3", "m=8,t=1,p=1,k=a", "m=8,t=1,p=1,w=eHg", "m=8,t=1,p=1,data=AAAA",
                  "m=8,t=1,p=1,keyid=AAAA", "m=8K,t=1,p=1", "m8K.t1.p1", "m8K.t1.p1.c3"):
        yield argon2(costs=costs)


def unreleased_form():
    """Strings of before December 2026."""
    for costs in ("m=65536,t=1,p=4,c=6", "m=8,t=1,p=1,c=3", "m=8,t=1,p=1,c=3,k=a",
                  "m=8,t=1,p=1,c=3,w=eHg", "m=8,t=1,p=1,c=3,k=a,w=eHg"):
        setting = f"$mhkdf$v=1${costs}${PHC_SALT8}"
        yield setting
        yield setting + "$"
        yield setting + "$" + tag_of_length(32, model.phc_encode)
    yield "$mhkdf$v=1$m8K.t1.p1.c3$" + SALT8
    yield mhkdf(inner="$mhkdf$v=1$m=8,t=1,p=1,c=3$" + PHC_SALT8)
    yield mhkdf("m8K.t1.p1.c3,k=a")
    yield mhkdf("m8K.t1.p1.c3,w=eHg")


def bad_key_ids_and_versions():
    for key in ("", "0123456789abcdefg", "a.b", "a/b", "..", "a+b", "a b", "a.ka", "\xe4", "a\n",
                "a-b", "a_b", "a.", "a..w", "a="):
        yield mhkdf(key=key)
    yield mhkdf("m8K.t1.p1.c3.w" + model.b64_encode(argon2().encode()) + ".ka")
    yield mhkdf("ka.m8K.t1.p1.c3")
    good = mhkdf()
    for version in ("v=1$", "v1$", "v1.", "2$", "$", "."):
        yield good.replace("$mhkdf$", "$mhkdf$" + version, 1)
    for name in model.ARGON2_TYPES:
        for version in ("v=16", "v=1", "v=019", "v=", "v=0x13", "v=20"):
            yield argon2(name).replace("v=19", version, 1)
        yield argon2(name).replace("v=19$", "", 1)


def bad_salts_and_tags():
    for salt in ("", "AAAAAAA", "A" * 65, "A" * 1000, "AAAA+AAA", "AAAAAAA+", "AAAA=AAA", SALT8 + "=",
                 "AAAA-AAA", "AAAA_AAA", "AAAA AAA", " " + SALT8, "AAAA,AAA", "AAAA*AAA", "AAAA:AAA",
                 "AAAA\xe4AAA", "AAAA\nAAA", "!AAAAAAA"):
        yield mhkdf(salt=salt)
    encode = model.phc_encode
    for salt in ("", encode(bytes(7)), encode(bytes(65)), PHC_SALT8[:-1] + "d", PHC_SALT8[:-1] + "f",
                 PHC_SALT16[:-1] + "B", PHC_SALT8 + "=", PHC_SALT8 + "AA", "AAAAAAAAAAAAA",
                 PHC_SALT8[:-1] + ".", PHC_SALT8[:-1] + "-", "AAAA_AAAAAA", "AAAA AAAAAA",
                 " " + PHC_SALT8, "A" * 1000):
        yield argon2(salt=salt)
    for good in (mhkdf(), argon2()):
        encode = encode_for(good)
        yield good[:good.rindex("$")]
        yield good[:-20]
        for tag in ("$", "A", "AA", encode(bytes(15)), encode(bytes(65)), "A" * 42 + "B",
                    "A" * 42 + "D", "A" * 43 + "=", "A" * 41, "A" * 45,
                    "A" * 42 + ("+" if good.startswith("$mhkdf$") else "."),
                    "A" * 42 + "*", "A" * 43 + "$", "A" * 43 + "$A", "A" * 43 + " ",
                    "A" * 43 + "\n", " " + "A" * 43, "A" * 42 + "\xe4", "A" * 400, "!", "A" * 43 + ","):
            yield good + "$" + tag
        # well formed in the other alphabet only
        yield good + "$" + (".+"[encode is model.b64_encode] * 42 + "A")
        yield good + " "
        yield good + "\n"
        yield good + "*"
        yield good + ":"


def bad_inner():
    for inner in ("x", "*0", "!!", "a b", "ab ", "a:b", "a;b", "a\\", "a!", "ab*", "\xe4\xe4", "a\n",
                  "$6$salt:x", "$6$sa lt", "$6$\x7f", "$6$sa\0lt", "\0\0",
                  "$3$", "$3$$0123456789abcdef0123456789abcdef", "$md5", "$md5$salt", "$md5,rounds=5000$salt",
                  "$mhkdf$", "$argon2id$", "$argon2$v=19$m=8,t=1,p=1$" + PHC_SALT8,
                  mhkdf("m7K.t1.p1.c3"), mhkdf("m8K.t1.p1.c5"), mhkdf("m8K.t1.p1"),
                  mhkdf(key=""), mhkdf(salt="AAAA"), argon2("argon2x"), argon2(costs="m=8,t=1,p=0"),
                  argon2().replace("v=19", "v=16"), argon2()[1:],
                  mhkdf() + "$" + tag_of_length(16), argon2() + "$" + tag_of_length(64, model.phc_encode),
                  mhkdf() + "$A", mhkdf() + "$$",
                  "$mhkdf-sha512$m=8$salt"):
        yield mhkdf(inner=inner)
        if len(inner) < 60:
            yield mhkdf(inner=mhkdf(inner=inner))
    yield mhkdf("m8K.t1.p1.c3.w")                           # empty
    yield mhkdf("m8K.t1.p1.c3.weHh")                        # unused bits set
    yield mhkdf("m8K.t1.p1.c3.weHg=")                       # padded
    yield mhkdf("m8K.t1.p1.c3.weHh4e")                      # impossible length
    yield mhkdf("m8K.t1.p1.c3.weHg.weHg")                   # twice
    yield mhkdf("m8K.t1.p1.c3.w$eHg")
    small = argon2("argon2d")
    yield mhkdf(inner=mhkdf(inner=mhkdf(inner=small)))          # too deep
    yield mhkdf(inner=mhkdf(inner=mhkdf(inner="xx")))
    yield mhkdf(key="absent", inner=mhkdf(inner=mhkdf(inner=small)))


def bad_ranges_and_keys():
    """(password, setting) where more than one thing is wrong: the first in order counts."""
    long_phrase = without_zeros(some_bytes("password", 512, 512))
    too_long = mhkdf(inner=mhkdf(inner=mhkdf(salt=SALT64), salt=SALT64), salt=SALT64)
    for setting in (mhkdf(), argon2("argon2d"), argon2("argon2i"), argon2("argon2id"),
                    mhkdf(inner=argon2()), mhkdf(key="a"), mhkdf(key="absent")):
        yield long_phrase, setting
    yield long_phrase + long_phrase, mhkdf() + "$" + tag_of_length(64)
    yield long_phrase, mhkdf(salt="AAAA")                       # and EINVAL after it
    yield long_phrase, mhkdf() + "$A"
    yield b"", of_output_length(384)
    yield b"", of_output_length(383) + "$" + tag_of_length(33)
    yield b"", of_output_length(385)
    yield b"", too_long
    yield b"", too_long + "$"
    yield b"", too_long + "$" + tag_of_length(16)
    yield b"", too_long + "$A"
    yield b"", too_long.replace("c3", "c3.kabsent", 1)          # before ENOKEY
    yield b"", mhkdf(key="absent")
    yield b"", mhkdf(key="A")                                   # ids have a case
    yield b"", mhkdf(key="B")
    yield b"", mhkdf(key="0123456789abcde") + "$" + tag_of_length(32)
    yield b"", mhkdf(key="absent", inner=argon2())
    yield b"", mhkdf(key="absent", inner=argon2("argon2x"))
    yield b"", mhkdf(key="absent", salt="AAAA")
    yield b"", mhkdf(key="absent") + "$" + "A" * 42 + "B"
    yield b"", mhkdf("m7K.t1.p1.c3", key="absent")
    yield b"", mhkdf(inner=mhkdf(key="absent"))
    yield b"", mhkdf(key="a", inner=mhkdf(key="absent"))
    yield b"", mhkdf(inner=mhkdf(inner=mhkdf(key="absent")))
    yield b"", mhkdf(inner=mhkdf("m8K.t1.p1.c1", key="absent"))


def gensalt_inputs():
    random = some_bytes("random", 0, 32)
    for prefix in ("$mhkdf$", "$argon2id$", "$argon2d$", "$argon2i$"):
        for count in (0, 1, 5, 11, 15):
            yield prefix, count, some_bytes("random", count, 16), 192
        yield prefix, 7, random, 192                            # 16 bytes of it are used
        for bad_count in (16, 17, 4294967295):
            yield prefix, bad_count, random, 192
        for length in (0, 8, 15):
            yield prefix, 0, random[:length], 192
        needed = len(model.gensalt(prefix, 0, random)) + 1
        yield prefix, 0, random, needed
        yield prefix, 0, random, needed - 1
        yield prefix, 0, random, 1


def strings_inputs():
    facts = [("key", key_id, key) for key_id, key in KEYS.items()]
    facts += [("older", OLDER_PASSWORD, model.setting_of_hash(old), old) for old in OLDER_HASHES]
    known = Known()
    for record in facts:
        known.add(record)
    good = [*good_plain(), *good_wraps(), *good_wraps_of_older(),
            (b"383 characters", of_output_length(383))]
    bad = [*bad_parameters(), *unreleased_form(), *bad_key_ids_and_versions(),
           *bad_salts_and_tags(), *bad_inner()]
    for setting in bad:
        assert "\0" not in setting and result_or_error(model.parse, setting) == "EINVAL", setting
    pairs = good + [(b"hostile", setting) for setting in bad] + [*bad_ranges_and_keys()]
    hashes = [("hash", known, password, setting) for password, setting in dict.fromkeys(pairs)]
    return facts + hashes + [("gensalt", *record) for record in gensalt_inputs()]


def result_or_error(function, *arguments):
    try:
        return function(*arguments)
    except model.CryptError as error:
        return error.name


def strings_line(record):
    kind, *fields = record
    if kind == "key":
        return f"key {fields[0]} {to_hex(fields[1])}"
    if kind == "older":
        return f"older {to_hex(fields[0])} {fields[1]} {fields[2]}"
    if kind == "hash":
        known, password, setting = fields
        result = result_or_error(model.crypt, password, setting, known.keys, known.older)
        return f"hash {to_hex(password)} {setting_to_field(setting)} {result}"
    prefix, count, random, size = fields
    return f"gensalt {prefix} {count} {to_hex(random)} {size} {result_or_error(model.gensalt, *fields)}"


def strings_parse(line, known):
    kind, *fields = line.split(" ")
    if kind == "key":
        record = kind, fields[0], from_hex(fields[1])
    elif kind == "older":
        record = kind, from_hex(fields[0]), fields[1], fields[2]
    elif kind == "hash":
        record = kind, known, from_hex(fields[0]), setting_from_field(fields[1])
    else:
        record = kind, fields[0], int(fields[1]), from_hex(fields[2]), int(fields[3])
    known.add(record)
    return record


def strings_cost(record):
    if record[0] != "hash":
        return 0
    try:
        setting = model.parse(record[3])
    except model.CryptError:
        return 0
    return setting.memory * setting.passes


# ---------------------------------------------------------------------------
# Writing and checking
# ---------------------------------------------------------------------------

FILES = {
    "mhkdf1.vec": (MHKDF1_HEADER, mhkdf1_inputs, mhkdf1_line, mhkdf1_parse, mhkdf1_cost),
    "argon2.vec": (ARGON2_HEADER, argon2_inputs, argon2_line, argon2_parse, argon2_cost),
    "strings.vec": (STRINGS_HEADER, strings_inputs, strings_line, strings_parse, strings_cost),
}


def compute_line(task):
    """The line of (file name, record); by name, since workers get their tasks pickled."""
    name, record = task
    return FILES[name][2](record)


def write_file(name, pool):
    header, inputs = FILES[name][:2]
    tasks = [(name, record) for record in inputs()]
    lines = pool.map(compute_line, tasks, chunksize=1)
    assert all(len(line) < 8192 for line in lines)
    with open(os.path.join(HERE, name), "w", encoding="ascii", newline="\n") as file:
        file.write(header + "\n" + "\n".join(lines) + "\n")
    print(f"{name}: {len(lines)} records")


def read_records(name):
    """[(line, its inputs)] of a committed file."""
    parse, known = FILES[name][3], Known()
    with open(os.path.join(HERE, name), encoding="ascii") as file:
        lines = [line for line in file.read().split("\n") if line and not line.startswith("#")]
    if not lines:
        sys.exit(f"{name}: no records")
    return [(line, parse(line, known)) for line in lines]


def check(number):
    """Every so many-th record, the same ones each time; from all of the files."""
    chosen = []
    for name, (*_, cost) in FILES.items():
        chosen += [(name, line, record) for line, record in read_records(name)
                   if cost(record) <= CHECK_COST_LIMIT]
    number = min(number, len(chosen))
    chosen = [chosen[i * len(chosen) // number] for i in range(number)]
    with multiprocessing.Pool() as pool:
        lines = pool.map(compute_line, [(name, record) for name, _, record in chosen], chunksize=1)
    differ = [(name, old, new) for (name, old, _), new in zip(chosen, lines) if old != new]
    for name, old, new in differ:
        print(f"{name} differs\n  file:  {old}\n  model: {new}")
    print(f"{number} records checked, {len(differ)} differ")
    return 1 if differ else 0


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--check" and arguments[1].isdigit() \
            and int(arguments[1]) > 0:
        return check(int(arguments[1]))
    if any(name not in FILES for name in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with multiprocessing.Pool() as pool:
        for name in arguments or FILES:
            write_file(name, pool)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
