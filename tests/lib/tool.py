# SPDX-License-Identifier: BSD-2-Clause
"""Runs the mhkdf command that was just built, with pipes or on a terminal of its own."""

import errno
import fcntl
import os
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

BUILDDIR = os.environ["MHKDF_BUILDDIR"]
PATIENCE = 120  # seconds; only a hang is ever stopped by it

# libtool's wrapper is a shell script; what it would start is tested without a shell in between.
BINARY = os.path.join(BUILDDIR, "tools", "mhkdf")
with open(BINARY, "rb") as _binary:
    if _binary.read(2) == b"#!":
        BINARY = os.path.join(BUILDDIR, "tools", ".libs", "mhkdf")
ENVIRONMENT = dict(os.environ, LD_LIBRARY_PATH=os.path.join(BUILDDIR, "libcore", ".libs"))

with open(BINARY, "rb") as _binary:
    SANITIZED = re.search(rb"__[at]san_init", _binary.read()) is not None


STRANGER = 61803  # a user who has no other processes


class Stranger:
    """The command for a user who isn't root, who needn't be able to read this tree.

    with Stranger() as stranger: run(..., **stranger) -- or start(). Where we aren't root, it runs
    as we do.
    """

    def __init__(self, limit=None):
        self._limit = limit
        self._directory = tempfile.TemporaryDirectory()

    def __enter__(self):
        path = self._directory.__enter__()
        os.chmod(path, 0o755)
        for file in (BINARY, os.path.join(BUILDDIR, "libcore", ".libs", "libmhkdf.so.0")):
            if os.path.exists(file):
                shutil.copy(file, path)
        environment = dict(ENVIRONMENT, LD_LIBRARY_PATH=path)
        return {"binary": os.path.join(path, "mhkdf"), "env": environment, "preexec_fn": self._drop}

    def __exit__(self, *error):
        return self._directory.__exit__(*error)

    def _drop(self):
        if self._limit:
            resource.setrlimit(*self._limit)
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(STRANGER, STRANGER, STRANGER)
            os.setresuid(STRANGER, STRANGER, STRANGER)


def run(*args, stdin=b"", binary=BINARY, **more):
    """Status, standard output and standard error (bytes) of the command, in a CompletedProcess."""
    if not isinstance(stdin, bytes):
        more["stdin"] = stdin
    else:
        more["input"] = stdin
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("env", ENVIRONMENT)
    return subprocess.run([binary, *args], timeout=PATIENCE, check=False, **more)


def start(*args, binary=BINARY, **more):
    """The same, still running, in a Popen."""
    more.setdefault("env", ENVIRONMENT)
    return subprocess.Popen([binary, *args], **more)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the command hangs")
        time.sleep(0.01)


def pending(descriptor):
    """Bytes that wait to be read from a pipe or terminal."""
    return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0]


# What a terminal or another process sends to a job. Whoever runs the tests may ignore some of it: a
# background job of a script has INT and QUIT ignored, nohup HUP.
JOB_SIGNALS = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGALRM,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)


class Terminal:
    """The command as a job of a small shell, on a terminal whose other end is ours.

    Its standard input and error are the terminal, its standard output is a pipe. The shell, a
    process between us and it, does what shells do: it waits, says what happened, and moves the job
    to the foreground and goes on with it when it is told to.
    """

    def __init__(self, *args, background=False, ignore=()):
        self.screen = b""
        self._seen = 0
        self._reports = b""
        self.master, self.slave = os.openpty()
        self._out, out = os.pipe()
        self._report, report = os.pipe()
        command, self._command = os.pipe()
        self._shell = os.fork()
        if self._shell == 0:
            try:
                for fd in (self.master, self._out, self._report, self._command):
                    os.close(fd)
                shell = _Shell(self.slave, command, report)
                shell.run([BINARY, *args], out, background, ignore)
            finally:
                os._exit(0)
        for fd in (out, report, command):
            os.close(fd)
        self.pid = int(self._next_report().split()[1])

    def _next_report(self):
        while b"\n" not in self._reports:
            self._poll([self._report])
        line, self._reports = self._reports.split(b"\n", 1)
        return line.decode()

    def _poll(self, wanted):
        """Waits for one of these descriptors; what the screen shows is always taken too."""
        ready, _, _ = select.select([self.master, *wanted], [], [], PATIENCE)
        if not ready:
            raise TimeoutError(f"the command hangs; the screen shows {self.screen!r}")
        for fd in ready:
            try:
                data = os.read(fd, 4096)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                data = b""
            if fd == self.master:
                self.screen += data
            elif not data:
                raise EOFError("the shell has ended")
            else:
                self._reports += data

    def expect(self, text):
        """Waits until the screen shows text, after what was expected last."""
        while True:
            at = self.screen.find(text, self._seen)
            if at >= 0:
                self._seen = at + len(text)
                return
            self._poll([])

    def send(self, data):
        os.write(self.master, data)

    def echo(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def stopped(self):
        """Waits until the job has been stopped."""
        report = self._next_report()
        if report != "stopped":
            raise AssertionError(f"{report} instead of stopped; the screen shows {self.screen!r}")

    def foreground(self):
        os.write(self._command, b"f")

    def end(self):
        """Waits for the job's end: "exit N" or "signal N", and its standard output."""
        report = self._next_report()
        os.waitpid(self._shell, 0)
        out = b""
        while data := os.read(self._out, 4096):
            out += data
        while select.select([self.master], [], [], 0)[0]:
            data = os.read(self.master, 4096)
            if not data:
                break
            self.screen += data
        for fd in (self._out, self._report, self._command):
            os.close(fd)
        return report, out

    def close(self):
        os.close(self.master)
        os.close(self.slave)


class _Shell:
    def __init__(self, terminal, command, report):
        self.terminal, self.command, self.report = terminal, command, report
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def tell(self, text):
        os.write(self.report, text.encode() + b"\n")

    def run(self, argv, out, background, ignore):
        pid = os.fork()
        if pid == 0:
            self.job(argv, out, background, ignore)
        os.close(out)
        try:
            os.setpgid(pid, pid)
        except PermissionError:
            pass  # it has got there first, and is running already
        self.tell(f"pid {pid}")
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
            os.tcsetpgrp(self.terminal, os.getpgrp())
            self.tell("stopped")
            os.read(self.command, 1)
            os.tcsetpgrp(self.terminal, pid)
            os.killpg(pid, signal.SIGCONT)
        if os.WIFSIGNALED(status):
            self.tell(f"signal {os.WTERMSIG(status)}")
        else:
            self.tell(f"exit {os.WEXITSTATUS(status)}")

    def job(self, argv, out, background, ignore):
        try:
            os.setpgid(0, 0)
            if not background:
                os.tcsetpgrp(self.terminal, os.getpid())
            for number in JOB_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            for number in ignore:
                signal.signal(number, signal.SIG_IGN)
            os.dup2(self.terminal, 0)
            os.dup2(out, 1)
            os.dup2(self.terminal, 2)
            os.closerange(3, 64)
            os.execve(argv[0], argv, ENVIRONMENT)
        finally:
            os._exit(127)
