# SPDX-License-Identifier: BSD-2-Clause
"""mhkdf bench: what it can be given, and whether its reports are complete. No time decides."""

import base64
import ctypes.util
import json
import os
import re
import resource
import subprocess
import sys

import tap
from tool import BUILDDIR, SANITIZED, Stranger, Terminal, run

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors"))
import mhkdf_model  # noqa: E402

BENCH = "mhkdf bench: "
TINY = ("-m", "64", "--runs", "2")
OURS = ["mhkdf", "argon2d", "argon2i", "argon2id"]
WRONG_LIBRARY = os.path.join(BUILDDIR, "tests", "cli", ".libs", "libwrongargon2.so")
PEER = "libargon2.so.1"

DOCUMENT_KEYS = {"schema", "version", "runs", "jobs", "machine", "ready_memory", "rows"}
MACHINE_KEYS = {"cpu", "cpus", "memory_kib", "system", "load", "huge_pages"}
MEMORY_KEYS = {"size_kib", "resident_kib", "huge_kib", "pages"}
ROW_KEYS = {
    "engine", "function", "code", "memory_kib", "passes", "lanes", "chain", "threads", "written_kib",
    "tag", "chain_seconds", "first", "wipes_memory", "wipe_seconds", "fresh", "ready", "jobs",
}  # fmt: skip
PHASE_KEYS = {
    "median_seconds", "quartile1_seconds", "quartile3_seconds", "user_seconds", "system_seconds",
    "gib_per_second", "chain_share", "ratio", "hashes_per_second", "runs",
}  # fmt: skip
SAMPLE_KEYS = {"sequence", "seconds", "user_seconds", "system_seconds", "page_faults"}


def bench(*args, **more):
    result = run("bench", *args, **more)
    tap.equal((result.returncode, result.stderr), (0, b""), args)
    return result.stdout.decode()


def document(*args, **more):
    return json.loads(bench(*args, "--json", **more))


def refused(*args, **more):
    """The message, without what all start with."""
    result = run("bench", *args, **more)
    tap.equal((result.returncode, result.stdout), (2, b""), args)
    message = result.stderr.decode()
    tap.check(message.startswith(BENCH) and message.count("\n") == 1, message)
    return message[len(BENCH) : -1]


def need_peer():
    try:
        ctypes.CDLL(PEER)
    except OSError:
        tap.skip(f"{PEER} is not installed (Debian: libargon2-1)")


KEYS = "m, t, p, c, threads or kernel was expected"
WRONG = [
    (["--memory"], "--memory: a value is missing: SIZE was expected"),
    (["-m"], "--memory: a value is missing: SIZE was expected"),
    (["-m", "1M", "--memory", "1M"], "--memory is given twice"),
    (["-m", "x"], '--memory: "x" is not a size; a whole number of KiB, or with K, M or G, was expected, such as 64M'),
    (["-m", "4294967296"], '--memory: "4294967296" is more than 4294967295K'),
    (["-m31"], '"mhkdf": memory must be at least 8 KiB a lane'),
    (["-t", "0"], '--passes: "0" is not a whole number from 1 to 16777215'),
    (["-p", "65"], '--lanes: "65" is not a whole number from 1 to 64'),
    (["--threads", "0"], '--threads: "0" is not a whole number from 1 to 64'),
    (["--chain", "5"], '--chain: "5" is none of 0, 3, 6, 12'),
    (["--chain", "6", "argon2d"], "--chain is only for the engine mhkdf, which isn't measured"),
    (["--runs", "1001"], '--runs: "1001" is not a whole number from 1 to 1000'),
    (["--jobs", "0"], '--jobs: "0" is not a whole number from 1 to 1024'),
    (["--json=yes"], "--json takes no value"),
    (["--json", "--json"], "--json is given twice"),
    (["--json", "--phctest"], "--json and --phctest can't be given together"),
    (["--ready", "--phctest"], "--phctest is about fresh memory, which --ready leaves out"),
    (["-x"], "unknown option -x; 'mhkdf bench --help' lists them"),
    (["--mem", "1M"], "unknown option --mem; 'mhkdf bench --help' lists them"),
    (["scrypt"], '"scrypt" is no engine; mhkdf, argon2d, argon2i, argon2id, libargon2d, libargon2i, libargon2id, '
                 "crypt:PREFIX, copy or random was expected"),
    (["mhkdf:x"], '"mhkdf:x": nothing was expected after the colon; ",KEY=VALUE" sets what differs from the options'),
    (["mhkdf,c"], '"mhkdf,c": "c" is no KEY=VALUE, such as c=3'),
    (["mhkdf,c,p=1"], '"mhkdf,c,p=1": "c" is no KEY=VALUE, such as c=3'),
    (["mhkdf,x=1"], f'"mhkdf,x=1": there is no "x"; {KEYS}'),
    (["mhkdf,c=1"], '"mhkdf,c=1": the chain must be 0, 3, 6 or 12'),
    (["mhkdf,p=0"], '"mhkdf,p=0": lanes must be from 1 to 64'),
    (["mhkdf,t=0"], '"mhkdf,t=0": passes must be from 1 to 16777215'),
    (["mhkdf,threads=65"], '"mhkdf,threads=65": threads can\'t be "65"'),
    (["mhkdf,m=1"], '"mhkdf,m=1": memory must be at least 8 KiB a lane'),
    (["mhkdf,m="], '"mhkdf,m=": m can\'t be ""'),
    (["--kernel", "portable", "copy"], "--kernel is only for mhkdf, argon2d, argon2i and argon2id, none of which is measured"),
    (["copy:x"], '"copy:x": nothing was expected after the colon'),
]  # fmt: skip


@tap.case("refused: {}", WRONG)
def _(args, message):
    tap.equal(refused(*args), message)


@tap.case("refused: {}", ["crypt", "crypt:", "crypt:$nonsense$", "crypt:$y$:x", "crypt:$y$:99"])
def _(engine):
    tap.contains(refused(engine), f'"{engine}": a prefix, and perhaps a count')


@tap.case("refused: a kernel that isn't there, with those that are")
def _():
    for args in (["--kernel", "z80"], ["mhkdf,kernel=z80"]):
        message = refused(*args)
        tap.contains(message, 'there is no kernel "z80" in this build; ')
        tap.contains(message, "portable was expected")


@tap.case("refused: more than 64 engines, or a very long one")
def _():
    tap.equal(refused(*["mhkdf"] * 65), "argument 65 is one too many; at most 64 engines were expected")
    tap.equal(refused(*["mhkdf"] * 64, "--memmove"), "more than 64 engines")
    tap.contains(refused("libargon2d:/" + "x" * 600), "is too long; at most 511 characters")


@tap.case("refused: a libargon2 that isn't there or is none")
def _():
    for args in (["libargon2d:/nonexistent/x.so"], ["libargon2id", "--libargon2", "/nonexistent/x.so"]):
        tap.contains(refused(*args), "libargon2 can't be loaded (Debian: libargon2-1): ")
    library = ctypes.util.find_library("crypt") or "libcrypt.so.1"
    tap.contains(refused("libargon2d:" + library), "argon2_ctx")


@tap.case("the table has a line for each engine and kind of memory")
def _():
    lines = bench(*TINY).splitlines()
    columns = lines[0].split()
    tap.equal(columns, "engine code lanes thr memory is ms 25% 75% user system GiB/s chain share ratio".split())
    rows = [line.split() for line in lines[1:9]]
    tap.equal([(row[0], row[5]) for row in rows], [(name, kind) for kind in ("fresh", "ready") for name in OURS])
    for row in rows:
        tap.equal(len(row), len(columns), row)
    tap.equal([rows[0][-1], rows[4][-1]], ["1.000", "1.000"])
    tap.check(lines[9] == "" and " CPUs, " in lines[10], lines[10])
    tap.check(re.match(r"Ready memory had pages of (4 KiB|2 MiB|mixed|unknown) ", lines[11]), lines[11])


@tap.case("the JSON document has these keys and no others")
def _():
    got = document(*TINY, "mhkdf", "argon2id", "crypt:$6$:1000", "--memmove", "--jobs", "2")
    tap.equal(set(got), DOCUMENT_KEYS)
    tap.equal((got["schema"], got["runs"], got["jobs"]), (1, 2, 2))
    tap.equal(set(got["machine"]), MACHINE_KEYS)
    tap.equal(set(got["ready_memory"]), MEMORY_KEYS)
    tap.equal([row["engine"] for row in got["rows"]], ["mhkdf", "argon2id", "crypt:$6$:1000", "copy", "random"])
    for row in got["rows"]:
        tap.equal(set(row), ROW_KEYS)
        for phase in ("fresh", "ready", "jobs"):
            if row[phase] is not None:
                tap.equal(set(row[phase]), PHASE_KEYS)
                tap.equal(len(row[phase]["runs"]), 2)
                tap.check(all(set(sample) == SAMPLE_KEYS for sample in row[phase]["runs"]))


@tap.case("rows are complete: what isn't measured is what can't be")
def _():
    got = document(*TINY, "mhkdf", "crypt:$6$:1000", "copy", "--jobs", "2")
    measured = [[row[phase] is not None for phase in ("fresh", "ready", "jobs")] for row in got["rows"]]
    tap.equal(measured, [[True, True, True], [True, False, True], [False, True, False]])
    mhkdf, crypt, copy = got["rows"]
    for phase in ("fresh", "ready"):
        tap.check(mhkdf[phase]["chain_share"] > 0 and mhkdf[phase]["gib_per_second"] > 0)
        tap.equal(mhkdf[phase]["ratio"], 1.0)
    tap.check(mhkdf["first"]["seconds"] > 0 and mhkdf["chain_seconds"] > 0)
    tap.check(crypt["fresh"]["ratio"] > 0)
    tap.equal((crypt["fresh"]["gib_per_second"], crypt["chain_seconds"], crypt["tag"]), (None, None, None))
    tap.equal((copy["ready"]["ratio"] > 0, copy["first"], copy["tag"]), (True, None, None))


@tap.case("--ready leaves fresh memory out, but for crypt(3), whose memory is its own")
def _():
    got = document(*TINY, "--ready", "mhkdf", "crypt:$6$:1000")
    tap.equal([row["fresh"] is None for row in got["rows"]], [True, False])
    tap.equal([row["ready"] is None for row in got["rows"]], [False, True])


@tap.case("quartiles and medians are those of the runs")
def _():
    for runs in (1, 2, 3, 8):
        phase = document("-m", "64", "--runs", str(runs), "mhkdf")["rows"][0]["ready"]
        times = sorted(sample["seconds"] for sample in phase["runs"])
        for key, quarters in (("quartile1_seconds", 1), ("median_seconds", 2), ("quartile3_seconds", 3)):
            place = (runs - 1) * quarters / 4
            low = int(place)
            high = min(low + 1, runs - 1)
            expected = times[low] + (times[high] - times[low]) * (place - low)
            tap.check(abs(phase[key] - expected) <= 1e-6 * expected, (phase[key], expected))


@tap.case("runs are interleaved, and who comes first changes")
def _():
    got = document("-m", "64", "--runs", "6", "mhkdf", "argon2d", "argon2id", "--jobs", "2")
    for phase in ("fresh", "ready", "jobs"):
        order = [[sample["sequence"] for sample in row[phase]["runs"]] for row in got["rows"]]
        tap.equal(sorted(number for row in order for number in row), list(range(18)))
        for turn in range(6):
            numbers = [row[turn] for row in order]
            tap.equal(sorted(numbers), list(range(3 * turn, 3 * turn + 3)))
            tap.equal(numbers.index(min(numbers)), turn % 3)


@tap.case("tags are those of the functions: {}", OURS)
def _(engine):
    got = document("-m", "96", "-t", "2", "-p", "3", "--runs", "1", engine)["rows"][0]
    if engine == "mhkdf":  # no string has this salt
        expected = mhkdf_model.mhkdf1(b"password", b"\2" * 16, b"", 96, 2, 3, 6, 32)
        tap.equal(got["tag"], expected.hex())
        return
    salt = base64.b64encode(b"\2" * 16).decode().rstrip("=")
    tag = base64.b64encode(bytes.fromhex(got["tag"])).decode().rstrip("=")
    result = run("verify", f"${engine}$v=19$m=96,t=2,p=3${salt}${tag}", stdin=b"password")
    tap.equal((result.returncode, result.stderr), (0, b""))


@tap.case("the chain, threads, kernel and cost of one engine")
def _():
    engines = [f"mhkdf,c={c}" for c in (0, 3, 6, 12)]
    got = document(*TINY, *engines, "mhkdf,m=1M,t=2,p=8,threads=1", "mhkdf,threads=3,p=2", "mhkdf,kernel=portable")
    rows = got["rows"]
    tap.equal([row["chain"] for row in rows], [0, 3, 6, 12, 6, 6, 6])
    tap.equal([row["chain_seconds"] is None for row in rows[:4]], [True, False, False, False])
    keys = ("memory_kib", "passes", "lanes", "threads", "written_kib")
    tap.equal([rows[4][key] for key in keys], [1024, 2, 8, 1, 2048])
    tap.equal((rows[5]["lanes"], rows[5]["threads"]), (2, 2))
    tap.equal(rows[6]["code"], "portable")
    tap.equal(rows[6]["tag"], rows[2]["tag"])
    tap.equal(len({row["tag"] for row in rows}), 6)


@tap.case("--kernel portable")
def _():
    got = document(*TINY, "--kernel", "portable")
    tap.equal([row["code"] for row in got["rows"]], ["portable"] * 4)


@tap.case("the kernel that is named runs, and agrees")
def _():
    kernels = re.findall(r"(\w+), ", refused("--kernel", "z80").split("; ")[1].split("or portable")[0])
    fastest = document(*TINY, "mhkdf")["rows"][0]
    tap.check(fastest["code"] in [*kernels, "portable"], fastest["code"])
    for kernel in kernels:
        result = run("bench", *TINY, "mhkdf", f"mhkdf,kernel={kernel}", "--json")
        if result.returncode == 2:
            tap.contains(result.stderr.decode(), "can't run on this machine")
        else:
            row = json.loads(result.stdout)["rows"][1]
            tap.equal((row["code"], row["tag"]), (kernel, fastest["tag"]))


@tap.case("sizes: {}", [("64", 64), ("64K", 64), ("1M", 1024), ("1024", 1024)])
def _(text, kib):
    for args in (["-m", text], ["--memory", text], ["-m" + text], [f"--memory={text}"]):
        tap.equal(document(*args, "--runs", "1", "argon2d")["rows"][0]["memory_kib"], kib)


@tap.case("Argon2 has three passes where nothing says otherwise")
def _():
    rows = document(*TINY, "mhkdf", "argon2id", "argon2d", "argon2i", "argon2id,t=2")["rows"]
    tap.equal([row["passes"] for row in rows], [1, 3, 3, 3, 2])


@tap.case("libargon2 gives the tags of our own Argon2")
def _():
    need_peer()
    engines = [prefix + kind for kind in ("argon2d", "argon2i", "argon2id") for prefix in ("", "lib")]
    rows = document("-m", "100", "-t", "2", "-p", "3", "--runs", "2", *engines, "--jobs", "2")["rows"]
    for ours, theirs in zip(rows[::2], rows[1::2]):
        tap.equal(ours["tag"], theirs["tag"])
        tap.equal((theirs["function"], theirs["threads"]), (ours["function"], ours["threads"]))
        tap.check(os.path.exists(theirs["code"]), theirs["code"])
        tap.check(all(theirs[phase] is not None for phase in ("fresh", "ready", "jobs")))
    tap.equal(len({row["tag"] for row in rows}), 3)


@tap.case("two builds of libargon2, and one of them by its path")
def _():
    need_peer()
    path = document(*TINY, "libargon2")["rows"][0]["code"]
    for args in (["libargon2", f"libargon2:{path},threads=1"], ["libargon2d", "--libargon2", path]):
        rows = document(*TINY, *args)["rows"]
        tap.equal({(row["code"], row["function"]) for row in rows}, {(path, "argon2d")})


@tap.case("a plain libargon2 is the system's, also after one by its path")
def _():
    need_peer()
    rows = document(*TINY, "-t", "1", f"libargon2d:{WRONG_LIBRARY}", "libargon2d,t=2")["rows"]
    tap.equal([os.path.basename(row["code"]).split(".so")[0] for row in rows], ["libwrongargon2", "libargon2"])


@tap.case("a peer whose tag is another one is refused")
def _():
    message = refused(*TINY, "argon2d", f"libargon2d:{WRONG_LIBRARY}")
    tap.contains(message, "should give the same tag and don't: no comparison")
    tap.contains(message, '"argon2d" (')
    tap.contains(message, WRONG_LIBRARY)
    for order in (["--ready"], ["--runs", "1", "--jobs", "2"]):
        tap.contains(refused("-m", "64", *order, f"libargon2i:{WRONG_LIBRARY}", "argon2i"), "no comparison")


@tap.case("a peer whose tags change is refused")
def _():
    message = refused(*TINY, "-t", "3", f"libargon2d:{WRONG_LIBRARY}")
    tap.contains(message, "gave two different tags for the same input")


@tap.case("a peer that fails is an error")
def _():
    tap.contains(refused(*TINY, "-t", "4", f"libargon2d:{WRONG_LIBRARY}"), "can't hash at this cost")
    tap.contains(refused(*TINY, "-t", "5", f"libargon2d:{WRONG_LIBRARY}"), "not enough memory: the hash needs 1 MiB")


@tap.case("crypt(3) as a peer: {}", ["crypt:$y$:1", "crypt:$6$:1000", "crypt:$2b$:4", "crypt:$5$", "crypt:$1$"])
def _(engine):
    row = document("--runs", "1", engine)["rows"][0]
    tap.equal((row["function"], row["lanes"], row["threads"]), ("crypt", 1, 1))
    tap.contains(row["code"], "crypt")


@tap.case("--jobs counts the hashes of all")
def _():
    got = document(*TINY, "argon2id", "--jobs", "3")
    phase = got["rows"][0]["jobs"]
    tap.check(abs(phase["hashes_per_second"] * phase["median_seconds"] - 3) < 1e-6)
    tap.check(abs(phase["gib_per_second"] * phase["median_seconds"] - 3 * 3 * 64 / 1048576) < 1e-6)
    line = bench(*TINY, "argon2id", "--jobs", "3").splitlines()
    tap.equal(line[0].split()[-1], "hashes/s")
    tap.equal([row.split()[5] for row in line[1:4]], ["fresh", "ready", "jobs"])


@tap.case("--phctest")
def _():
    tap.check(re.fullmatch(r"# in out m_cost t_cost time\[ms\] memory\[kb\]\n8 32 64 2 \d+ 64\n",
                           bench(*TINY, "-t", "2", "argon2id", "--phctest")))  # fmt: skip
    lines = bench(*TINY, "--phctest").splitlines()
    tap.equal(lines[1::2], ["# " + name for name in OURS])
    for line, passes in zip(lines[2::2], (1, 3, 3, 3)):
        tap.check(re.fullmatch(rf"8 32 64 {passes} \d+ \d+", line), line)


@tap.case("a bar on a terminal, and no bar elsewhere")
def _():
    terminal = Terminal("bench", "-m", "64", "--runs", "3", "mhkdf", "--json")
    status, out = terminal.end()
    terminal.close()
    tap.equal(status, "exit 0")
    tap.equal(json.loads(out)["runs"], 3)
    tap.contains(terminal.screen, b"\r[")
    tap.contains(terminal.screen, b"] 6/6")
    tap.check(terminal.screen.endswith(b"\r\x1b[K"), terminal.screen)


@tap.case("a bar is gone before a message comes")
def _():
    terminal = Terminal("bench", "-m", "64", "-t", "3", "mhkdf", f"libargon2d:{WRONG_LIBRARY}")
    status, _ = terminal.end()
    terminal.close()
    tap.equal(status, "exit 2")
    tap.contains(terminal.screen, b"\r\x1b[Kmhkdf bench: ")


@tap.case("memory that can't be had is an error that names how much")
def _():
    message = refused("-m", "4294967295K", "-p", "1", "argon2d")
    tap.check(re.fullmatch(r"not enough memory: 4259841M needed, \d+M available \(.+\)", message), message)
    message = refused("-m", "1G", "--jobs", "1024", "argon2d")
    tap.contains(message, "for all jobs: not enough memory: 1064961M needed, ")


@tap.case("a limit on memory is an error that names how much")
def _():
    if SANITIZED:
        tap.skip("sanitizers reserve more address space than the limit")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))

    message = refused("-m", "1G", "mhkdf", "--runs", "1", preexec_fn=limit)
    tap.contains(message, "not enough memory: 1042M needed, ")
    tap.contains(message, "M available (RLIMIT_AS = 262144K)")
    message = refused("-m", "1G", "argon2d", "--ready", "--runs", "1", preexec_fn=limit)
    tap.contains(message, "not enough memory: 1041M needed, ")


@tap.case("no processes to be had is an error")
def _():
    if SANITIZED:
        tap.skip("sanitizers need threads of their own")
    with Stranger(limit=(resource.RLIMIT_NPROC, (1, 1))) as stranger:
        message = refused(*TINY, "mhkdf", "--jobs", "2", **stranger)
    tap.equal(message, "2 processes can't be started")


@tap.case("no process is left behind")
def _():
    with subprocess.Popen(
        ["sh", "-c", 'exec "$0" "$@"', os.path.join(BUILDDIR, "tools", "mhkdf"), "bench", *TINY, "--jobs", "4"],
        stdout=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        process.stdout.read()
    tap.equal(process.returncode, 0)
    try:
        os.killpg(process.pid, 0)
        raise AssertionError("its group still has members")
    except ProcessLookupError:
        pass


@tap.case("a full disk is an error")
def _():
    with open("/dev/full", "wb") as full:
        for args in ([], ["--json"], ["--phctest"]):
            result = run("bench", *TINY, *args, stdout=full)
            tap.equal(result.returncode, 2)
            tap.contains(result.stderr, b"can't write to standard output")


@tap.case("it never asks for a password, and reads nothing")
def _():
    reader, writer = os.pipe()
    tap.check(bench(*TINY, stdin=reader))
    os.close(reader)
    os.close(writer)


tap.main()
