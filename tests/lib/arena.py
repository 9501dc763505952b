# SPDX-License-Identifier: BSD-2-Clause
"""Runs mhkdf-arenad in a folder of its own, and speaks its protocol (libcore/arena_protocol.h)."""

import array
import mmap
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time

import tap

BUILDDIR = os.environ["MHKDF_BUILDDIR"]
PATIENCE = 60  # seconds; only a hang is ever stopped by it
DAEMON = os.path.join(BUILDDIR, "tests", "arena", "mhkdf-arenad-test")
CLIENT = os.path.join(BUILDDIR, "tests", "arena", "client")
MIB = 1024 * 1024

MAGIC, VERSION = 0x616B686D, 1
LEASE, STATUS, GRANTED, QUEUED, REFUSED, REPORT = 1, 2, 17, 18, 19, 20
BUSY, NOT_READY, TOO_SMALL, ENDING = 1, 2, 3, 4
PLAIN, THP, HUGETLB = 1, 2, 3
REPLY = struct.Struct("=IHHQIIII8x")
REPORT_NAMES = (
    "slot_size locked leases expired renewed busy unavailable wait_max_ms wait_now_ms "
    "slots free lent making failed plain thp hugetlb waiting overdue lease_ms reserve"
).split()
REPORT_FORMAT = struct.Struct("=IHH9Q12I8x")


def request(kind=LEASE, size=2 * MIB, uid=None, service=b"test", service_max=0, require=0, magic=MAGIC,
            version=VERSION):
    if uid is None:
        uid = os.getuid()
    return struct.pack("=IHHQII32sB7x", magic, version, kind, size, uid, service_max, service, require)


STATUS_REQUEST = struct.pack("=IHH56x", MAGIC, VERSION, STATUS)


def wait_until(condition, what="a condition"):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain for {what}")
        time.sleep(0.005)


class Daemon:
    """with Daemon("slots = 2\\n", "memory = 64M") as daemon: ... The daemon must end well at the end.

    The first text is [arena] (slot_size is 1K where it isn't given: a slot is 2 MiB), the second
    [default].
    """

    def __init__(self, arena="", default="", args=(), ready=True, **more):
        self._directory = tempfile.TemporaryDirectory()
        self.path = self._directory.name
        os.chmod(self.path, 0o755)
        self.socket = os.path.join(self.path, "arena.sock")
        self.log = os.path.join(self.path, "log")
        self.configure(arena, default)
        self._log = open(self.log, "wb")
        self.process = subprocess.Popen(
            [DAEMON, "--conf", os.path.join(self.path, "conf"), "--socket", self.socket,
             "--user", "nobody", *args],
            stderr=self._log, stdin=subprocess.DEVNULL, **more)
        self.pid = self.process.pid
        if ready:
            try:
                self.wait_ready()
            except BaseException:
                self.process.kill()
                raise

    def restart(self):
        """Another one in its place, which need not be ready yet."""
        self.process = subprocess.Popen(
            [DAEMON, "--conf", os.path.join(self.path, "conf"), "--socket", self.socket,
             "--user", "nobody"], stderr=self._log, stdin=subprocess.DEVNULL)
        self.pid = self.process.pid

    def configure(self, arena, default=""):
        if "slot_size" not in arena:
            arena += "\nslot_size = 1K\n"
        with open(os.path.join(self.path, "conf.new"), "w", encoding="ascii") as file:
            file.write(f"[default]\n{default}\n[arena]\n{arena}\n")
        os.rename(os.path.join(self.path, "conf.new"), os.path.join(self.path, "conf"))

    def wait_ready(self):
        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon has ended: {self.said()}")
            try:
                report = self.status()
            except OSError:
                return False
            return report["free"] + report["failed"] == report["slots"]

        wait_until(is_ready, "a daemon that is ready")

    def said(self):
        with open(self.log, encoding="ascii") as file:
            return file.read()

    def connect(self):
        return Connection(self.socket)

    def status(self):
        with self.connect() as connection:
            connection.send(STATUS_REQUEST)
            data = connection.socket.recv(4096)
        if len(data) != REPORT_FORMAT.size:
            raise OSError(f"a report of {len(data)} bytes")
        values = REPORT_FORMAT.unpack(data)
        if values[:3] != (MAGIC, VERSION, REPORT):
            raise AssertionError(f"a report that starts with {values[:3]}")
        return dict(zip(REPORT_NAMES, values[3:]))

    def wait_status(self, **wanted):
        def is_so():
            report = self.status()
            return all(report[name] == value for name, value in wanted.items())

        wait_until(is_so, f"{wanted}; is {self.status()}")

    def lease(self, **more):
        """A connection that has asked for a slot."""
        connection = self.connect()
        connection.send(request(**more))
        return connection

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        if status != 0:
            raise AssertionError(f"the daemon ended with {status}: {self.said()}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        try:
            if self.process.poll() is not None:
                if kind is None:
                    raise AssertionError(f"the daemon has ended ({self.process.returncode}): {self.said()}")
            elif kind is None:
                self.stop()
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self._log.close()
            self._directory.cleanup()


class Refused(Exception):
    """The daemon's reason."""


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(path)  # without a timeout, which would not wait at a full queue
        self.socket.settimeout(PATIENCE)

    def send(self, data, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([data], rights)

    def receive(self):
        """Kind, members and descriptor of the next message; None at the end."""
        data, rights, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(64))
        fds = array.array("i")
        for level, kind, content in rights:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(content)
        if not data:
            return None
        if len(data) != REPLY.size or len(fds) > 1:
            raise AssertionError(f"a reply of {len(data)} bytes with {len(fds)} descriptors")
        magic, version, kind, size, lease_ms, pages, position, reason = REPLY.unpack(data)
        if (magic, version) != (MAGIC, VERSION):
            raise AssertionError(f"magic {magic:x}, version {version}")
        return {"kind": kind, "size": size, "lease_ms": lease_ms, "pages": pages,
                "position": position, "reason": reason, "fd": fds[0] if fds else None}

    def granted(self):
        """Waits for a slot: its message."""
        while True:
            reply = self.receive()
            if reply is None:
                raise EOFError("the daemon hung up")
            if reply["kind"] == GRANTED:
                return reply
            if reply["kind"] == REFUSED:
                raise Refused(reply["reason"])

    def queued(self):
        """The next message must say that we wait: the position."""
        reply = self.receive()
        if reply is None or reply["kind"] != QUEUED:
            raise AssertionError(f"{reply} instead of a place in the queue")
        return reply["position"]

    def ended(self):
        """Whether the daemon hangs up (messages before that are skipped)."""
        try:
            while self.receive() is not None:
                pass
        except ConnectionResetError:
            pass
        return True

    def shutdown(self):
        self.socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class memory_group:
    """with memory_group(BYTES) as group: a control group of our own, whose processes have no more."""

    FILES = (("/sys/fs/cgroup", "memory.max", "memory.current"),
             ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"))

    def __init__(self, limit):
        for mount, name, usage in self.FILES:
            self.path = os.path.join(mount, f"mhkdf-test-{os.getpid()}-{time.monotonic_ns()}")
            try:
                os.mkdir(self.path)
            except OSError:
                continue
            if os.path.exists(os.path.join(self.path, name)):
                self._usage = os.path.join(self.path, usage)
                with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
                    file.write(str(limit))
                return
            os.rmdir(self.path)
        tap.skip("no control group can be made here")

    def enter(self):
        """For the process that calls it."""
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))

    def usage(self):
        with open(self._usage, encoding="ascii") as file:
            return int(file.read())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        def is_empty():
            with open(os.path.join(self.path, "cgroup.procs"), encoding="ascii") as file:
                return not file.read()

        wait_until(is_empty, "a control group without processes")
        os.rmdir(self.path)


def map_slot(reply):
    return mmap.mmap(reply["fd"], reply["size"], mmap.MAP_SHARED)
