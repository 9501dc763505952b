#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A model of mhkdf1 to read and to check other implementations against.

It was written from the specification alone, so that an agreement with the
library's code means something: two readings of one text gave one function.
Comments marked "Spec 3" and the like name the section of SPEC.md.

It is no place to hash real passwords: it takes no care about side channels or
about wiping memory, and is some thousand times slower than compiled code.

    mhkdf_model.py --self-test     check all published values; exit 1 if any differs
"""

import base64
import hmac
import re
import sys
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from struct import pack, unpack

# ---------------------------------------------------------------------------
# Blocks. A block is a list of 128 ints, each below 2^64. Blocks are never
# changed in place: a new list takes the old one's place in the memory matrix.
# ---------------------------------------------------------------------------

WORDS = 128                                     # 64-bit words in a block
MASK = 0xFFFFFFFFFFFFFFFF                       # arithmetic modulo 2^64
LOW = 0xFFFFFFFF                                # the low half of a word
ZERO_BLOCK = [0] * WORDS
SLICES = 4                                      # synchronisation points in a pass

ARGON2_VERSION = 0x13
ARGON2_VERSION_2015 = 0x10


def le32(number):
    return pack("<I", number)


def block_from_bytes(data):
    return list(unpack("<128Q", data))


def block_to_bytes(block):
    return pack("<128Q", *block)


def xor_blocks(a, b):
    return [x ^ y for x, y in zip(a, b)]


def add_blocks(a, b):
    return [(x + y) & MASK for x, y in zip(a, b)]


# ---------------------------------------------------------------------------
# The permutation P of RFC 9106 section 3.6
# ---------------------------------------------------------------------------

def p_round_source():
    """The text of p_round(v0, .., v15), which returns its 16 words permuted.

    Written out as straight-line code on local variables, since a loop over
    lists takes Python three times as long. Each half step is
        a = a + b + 2 * lo(a) * lo(b);  d = (d XOR a) rotated right by r
    """
    quarters = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),     # columns
                (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]     # diagonals
    names = ", ".join(f"v{i}" for i in range(16))
    lines = [f"def p_round({names}):"]
    for a, b, c, d in quarters:
        for x, y, z, r in ((a, b, d, 32), (c, d, b, 24), (a, b, d, 16), (c, d, b, 63)):
            lines.append(f" v{x} = v{x} + v{y} + 2 * (v{x} & {LOW}) * (v{y} & {LOW}) & {MASK}")
            lines.append(f" v{z} ^= v{x}")
            lines.append(f" v{z} = v{z} >> {r} | v{z} << {64 - r} & {MASK}")
    lines.append(f" return {names}")
    return "\n".join(lines)


def make_p_round():
    namespace = {}
    exec(p_round_source(), namespace)
    return namespace["p_round"]


p_round = make_p_round()

# Column i of the 8 x 8 matrix of 16-byte registers: words 2i, 2i+1, 2i+16, 2i+17, ..
COLUMNS = [(2 * i, itemgetter(*(16 * row + 2 * i + half for row in range(8) for half in (0, 1))))
           for i in range(8)]


def permute_block(block):
    """Z of R: the 16 P-rounds, 8 over rows and then 8 over columns."""
    z = block[:]
    for row in range(0, WORDS, 16):
        z[row:row + 16] = p_round(*z[row:row + 16])
    for first, column_of in COLUMNS:
        words = p_round(*column_of(z))
        z[first::16] = words[0::2]
        z[first + 1::16] = words[1::2]
    return z


# ---------------------------------------------------------------------------
# The three compression functions G(prev, ref, Sbox, c)
# ---------------------------------------------------------------------------

def chain(r, sbox, steps):
    """x_0 .. x_steps of the latency chain (Spec 3, G)."""
    x = r[0] ^ r[127]
    values = [x]
    for _ in range(steps):
        hi = x >> 32
        lo = x & LOW
        x = (hi * lo + sbox[hi & 511] & MASK) ^ sbox[512 + (lo & 511)]
        values.append(x)
    return values


def compress_argon2(prev, ref, sbox=None, c=0):
    """RFC 9106 section 3.5: XOR before and after, no chain."""
    r = xor_blocks(prev, ref)
    return xor_blocks(permute_block(r), r)


def compress_argon2ds(prev, ref, sbox, c):
    """Argon2ds of 2015: only the chain's last value enters, twice."""
    r = xor_blocks(prev, ref)
    out = xor_blocks(permute_block(r), r)
    if c:
        last = chain(r, sbox, 16 * c)[-1]
        out[0] = out[0] + last & MASK
        out[127] = out[127] + last & MASK
    return out


def compress_mhkdf1(prev, ref, sbox, c):
    """Spec 3, G: additions in place of XORs, and up to 96 chain values enter."""
    r = add_blocks(prev, ref)
    out = add_blocks(permute_block(r), r)
    if c:
        x = chain(r, sbox, 16 * c)
        n = min(16 * c, 96)
        s = 16 * c // n
        for i in range(n):
            out[128 - n + i] = out[128 - n + i] + x[s * (i + 1)] & MASK
    return out


def make_sbox(compress, start):
    """1,024 words from the block `start` (Spec 3, S-box). The chain is off here."""
    sbox = []
    s = start
    for _ in range(8):
        o = compress(ZERO_BLOCK, s, None, 0)
        s = compress(ZERO_BLOCK, o, None, 0)
        sbox += s
    return sbox


# ---------------------------------------------------------------------------
# What tells the members of the family apart
# ---------------------------------------------------------------------------

@dataclass(frozen=True)
class Construction:
    name: str
    y: int                      # the type number in H0
    version: int
    compress: object            # G
    sbox_made: str              # "never", "segment" or "pass"
    bound_tag: bool             # the tag also hashes H0
    independent_slices: int     # slices of the first pass with addresses of Argon2i
    independent_later: bool     # the same for all later passes

    def addresses_independent(self, pass_number, slice_number):
        if pass_number > 0:
            return self.independent_later
        return slice_number < self.independent_slices


ARGON2D = Construction("argon2d", 0, ARGON2_VERSION, compress_argon2, "never", False, 0, False)
ARGON2I = Construction("argon2i", 1, ARGON2_VERSION, compress_argon2, "never", False, 4, True)
ARGON2ID = Construction("argon2id", 2, ARGON2_VERSION, compress_argon2, "never", False, 2, False)
ARGON2DS = Construction("argon2ds", 4, ARGON2_VERSION_2015, compress_argon2ds, "pass", False, 0, False)
MHKDF1 = Construction("mhkdf", 4, ARGON2_VERSION, compress_mhkdf1, "segment", True, 0, False)

ARGON2_TYPES = {"argon2d": ARGON2D, "argon2i": ARGON2I, "argon2id": ARGON2ID}


# ---------------------------------------------------------------------------
# H', H0 and the first blocks
# ---------------------------------------------------------------------------

def variable_hash(length, data):
    """H' of RFC 9106 section 3.3."""
    data = le32(length) + data
    if length <= 64:
        return blake2b(data, digest_size=length).digest()
    v = blake2b(data).digest()
    out = v[:32]
    while length - len(out) > 64:
        v = blake2b(v).digest()
        out += v[:32]
    return out + blake2b(v, digest_size=length - len(out)).digest()


def initial_hash(construction, password, salt, key, extra, memory, passes, lanes, tag_length):
    """H0 (Spec 3). `extra` is X, in the RFC's words the associated data."""
    data = b"".join(map(le32, (lanes, tag_length, memory, passes,
                               construction.version, construction.y)))
    for field in (password, salt, key, extra):
        data += le32(len(field)) + field
    return blake2b(data).digest()


def first_blocks(h0, lanes, columns):
    """The memory matrix with B[i][0] and B[i][1] filled in."""
    matrix = [[None] * columns for _ in range(lanes)]
    for i in range(lanes):
        for j in (0, 1):
            seed = variable_hash(1024, h0 + le32(j) + le32(i))
            matrix[i][j] = block_from_bytes(seed)
    return matrix


# ---------------------------------------------------------------------------
# Which block is referenced: RFC 9106 section 3.4
# ---------------------------------------------------------------------------

def reference_position(j1, j2, pass_number, slice_number, lane, index, lanes, columns):
    """(lane, column) of the reference block for block `index` of a segment."""
    segment = columns // SLICES
    if pass_number == 0 and slice_number == 0:
        ref_lane = lane                         # no other lane has a full segment yet
    else:
        ref_lane = j2 % lanes

    # The candidates: full segments still valid, and the lane's own unfinished one.
    finished = slice_number * segment if pass_number == 0 else columns - segment
    if ref_lane == lane:
        area = finished + index - 1             # without the previous block
    else:
        area = finished - (1 if index == 0 else 0)

    x = j1 * j1 >> 32
    back = area - 1 - (area * x >> 32)
    oldest = 0 if pass_number == 0 else (slice_number + 1) * segment
    return ref_lane, (oldest + back) % columns


def independent_addresses(construction, pass_number, slice_number, lane, blocks, passes, segment):
    """The words of Argon2i's address blocks for a whole segment."""
    words = []
    for counter in range(1, segment // WORDS + 2):
        fields = [pass_number, lane, slice_number, blocks, passes, construction.y, counter]
        block = fields + [0] * (WORDS - len(fields))
        for _ in range(2):
            block = compress_argon2(ZERO_BLOCK, block)
        words += block
    return words


# ---------------------------------------------------------------------------
# Fill
# ---------------------------------------------------------------------------

@dataclass
class Fill:
    """The memory matrix and what does not change while it is filled."""
    construction: Construction
    matrix: list
    passes: int
    c: int

    def __post_init__(self):
        self.lanes = len(self.matrix)
        self.columns = len(self.matrix[0])
        self.segment = self.columns // SLICES

    def run(self):
        # Lanes of a slice may run in any order or at once: within a slice
        # nothing is read that another lane is writing.
        for pass_number in range(self.passes):
            pass_sbox = None
            if self.construction.sbox_made == "pass":
                pass_sbox = make_sbox(self.construction.compress, self.matrix[0][0])
            for slice_number in range(SLICES):
                for lane in range(self.lanes):
                    self.fill_segment(pass_number, slice_number, lane, pass_sbox)

    def fill_segment(self, pass_number, slice_number, lane, sbox):
        con, row = self.construction, self.matrix[lane]
        first = 2 if pass_number == 0 and slice_number == 0 else 0
        start = slice_number * self.segment
        if first >= self.segment:
            return                              # two columns, both made from H0
        if con.sbox_made == "segment" and self.c:
            # row[-1] is the lane's last block, as the specification wants it.
            sbox = make_sbox(con.compress, row[start + first - 1])
        addresses = None
        if con.addresses_independent(pass_number, slice_number):
            addresses = independent_addresses(con, pass_number, slice_number, lane,
                                              self.lanes * self.columns, self.passes, self.segment)
        for index in range(first, self.segment):
            prev = row[start + index - 1]
            j = addresses[index] if addresses else prev[0]
            ref_lane, ref_column = reference_position(
                j & LOW, j >> 32, pass_number, slice_number, lane, index, self.lanes, self.columns)
            block = con.compress(prev, self.matrix[ref_lane][ref_column], sbox, self.c)
            if pass_number > 0 and con.version == ARGON2_VERSION:
                block = xor_blocks(block, row[start + index])
            row[start + index] = block


def final_tag(construction, matrix, h0, tag_length):
    last = ZERO_BLOCK
    for row in matrix:
        last = xor_blocks(last, row[-1])
    data = block_to_bytes(last)
    if construction.bound_tag:
        data += h0                              # Spec 1, change 5
    return variable_hash(tag_length, data)


def compute(construction, password, salt, key, extra, memory, passes, lanes, c, tag_length):
    h0 = initial_hash(construction, password, salt, key, extra, memory, passes, lanes, tag_length)
    # The 2015 code filled at least 8 blocks a lane; everything here needs them.
    columns = SLICES * max(memory // (SLICES * lanes), 2)
    fill = Fill(construction, first_blocks(h0, lanes, columns), passes, c)
    fill.run()
    return final_tag(construction, fill.matrix, h0, tag_length)


def mhkdf1(password, salt, key, memory, passes, lanes, c, tag_length, wrapped=False):
    extra = (b"mhkdf1w" if wrapped else b"mhkdf1") + le32(c)
    return compute(MHKDF1, password, salt, key, extra, memory, passes, lanes, c, tag_length)


def argon2(name, password, salt, memory, passes, lanes, tag_length, key=b"", extra=b""):
    return compute(ARGON2_TYPES[name], password, salt, key, extra,
                   memory, passes, lanes, 0, tag_length)


def argon2ds(password, salt, key, extra, memory, passes, lanes, tag_length):
    return compute(ARGON2DS, password, salt, key, extra, memory, passes, lanes, 6, tag_length)


# ---------------------------------------------------------------------------
# Strings (Spec 4)
# ---------------------------------------------------------------------------

MAX_STRING = 383
MAX_PHRASE = 511
DEFAULT_TAG_LENGTH = 32
MAX_WRAPS = 2                                   # a `w`, and one more inside it

_NUMBER = r"(0|[1-9][0-9]{0,9})"
_OURS, _PHC = r"[A-Za-z0-9./]", r"[A-Za-z0-9+/]"
MHKDF_FORM = re.compile(
    rf"\$mhkdf\$m([1-9][0-9]{{0,9}}[KMG])\.t{_NUMBER}\.p{_NUMBER}\.c{_NUMBER}"
    rf"(?:\.k([A-Za-z0-9]{{1,16}}))?(?:\.w({_OURS}+))?"
    rf"\$({_OURS}{{8,64}})(?:\$({_OURS}*))?", re.ASCII)
ARGON2_FORM = re.compile(
    rf"\$(argon2d|argon2i|argon2id)\$v=19\$m={_NUMBER},t={_NUMBER},p={_NUMBER}"
    rf"\$({_PHC}+)(?:\$({_PHC}*))?", re.ASCII)


class CryptError(Exception):
    """An error with the name of its errno value."""

    def __init__(self, name, why):
        super().__init__(f"{name}: {why}")
        self.name = name


def einval(why):
    return CryptError("EINVAL", why)


def b64_encode(data):
    """B64 of $mhkdf$ strings: base64 | tr + . | tr -d =."""
    return phc_encode(data).replace("+", ".")


def phc_encode(data):
    """The standard alphabet, as $argon2*$ strings have it."""
    return base64.b64encode(data).decode().rstrip("=")


def b64_decode(text):
    return phc_decode(text.replace(".", "+"))


def phc_decode(text):
    """Strict: what would not be encoded to the same text again is refused."""
    if len(text) % 4 == 1:
        raise einval("base64 of an impossible length")
    data = base64.b64decode(text + "=" * (-len(text) % 4))
    if phc_encode(data) != text:
        raise einval("base64 is not canonical")
    return data


UNITS = {"K": 1, "M": 1024, "G": 1024 * 1024}   # in KiB


def memory_text(kib):
    """The number with the largest unit that divides it."""
    unit = max((unit for unit in UNITS if kib % UNITS[unit] == 0), key=UNITS.get)
    return f"{kib // UNITS[unit]}{unit}"


def memory_of(text):
    kib = int(text[:-1]) * UNITS[text[-1]]
    if memory_text(kib) != text:
        raise einval("memory has a larger unit")
    return kib


@dataclass
class Setting:
    """A parsed setting. `text` ends with the salt: no `$` after it, no tag."""
    text: str
    method: str
    memory: int
    passes: int
    lanes: int
    salt: bytes
    tag_length: int
    tag: bytes = None
    c: int = 0
    key_id: str = None
    inner: str = None                           # the setting inside `w`
    inner_setting: "Setting" = None             # the same parsed, if it is one of ours

    def output_length(self):
        return len(self.text) + 1 + (self.tag_length * 8 + 5) // 6

    def output(self, tag):
        return self.text + "$" + (b64_encode if self.method == "mhkdf" else phc_encode)(tag)


def check_ranges(setting):
    """Spec 2."""
    if not 1 <= setting.lanes <= 64:
        raise einval("lanes")
    if not 8 * setting.lanes <= setting.memory <= 0xFFFFFFFF:
        raise einval("memory")
    if not 1 <= setting.passes <= 0xFFFFFF:
        raise einval("passes")
    if setting.c not in (0, 3, 6, 12):
        raise einval("chain steps")
    if not 8 <= len(setting.salt) <= 64:
        raise einval("salt length")
    if not 16 <= setting.tag_length <= 64:
        raise einval("tag length")


def parse(text, wraps_outside=0):
    """Setting of a text, or EINVAL. Nothing is computed and no key looked for."""
    mhkdf, plain = MHKDF_FORM.fullmatch(text), ARGON2_FORM.fullmatch(text)
    c = key_id = inner = None
    if mhkdf:
        method = "mhkdf"
        m, t, p, c, key_id, inner, salt, tag = mhkdf.groups()
        memory, salt_bytes = memory_of(m), salt.encode()    # the salt is its own text
    elif plain:
        method, m, t, p, salt, tag = plain.groups()
        memory, salt_bytes = int(m), phc_decode(salt)
    else:
        raise einval("not a setting")
    end_of_salt = mhkdf.end(7) if mhkdf else plain.end(5)
    setting = Setting(text[:end_of_salt], method, memory, int(t), int(p), salt_bytes,
                      DEFAULT_TAG_LENGTH, c=int(c or 0), key_id=key_id)
    if tag:
        setting.tag = (b64_decode if mhkdf else phc_decode)(tag)
        setting.tag_length = len(setting.tag)
    check_ranges(setting)
    if inner is not None:
        if wraps_outside == MAX_WRAPS:
            raise einval("wrapped too deep")
        setting.inner = b64_decode(inner).decode("latin-1")
        setting.inner_setting = check_inner(setting.inner, wraps_outside + 1)
    return setting


# ---------------------------------------------------------------------------
# Wraps (Spec 5)
# ---------------------------------------------------------------------------

_CRYPT64 = r"[./0-9A-Za-z]"
OLDER_FORMS = re.compile(
    r"\$(?:1|5|6|y|gy|7|sha1|mhkdf512)\$.*"             # ends where the last `$` was
    rf"|\$2[abxy]\$[0-9]{{2}}\${_CRYPT64}{{22}}"            # bcrypt, 29 characters
    rf"|_{_CRYPT64}{{8}}|{_CRYPT64}{{2}}")                  # BSDi DES and DES


def is_ours(text):
    return text.startswith(("$mhkdf$", "$argon2"))


def check_inner(text, wraps_outside):
    """The parsed inner setting if it is one of ours, None for an older method."""
    if len(text) < 2 or any(not "!" <= ch <= "~" or ch in ":;*!\\" for ch in text):
        raise einval("characters of the inner setting")
    if is_ours(text):
        setting = parse(text, wraps_outside)
        if setting.tag_length != DEFAULT_TAG_LENGTH:
            raise einval("inner tag is not of 32 bytes")
        return setting
    if not OLDER_FORMS.fullmatch(text):
        raise einval("method is not wrapped")
    return None


def setting_of_hash(old):
    """s for the hash string h = `old`."""
    if re.match(r"\$2[abxy]\$", old):
        return old[:29]
    if old.startswith("$"):
        return old[:old.rindex("$")]
    return old[:9] if old.startswith("_") else old[:2]


def wrap(old, outer_setting, keys=()):
    """The mhkdf1 string that strengthens the entry `old`; no password is needed.

    outer_setting is a plain $mhkdf$ setting, which supplies costs, key and salt.
    """
    outer = parse(outer_setting)
    if outer.method != "mhkdf" or outer.inner is not None:
        raise einval("the outer setting is plain mhkdf")
    w = b64_encode(setting_of_hash(old).encode())
    head, salt = outer.text.rsplit("$", 1)
    wrapped = parse(f"{head}.w{w}${salt}")
    if wrapped.output_length() > MAX_STRING:
        raise CryptError("ERANGE", "output too long")
    return wrapped.output(tag_of(wrapped, old.encode(), dict(keys)))


# ---------------------------------------------------------------------------
# crypt, verify, gensalt
# ---------------------------------------------------------------------------

def check_keys(setting, keys):
    while setting is not None:
        if setting.key_id is not None and setting.key_id not in keys:
            raise CryptError("ENOKEY", setting.key_id)
        setting = setting.inner_setting


def tag_of(setting, secret, keys):
    """The tag; `secret` is the password or, for a wrap, the old hash string."""
    if setting.method != "mhkdf":
        return argon2(setting.method, secret, setting.salt, setting.memory,
                      setting.passes, setting.lanes, setting.tag_length)
    key = b"" if setting.key_id is None else keys[setting.key_id]
    return mhkdf1(secret, setting.salt, key, setting.memory, setting.passes, setting.lanes,
                  setting.c, setting.tag_length, wrapped=setting.inner is not None)


def hash_parsed(password, setting, keys, older):
    secret = password
    if setting.inner_setting is not None:
        secret = hash_parsed(password, setting.inner_setting, keys, older).encode()
    elif setting.inner is not None:
        old = older(password, setting.inner) if older else None
        if old is None or old.startswith("*"):
            raise einval("the inner method failed")
        secret = old.encode()
    return setting.output(tag_of(setting, secret, keys))


def crypt(password, text, keys=(), older=None):
    """crypt(3): the hash string of a password under a setting.

    keys maps key ids to site keys; older(password, setting) serves the methods
    which are not ours inside a wrap. Errors in the order of Spec 4.
    """
    keys = dict(keys)
    if len(password) > MAX_PHRASE:
        raise CryptError("ERANGE", "phrase too long")
    setting = parse(text)
    if setting.output_length() > MAX_STRING:
        raise CryptError("ERANGE", "output too long")
    check_keys(setting, keys)
    return hash_parsed(password, setting, keys, older)


def verify(password, text, keys=(), older=None):
    if parse(text).tag is None:
        raise einval("a setting, not a hash")
    return hmac.compare_digest(crypt(password, text, keys, older), text)


def gensalt(prefix, count, random_bytes, size=None):
    """crypt_gensalt (Spec 6); size is the caller's buffer, with its final NUL."""
    if prefix not in ("$mhkdf$", "$argon2id$", "$argon2d$", "$argon2i$") \
            or not 0 <= count <= 15 or len(random_bytes) < 16:
        raise einval("gensalt")
    memory = 65536 if count == 0 else 1 << (count + 9)
    if prefix == "$mhkdf$":
        setting = f"{prefix}m{memory_text(memory)}.t1.p4.c6${b64_encode(random_bytes[:16])}"
    else:
        setting = f"{prefix}v=19$m={memory},t=3,p=4${phc_encode(random_bytes[:16])}"
    if size is not None and size < len(setting) + 1:
        raise CryptError("ERANGE", "buffer too small")
    return setting


# ---------------------------------------------------------------------------
# Self-test
# ---------------------------------------------------------------------------

PASSWORD, SALT, KEY, EXTRA = b"\1" * 32, b"\2" * 16, b"\3" * 8, b"\4" * 12


def published_values():
    """(what, function of no arguments, expected hex): RFC 9106 section 5 and Spec 7."""
    def rfc(name):
        return lambda: argon2(name, PASSWORD, SALT, 32, 3, 4, 32, KEY, EXTRA)

    def m1100(name):
        return lambda: argon2(name, PASSWORD, SALT, 1100, 2, 2, 32)

    def small(c, wrapped=False):
        return lambda: mhkdf1(PASSWORD, SALT, b"", 64, 2, 4, c, 32, wrapped)

    return [
        ("RFC 9106 argon2d", rfc("argon2d"),
         "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb"),
        ("RFC 9106 argon2i", rfc("argon2i"),
         "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8"),
        ("RFC 9106 argon2id", rfc("argon2id"),
         "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"),
        ("argon2i m=1100", m1100("argon2i"),
         "653acb10bc85f86d30ca0bd08a6d9e91e576e3fd8402d79e080a59b30004ffde"),
        ("argon2id m=1100", m1100("argon2id"),
         "64daa5bd729bbf0cbc30fa681b6e1a74a221107a9c1456f6d33c453d478229ab"),
        ("Argon2ds 2015", lambda: argon2ds(PASSWORD, SALT, KEY, EXTRA, 16, 3, 4, 32),
         "fe5a9ec7d78f5fbbfa6cdc5f50c7b926fc2c6e9437aad3e3601ebbce58922c72"),
        ("mhkdf1 c=0", small(0),
         "109e25b84bf2d627be68efe9baa4d501d360d113c3d8bb5fb3b0922cb00a762c"),
        ("mhkdf1 c=3", small(3),
         "ae9923f7110f3c5ec7eb8c40f9a4660148a621107405090bbe8a2664c1c5d5b0"),
        ("mhkdf1 c=6", small(6),
         "5d18b7a4a7db1e7bdd91626727a1803413ad4b9491b43fb10862a49b8c3a5c21"),
        ("mhkdf1 c=12", small(12),
         "d824eb95380d9d9c242c8ae69602378c7014d770093a6656b95e1cec1bfd1ecb"),
        ("mhkdf1 c=6 wrapped", small(6, True),
         "3f1207a180ee79574736c2b71cfd694a4e8d39feeb5dddacbef985c1e35394ec"),
        ("mhkdf1 m=75 with key",
         lambda: mhkdf1(b"password", bytes(range(16)), b"\5" * 32, 75, 3, 3, 6, 64),
         "1ccf64d36b0e89d9afdf843347b064e57755a96d5aeeaae730cdc9e1266d7f54"
         "aa6b29a9f32d6b712ac52f27afd4dab2a3e4769b37f8f3b504d79c7cd1541a5b"),
        ("mhkdf1 smallest", lambda: mhkdf1(b"", b"\2" * 8, b"", 8, 1, 1, 12, 16),
         "6aa948c3d91b4a0116ea30a1f78405d6"),
        ("mhkdf1 m=1100", lambda: mhkdf1(PASSWORD, SALT, b"", 1100, 2, 2, 6, 32),
         "be7a00bab745138dea2f6be9b2daab5315fa1b2e2fe989af3062d12d3cbc5439"),
    ]


SALT_TEXT = "abcdefgh./ABCDEFGH0189"
SHA512_CRYPT = ("$6$saltsalt$hRM5XZ86KXEw9UOmjigeVqFgULtFB2sgpC9lXQDfMib3Zgw7mEiUvBJI2EplzfAq"
                "xL5Vvwp2scFtv/uamSo5z0")


def published_strings():
    """(setting, tag) of "correct horse", Spec 7. The first takes a minute."""
    return [(f"$mhkdf${costs}${SALT_TEXT}", tag) for costs, tag in (
        ("m64M.t1.p4.c6", "T346gOOaGUWHfSEsKIoX1uHkkWS1xN.IJVsYBwvWhG8"),
        ("m1M.t2.p2.c0", "IHojBM7ghus/xlMDJqMEhvYD8q8p9ubCP.5r0tL/FVU"),
        ("m1M.t1.p2.c6.wJDYkc2FsdHNhbHQ", "EKbdwMOqTQJB.xyxT4pXdDq9bg6G/3shjAmrpN4f4rM"))]


def error_name(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except CryptError as error:
        return error.name
    return None


def string_checks():
    """(what, holds) for the string form, wraps and gensalt."""
    small = "$mhkdf$m8K.t1.p1.c3$AAECAwQFBgc"
    plain = crypt(b"pw", small)
    once = wrap(plain, small)
    twice = wrap(once, small)
    foreign = wrap("$6$salt$" + "x" * 86, small)

    def older(password, setting):
        return f"{setting}$" + "x" * 86 if password == b"pw" else "*0"

    for setting, tag in published_strings()[1:]:
        yield setting[:40], crypt(b"correct horse", setting, older=lambda password, inner: {
            (b"correct horse", "$6$saltsalt"): SHA512_CRYPT}[password, inner]) == f"{setting}${tag}"
    yield "tag's value is ignored", crypt(b"pw", small + "$" + "A" * 43) == plain
    yield "setting may end with $", crypt(b"pw", small + "$") == plain
    yield "verify", verify(b"pw", plain) and not verify(b"pW", plain)
    yield "wrap", verify(b"pw", once) and not verify(b"pW", once)
    yield "wrap twice", verify(b"pw", twice) and not verify(b"pW", twice)
    yield "wrap thrice", error_name(wrap, twice, small) == "EINVAL"
    yield "older inside", verify(b"pw", foreign, older=older)
    yield "older fails", error_name(crypt, b"pW", foreign, older=older) == "EINVAL"
    yield "no key", error_name(crypt, b"", small.replace("c3", "c3.ka")) == "ENOKEY"
    yield "a long phrase is ERANGE first", error_name(crypt, b"x" * 512, small + "$A") == "ERANGE"
    yield "ERANGE before ENOKEY", error_name(
        crypt, b"x" * 512, small.replace("c3", "c3.ka")) == "ERANGE"
    yield "gensalt", (gensalt("$mhkdf$", 11, b"\0" * 20)
                      == "$mhkdf$m1G.t1.p4.c6$" + "A" * 22)
    yield "gensalt's buffer", error_name(gensalt, "$mhkdf$", 0, b"\0" * 16, 43) == "ERANGE"
    yield "memory's unit", [memory_text(kib) for kib in (64, 65536, 65537, 1 << 20, 3 << 20)] \
        == ["64K", "64M", "65537K", "1G", "3G"]


def self_test():
    failures = 0
    for what, function, expected in published_values():
        got = function().hex()
        print("ok  " if got == expected else "FAIL", what)
        if got != expected:
            failures += 1
            print(f"     expected {expected}\n     got      {got}")
    for what, holds in string_checks():
        print("ok  " if holds else "FAIL", what)
        failures += not holds
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    print(__doc__.strip(), file=sys.stderr)
    sys.exit(2)
