# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of a grafted libcrypt and of the front library share."""

import base64
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "vectors", "strings.vec")
CC = os.environ.get("CC", "cc").split()
CFLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra"]


class Stream:
    """TAP from several programs as one."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def result(self, passed, name, what_is_wrong=""):
        self.count += 1
        self.failed += not passed
        print(f"{'' if passed else 'not '}ok {self.count} - {name}")
        for line in [] if passed else what_is_wrong.splitlines():
            print("#", line)
        sys.stdout.flush()

    def skip(self, name, reason):
        self.result(True, f"{name} # SKIP {reason}")

    def program(self, name, command, **options):
        """Runs a program that speaks TAP."""
        done = subprocess.run(["timeout", "--kill-after=5", "300", *command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **options)
        failed, seen, planned = self.failed, 0, None
        for line in done.stdout.splitlines():
            case = re.match(r"(not )?ok\b\s*\d*\s*-?\s*(.*)", line)
            plan = re.match(r"1\.\.(\d+)(?:\s*# SKIP (.*))?", line)
            if case:
                seen += 1
                self.result(not case[1], f"{name}: {case[2]}")
            elif plan:
                planned = int(plan[1])
                if planned == 0:
                    self.skip(name, plan[2] or "no reason given")
            else:
                print("#", line.lstrip("# "))
        if planned != seen:
            self.result(False, f"{name}: {seen} cases of {planned}, exit status {done.returncode}")
        elif done.returncode not in (0, 77) and self.failed == failed:
            self.result(False, f"{name}: exit status {done.returncode}")

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def output_of(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=True, **options).stdout


def compile_with(stream, source, program, *arguments):
    """Compiles a source of this folder; whether that worked."""
    command = [*CC, *CFLAGS, "-o", program, os.path.join(HERE, source), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        stream.result(False, f"{source} compiles", done.stdout)
    return done.returncode == 0


def wants_key(setting):
    return re.match(r"\$mhkdf\$[^$]*\.c\d+\.k", setting) is not None


def innermost(setting):
    wrapped = re.match(r"\$mhkdf\$[^$.]+\.t\d+\.p\d+\.c\d+(?:\.k\w+)?\.w([A-Za-z0-9./]+)\$", setting)
    if not wrapped:
        return setting
    return innermost(base64.b64decode(wrapped[1].replace(".", "+") + "=" * (-len(wrapped[1]) % 4)).decode())


def is_text(password):
    try:
        return password.decode().isprintable()
    except UnicodeDecodeError:
        return False


def some_records():
    """(password in hex, setting, hash) for each method of ours, and each that is wrapped."""
    chosen = {}
    with open(VECTORS, encoding="ascii") as lines:
        for line in lines:
            field = line.split()
            if not line.startswith("hash ") or not field[3].startswith("$") or wants_key(field[2]):
                continue
            if field[1] == "-" or not is_text(bytes.fromhex(field[1])):
                continue            # Python takes text, and encodes it as UTF-8
            inside = innermost(field[2])
            if not wants_key(inside):
                kind = "$%s$" % field[2].split("$")[1]
                if inside != field[2]:
                    kind += " around " + re.match(r"(\$[\w-]+\$?|.{2})", inside)[0]
                chosen.setdefault(kind, field[1:4])
    return chosen


PERL = """
    my ($phrase, $setting) = (pack("H*", shift), shift);
    print crypt($phrase, $setting) // "undef", "\\n";
    open my $maps, "<", "/proc/self/maps"; print grep { m{libcrypt} } <$maps>;
"""
PYTHON = """
import crypt, sys
print(crypt.crypt(bytes.fromhex(sys.argv[1]).decode(), sys.argv[2]))
print(*(line for line in open("/proc/self/maps") if "libcrypt" in line))
"""


def callers(stream, folder):
    """Programs that were built against the system's library, with that in FOLDER in its place."""
    programs = {"perl": ["perl", "-e", PERL],
                "Python": ["/usr/bin/python3", "-W", "ignore", "-c", PYTHON]}
    for language, command in programs.items():
        for kind, (password, setting, expected) in some_records().items():
            name = f"crypt of {language}: {kind}"
            done = subprocess.run([*command, password, setting], text=True, check=False,
                                  env=dict(os.environ, LD_LIBRARY_PATH=folder),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            got, _, rest = done.stdout.partition("\n")
            if done.returncode:
                stream.skip(name, f"{language}: {(done.stdout.splitlines() or ['fails'])[-1]}")
            elif folder not in rest:
                stream.skip(name, "it loads another library than this one")
            else:
                stream.result(got == expected, name, f"got {got}, expected {expected}")


def dynamic(library):
    """What other programs see of a shared library."""
    facts = output_of("readelf", "-dW", library)
    symbols = set()
    for line in output_of("readelf", "--dyn-syms", "-W", library).splitlines():
        field = re.sub(r"\[[^]]*\]", "", line).split()     # [<localentry>: 8] of 64-bit POWER
        if len(field) == 8 and field[4] in ("GLOBAL", "WEAK") and field[6] != "UND":
            symbols.add(field[7])
    return {"soname": re.findall(r"\(SONAME\).*\[(.*)\]", facts),
            "needed": sorted(re.findall(r"\(NEEDED\).*\[(.*)\]", facts)),
            "symbols": symbols,
            "has text relocations": "TEXTREL" in facts}
