# SPDX-License-Identifier: BSD-2-Clause
"""The mhkdf command as a process: descriptors, limits, and what others can see of it."""

import os
import resource
import signal
import subprocess

import tap
from tool import BUILDDIR, ENVIRONMENT, SANITIZED, Stranger, pending, run, start, wait_until

CHEAP = ("hash", "--memory", "64K")
STRING = "$mhkdf$m64K.t2.p4.c6$AgICAgICAgICAgICAgICAg$KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM"
CLOSE_FAILS = os.path.join(BUILDDIR, "tests", "cli", ".libs", "libclosefails.so")
SECRET = b"correct horse"


def closed(*descriptors):
    """Runs hash with these descriptors closed; status, standard output, standard error."""

    def close():
        for fd in descriptors:
            os.close(fd)

    result = run(*CHEAP, stdin=SECRET, preexec_fn=close)
    return result.returncode, result.stdout, result.stderr.decode()


@tap.case("a full disk is an error")
def _():
    with open("/dev/full", "wb") as full:
        result = run(*CHEAP, stdin=SECRET, stdout=full)
    tap.equal(result.returncode, 2)
    tap.equal(
        result.stderr, b"mhkdf hash: can't write to standard output: No space left on device\n"
    )


@tap.case("a reader that has gone is an error")
def _():
    reader, writer = os.pipe()
    os.close(reader)
    result = run(*CHEAP, stdin=SECRET, stdout=writer)
    os.close(writer)
    tap.equal(result.returncode, 2)
    tap.contains(result.stderr, b"can't write to standard output: Broken pipe")


OUTPUTS = [CHEAP, ("--help",), ("hash", "--help"), ("--version",)]


@tap.case("an error that shows up only when standard output is closed: {}", OUTPUTS)
def _(*args):
    if SANITIZED:
        tap.skip("a sanitizer wants to be loaded first")
    environment = dict(ENVIRONMENT, LD_PRELOAD=CLOSE_FAILS)
    result = run(*args, stdin=SECRET, env=environment)
    tap.equal(result.returncode, 2)
    tap.check(result.stdout != b"", "nothing was written")
    tap.contains(result.stderr, b"can't write to standard output: Disk quota exceeded\n")


@tap.case("a full disk behind standard error changes nothing")
def _():
    with open("/dev/full", "wb") as full:
        tap.equal(run("hash", "--nonsense", stderr=full).returncode, 2)
        tap.equal(run(*CHEAP, stdin=SECRET, stderr=full).returncode, 0)


@tap.case("closed standard input is an error, not an empty password")
def _():
    status, out, message = closed(0)
    tap.equal((status, out), (2, b""))
    tap.contains(message, "can't read the password from standard input")


@tap.case("closed standard output is an error")
def _():
    status, _, message = closed(1)
    tap.equal(status, 2)
    tap.contains(message, "can't write to standard output")


@tap.case("closed standard error loses messages only")
def _():
    status, out, message = closed(2)
    tap.equal((status, message), (0, ""))
    tap.check(out.startswith(b"$mhkdf$"))


@tap.case("everything closed is an error")
def _():
    tap.equal(closed(0, 1, 2)[0], 2)
    tap.equal(closed(0, 1)[0], 2)
    tap.equal(closed(0, 2)[0], 2)
    tap.equal(closed(1, 2)[0], 2)


def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


@tap.case("too little memory is an error that names the need")
def _():
    if SANITIZED:
        tap.skip("sanitizers reserve more address space than the limit")
    limit = limited(resource.RLIMIT_AS, 256 << 20)
    result = run("hash", "--memory", "1G", stdin=SECRET, preexec_fn=limit)
    tap.equal((result.returncode, result.stdout), (2, b""))
    tap.contains(result.stderr, b"mhkdf hash: not enough memory: 1042M needed, ")
    tap.contains(result.stderr, b"M available (RLIMIT_AS = 262144K); --memory, or ")
    string = STRING.replace("m64K", "m1G")
    result = run("verify", string, stdin=SECRET, preexec_fn=limit)
    tap.equal((result.returncode, result.stdout), (2, b""))
    tap.contains(result.stderr, b"mhkdf verify: not enough memory: 1042M needed, ")
    tap.contains(result.stderr, b"M available (RLIMIT_AS = 262144K)\n")


@tap.case("too little memory for a method of libcrypt is the same error")
def _():
    if SANITIZED:
        tap.skip("sanitizers reserve more address space than the limit")
    limit = limited(resource.RLIMIT_AS, 256 << 20)
    setting = "$y$jFT$cW69xh5Rejo13toRM4cnB."
    result = run("hash", "--setting", setting, stdin=SECRET, preexec_fn=limit)
    if b"libcrypt doesn't know" in result.stderr:
        tap.skip("this system's libcrypt doesn't have $y$")
    tap.equal((result.returncode, result.stdout), (2, b""))
    tap.contains(result.stderr, b"mhkdf hash: not enough memory: 1041M needed, ")
    tap.contains(result.stderr, b"M available (RLIMIT_AS = 262144K)\n")


@tap.case("more memory than there can be is an error")
def _():
    if SANITIZED:
        tap.skip("sanitizers handle allocation failures themselves")
    limit = limited(resource.RLIMIT_AS, 1 << 30)
    result = run("hash", "--memory", "4294967295K", stdin=SECRET, preexec_fn=limit)
    tap.equal((result.returncode, result.stdout), (2, b""))
    tap.contains(result.stderr, b"not enough memory")


@tap.case("no threads to be had: the same hash")
def _():
    if SANITIZED:
        tap.skip("the leak checker needs a thread of its own")
    with Stranger(limit=(resource.RLIMIT_NPROC, (1, 1))) as stranger:
        result = run("verify", STRING, stdin=b"\1" * 32, **stranger)
    tap.equal((result.returncode, result.stderr), (0, b""))


@tap.case("no locked memory and no core size to be had: the same hash")
def _():
    for kind in (resource.RLIMIT_MEMLOCK, resource.RLIMIT_CORE):
        result = run("verify", STRING, stdin=b"\1" * 32, preexec_fn=limited(kind, 0))
        tap.equal((result.returncode, result.stderr), (0, b""))


@tap.case("signals and descriptors that were inherited don't disturb it")
def _():
    def inherit():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT})
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    with open("/dev/null", "rb") as extra:
        result = run("verify", STRING, stdin=b"\1" * 32, preexec_fn=inherit, pass_fds=[extra.fileno()])
    tap.equal((result.returncode, result.stderr), (0, b""))


@tap.case("an empty environment is enough, and a hostile one changes nothing")
def _():
    environment = {"LD_LIBRARY_PATH": ENVIRONMENT["LD_LIBRARY_PATH"]}
    hostile = {
        name: "nonsense"
        for name in ("LANG", "LC_ALL", "TMPDIR", "HOME", "PATH", "TERM", "OMP_NUM_THREADS",
                     "MHKDF_THREADS", "MHKDF_MEMORY", "MHKDF_CONF", "POSIXLY_CORRECT")
    }  # fmt: skip
    for more in ({}, hostile):
        result = run("verify", STRING, stdin=b"\1" * 32, env=dict(environment, **more))
        tap.equal((result.returncode, result.stdout, result.stderr), (0, b"", b""))


def while_it_reads(look, **more):
    """Calls look(PID) while the command has a secret in its memory and waits for more of it."""
    reader, writer = os.pipe()
    with start(*CHEAP, stdin=reader, stdout=subprocess.PIPE, **more) as process:
        try:
            os.write(writer, SECRET)
            wait_until(lambda: pending(reader) == 0)
            look(process.pid)
        finally:
            os.close(writer)
            os.close(reader)
        out = process.stdout.read()
    tap.equal(process.returncode, 0)
    tap.check(out.startswith(b"$mhkdf$"))


def contents(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read()


@tap.case("nothing secret is in its command line")
def _():
    def look(pid):
        line = contents(pid, "cmdline")
        tap.equal(line.split(b"\0")[1:3], [b"hash", b"--memory"])
        tap.check(SECRET not in line)

    while_it_reads(look)


@tap.case("nothing secret is in its environment")
def _():
    def look(pid):
        try:
            tap.check(SECRET not in contents(pid, "environ"))
        except PermissionError:
            tap.check(os.geteuid() != 0)  # not even we may look, which is better still

    while_it_reads(look)


@tap.case("it leaves no core dump")
def _():
    def look(pid):
        limits = contents(pid, "limits").decode()
        line = next(x for x in limits.splitlines() if x.startswith("Max core file size"))
        tap.equal(line.split()[4:6], ["0", "0"])

    while_it_reads(look)


@tap.case("others of the same user may not look into it")
def _():
    if SANITIZED:
        tap.skip("the leak checker needs to look into it")

    def look(pid):
        # Files of a process that isn't dumpable belong to root, whoever runs it.
        tap.equal(os.stat(f"/proc/{pid}/environ").st_uid, 0)

    with Stranger() as stranger:
        while_it_reads(look, **stranger)


@tap.case("its copy of the password is locked in memory")
def _():
    def look(pid):
        status = contents(pid, "status").decode()
        locked = next(x for x in status.splitlines() if x.startswith("VmLck:"))
        tap.check(int(locked.split()[1]) >= 4, locked)

    if SANITIZED:
        tap.skip("sanitizers keep programs from locking memory")
    if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] < resource.getpagesize() and os.geteuid() != 0:
        tap.skip("no memory may be locked here")
    while_it_reads(look)


@tap.case("SIGTERM while it waits for standard input ends it")
def _():
    reader, writer = os.pipe()
    with start(*CHEAP, stdin=reader, stdout=subprocess.PIPE) as process:
        os.write(writer, SECRET)
        wait_until(lambda: pending(reader) == 0)
        process.terminate()
        out = process.stdout.read()
    os.close(writer)
    os.close(reader)
    tap.equal((process.returncode, out), (-signal.SIGTERM, b""))


tap.main()
