#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""libcore as a client of mhkdf-arenad, and of daemons that aren't what they should be."""

import ctypes
import errno
import fcntl
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import arena
import tap
from arena import MIB, Daemon

IS_ROOT = os.geteuid() == 0
NONE, PRIVATE, ARENA = 0, 1, 2
MEMORY_KIB = 8192
CONF = f"slots = 2\nslot_size = {MEMORY_KIB}K"
REFUSED = errno.ECONNREFUSED


def start(path, *words, wait_ms=100000, uid=None, kib=MEMORY_KIB, **more):
    uid = os.getuid() if uid is None else uid
    return subprocess.Popen([arena.CLIENT, path, str(uid), str(wait_ms), str(kib), *words],
                            stdout=subprocess.PIPE, **more)


def end(process):
    """Result, source, pages, why not; it must have left nothing behind."""
    out = process.communicate(timeout=arena.PATIENCE)[0].decode().split()
    tap.equal(process.returncode, 0)
    tap.equal(out[5:], ["0", "0", "0"], "descriptors, mappings, threads left behind")
    if out[0] == "0":
        tap.equal(out[4], HASH)
    return tuple(map(int, out[:4]))


def client(path, *words, **more):
    return end(start(path, *words, **more))


def hash_without_arena():
    out = subprocess.run([arena.CLIENT, "/nonexistent", "0", "0", str(MEMORY_KIB)],
                         stdout=subprocess.PIPE, check=True).stdout
    return out.decode().split()[4]


HASH = hash_without_arena()
RESTARTS = 20
SYS_PIDFD_GETFD = 438


def connections(pid):
    count = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            count += os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:")
        except OSError:
            pass
    return count


@tap.case("the arena's memory gives the same hash")
def _():
    with Daemon(CONF) as daemon:
        for _ in range(3):
            rc, source, pages, why = client(daemon.socket)
            tap.equal((rc, source, why), (0, ARENA, 0))
            tap.check(pages in (arena.PLAIN, arena.THP, arena.HUGETLB))
        tap.equal(daemon.status()["leases"], 3)


@tap.case("pages = {}: the same hash", ["hugetlb", "thp", "plain"])
def _(pages):
    with Daemon(CONF + f"\npages = {pages}") as daemon:
        tap.equal(client(daemon.socket)[:2], (0, ARENA))


@tap.case("what a guess could be tested against is wiped before the slot goes back")
def _():
    fake = Fake()
    process = start(fake.path)
    connection, _ = fake.listener.accept()
    connection.recv(4096)
    with fake.memory(16 * MIB) as fd:
        fake.grant(connection, fd, 16 * MIB)
        tap.equal(connection.recv(4096), b"")  # it has been given back
        tap.equal(end(process)[:2], (0, ARENA))
        content = os.pread(fd, 16 * MIB, 0)
    lanes, kib = 2, 1024
    lane = MEMORY_KIB // lanes * kib
    for i in range(lanes):
        at = i * lane
        tap.check(content[at:at + 2 * kib] == bytes(2 * kib), "first blocks")
        tap.check(content[at + lane - kib:at + lane] == bytes(kib), "the last column")
        tap.check(content[at + 2 * kib:at + 3 * kib] != bytes(kib), "it wasn't used at all")
    tap.check(not any(content[MEMORY_KIB * kib:]), "S-boxes")
    fake.close()


@tap.case("small hashes don't use it")
def _():
    with Daemon(CONF) as daemon:
        out = start(daemon.socket, kib=1024).communicate()[0].split()
        tap.equal(out[1], b"1")
        tap.equal(daemon.status()["leases"], 0)


@tap.case("no arena: private memory, or an error where it is required")
def _():
    with tempfile.TemporaryDirectory() as path:
        for name in ("nothing", "x" * 200, "a/b/c"):
            name = os.path.join(path, name)
            tap.equal(client(name), (0, PRIVATE, 0, REFUSED))
            tap.equal(client(name, "require"), (REFUSED, NONE, 0, REFUSED))
        name = os.path.join(path, "file")
        with open(name, "wb"):
            tap.equal(client(name), (0, PRIVATE, 0, REFUSED))
        stale = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stale.bind(os.path.join(path, "stale"))
        stale.close()
        tap.equal(client(os.path.join(path, "stale")), (0, PRIVATE, 0, REFUSED))
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        stream.bind(os.path.join(path, "stream"))
        stream.listen(1)
        tap.equal(client(os.path.join(path, "stream")), (0, PRIVATE, 0, REFUSED))
        stream.close()


@tap.case("a process that may not ask")
def _():
    if not IS_ROOT:
        tap.skip("needs root")
    with Daemon(CONF) as daemon, tempfile.TemporaryDirectory() as path:
        program = os.path.join(path, "client")
        os.chmod(path, 0o755)
        subprocess.run(["cp", arena.CLIENT, program], check=True)
        for mode in (0o660, 0o666):
            os.chmod(daemon.socket, mode)
            process = subprocess.Popen([program, daemon.socket, "0", "1000", str(MEMORY_KIB)],
                                       stdout=subprocess.PIPE, user=1000, group=1000, extra_groups=[])
            tap.equal(end(process), (0, PRIVATE, 0, REFUSED))


@tap.case("slots that are too small")
def _():
    with Daemon("slots = 2\nslot_size = 4M") as daemon:
        tap.equal(client(daemon.socket), (0, PRIVATE, 0, REFUSED))
        tap.equal(client(daemon.socket, "require"), (REFUSED, NONE, 0, REFUSED))


@tap.case("busy: it waits, then fails, and doesn't fall back")
def _():
    with Daemon("slots = 1\nreserve = 0\nslot_size = 8M") as daemon:
        holder = daemon.lease(size=MIB)
        holder.granted()
        tap.equal(client(daemon.socket, wait_ms=300), (errno.EBUSY, NONE, 0, errno.EBUSY))
        tap.equal(client(daemon.socket, wait_ms=0), (errno.EBUSY, NONE, 0, errno.EBUSY))
        tap.equal(client(daemon.socket, "private", wait_ms=100), (0, PRIVATE, 0, errno.EBUSY))
        process = start(daemon.socket)
        daemon.wait_status(waiting=1)
        holder.close()
        tap.equal(end(process)[:2], (0, ARENA))


@tap.case("no place in the queue: it comes again until its time is over")
def _():
    if not IS_ROOT:
        tap.skip("needs root")
    with Daemon("slots = 1\nreserve = 0\nslot_size = 8M") as daemon:
        mine = [daemon.lease(size=MIB, uid=1000) for _ in range(3)]
        mine[0].granted()
        daemon.wait_status(waiting=2)
        tap.equal(client(daemon.socket, uid=1000, wait_ms=300)[0], errno.EBUSY)
        process = start(daemon.socket, uid=1000)
        arena.wait_until(lambda: daemon.status()["busy"] > 5, "attempts")
        for each in mine:
            each.close()
        tap.equal(end(process)[:2], (0, ARENA))


@tap.case("SIGKILL of the daemon while one waits: private memory")
def _():
    daemon = Daemon("slots = 1\nreserve = 0\nslot_size = 8M")
    holder = daemon.lease(size=MIB)
    holder.granted()
    process = start(daemon.socket)
    daemon.wait_status(waiting=1)
    daemon.process.kill()
    tap.equal(end(process), (0, PRIVATE, 0, REFUSED))
    daemon.__exit__(Exception)


@tap.case("SIGKILL of the daemon in the middle of a hash doesn't disturb it")
def _():
    daemon = Daemon("slots = 1\nreserve = 0\nslot_size = 64M")
    process = start(daemon.socket, kib=65536)
    daemon.wait_status(lent=1)
    daemon.process.kill()
    rc, source, _, _ = map(int, process.communicate()[0].split()[:4])
    tap.equal((rc, source), (0, ARENA))
    daemon.__exit__(Exception)


@tap.case("SIGKILL of the daemon before it has answered, or accepted: private memory")
def _():
    daemon = Daemon(CONF)
    daemon.process.send_signal(signal.SIGSTOP)
    process = start(daemon.socket)
    arena.wait_until(lambda: connections(process.pid) > 0, "a connection")
    daemon.process.kill()
    tap.equal(end(process), (0, PRIVATE, 0, REFUSED))
    daemon.__exit__(Exception)


@tap.case("SIGKILL of the daemon at random moments, and a new one in its place: each hash is right")
def _():
    random.seed(2)
    with Daemon(CONF) as daemon:
        for _ in range(RESTARTS):
            crowd = [start(daemon.socket) for _ in range(3)]
            time.sleep(random.random() * 0.05)
            daemon.process.kill()
            daemon.process.wait()
            daemon.restart()
            for process in crowd:
                tap.equal(end(process)[0], 0)
            daemon.wait_ready()
        daemon.wait_status(free=2, lent=0, waiting=0)


@tap.case("a stopped daemon is none")
def _():
    daemon = Daemon(CONF)
    daemon.process.send_signal(signal.SIGSTOP)
    tap.equal(client(daemon.socket, wait_ms=100), (0, PRIVATE, 0, REFUSED))
    daemon.process.send_signal(signal.SIGCONT)
    daemon.stop()
    daemon.__exit__(Exception)


@tap.case("descriptors 0 to 2 are closed, or there are none at all")
def _():
    with Daemon(CONF) as daemon:
        report, out = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(out, 9)
            os.closerange(10, 100)
            os.execv("/bin/sh", ["sh", "-c", f"exec 0<&- 2>&- 1>&9 9>&-; exec {arena.CLIENT} "
                                 f"{daemon.socket} {os.getuid()} 1000 {MEMORY_KIB}"])
        os.close(out)
        words = os.read(report, 1000).decode().split()
        os.waitpid(child, 0)
        os.close(report)
        tap.equal((words[:2], words[4:]), (["0", "2"], [HASH, "0", "0", "0"]))


# ---- daemons that aren't ours ----------------------------------------------------------


class Fake:
    """A socket where the test itself answers."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self._directory.name, "s")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        self.listener.listen(16)

    def close(self):
        self.listener.close()
        self._directory.cleanup()

    def memory(self, size, seals=7):
        return Memory(size, seals)

    def grant(self, connection, fd, size, **more):
        connection.sendmsg([reply(arena.GRANTED, size=size, **more)],
                           [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", fd))])


class Memory:
    def __init__(self, size, seals):
        self.fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        fcntl.fcntl(self.fd, 1033, seals)

    def __enter__(self):
        return self.fd

    def __exit__(self, *error):
        os.close(self.fd)


def reply(kind, size=0, lease_ms=None, pages=None, position=0, reason=0, magic=arena.MAGIC, version=1):
    if kind == arena.GRANTED:
        lease_ms = 1000 if lease_ms is None else lease_ms
        pages = arena.PLAIN if pages is None else pages
    return arena.REPLY.pack(magic, version, kind, size, lease_ms or 0, pages or 0, position, reason)


GOOD = reply(arena.GRANTED, size=16 * MIB)
BAD_REPLIES = {
    "nothing but the end": None,
    "an empty message": b"",
    "one byte": b"x",
    "a short one": reply(arena.QUEUED, position=1)[:-1],
    "a long one": reply(arena.QUEUED, position=1) + b"\0",
    "a very long one": reply(arena.QUEUED, position=1) + bytes(10000),
    "garbage": bytes(range(40)),
    "another magic": reply(arena.QUEUED, position=1, magic=1),
    "another version": reply(arena.QUEUED, position=1, version=2),
    "a request": reply(arena.LEASE),
    "an unknown type": reply(99),
    "a place in the queue with a size": reply(arena.QUEUED, position=1, size=2 * MIB),
    "place 0 in the queue": reply(arena.QUEUED),
    "reserved bytes": reply(arena.QUEUED, position=1)[:-1] + b"x",
    "a refusal without reason": reply(arena.REFUSED),
    "a refusal for an unknown reason": reply(arena.REFUSED, reason=77),
    "a slot without its descriptor": GOOD,
    "not ready": reply(arena.REFUSED, reason=arena.NOT_READY),
    "too small": reply(arena.REFUSED, reason=arena.TOO_SMALL),
    "ending": reply(arena.REFUSED, reason=arena.ENDING),
}


@tap.case("the daemon answers with {}", BAD_REPLIES)
def _(name):
    fake = Fake()
    process = start(fake.path)
    connection, _ = fake.listener.accept()
    connection.recv(4096)
    if BAD_REPLIES[name] is not None:
        connection.send(BAD_REPLIES[name])
    else:
        connection.close()
    tap.equal(end(process), (0, PRIVATE, 0, REFUSED))
    fake.close()


def bad_memories():
    good = Memory(16 * MIB, 7)
    yield "what is right", good.fd, {}, True
    yield "another size than it says", good.fd, {"size": 14 * MIB}, False
    yield "no whole huge pages", good.fd, {"size": 16 * MIB - 4096}, False
    yield "an unknown kind of pages", good.fd, {"pages": 9}, False
    yield "a lease of no time", good.fd, {"lease_ms": 0}, False
    for seals, name in ((3, "without F_SEAL_GROW"), (5, "without F_SEAL_SHRINK"),
                        (6, "without F_SEAL_SEAL"), (15, "with F_SEAL_WRITE"), (23, "with F_SEAL_FUTURE_WRITE")):
        yield f"a memfd {name}", Memory(16 * MIB, seals).fd, {}, False
    yield "a memfd that is too small", Memory(4 * MIB, 7).fd, {"size": 4 * MIB}, False
    with tempfile.TemporaryFile() as file:
        file.truncate(16 * MIB)
        yield "a file", os.dup(file.fileno()), {}, False
    yield "a pipe", os.pipe()[0], {}, False
    yield "a folder", os.open("/", os.O_RDONLY), {}, False
    yield "/dev/zero", os.open("/dev/zero", os.O_RDWR), {}, False
    yield "a memfd that can only be read", os.open(f"/proc/self/fd/{good.fd}", os.O_RDONLY), {}, False


@tap.case("no room for the slot's descriptor: as if there were no arena")
def _():
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))

    with Daemon(CONF) as daemon:
        out = start(daemon.socket, preexec_fn=limit).communicate()[0].split()
        tap.equal((out[0], out[1], out[4]), (b"0", b"1", HASH.encode()))
        daemon.wait_status(free=2, lent=0)


@tap.case("the daemon's slot is a memfd of the right size, with the right seals, and nothing else")
def _():
    for name, fd, more, is_good in bad_memories():
        fake = Fake()
        process = start(fake.path)
        connection, _ = fake.listener.accept()
        connection.recv(4096)
        fake.grant(connection, fd, **{"size": 16 * MIB, **more})
        got = end(process)
        tap.equal(got, (0, ARENA, arena.PLAIN, 0) if is_good else (0, PRIVATE, 0, REFUSED), name)
        fake.close()


@tap.case("several descriptors, or one with a message that has none")
def _():
    for message, count in ((GOOD, 2), (GOOD, 200), (reply(arena.QUEUED, position=1), 1),
                           (reply(arena.REFUSED, reason=arena.BUSY), 1)):
        fake = Fake()
        process = start(fake.path)
        connection, _ = fake.listener.accept()
        connection.recv(4096)
        with fake.memory(16 * MIB) as fd:
            try:
                for _ in range(3):  # more than one, for which there is a single place
                    connection.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                                    struct.pack(f"{count}i", *[fd] * count))])
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has hung up already
        tap.equal(end(process), (0, PRIVATE, 0, REFUSED))
        fake.close()


@tap.case("the connection is none of descriptors 0 to 2, where they are closed")
def _():
    fake = Fake()
    process = subprocess.Popen(["/bin/sh", "-c", f"exec 0<&- 2>&-; exec {arena.CLIENT} {fake.path} 0 1000 "
                                f"{MEMORY_KIB}"], stdout=subprocess.PIPE)
    connection, _ = fake.listener.accept()
    connection.recv(4096)
    folder = f"/proc/{process.pid}/fd"
    sockets = [int(name) for name in os.listdir(folder)
               if os.readlink(os.path.join(folder, name)).startswith("socket:")]
    connection.close()
    tap.equal(end(process), (0, PRIVATE, 0, REFUSED))
    tap.equal([fd for fd in sockets if fd < 3], [])
    tap.equal(len(sockets), 1)
    fake.close()


@tap.case("a thread that has been cancelled finishes the hash, and gives all back")
def _():
    with Daemon("slots = 1\nreserve = 0\nslot_size = 8M") as daemon:
        tap.equal(client(daemon.socket, "cancel")[:2], (0, ARENA))
        holder = daemon.lease(size=MIB)
        holder.granted()
        tap.equal(client(daemon.socket, "cancel", wait_ms=100), (errno.EBUSY, NONE, 0, errno.EBUSY))
        holder.close()
        daemon.wait_status(free=1, waiting=0)


def copy_connection(process):
    """What a child that is forked by another thread would have."""
    pidfd = os.pidfd_open(process.pid)
    try:
        for name in os.listdir(f"/proc/{process.pid}/fd"):
            if os.readlink(f"/proc/{process.pid}/fd/{name}").startswith("socket:"):
                fd = ctypes.CDLL(None, use_errno=True).syscall(SYS_PIDFD_GETFD, pidfd, int(name), 0)
                if fd < 0:
                    tap.skip("pidfd_getfd: " + os.strerror(ctypes.get_errno()))
                return fd
    finally:
        os.close(pidfd)
    raise AssertionError("no connection")


@tap.case("a copy of the connection in another process doesn't keep the lease, or the place in the queue")
def _():
    for granted in (True, False):
        fake = Fake()
        process = start(fake.path, wait_ms=300)
        connection, _ = fake.listener.accept()
        connection.settimeout(arena.PATIENCE)
        connection.recv(4096)
        copy = copy_connection(process)
        with fake.memory(16 * MIB) as fd:
            if granted:
                fake.grant(connection, fd, 16 * MIB)
            else:
                connection.send(reply(arena.QUEUED, position=1))
        tap.equal(end(process)[:2], (0, ARENA) if granted else (errno.EBUSY, NONE))
        tap.equal(connection.recv(4096), b"")
        os.close(copy)
        fake.close()


def flags_of_slot(pid):
    """What smaps says of the mapping of a slot, once it can be written to; None: there is none."""
    at_slot = False
    try:
        with open(f"/proc/{pid}/smaps", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if "-" in words[0]:
                    at_slot = "memfd:" in line and words[1] == "rw-s"
                elif at_slot and words[0] == "VmFlags:":
                    return words[1:]
    except OSError:
        pass
    return None


@tap.case("the slot isn't mapped in forked children, nor dumped")
def _():
    with Daemon("slots = 1\nreserve = 0\nslot_size = 64M") as daemon:
        flags = None
        while flags is None:  # it may be done before we look
            process = start(daemon.socket, kib=65536)
            while flags is None and process.poll() is None:
                flags = flags_of_slot(process.pid)
            process.communicate()
        for flag in ("sh", "dc", "dd"):
            tap.contains(flags, flag)


@tap.case("a daemon that says for ever that one must wait: busy, in time")
def _():
    fake = Fake()
    process = start(fake.path, wait_ms=1000)
    connection, _ = fake.listener.accept()
    connection.recv(4096)
    stop = threading.Event()

    def talk():
        while not stop.wait(0.01):
            try:
                connection.send(reply(arena.QUEUED, position=1))
            except OSError:
                return

    thread = threading.Thread(target=talk)
    thread.start()
    tap.equal(end(process), (errno.EBUSY, NONE, 0, errno.EBUSY))
    stop.set()
    thread.join()
    fake.close()


@tap.case("a daemon that falls silent while one waits: none")
def _():
    fake = Fake()
    process = start(fake.path)
    connection, _ = fake.listener.accept()
    connection.recv(4096)
    connection.send(reply(arena.QUEUED, position=1))
    tap.equal(end(process), (0, PRIVATE, 0, REFUSED))
    fake.close()


@tap.case("a daemon that doesn't accept: none, also with a full queue at its door")
def _():
    with tempfile.TemporaryDirectory() as path:
        name = os.path.join(path, "s")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(name)
        listener.listen(0)
        queue = []
        try:
            while len(queue) < 10:
                each = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                each.setblocking(False)
                each.connect(name)
                queue.append(each)
        except BlockingIOError:
            pass
        tap.check(len(queue) < 10)
        tap.equal(client(name), (0, PRIVATE, 0, REFUSED))


@tap.case("the request has what it should, and nothing else")
def _():
    fake = Fake()
    process = start(fake.path, uid=4711)
    connection, _ = fake.listener.accept()
    data, rights, _, _ = connection.recvmsg(4096, 1024)
    tap.equal(rights, [])
    lanes_kib = (MEMORY_KIB * 1024, MEMORY_KIB * 1024 + MIB)
    size = struct.unpack_from("=Q", data, 8)[0]
    tap.check(lanes_kib[0] <= size <= lanes_kib[1])
    tap.equal(data, arena.request(size=size, uid=4711))
    connection.close()
    end(process)
    fake.close()


@tap.case("too little address space for the slot: an error, nothing left behind")
def _():
    with open(arena.CLIENT, "rb") as file:
        program = file.read()
        if b"__asan_init" in program or b"__tsan_init" in program:
            tap.skip("sanitizers need more address space")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (64 * MIB, 64 * MIB))

    with Daemon("slots = 1\nreserve = 0\nslot_size = 128M") as daemon:
        process = start(daemon.socket, kib=131072, preexec_fn=limit)
        out = process.communicate()[0].split()
        tap.equal((int(out[0]), out[5:]), (errno.ENOMEM, [b"0"] * 3))
        daemon.wait_status(free=1)


tap.main()
