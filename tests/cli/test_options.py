# SPDX-License-Identifier: BSD-2-Clause
"""The command line of mhkdf: help, version, and everything it can be given wrongly."""

import os
import re

import tap
from tool import run

TOP = "mhkdf: "
HASH = "mhkdf hash: "
VERIFY = "mhkdf verify: "
STRING = "$mhkdf$m64K.t2.p4.c6$AgICAgICAgICAgICAgICAg$KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM"

WRONG = [
    ([], TOP + "a subcommand is missing; 'mhkdf --help' lists them"),
    (["--nonsense"], TOP + "unknown option --nonsense; 'mhkdf --help' lists what there is"),
    (["-h"], TOP + "unknown option -h; 'mhkdf --help' lists what there is"),
    (["--help", "x"], TOP + "--help takes no argument"),
    (["--version", "x"], TOP + "--version takes no argument"),
    (["nonsense"], TOP + "unknown subcommand; 'mhkdf --help' lists them"),
    ([""], TOP + "unknown subcommand; 'mhkdf --help' lists them"),
    (["hash", "--nonsense"], HASH + "unknown option --nonsense; 'mhkdf hash --help' lists them"),
    (["hash", "--mem", "1M"], HASH + "unknown option --mem; 'mhkdf hash --help' lists them"),
    (["hash", "--nonsense=x"], HASH + "unknown option --nonsense; 'mhkdf hash --help' lists them"),
    (["hash", "--a\x1b[2J"], HASH + "unknown option --a?[2J; 'mhkdf hash --help' lists them"),
    (["hash", "-m", "1M"], HASH + "unknown option -m; options are long: 'mhkdf hash --help' lists them"),
    (["hash", "hunter2"], HASH + "argument 1 is one too many; a password is never taken from the command line"),
    (["hash", "--passes", "1", "hunter2"], HASH + "argument 3 is one too many; a password is never taken from the command line"),
    (["hash", "--", "--passes"], HASH + "argument 2 is one too many; a password is never taken from the command line"),
    (["hash", "-"], HASH + "argument 1 is one too many; a password is never taken from the command line"),
    (["hash", ""], HASH + "argument 1 is one too many; a password is never taken from the command line"),
    (["hash", "--memory"], HASH + "--memory: a value is missing: SIZE was expected"),
    (["hash", "--setting"], HASH + "--setting: a value is missing: STRING was expected"),
    (["hash", "--passes", "1", "--passes", "1"], HASH + "--passes is given twice"),
    (["hash", "--chain", "6", "--method", "argon2id"], HASH + "--chain is only for --method mhkdf"),
    (["hash", "--chain", "0", "--method", "argon2d"], HASH + "--chain is only for --method mhkdf"),
    (["hash", "--memory", "31K"], HASH + "--memory: 4 lanes need at least 32K"),
    (["hash", "--memory", "63K", "--lanes", "8"], HASH + "--memory: 8 lanes need at least 64K"),
    (["verify"], VERIFY + "STRING is missing; 'mhkdf verify --help' says more"),
    (["verify", "--"], VERIFY + "STRING is missing; 'mhkdf verify --help' says more"),
    (["verify", STRING, "hunter2"], VERIFY + "argument 2 is one too many; one hash was expected, and a password is never taken from the command line"),
    (["verify", "--password", "x", STRING], VERIFY + "unknown option --password; 'mhkdf verify --help' lists them"),
]  # fmt: skip

WRONG += [
    (["hash", "--memory", "5G", "--setting", "x"], HASH + "--setting says it all; --memory can't be given with it"),
    (["hash", "--setting", "x", "--method", "mhkdf"], HASH + "--setting says it all; --method can't be given with it"),
]  # fmt: skip

NO_SIZE = "is not a size; a whole number and K, M or G was expected, such as 64M"
for text in ("", "64", "M", "64m", "64k", "64MB", "64MiB", "64 M", " 64M", "-1M", "+1M", "6.4G", "0x40M", "64T", "١M"):
    shown = "".join(c if c.isascii() else "??" for c in text)
    WRONG.append((["hash", "--memory", text], f'{HASH}--memory: "{shown}" {NO_SIZE}'))
for text in ("4294967296K", "4194304M", "4096G", "18446744073709551616K", "17592186044416M", "9" * 40 + "G"):
    WRONG.append((["hash", "--memory", text], f'{HASH}--memory: "{text[:40]}" is more than 4294967295K'))
for text in ("", "0", "-1", "+1", "1.0", "1K", "16777216", "4294967297", "18446744073709551617", " 1", "1 ", "x"):
    WRONG.append((["hash", "--passes", text], f'{HASH}--passes: "{text}" is not a whole number from 1 to 16777215'))
for text in ("", "0", "65", "-4", "4294967300"):
    WRONG.append((["hash", "--lanes", text], f'{HASH}--lanes: "{text}" is not a whole number from 1 to 64'))
for text in ("", "1", "2", "5", "7", "13", "-6", "4294967302", "six"):
    WRONG.append((["hash", "--chain", text], f'{HASH}--chain: "{text}" is none of 0, 3, 6, 12'))
for text in ("", "MHKDF", "mhkdf1", "argon2", "$mhkdf$", "yescrypt", "sha512"):
    WRONG.append(
        (["hash", "--method", text], f'{HASH}--method: "{text}" is none of mhkdf, argon2id, argon2d, argon2i; other methods need --setting')
    )


@tap.case("refused: {}", WRONG)
def _(args, message):
    result = run(*args, stdin=b"secret\n")
    tap.equal(result.stderr.decode(), message + "\n")
    tap.equal((result.returncode, result.stdout), (2, b""))


@tap.case("an argument that shouldn't be there isn't repeated")
def _():
    for args in (["hash", "hunter2"], ["verify", STRING, "hunter2"], ["hunter2"]):
        tap.check(b"hunter2" not in run(*args).stderr, args)


@tap.case("--help")
def _():
    result = run("--help")
    tap.equal((result.returncode, result.stderr), (0, b""))
    for word in (b"usage: mhkdf ", b"\n  bench ", b"\n  hash ", b"\n  verify ", b"--version"):
        tap.contains(result.stdout, word)


@tap.case("{} --help", ["bench", "hash", "verify"])
def _(subcommand):
    for args in ([subcommand, "--help"], [subcommand, "--help", "rest"]):
        result = run(*args)
        tap.equal((result.returncode, result.stderr), (0, b""))
        tap.contains(result.stdout, b"usage: mhkdf " + subcommand.encode())
        tap.check(all(len(line) <= 80 for line in result.stdout.splitlines()), "a line is too long")


@tap.case("hash --help lists every option, and each is known")
def _():
    out = run("hash", "--help").stdout.decode()
    options = re.findall(r"^  (--[a-z]+) [A-Z]+ ", out, re.MULTILINE)
    tap.equal(options, ["--memory", "--passes", "--lanes", "--chain", "--method", "--setting"])
    for option in options:
        tap.contains(run("hash", option).stderr.decode(), f"{option}: a value is missing")


@tap.case("--version")
def _():
    result = run("--version")
    tap.equal((result.returncode, result.stderr), (0, b""))
    tap.check(re.fullmatch(rb"mhkdf (\d+\.\d+\.\d+) \(libmhkdf \1\)\n", result.stdout), result.stdout)


@tap.case("help is noticed when it can't be printed")
def _():
    with open("/dev/full", "wb") as full:
        for args in (["--help"], ["--version"], ["bench", "--help"], ["hash", "--help"], ["verify", "--help"]):
            result = run(*args, stdout=full)
            tap.equal(result.returncode, 2)
            tap.contains(result.stderr, os.strerror(28).encode())


tap.main()
