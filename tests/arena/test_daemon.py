#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mhkdf-arenad as its clients meet it: honest ones, and others."""

import ctypes
import errno
import fcntl
import json
import os
import pwd
import resource
import signal
import socket
import subprocess
import tempfile

import arena
import tap
import tool
from arena import MIB, Daemon

IS_ROOT = os.geteuid() == 0
F_ADD_SEALS, F_GET_SEALS = 1033, 1034
SEAL_SEAL, SEAL_SHRINK, SEAL_GROW, SEAL_WRITE, SEAL_FUTURE_WRITE = 1, 2, 4, 8, 16
PR_SET_THP_DISABLE = 41
LIBC = ctypes.CDLL(None, use_errno=True)


def needs_root():
    if not IS_ROOT:
        tap.skip("needs root")


def fails(expected, function, *args):
    try:
        function(*args)
    except OSError as error:
        tap.equal(error.errno, expected)
        return
    raise AssertionError(f"no error instead of {errno.errorcode[expected]}")


@tap.case("a slot is a sealed memfd of zeros, as large as it says")
def _():
    with Daemon("slots = 2\nlease = 7s") as daemon, daemon.lease() as client:
        reply = client.granted()
        tap.equal(reply["size"], 2 * MIB)
        tap.equal(reply["lease_ms"], 7000)
        fd = reply["fd"]
        tap.equal(os.fstat(fd).st_size, 2 * MIB)
        tap.equal(os.fstat(fd).st_nlink, 0)
        tap.equal(fcntl.fcntl(fd, F_GET_SEALS) & 15, SEAL_SEAL | SEAL_SHRINK | SEAL_GROW)
        fails(errno.EPERM, os.ftruncate, fd, MIB)
        fails(errno.EPERM, os.ftruncate, fd, 4 * MIB)
        for seal in (SEAL_WRITE, SEAL_FUTURE_WRITE):
            fails(errno.EPERM, fcntl.fcntl, fd, F_ADD_SEALS, seal)
        tap.check(fcntl.fcntl(fd, fcntl.F_GETFD) is not None)
        with arena.map_slot(reply) as slot:
            tap.check(slot[:] == bytes(2 * MIB), "it isn't zeros")
        os.close(fd)
        tap.equal(daemon.status()["lent"], 1)
        client.shutdown()
        daemon.wait_status(free=2)


@tap.case("slots are locked, and the daemon isn't dumped with them")
def _():
    with Daemon("slots = 3") as daemon:
        if daemon.status()["locked"] == 0 and not IS_ROOT:
            tap.skip("RLIMIT_MEMLOCK is too low here")
        tap.equal(daemon.status()["locked"], 6 * MIB)
        with open(f"/proc/{daemon.pid}/smaps", encoding="ascii") as file:
            flags, at_slot = [], False
            for line in file:
                if "-" in line.split()[0]:
                    at_slot = "memfd:" in line
                if at_slot and line.startswith("VmFlags:"):
                    flags.append(line.split()[1:])
        tap.equal(len(flags), 3)
        for each in flags:
            for flag in ("sh", "lo", "dd", "dc"):  # shared, locked, not dumped, not in children
                tap.contains(each, flag)


@tap.case("the rights that are left, as root")
def _():
    needs_root()
    with Daemon(extra_groups=[4, 5]) as daemon, open(f"/proc/{daemon.pid}/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        lock = 1 << 14
        for name in ("CapPrm", "CapEff", "CapBnd"):
            tap.equal(int(status[name], 16), lock, name)
        for name in ("CapInh", "CapAmb"):
            tap.equal(int(status[name], 16), 0, name)
        tap.equal(status["NoNewPrivs"], "1")
        tap.equal(set(status["Uid"].split()), {"65534"})
        tap.equal(set(status["Gid"].split()), {str(pwd.getpwnam("nobody").pw_gid)})
        tap.equal(status["Groups"].strip(), "")


MARK = b"the mark of the one before"


@tap.case("what one client writes, the next doesn't see")
def _():
    with Daemon("slots = 1\nreserve = 0") as daemon:
        for uid in (0, 0, 1000, 1001, 0, 1000, 1000, 0):
            with daemon.lease(uid=uid) as client:
                reply = client.granted()
                with arena.map_slot(reply) as slot:
                    tap.check(slot[:] == bytes(2 * MIB), "it isn't zeros")
                    slot[:] = MARK[:16] * (2 * MIB // 16)
                os.close(reply["fd"])
                client.shutdown()


@tap.case("a slot that wasn't root's is another one afterwards")
def _():
    needs_root()
    with Daemon("slots = 1\nreserve = 0") as daemon:
        inodes = []
        for uid in (0, 0, 1000, 0):
            with daemon.lease(uid=uid) as client:
                fd = client.granted()["fd"]
                inodes.append(os.fstat(fd).st_ino)
                os.close(fd)
        tap.equal(inodes[0], inodes[1])
        tap.equal(len(set(inodes[1:])), 3)
        daemon.wait_status(renewed=1)


@tap.case("a client keeps the descriptor, punches holes and writes afterwards")
def _():
    with Daemon("slots = 1\nreserve = 0\npages = plain") as daemon:
        held = []
        for uid in (0, 0, 1000, 0, 0):
            with daemon.lease(uid=uid) as client:
                reply = client.granted()
                held.append(reply["fd"])
                with arena.map_slot(reply) as slot:
                    tap.check(slot[:] == bytes(2 * MIB), "it isn't zeros")
                    slot[:] = b"x" * (2 * MIB)
                # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
                tap.equal(LIBC.fallocate(reply["fd"], 3, ctypes.c_long(4096), ctypes.c_long(MIB)), 0)
                client.shutdown()
            daemon.wait_status(free=1)
        # After holes it is made anew, so that each was another one.
        tap.equal(len({os.fstat(fd).st_ino for fd in held}), len(held))
        for fd in held:
            os.close(fd)


@tap.case("holes in huge pages that can't come back don't end the daemon")
def _():
    needs_root()
    path = "/proc/sys/vm/nr_hugepages"
    with open(path, encoding="ascii") as file:
        before = file.read()
    try:
        try:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(int(before) + 4))
        except OSError:
            tap.skip("vm.nr_hugepages can't be set here")
        with Daemon("slots = 1\nreserve = 0") as daemon:
            if daemon.status()["hugetlb"] == 0:
                tap.skip("no huge pages are to be had here")
            with daemon.lease() as client:
                reply = client.granted()
                tap.equal(reply["pages"], arena.HUGETLB)
                tap.equal(LIBC.fallocate(reply["fd"], 3, ctypes.c_long(0), ctypes.c_long(2 * MIB)), 0)
                with open(path, "w", encoding="ascii") as file:
                    file.write(before)
                client.shutdown()
            daemon.wait_status(free=1)
            with daemon.lease() as client, arena.map_slot(client.granted()) as slot:
                tap.check(slot[:] == bytes(2 * MIB), "it isn't zeros")
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


@tap.case("pages = {}", ["auto", "hugetlb", "thp", "plain"])
def _(pages):
    with Daemon(f"slots = 2\npages = {pages}\nslot_size = 4M") as daemon:
        report = daemon.status()
        tap.equal(report["hugetlb"] + report["thp"] + report["plain"], 2)
        tap.equal(report["slot_size"], 6 * MIB)  # and what lanes need, in whole huge pages
        if pages == "plain":
            tap.equal(report["plain"], 2)
        elif pages == "thp":
            tap.equal(report["hugetlb"], 0)
        if pages == "hugetlb" and report["hugetlb"] == 0:
            tap.contains(daemon.said(), "no hugetlb pages are to be had")
        with daemon.lease(size=6 * MIB) as client:
            client.granted()


@tap.case("no huge pages are to be had: plain ones, without a word")
def _():
    def limit():
        tap.equal(LIBC.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0)

    with open("/proc/sys/vm/nr_hugepages", encoding="ascii") as file:
        if int(file.read()) > 0:
            tap.skip("vm.nr_hugepages isn't 0")
    with Daemon("slots = 2", preexec_fn=limit) as daemon:
        tap.equal(daemon.status()["plain"], 2)
        tap.check("pages" not in daemon.said())
        with daemon.lease() as client, arena.map_slot(client.granted()) as slot:
            tap.check(slot[:] == bytes(2 * MIB), "it isn't zeros")


@tap.case("RLIMIT_MEMLOCK 0: slots aren't locked, and the log says so once")
def _():
    def limit():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        if IS_ROOT:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)

    # as somebody who has no CAP_IPC_LOCK: the folder and the configuration have to be his
    with Daemon("slots = 2", ready=False) as root:
        root.wait_ready()
        if IS_ROOT:
            os.chown(root.path, 65534, 65534)
            os.chown(os.path.join(root.path, "conf"), 65534, 65534)
        other = os.path.join(root.path, "other.sock")
        log = os.path.join(root.path, "other.log")
        with open(log, "wb") as err:
            second = subprocess.Popen(
                [arena.DAEMON, "--conf", os.path.join(root.path, "conf"), "--socket", other],
                stderr=err, preexec_fn=limit)
        first, root.socket = root.socket, other
        try:
            root.wait_ready()
            report = root.status()
            tap.equal((report["free"], report["locked"]), (2, 0))
            with open(log, encoding="ascii") as file:
                tap.equal(file.read().count("RLIMIT_MEMLOCK"), 1)
        finally:
            root.socket = first
            second.terminate()
            tap.equal(second.wait(), 0)


@tap.case("clients wait in turn, and who hangs up leaves the queue")
def _():
    needs_root()
    with Daemon("slots = 1\nreserve = 0") as daemon:
        first = daemon.lease()
        first.granted()
        waiting = []
        for position in range(1, 6):
            waiting.append(daemon.lease())
            tap.equal(waiting[-1].queued(), position)
        waiting[2].close()
        daemon.wait_status(waiting=4)
        first.close()
        for client in (waiting[0], waiting[1], waiting[3], waiting[4]):
            client.granted()
            tap.equal(daemon.status()["lent"], 1)
            client.close()
        daemon.wait_status(free=1)


@tap.case("those who wait are told again and again that the daemon lives")
def _():
    needs_root()
    with Daemon("slots = 1\nreserve = 0") as daemon, daemon.lease() as first:
        first.granted()
        with daemon.lease() as second:
            for _ in range(3):
                tap.equal(second.queued(), 1)


@tap.case("caps: a slot and two places for a user, the rest for others, one for root")
def _():
    needs_root()
    with Daemon("slots = 3\nreserve = 1") as daemon:
        mine = [daemon.lease(uid=1000) for _ in range(3)]
        mine[0].granted()
        tap.equal(mine[1].queued(), 1)
        tap.equal(mine[2].queued(), 2)
        fourth = daemon.lease(uid=1000)
        tap.equal(fourth.receive()["reason"], arena.BUSY)
        tap.equal(fourth.receive(), None)
        other = daemon.lease(uid=1001)
        other.granted()
        third = daemon.lease(uid=1002)
        tap.equal(third.queued(), 3)
        root = daemon.lease(uid=0)
        root.granted()
        for client in (*mine, fourth, other, third, root):
            client.close()


@tap.case("who asks three times at once has a slot and two places, too")
def _():
    needs_root()
    with Daemon("slots = 3\nreserve = 1") as daemon:
        daemon.process.send_signal(signal.SIGSTOP)
        mine = [daemon.lease(uid=1000) for _ in range(4)]
        daemon.process.send_signal(signal.SIGCONT)
        mine[0].granted()
        tap.equal([mine[1].queued(), mine[2].queued()], [1, 2])
        tap.equal(mine[3].receive()["reason"], arena.BUSY)
        for client in mine:
            client.close()


@tap.case("a service's own cap")
def _():
    needs_root()
    with Daemon("slots = 3") as daemon:
        sshd = [daemon.lease(service=b"sshd", service_max=1) for _ in range(2)]
        sshd[0].granted()
        sshd[1].queued()
        login = daemon.lease(service=b"login")
        login.granted()
        sshd[0].close()
        sshd[1].granted()
        sshd[1].close()
        login.close()


@tap.case("a service's cap by the daemon's own configuration, [service NAME] before [default]")
def _():
    needs_root()
    conf = "slots_max = 2\n[service sshd]\nslots_max = 1\n[service su]\nslots_max = 0\n"
    with Daemon("slots = 4", default=conf) as daemon:
        for name, most in ((b"sshd", 1), (b"login", 2), (b"su", 4)):
            held = [daemon.lease(service=name, service_max=9) for _ in range(most)]
            for client in held:
                client.granted()
            with daemon.lease(service=name) as other:
                other.queued()
                for client in held:
                    client.close()
                other.granted()
            daemon.wait_status(free=4)
        # The client may know of a stricter one.
        with daemon.lease(service=b"su", service_max=1) as first, daemon.lease(service=b"su", service_max=1) as second:
            first.granted()
            second.queued()
        daemon.configure("slots = 4", "slots_max = 3\n")
        daemon.process.send_signal(signal.SIGHUP)
        arena.wait_until(lambda: "read again" in daemon.said(), "the configuration")
        held = [daemon.lease(service=b"sshd") for _ in range(4)]
        for client in held[:3]:
            client.granted()
        held[3].queued()
        for client in held:
            client.close()


@tap.case("a lease that isn't given back in time: another slot takes its place")
def _():
    with Daemon("slots = 1\nreserve = 0\nlease = 100ms") as daemon:
        stopped = daemon.lease(uid=1000)
        reply = stopped.granted()
        with arena.map_slot(reply) as slot:
            daemon.wait_status(overdue=1, free=1)
            slot[:] = b"x" * (2 * MIB)  # still its own
            with daemon.lease(uid=1001) as other:
                if not IS_ROOT:  # he is the same user
                    other.queued()
                else:
                    with arena.map_slot(other.granted()) as second:
                        tap.check(second[:] == bytes(2 * MIB), "it isn't zeros")
            again = daemon.lease(uid=1000)  # who has a slot still
            again.queued()
            stopped.close()
            again.granted()
            again.close()
        tap.check(daemon.status()["expired"] >= 1)
        tap.contains(daemon.said(), "is kept too long")


@tap.case("one user stops his processes in every state: others and root get slots")
def _():
    needs_root()
    with Daemon("slots = 3\nreserve = 1\nlease = 2s") as daemon:
        children = []
        for state in range(40):
            child = os.fork()
            if child == 0:
                client = daemon.connect()
                if state % 4 > 0:
                    client.send(arena.request(uid=1000))
                if state % 4 > 1:
                    client.receive()
                os.kill(os.getpid(), signal.SIGSTOP)
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, os.WUNTRACED)
        for _ in range(3):
            with daemon.lease(uid=1001) as other, daemon.lease(uid=0) as root:
                other.granted()
                root.granted()
            daemon.wait_status(lent=0, overdue=1, making=0)
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        daemon.wait_status(overdue=0, free=3)


BAD_REQUESTS = {
    "empty": b"",
    "one byte": b"x",
    "short": arena.request()[:-1],
    "long": arena.request() + b"\0",
    "very long": arena.request() + bytes(100000),
    "garbage": bytes(range(64)),
    "zeros": bytes(64),
    "another magic": arena.request(magic=arena.MAGIC ^ 1),
    "another version": arena.request(version=2),
    "a reply's type": arena.request(kind=arena.GRANTED),
    "type 0": arena.request(kind=0),
    "no size": arena.request(size=0),
    "a service without end": arena.request(service=b"x" * 32),
    "a service with more behind its end": arena.request(service=b"x\0y"),
    "a service with a control character": arena.request(service=b"\x1b[2J"),
    "a service with a blank": arena.request(service=b"a b"),
    "reserved bytes": arena.request()[:-1] + b"x",
    "a status with a size": arena.request(kind=arena.STATUS),
}


@tap.case("messages that are none end the connection, and nothing else")
def _():
    with Daemon("slots = 2") as daemon:
        for name, message in BAD_REQUESTS.items():
            with daemon.connect() as client:
                client.send(message)
                tap.check(client.ended(), name)
        tap.equal(daemon.status()["free"], 2)
        for size in (2**64 - 1, 2 * MIB + 1, 2**32):
            with daemon.lease(size=size) as client:
                tap.equal(client.receive()["reason"], arena.TOO_SMALL)
        with daemon.lease(uid=2**32 - 1, service=b"") as client:
            client.granted()


@tap.case("a message from one who holds a slot, or waits: {}", ["empty", "one byte", "a request"])
def _(name):
    message = {"empty": b"", "one byte": b"x", "a request": arena.request()}[name]
    with Daemon("slots = 1\nreserve = 0") as daemon:
        holder = daemon.lease()
        reply = holder.granted()
        inode = os.fstat(reply["fd"]).st_ino
        waiter = daemon.lease()
        waiter.queued()
        waiter.send(message)
        tap.check(waiter.ended())
        holder.send(message)
        tap.check(holder.ended())
        with daemon.lease() as client:  # not the one that may still be in use
            tap.check(os.fstat(client.granted()["fd"]).st_ino != inode)


@tap.case("descriptors that are sent to the daemon are closed")
def _():
    with Daemon("slots = 2") as daemon:
        before = daemon.descriptors()
        for message in (arena.request(), b"x", arena.STATUS_REQUEST):
            reader, writer = os.pipe()
            with daemon.connect() as client:
                client.send(message, [writer] * 50)
                os.close(writer)
                tap.check(client.ended())
                tap.equal(os.read(reader, 1), b"")  # nobody has the other end
            os.close(reader)
        tap.check(daemon.descriptors() <= before)
        holder = daemon.lease()
        holder.granted()
        reader, writer = os.pipe()
        holder.send(b"", [writer])
        os.close(writer)
        tap.equal(os.read(reader, 1), b"")
        os.close(reader)
        holder.close()


@tap.case("10,000 connections that say nothing")
def _():
    with Daemon("slots = 2") as daemon:
        quiet = []
        for i in range(10000):
            client = daemon.connect()
            quiet.append(client)
            if len(quiet) > 300:
                quiet.pop(0).close()
            if i % 1000 == 0:
                with daemon.lease() as other:
                    other.granted()
        tap.check(daemon.descriptors() < 150)
        for client in quiet[:-80]:
            tap.check(client.ended())
        daemon.wait_status(free=2)
        for client in quiet:
            client.close()


@tap.case("clients that come in a crowd, and more than there are places for")
def _():
    needs_root()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        tap.skip("too few descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    with Daemon("slots = 1\nreserve = 0") as daemon:
        clients = [daemon.lease() for _ in range(1100)]
        clients[0].granted()
        reasons = []
        for client in clients[960:]:
            reasons.append(client.receive()["reason"])
        tap.equal(set(reasons), {arena.BUSY})
        for client in clients:
            client.close()
        daemon.wait_status(free=1, waiting=0)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@tap.case("without descriptors for all clients")
def _():
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    with Daemon("slots = 2", preexec_fn=limit) as daemon:
        holder = daemon.lease()
        holder.granted()
        crowd = []
        for _ in range(100):
            crowd.append(daemon.connect())
        turned_away = 0
        for client in crowd:
            client.socket.settimeout(0.01)
            try:
                turned_away += client.ended()
            except TimeoutError:
                pass
        tap.check(turned_away > 0)
        for client in crowd:
            client.close()
        holder.close()
        daemon.wait_status(free=2)


def as_other(uid, gid, groups, function):
    """Runs function as somebody else; whether it went well."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            status = 0 if function() else 1
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


@tap.case("who is neither root nor shadow is turned away")
def _():
    needs_root()
    with Daemon("slots = 3") as daemon:
        shadow = os.stat(daemon.socket).st_gid

        def refused():
            with daemon.connect() as client:
                try:
                    client.send(arena.request())
                except OSError:
                    return True
                return client.ended()

        def cannot_connect():
            try:
                daemon.connect()
            except PermissionError:
                return True
            return False

        def served():
            with daemon.lease(uid=0) as client:  # which he isn't
                client.granted()
                with daemon.lease(uid=1001) as second:
                    second.queued()
            return True

        tap.equal(os.stat(daemon.socket).st_mode & 0o7777, 0o660)
        tap.equal(os.stat(daemon.socket).st_uid, 0)
        tap.check(as_other(1000, 1000, [], cannot_connect))
        os.chmod(daemon.socket, 0o666)
        tap.check(as_other(1000, 1000, [], refused))
        tap.check(as_other(1000, 1000, [shadow], refused))  # the effective group counts
        tap.check(as_other(1000, shadow, [], served))
        daemon.wait_status(renewed=1)


@tap.case("a ceiling below stored hashes: the start names the accounts, and so does --check")
def _():
    hashed = "$mhkdf$m8M.t1.p1.c6$" + "A" * 22 + "$" + "A" * 43
    with tempfile.TemporaryDirectory() as etc:
        os.chmod(etc, 0o755)
        for name, text in (("passwd", "anna:x:1000:1000:::\nbob:x:1001:1001:::\n"),
                           ("shadow", f"anna:{hashed}:1::::::\nbob:!{hashed}:1::::::\n")):
            with open(os.path.join(etc, name), "w", encoding="ascii") as file:
                file.write(text)
        environment = dict(os.environ, MHKDF_TEST_ETC=etc)
        with Daemon(default="memory = 1M\nceiling_memory = 8M\n", env=environment) as daemon:
            tap.check("locks out" not in daemon.said(), daemon.said())
        with Daemon(default="memory = 1M\nceiling_memory = 4M\n", env=environment) as daemon:
            tap.contains(daemon.said(), "mhkdf.conf locks out anna: their hashes are above its ceiling_memory")
            done = subprocess.run([arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"), "--check"],
                                  env=environment, capture_output=True, timeout=arena.PATIENCE, check=False)
            tap.equal(done.returncode, 0)
            tap.contains(done.stderr, b"mhkdf.conf locks out anna: ")


@tap.case("SIGHUP: another configuration, while a lease goes on")
def _():
    with Daemon("slots = 2") as daemon:
        holder = daemon.lease()
        reply = holder.granted()
        daemon.configure("slots = 3\nslot_size = 3M\nlease = 9s")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_status(slots=3, slot_size=4 * MIB, lent=1, free=2, lease_ms=9000)
        with arena.map_slot(reply) as slot:
            slot[:] = b"x" * (2 * MIB)
        holder.close()
        daemon.wait_status(free=3)
        with daemon.lease(size=4 * MIB) as client:
            tap.equal(client.granted()["size"], 4 * MIB)

        daemon.configure("slots = 1\nreserve = 0")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_status(slots=1, slot_size=2 * MIB, free=1)

        daemon.configure("slots = no\n")
        daemon.process.send_signal(signal.SIGHUP)
        arena.wait_until(lambda: "slots: 'no'" in daemon.said(), "a complaint")
        daemon.wait_status(slots=1, free=1)


@tap.case("SIGTERM: who holds a slot may finish, who waits is sent away")
def _():
    with Daemon("slots = 1\nreserve = 0") as daemon:
        holder = daemon.lease()
        reply = holder.granted()
        waiter = daemon.lease()
        waiter.queued()
        daemon.process.terminate()
        tap.equal(waiter.receive()["reason"], arena.ENDING)
        fails(errno.ECONNREFUSED, daemon.connect)
        tap.equal(daemon.process.poll(), None)
        with arena.map_slot(reply) as slot:
            slot[:] = b"x" * (2 * MIB)
        holder.shutdown()
        tap.equal(daemon.process.wait(arena.PATIENCE), 0)
        # for __exit__, which wants one that lives
        daemon.process = subprocess.Popen(["sleep", "1000"])
        daemon.stop = daemon.process.kill


@tap.case("SIGKILL leaves clients what they have")
def _():
    with Daemon("slots = 1\nreserve = 0") as daemon:
        holder = daemon.lease()
        reply = holder.granted()
        with arena.map_slot(reply) as slot:
            slot[:] = b"x" * (2 * MIB)
            daemon.process.kill()
            daemon.process.wait()
            tap.check(slot[:] == b"x" * (2 * MIB))
            slot[:] = b"y" * (2 * MIB)
        # A new one takes the place of the old one's socket.
        with open(daemon.log, "wb") as log:
            daemon.process = subprocess.Popen(
                [arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"), "--socket", daemon.socket,
                 "--user", "nobody"], stderr=log)
        daemon.wait_ready()


@tap.case("two daemons don't share a socket")
def _():
    with Daemon() as daemon:
        second = subprocess.run(
            [arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"), "--socket", daemon.socket,
             "--user", "nobody"], capture_output=True, timeout=arena.PATIENCE, check=False)
        tap.equal(second.returncode, 1)
        tap.contains(second.stderr, b"in use")
        daemon.status()


@tap.case("a socket at whose door too many wait isn't a dead daemon's")
def _():
    with Daemon() as daemon:
        path = os.path.join(daemon.path, "full")
        busy = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        busy.bind(path)
        busy.listen(0)
        queue = []
        try:
            while len(queue) < 10:
                queue.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                queue[-1].setblocking(False)
                queue[-1].connect(path)
        except BlockingIOError:
            pass
        inode = os.stat(path).st_ino
        done = run_daemon(os.path.join(daemon.path, "conf"), "--socket", path, "--user", "nobody")
        tap.equal(done.returncode, 1)
        tap.contains(done.stderr, b"in use")
        tap.equal(os.stat(path).st_ino, inode)
        for each in (busy, *queue):
            each.close()


@tap.case("a file that is no socket is left alone")
def _():
    with Daemon() as daemon:
        path = os.path.join(daemon.path, "file")
        with open(path, "wb") as file:
            file.write(b"x")
        second = subprocess.run(
            [arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"), "--socket", path,
             "--user", "nobody"], capture_output=True, timeout=arena.PATIENCE, check=False)
        tap.equal(second.returncode, 1)
        with open(path, "rb") as file:
            tap.equal(file.read(), b"x")


@tap.case("no folder for the socket: one is made; no way to: exit status 1")
def _():
    with Daemon() as daemon:
        for path, status in ((os.path.join(daemon.path, "a", "b", "s"), 1),
                             ("/proc/nowhere/s", 1), ("x" * 200, 1)):
            second = subprocess.run(
                [arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"), "--socket", path,
                 "--user", "nobody"], capture_output=True, timeout=arena.PATIENCE, check=False)
            tap.equal(second.returncode, status)
            tap.check(second.stderr.count(b"\n") == 1)


@tap.case("the socket and its folder have their modes, whatever umask the daemon has inherited")
def _():
    for umask in (0o077, 0):
        with Daemon() as daemon:
            folder = os.path.join(daemon.path, "folder")
            path = os.path.join(folder, "s")
            second = subprocess.Popen(
                [arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"), "--socket", path,
                 "--user", "nobody"], umask=umask)
            arena.wait_until(lambda: os.path.exists(path) and os.stat(path).st_mode & 0o777 == 0o660,
                             "a socket")
            second.terminate()
            tap.equal(second.wait(arena.PATIENCE), 0)
            tap.equal(os.stat(folder).st_mode & 0o777, 0o755)


def run_daemon(conf, *args, **more):
    return subprocess.run([arena.DAEMON, "--conf", conf, *args], capture_output=True,
                          timeout=arena.PATIENCE, check=False, **more)


@tap.case("a broken configuration, wrong options, an unknown user: said, and exit status 1 or 2")
def _():
    with Daemon() as daemon:
        conf = os.path.join(daemon.path, "bad")
        with open(conf, "w", encoding="ascii") as file:
            file.write("[arena]\nslots = many\n")
        done = run_daemon(conf)
        tap.equal(done.returncode, 1)
        tap.contains(done.stderr, b"bad:2: slots: 'many'")
        done = run_daemon(os.path.join(daemon.path, "nothing"))
        tap.equal(done.returncode, 1)
        good = os.path.join(daemon.path, "conf")
        tap.equal(run_daemon(good, "--bogus").returncode, 2)
        tap.equal(run_daemon(good, "argument").returncode, 2)
        done = run_daemon(good, "--help")
        tap.equal((done.returncode, done.stderr), (0, b""))
        tap.equal(run_daemon(good, "--version").stdout.split()[0], b"mhkdf-arenad")
        if IS_ROOT:
            done = run_daemon(good, "--user", "no-such-user")
            tap.equal(done.returncode, 1)
            tap.contains(done.stderr, b"no-such-user")


@tap.case("more memory than there is: said, and exit status 1")
def _():
    with Daemon() as daemon:
        conf = os.path.join(daemon.path, "large")
        with open(conf, "w", encoding="ascii") as file:
            file.write("[arena]\nslot_size = 4000G\n")
        done = run_daemon(conf, "--socket", os.path.join(daemon.path, "s"), "--user", "nobody")
        tap.equal(done.returncode, 1)
        tap.contains(done.stderr, b"slot_size = 4000G: 4096002M needed, ")
        tap.check(not os.path.exists(os.path.join(daemon.path, "s")), "it has made a socket")


@tap.case("more slots than there is memory for: said, and exit status 1")
def _():
    with Daemon() as daemon:
        conf = os.path.join(daemon.path, "many")
        with open("/proc/meminfo", encoding="ascii") as file:
            gib = max(1, int(next(line for line in file if line.startswith("MemTotal:")).split()[1]) // 1024 // 1024 // 16)
        with open(conf, "w", encoding="ascii") as file:
            file.write(f"[arena]\nslots = 200\nslot_size = {gib}G\n")
        done = run_daemon(conf, "--socket", os.path.join(daemon.path, "s"), "--user", "nobody")
        tap.equal(done.returncode, 1)
        tap.contains(done.stderr, b"slots = 200, slot_size = %dG: %dM needed, " % (gib, 200 * (gib * 1024 + 2)))


@tap.case("a control group with less memory than a slot: said, exit status 1, nobody is killed")
def _():
    needs_root()
    with arena.memory_group(64 * MIB) as group:
        enter = group.enter
        with Daemon() as daemon:
            conf = os.path.join(daemon.path, "large")
            with open(conf, "w", encoding="ascii") as file:
                file.write("[arena]\nslot_size = 100M\npages = plain\n")
            done = run_daemon(conf, "--socket", os.path.join(daemon.path, "s"), "--user", "nobody",
                              preexec_fn=enter)
            tap.equal(done.returncode, 1)
            tap.contains(done.stderr, b"limit of the control group")

        # Room for one of two isn't enough either.
        with Daemon() as daemon:
            conf = os.path.join(daemon.path, "two")
            with open(conf, "w", encoding="ascii") as file:
                file.write("[arena]\nslots = 2\nreserve = 0\nslot_size = 26M\npages = plain")
            done = run_daemon(conf, "--socket", os.path.join(daemon.path, "s"), "--user", "nobody",
                              preexec_fn=enter)
            tap.equal(done.returncode, 1)
            tap.contains(done.stderr, b"slots = 2, slot_size = 26M: 56M needed")


@tap.case("socket activation and readiness, as systemd does them")
def _():
    with Daemon() as daemon:
        path = os.path.join(daemon.path, "given.sock")
        notify_path = os.path.join(daemon.path, "notify")
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(notify_path)
        os.chmod(notify_path, 0o666)
        notify.settimeout(arena.PATIENCE)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(path)
        listener.listen(16)
        child = os.fork()
        if child == 0:
            os.dup2(listener.fileno(), 3)
            environment = dict(os.environ, LISTEN_FDS="1", LISTEN_PID=str(os.getpid()),
                               NOTIFY_SOCKET=notify_path)
            os.execve(arena.DAEMON, [arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"),
                                     "--user", "nobody"], environment)
        listener.close()
        tap.contains(notify.recv(1000), b"READY=1")
        first, daemon.socket = daemon.socket, path
        daemon.wait_ready()
        daemon.socket = first
        os.kill(child, signal.SIGHUP)
        seen = b""
        while b"RELOADING=1" not in seen:
            seen = notify.recv(1000)
        tap.contains(notify.recv(1000), b"READY=1")
        os.kill(child, signal.SIGTERM)
        while b"STOPPING=1" not in seen:
            seen = notify.recv(1000)
        tap.equal(os.waitpid(child, 0)[1], 0)


@tap.case("a socket of another kind is refused")
def _():
    with Daemon() as daemon:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(os.path.join(daemon.path, "stream"))
        listener.listen(1)
        child = os.fork()
        if child == 0:
            os.dup2(listener.fileno(), 3)
            os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
            os.execve(arena.DAEMON, [arena.DAEMON, "--conf", os.path.join(daemon.path, "conf"),
                                     "--user", "nobody"],
                      dict(os.environ, LISTEN_FDS="1", LISTEN_PID=str(os.getpid())))
        tap.equal(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 1)


@tap.case("mhkdf arena status")
def _():
    with Daemon("slots = 3") as daemon, daemon.lease() as client:
        client.granted()
        done = tool.run("arena", "status", "--json", "--socket", daemon.socket)
        tap.equal((done.returncode, done.stderr), (0, b""))
        said = json.loads(done.stdout)
        report = daemon.status()
        for name, value in {"slots": 3, "slot_bytes": 2 * MIB, "free": 2, "lent": 1, "leases": 1,
                            "waiting": 0, "locked_bytes": report["locked"], "retired": 0,
                            "pages": {name: report[name] for name in ("hugetlb", "thp", "plain")}}.items():
            tap.equal(said[name], value, name)
        done = tool.run("arena", "status", "--socket", daemon.socket)
        tap.equal(done.returncode, 0)
        tap.contains(done.stdout, b"slots      3 of 2M: 2 free, 1 lent,")
        for args in (["arena"], ["arena", "stop"], ["arena", "status", "x"]):
            tap.equal(tool.run(*args).returncode, 2)
        done = tool.run("arena", "status", "--socket", daemon.path + "/nothing")
        tap.equal(done.returncode, 2)
        tap.contains(done.stderr, b"isn't running")


tap.main()
