# SPDX-License-Identifier: BSD-2-Clause
"""What crypt-plugin/graft does to source trees: to small ones made here, with the places that it
looks for. tests/crypt/run tries real ones."""

import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile

import tap

ROOT = os.environ.get("MHKDF_SRCDIR") or os.path.join(os.path.dirname(__file__), "..", "..")
GRAFT = os.path.join(ROOT, "crypt-plugin", "graft")
METHODS = ["mhkdf", "argon2id", "argon2d", "argon2i"]
WORK = tempfile.mkdtemp()

# A tree with what graft needs, and little more.
LIBXCRYPT = {
    "configure.ac": """\
m4_include([m4/some.m4])
AC_INIT([xcrypt],
        [4.4.33],
        [bugs])
AC_SUBST([hashes_enabled])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
""",
    "Makefile.am": """\
AUTOMAKE_OPTIONS = 1.14 subdir-objects
EXTRA_DIST = LICENSING
noinst_HEADERS = lib/crypt-port.h
libcrypt_la_SOURCES = lib/crypt.c
libcrypt_la_CPPFLAGS = $(AM_CPPFLAGS) -DIN_LIBCRYPT
check_PROGRAMS = test/gensalt
TESTS = $(check_PROGRAMS)
""",
    "LICENSING": "All files are free\n",
    "doc/crypt.5": ".de hash\n..\n.Ss yescrypt\n.hash \"$y$\"\n.Ss bcrypt\n",
    "lib/crypt-port.h": "#include \"config.h\"\n\n#include \"crypt-hashes.h\"\n\n#define a b\n",
    "lib/crypt.c": "int crypt;\n",
    "lib/hashes.conf": """\
# A list
#name          h_prefix  nrbytes  flags
yescrypt       $y$       16       STRONG,DEFAULT,ALT
bcrypt         $2b$      16       STRONG,DEFAULT
descrypt       :         2        GLIBC
""",
    "test/gensalt.c": """\
#if INCLUDE_yescrypt
# define EXPECTED_DEFAULT_PREFIX "$y$"
#elif INCLUDE_bcrypt
# define EXPECTED_DEFAULT_PREFIX "$2b$"
#endif
""",
}

# The first 4.4 releases had all in one folder.
OLD_LIBXCRYPT = {
    name.replace("lib/hashes.conf", "hashes.lst").replace("lib/", "").replace("doc/", "")
    .replace("test/", "test-"):
    text.replace("lib/", "").replace("test/", "test-").replace(" subdir-objects", "")
    .replace("4.4.33", "4.4.0")
    for name, text in LIBXCRYPT.items()
}


def make_tree(files=None, change=None):
    """A new tree; change maps names to functions of the old text, None takes the file away."""
    tree = os.path.join(tempfile.mkdtemp(dir=WORK), "libxcrypt")
    for name, text in (files or LIBXCRYPT).items():
        if change and name in change:
            if change[name] is None:
                continue
            text = change[name](text)
        path = os.path.join(tree, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    return tree


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as text:
        return text.read()


def contents(tree):
    """Everything in a tree, hidden files too: name -> kind, mode and bytes."""
    found = {}
    for folder, folders, files in os.walk(tree):
        for name in folders + files:
            path = os.path.join(folder, name)
            key = os.path.relpath(path, tree)
            mode = os.lstat(path).st_mode
            if os.path.islink(path):
                found[key] = (mode, os.readlink(path))
            elif os.path.isdir(path):
                found[key] = (mode, None)
            else:
                with open(path, "rb") as data:
                    found[key] = (mode, data.read())
    return found


def graft(*arguments, **options):
    return subprocess.run([GRAFT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, **options)


def grafted(tree, *options):
    done = graft(*options, tree)
    tap.equal((done.returncode, done.stderr), (0, ""))
    tap.check(not os.path.exists(os.path.join(tree, ".mhkdf-graft")), "leaves its files behind")
    return tree


def refused(tree, *parts, options=()):
    before = contents(tree)
    done = graft(*options, tree)
    tap.equal(done.returncode, 1, done.stderr)
    for part in (tree, *parts):
        tap.contains(done.stderr, part)
    tap.equal(len(done.stderr.splitlines()), 1, done.stderr)
    tap.check(contents(tree) == before, "the tree is changed")


def check_grafted(tree, old, default):
    """What is added, and that all else is as it was."""
    after = contents(tree)
    for name, (mode, data) in old.items():
        tap.equal(after[name][0], mode, name)
        if after[name][1] != data:
            tap.check(re.search(r"(configure\.ac|Makefile\.am|LICENSING|crypt\.5|crypt-port\.h"
                                r"|hashes\.(conf|lst))$", name) or
                      (default and re.search(r"test.gensalt\.c$", name)), f"{name} is changed")
            kept = set(after[name][1].decode().splitlines())
            lost = [line for line in data.decode().splitlines() if line not in kept]
            tap.equal([line for line in lost if not re.match("#if INCLUDE_yescrypt|AUTOMAKE", line)],
                      [], name)
    hashes = [line.split() for name in after if re.search(r"hashes\.(conf|lst)$", name)
              for line in after[name][1].decode().splitlines() if not line.startswith("#")]
    tap.equal(hashes[:4], [[name, f"${name}$", "16",
                            "STRONG,DEFAULT" if default and name == "mhkdf" else "STRONG"]
                           for name in METHODS])
    tap.equal(hashes[4][0], "yescrypt")
    sources = {name for name in after if re.search(r"(^|/)mhkdf/.*\.[ch]$", name)}
    tap.check(len(sources) > 20, f"only {len(sources)} files of source")
    listed = set(re.findall(r"\S*mhkdf/\S+\.[ch](?= |$)", after["Makefile.am"][1].decode(), re.M))
    tap.equal(listed - {"$(srcdir)/lib/mhkdf/rename.h", "$(srcdir)/mhkdf/rename.h"}, sources)


@tap.case("a tree of today's layout, {}", ["as it is", "with --default"])
def _(how):
    tree = make_tree()
    old = contents(tree)
    default = "default" in how
    grafted(tree, *(["--default"] if default else []))
    check_grafted(tree, old, default)
    tap.equal("INCLUDE_mhkdf" in read(tree, "test/gensalt.c"), default)
    tap.contains(read(tree, "lib/crypt-port.h"),
                 '#include "crypt-hashes.h"\n\n/* Added by mhkdf')
    tap.contains(read(tree, "doc/crypt.5"), ".Ss argon2id, argon2d, argon2i\n")
    tap.check("SPDX" not in read(tree, "doc/crypt.5"), "a comment of the source is in the manual")
    tap.check(read(tree, "configure.ac").endswith("\n\nAC_OUTPUT\n"), "AC_OUTPUT isn't last")


@tap.case("a tree of the first layout, all in one folder")
def _():
    tree = make_tree(OLD_LIBXCRYPT)
    old = contents(tree)
    grafted(tree, "--default")
    check_grafted(tree, old, True)
    tap.contains(read(tree, "Makefile.am"), "AUTOMAKE_OPTIONS = subdir-objects 1.14")
    tap.contains(read(tree, "Makefile.am"), "check_PROGRAMS += test-crypt-mhkdf\n")
    tap.check(os.path.exists(os.path.join(tree, "test-crypt-mhkdf.vec")), "no vectors")


@tap.case("the copies are those of this package")
def _():
    tree = grafted(make_tree())
    for path in glob.glob(os.path.join(tree, "lib/mhkdf/libcore/*")):
        tap.equal(read(path), read(ROOT, "libcore", os.path.basename(path)), path)
    tap.equal(read(tree, "lib/mhkdf/crypt-mhkdf.c"), read(ROOT, "crypt-plugin/crypt-mhkdf.c"))
    tap.equal(read(tree, "test/crypt-mhkdf.vec"), read(ROOT, "tests/vectors/strings.vec"))


@tap.case("all names that libcore exports are renamed")
def _():
    archive = os.path.join(os.environ.get("MHKDF_BUILDDIR", ""), "libcore/.libs/libcore.a")
    if not os.path.exists(archive):
        tap.skip("libcore isn't built")
    if not shutil.which("nm"):
        tap.skip("no nm")
    symbols = subprocess.run(["nm", "--extern-only", "--defined-only", archive], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    exported = set(re.findall(r"^[0-9a-f]+ [A-TV-Z] (\w+)$", symbols, re.M)) - {"mhkdf_version"}
    header = read(grafted(make_tree()), "lib/mhkdf/rename.h")
    renamed = dict(re.findall(r"^#define (\w+) (\w+)$", header, re.M))
    if any(name.startswith("__asan_") or name.startswith("__odr") for name in exported):
        tap.skip("sanitizers add names of their own")
    tap.equal(sorted(exported - set(renamed)), [])     # kernels of other machines are in the header only
    tap.equal(len(set(renamed.values())), len(renamed))
    tap.check(all(name.startswith("_crypt_mhkdf_") for name in renamed.values()))


@tap.case("a tree that was grafted from the same sources is left as it is: {}", ["graft", "graft --default"])
def _(command):
    options = command.split()[1:]
    tree = grafted(make_tree(), *options)
    before = contents(tree)
    tap.contains(graft(*options, tree).stdout, "already, from the same sources")
    grafted(tree, *options)
    tap.check(contents(tree) == before, "the tree is changed")


def change_file(name, change):
    def at_work(tree):
        path = os.path.join(tree, name)
        text = read(path)
        os.unlink(path)
        if change is not None:
            tap.check(change(text) != text, "no change")
            with open(path, "w", encoding="utf-8") as out:
                out.write(change(text))
    return at_work


def empty_folder(tree):
    shutil.rmtree(os.path.join(tree, "lib/mhkdf"))
    os.mkdir(os.path.join(tree, "lib/mhkdf"))


def one_more(tree):
    shutil.copy(GRAFT, os.path.join(tree, "lib/mhkdf/libcore/another.c"))


@tap.case("refused, since what is in the tree's folder mhkdf isn't from these sources: {0}", [
    ("another source", change_file("lib/mhkdf/libcore/crypt.c", lambda text: text + "\n")),
    ("a file is missing", change_file("lib/mhkdf/LICENSE", None)),
    ("another test", change_file("test/crypt-mhkdf.vec", lambda text: text + "\n")),
    ("a file too many", one_more),
    ("an empty folder", empty_folder),
    ("nothing uses it", change_file("Makefile.am", lambda text: text.split("\n# Added by")[0])),
    ("no methods", change_file("lib/hashes.conf", lambda text: text.replace("mhkdf", "other"))),
])
def _(_name, change):
    tree = grafted(make_tree())
    change(tree)
    refused(tree, "lib/mhkdf: is there, but not from a graft of these sources")


@tap.case("refused, since it was grafted with{} --default", ["out", ""])
def _(how):
    first, second = ([], ["--default"]) if how else (["--default"], [])
    refused(grafted(make_tree(), *first), f"was grafted with{how} --default", options=second)


@tap.case("version {} is taken", ["4.4.38", "4.5.0", "4.5.2"])
def _(version):
    grafted(make_tree(change={"configure.ac": lambda text: text.replace("4.4.33", version)}))


@tap.case("not a source tree of libxcrypt 4.4 or 4.5: {}", [
    ("no configure.ac", {"configure.ac": None}),
    ("another program", {"configure.ac": lambda text: text.replace("[xcrypt]", "[xcript]")}),
    ("version 4.3.4", {"configure.ac": lambda text: text.replace("4.4.33", "4.3.4")}),
    ("version 4.6.0", {"configure.ac": lambda text: text.replace("4.4.33", "4.6.0")}),
    ("version 4.4", {"configure.ac": lambda text: text.replace("4.4.33", "4.4")}),
    ("version 14.4.1", {"configure.ac": lambda text: text.replace("4.4.33", "14.4.1")}),
    ("no list of hashes", {"lib/hashes.conf": None}),
])
def _(_name, change):
    refused(make_tree(change=change), "not a source tree of libxcrypt 4.4.x or 4.5.x")


@tap.case("an empty folder, none, and a file are refused")
def _():
    empty = os.path.join(tempfile.mkdtemp(dir=WORK), "empty")
    os.mkdir(empty)
    refused(empty, "not a source tree of libxcrypt 4.4.x or 4.5.x")
    for path in (empty + "/none", GRAFT):
        done = graft(path)
        tap.equal(done.returncode, 1)
        tap.contains(done.stderr, "not a directory")


PLACES = [
    ("configure.ac", "AC_SUBST([hashes_enabled])\n"), ("configure.ac", "AC_OUTPUT\n"),
    ("Makefile.am", "EXTRA_DIST = LICENSING\n"), ("Makefile.am", "noinst_HEADERS = lib/crypt-port.h\n"),
    ("Makefile.am", "libcrypt_la_SOURCES = lib/crypt.c\n"),
    ("Makefile.am", "libcrypt_la_CPPFLAGS = $(AM_CPPFLAGS) -DIN_LIBCRYPT\n"),
    ("Makefile.am", "check_PROGRAMS = test/gensalt\n"),
    ("Makefile.am", "TESTS = $(check_PROGRAMS)\n"),
    ("doc/crypt.5", ".de hash\n"), ("doc/crypt.5", ".Ss yescrypt\n"),
    ("lib/crypt-port.h", '#include "crypt-hashes.h"\n'),
    ("lib/hashes.conf", "#name          h_prefix  nrbytes  flags\nyescrypt       $y$       16       "
                        "STRONG,DEFAULT,ALT\n"),
    ("test/gensalt.c", '#if INCLUDE_yescrypt\n# define EXPECTED_DEFAULT_PREFIX "$y$"\n'),
]


@tap.case("refused, since a place is there {0} times: {1}, {2}", [
    (times, *place) for times in (0, 2) for place in PLACES])
def _(times, name, place):
    def change(text):
        tap.equal(text.count(place), 1)
        return text.replace(place, place * times if times else "other = ")

    refused(make_tree(change={name: change}), name, "expected", f"found: {times or ''}",
            options=["--default"])


@tap.case("refused, since a file that it needs isn't there: {}", [
    name for name in LIBXCRYPT if name not in ("configure.ac", "lib/hashes.conf", "lib/crypt.c")])
def _(name):
    refused(make_tree(change={name: None}), options=["--default"])


@tap.case("refused: hashes.conf with {}", [
    ("a method of our name", "argon2id $argon2x$ 16 STRONG\n"),
    ("a method of our prefix", "argon2_id $argon2id$ 16 STRONG\n"),
    ("five columns", "bcrypt _b $2b$ 16 STRONG\n"),
    ("something else", "what is this\n")])
def _(_name, line):
    refused(make_tree(change={"lib/hashes.conf": lambda text: text + line}), line.strip())


@tap.case("refused: yescrypt isn't the first method")
def _():
    refused(make_tree(change={"lib/hashes.conf": lambda text: text.replace(
        "yescrypt", "scrypt $7$ 16 STRONG\nyescrypt")}), "lib/hashes.conf", "before all others")


@tap.case("refused: {0}", [("a symbolic link, configure.ac", "configure.ac"),
                           ("a symbolic link, hashes.conf", "lib/hashes.conf"),
                           ("a link in place of a new file", "test/crypt-mhkdf.c"),
                           ("files where ours would go", "lib/mhkdf/x")])
def _(_name, name):
    tree = make_tree()
    path = os.path.join(tree, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.rename(path, path + ".real")
    os.symlink(os.path.basename(path) + ".real", path)
    refused(tree)


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* The call with this number ends in this way; -1: EIO, else a signal. */
int
rename(const char *from, const char *to)
{
    static int calls;
    int (*real)(const char *, const char *);
    const char *at = getenv("SHIM_AT"), *how = getenv("SHIM_HOW");

    *(void **)&real = dlsym(RTLD_NEXT, "rename");
    if (at == NULL || ++calls != atoi(at))
        return real(from, to);
    if (atoi(how) > 0) {
        kill(getpid(), atoi(how));
        return real(from, to);
    }
    errno = EIO;
    return -1;
}
"""


def make_shim():
    source, shim = os.path.join(WORK, "shim.c"), os.path.join(WORK, "shim.so")
    if not os.path.exists(shim):
        with open(source, "w", encoding="ascii") as out:
            out.write(SHIM)
        compiler = os.environ.get("CC", "cc")
        if not shutil.which(compiler.split()[0]):
            tap.skip("no C compiler")
        subprocess.run([*compiler.split(), "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    return shim


def graft_cut_short(tree, at, how):
    return graft("--default", tree, env=dict(os.environ, LD_PRELOAD=make_shim(), SHIM_AT=str(at),
                                             SHIM_HOW=str(how)))


def every_moment(how, check):
    """Calls check(tree, its contents before, the run) with runs that end at each of their steps."""
    good = contents(grafted(make_tree(), "--default"))
    for at in range(1, 1000):
        tree = make_tree()
        before = contents(tree)
        done = graft_cut_short(tree, at, how)
        if done.returncode == 0:
            tap.check(at > 30, f"only {at} steps")
            tap.check(contents(tree) == good, "the whole run gives another tree")
            return
        check(tree, before, good, done)
    raise AssertionError("no end")


@tap.case("an error at any moment leaves the tree as it was")
def _():
    def check(tree, before, _good, done):
        tap.equal(done.returncode, 1, done.stderr)
        tap.contains(done.stderr, "Input/output error")
        tap.check(contents(tree) == before, "the tree is changed")

    every_moment(-1, check)


@tap.case("SIGTERM at any moment leaves the tree as it was")
def _():
    def check(tree, before, _good, done):
        tap.equal(done.returncode, 1, done.stderr)
        tap.contains(done.stderr, "interrupted")
        tap.check(contents(tree) == before, "the tree is changed")

    every_moment(int(signal.SIGTERM), check)


@tap.case("after a death at any moment the next run makes it whole")
def _():
    def check(tree, _before, good, done):
        tap.equal(done.returncode, -signal.SIGKILL)
        done = graft("--default", tree)
        tap.equal(done.returncode, 0, done.stderr)
        tap.contains(done.stderr, "cut short")
        tap.check(contents(tree) == good, "another tree than without the death")

    every_moment(int(signal.SIGKILL), check)


@tap.case("what another left for the next run isn't followed out of the tree")
def _():
    tree = make_tree()
    for name in ("../outside", "/etc/outside", "a/../../outside"):
        aside = os.path.join(tree, ".mhkdf-graft")
        os.makedirs(aside, exist_ok=True)
        with open(os.path.join(aside, "added"), "w", encoding="ascii") as out:
            out.write(f"lib/crypt.c\n{name}\n")
        refused(tree, "not made by graft")


@tap.case("--help, and wrong use")
def _():
    done = graft("--help")
    tap.equal((done.returncode, done.stderr), (0, ""))
    tap.contains(done.stdout, "usage: graft [--default] DIR")
    for arguments in ([], ["--defaults", "x"], ["a", "b"], ["-x"]):
        done = graft(*arguments)
        tap.equal((done.returncode, done.stdout), (2, ""), arguments)
        tap.contains(done.stderr, "usage: graft")


try:
    if not shutil.which("perl"):
        tap.skip_all("no perl")
    tap.main()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
