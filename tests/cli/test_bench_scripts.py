# SPDX-License-Identifier: BSD-2-Clause
"""The scripts in bench/: tried with little memory. Their figures mean nothing then."""

import ctypes
import os
import re
import subprocess
import tempfile

import tap
from tool import BINARY, ENVIRONMENT

SCRIPTS = os.path.join(os.environ["MHKDF_SRCDIR"], "bench")
PEER = "libargon2.so.1"


def script(name, *args, interpreter=None):
    command = [interpreter] if interpreter else []
    return subprocess.run([*command, os.path.join(SCRIPTS, name), *args], capture_output=True, text=True,
                          check=False, env=ENVIRONMENT)  # fmt: skip


def python():
    return os.environ["PYTHON"]


def peer_path():
    """The file of the system's libargon2."""
    try:
        ctypes.CDLL(PEER)
    except OSError:
        tap.skip(f"{PEER} is not installed (Debian: libargon2-1)")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "/libargon2.so" in line)


def compare(*args):
    path = peer_path()
    with tempfile.TemporaryDirectory() as peers:
        for build in ("native", "sse2", "portable"):
            os.symlink(path, os.path.join(peers, f"libargon2-{build}.so"))
        return script("compare", "--mhkdf", BINARY, "--peers", peers, "--runs", "2", "--shrink", "1024", *args,
                      interpreter=python())  # fmt: skip


@tap.case("compare prints every table, and its status says whether all goals are met")
def _():
    result = compare()
    tap.check(result.returncode in (0, 1), result.stderr)
    titles = re.findall(r"^### (.*)$", result.stdout, re.MULTILINE)
    tap.equal(titles[:-1], [
        "1G, one pass, 1 lane a thread", "1G, one pass, 4 lanes a thread",
        "64M, one pass, 1 lane a thread", "64M, one pass, 4 lanes a thread",
        "Kernels: 1G, one pass, 1 lane a thread", "Kernels: 1G, one pass, 4 lanes a thread",
        "argon2id", "Machine",
    ])  # fmt: skip
    met, all_of_them = map(int, re.fullmatch(r"Goals: (\d+) of (\d+) met", titles[-1]).groups())
    tap.equal(result.returncode, 0 if met == all_of_them else 1)
    tap.equal(len(re.findall(r"; goal: at (?:most|least) ", result.stdout)), all_of_them - met)
    for table in re.findall(r"(?:^\|.*\n)+", result.stdout, re.MULTILINE):
        tap.equal(len({line.count("|") for line in table.splitlines()}), 1, table)
    tap.contains(result.stdout, "| mhkdf, portable, c = 0 |")


@tap.case("compare measures one part, and judges by CPU time")
def _():
    result = compare("--part", "argon2id", "--cpu")
    tap.check(result.returncode in (0, 1), result.stderr)
    tap.equal(re.findall(r"^### (\w+)", result.stdout, re.MULTILINE), ["argon2id", "Machine", "Goals"])
    tap.contains(result.stdout, "times are CPU times")


@tap.case("compare says when it can't measure")
def _():
    with tempfile.TemporaryDirectory() as peers:
        with open(os.path.join(peers, "libargon2-native.so"), "wb"):
            pass
        result = script("compare", "--mhkdf", BINARY, "--peers", peers, "--shrink", "1024", interpreter=python())
    tap.equal((result.returncode, result.stdout), (2, ""))
    tap.contains(result.stderr, "libargon2 can't be loaded")


@tap.case("fixed prints a line for each size")
def _():
    result = script("fixed", "--mhkdf", BINARY, "--runs", "2", interpreter=python())
    tap.equal((result.returncode, result.stderr), (0, ""))
    lines = [line for line in result.stdout.splitlines() if re.match(r"\| \d", line)]
    tap.equal([line.split()[1] for line in lines], ["1", "2", "4", "8", "16"])
    tap.equal({line.count("|") for line in lines}, {7})


@tap.case("loaded gives the status of its command, and stops what it has started")
def _():
    for status in (0, 3):
        # Its children are the busy ones, and the command.
        result = script("loaded", "sh", "-c", f"echo $PPID; cat /proc/$PPID/task/$PPID/children; exit {status}")
        tap.equal((result.returncode, result.stderr), (status, ""))
        parent, *children = result.stdout.split()
        tap.equal(len(children), 2 * len(os.sched_getaffinity(0)) + 1)
        for pid in (parent, *children):
            tap.check(not os.path.exists(f"/proc/{pid}"), f"{pid} is left")


@tap.case("{} wants to be called rightly", ["loaded", "build-libargon2"])
def _(name):
    result = script(name)
    tap.equal((result.returncode, result.stdout), (2, ""))
    tap.contains(result.stderr, f"usage: {name} ")


tap.main()
