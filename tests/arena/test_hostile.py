#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mhkdf-arenad, with clients that want to keep its memory, fill its log, or have it lend nothing; and an
administrator who asks for more than there is."""

import errno
import mmap
import os
import re
import signal
import subprocess

import arena
import tap
from arena import MIB, Daemon
from tool import SANITIZED

IS_ROOT = os.geteuid() == 0
SLOTS_KEPT = 60


def needs_its_own_size():
    if SANITIZED:
        tap.skip("sanitizers take more memory than the control group has")


def needs_root():
    if not IS_ROOT:
        tap.skip("needs root")


def somebody():
    """A user id that isn't root's."""
    return 1000 if IS_ROOT else os.getuid()


def held(fd):
    """Bytes of memory that a file in memory has."""
    return os.fstat(fd).st_blocks * 512


def map_file(fd, size):
    return mmap.mmap(fd, size, mmap.MAP_SHARED)


# ---- memory that is kept -------------------------------------------------------------


@tap.case("60 slots of 10 MiB, of each of which {} is kept: no memory of them is", ["the descriptor", "a mapping"])
def _(kept):
    fds, maps = [], []
    with Daemon("slots = 1\nreserve = 0\nslot_size = 8M") as daemon:
        for _ in range(SLOTS_KEPT):
            with daemon.lease(size=10 * MIB, uid=somebody()) as client:
                reply = client.granted()
                tap.equal(reply["size"], 10 * MIB)
                fds.append(reply["fd"])
                slot = map_file(reply["fd"], reply["size"])
                slot[:] = b"x" * reply["size"]
                tap.equal(held(reply["fd"]), 10 * MIB)
                if kept == "a mapping":
                    maps.append(slot)
                else:
                    slot.close()
                client.shutdown()
                daemon.wait_status(free=1)
        tap.equal(sum(held(fd) for fd in fds), 0)
        for slot in maps:
            tap.equal(slot[5 * MIB], 0)  # which is read from a file with a hole
    for each in (*maps,):
        each.close()
    for fd in fds:
        os.close(fd)


@tap.case("huge pages that were set aside come back, too")
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
        fds = []
        with Daemon("slots = 1\nreserve = 0") as daemon:
            if daemon.status()["hugetlb"] == 0:
                tap.skip("no huge pages are to be had here")
            for _ in range(6):
                with daemon.lease(uid=1000) as client:
                    reply = client.granted()
                    tap.equal(reply["pages"], arena.HUGETLB)
                    fds.append(reply["fd"])
                    client.shutdown()
                    daemon.wait_status(free=1)
            tap.equal(sum(held(fd) for fd in fds), 0)
        for fd in fds:
            os.close(fd)
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


@tap.case("a slot that is kept beyond its deadline keeps its content until its client hangs up, and no longer")
def _():
    with Daemon("slots = 1\nreserve = 0\nlease = 100ms") as daemon:
        before = daemon.descriptors()
        for _ in range(3):
            client = daemon.lease(uid=somebody())
            fd = client.granted()["fd"]
            with map_file(fd, 2 * MIB) as slot:
                slot[:] = b"x" * (2 * MIB)
                daemon.wait_status(overdue=1, free=1)
                tap.check(slot[:] == b"x" * (2 * MIB), "it has lost its content while it was in use")
                client.close()
                arena.wait_until(lambda fd=fd: held(fd) == 0, "memory that is given back")
                os.close(fd)
        daemon.wait_status(overdue=0, free=1)
        arena.wait_until(lambda: daemon.descriptors() <= before, "a descriptor that is left")


@tap.case("the daemon ends: who hangs up then keeps no memory either; who is still at work does")
def _():
    with Daemon("slots = 2\nreserve = 0\nlease = 100ms") as daemon:
        late = daemon.lease(uid=0 if IS_ROOT else None)
        kept = late.granted()["fd"]
        daemon.wait_status(overdue=1, free=2)
        daemon.configure("slots = 2\nreserve = 0\nlease = 60s")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_status(lease_ms=60000)
        if IS_ROOT:  # otherwise it has one already
            holder = daemon.lease(uid=1000)
            fd = holder.granted()["fd"]
            daemon.process.terminate()
            arena.wait_until(lambda: refuses(daemon), "a closed door")
            tap.equal(held(fd), 2 * MIB)
            holder.shutdown()
        else:
            daemon.process.terminate()
        tap.equal(daemon.process.wait(arena.PATIENCE), 0)
        if IS_ROOT:
            tap.equal(held(fd), 0)
        tap.equal(held(kept), 2 * MIB)
        late.close()
        # for __exit__, which wants one that lives
        daemon.process = subprocess.Popen(["sleep", "1000"])
        daemon.stop = daemon.process.kill


def refuses(daemon):
    try:
        daemon.connect().close()
    except ConnectionRefusedError:
        return True
    return False


@tap.case("who fills it anew does so with memory of its own control group")
def _():
    needs_root()
    reader, writer = os.pipe()
    with Daemon("slots = 1\nreserve = 0\nslot_size = 30M\npages = plain") as daemon, \
            arena.memory_group(128 * MIB) as group:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                group.enter()
                os.close(reader)
                with daemon.lease(uid=1000, size=32 * MIB) as client:
                    fd = client.granted()["fd"]
                    slot = map_file(fd, 32 * MIB)
                    client.shutdown()
                arena.wait_until(lambda: held(fd) == 0, "memory that is given back")
                before = group.usage()
                slot[:] = b"x" * (32 * MIB)
                os.write(writer, b"%d" % (group.usage() - before))
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        tap.equal(os.waitpid(child, 0)[1], 0)
        grown = int(os.read(reader, 100))
        os.close(reader)
        # The copy that Python writes from is another 32 MiB.
        tap.check(31 * MIB < grown, f"{grown} bytes")
        daemon.wait_status(free=1)


# ---- the log -------------------------------------------------------------------------


@tap.case("a thousand breaches of the protocol are a few lines, and a number")
def _():
    breaches = 1000
    with Daemon("slots = 1\nreserve = 0") as daemon:
        with daemon.lease() as holder:
            holder.granted()
            for _ in range(breaches):
                with daemon.lease() as client:
                    client.queued()
                    client.send(b"x")
                    tap.check(client.ended())
        daemon.wait_status(lent=0)
        daemon.stop()
        said = daemon.said()
        lines = said.count("breaks the protocol")
        left_out = sum(int(n) for n in re.findall(r"(\d+) more clients broke the protocol", said))
        tap.equal(lines + left_out, breaches)
        tap.check(lines <= breaches / 10, f"{lines} lines")
        # for __exit__, which wants one that lives
        daemon.process = subprocess.Popen(["sleep", "1000"])
        daemon.stop = daemon.process.kill


# ---- an arena that can't be made -----------------------------------------------------


@tap.case("SIGHUP with slots that don't fit: said, and all stays as it was")
def _():
    with Daemon("slots = 2", "slots_max = 1") as daemon:
        with daemon.lease() as holder:
            fd = holder.granted()["fd"]
            for number, (conf, text) in enumerate((
                    ("slots = 2\nslot_size = 4000G", "slot_size = 4000G: 4096002M needed, "),
                    ("slots = 256\nslot_size = 40G", "M needed, ")), 1):
                daemon.configure(conf, "slots_max = 9")
                daemon.process.send_signal(signal.SIGHUP)
                arena.wait_until(lambda n=number: daemon.said().count("the configuration stays as it was") == n,
                                 "a complaint")
                tap.contains(daemon.said(), text)
            report = daemon.status()
            tap.equal((report["slots"], report["slot_size"], report["lent"], report["free"], report["failed"]),
                      (2, 2 * MIB, 1, 1, 0))
            with daemon.lease() as second:  # slots_max is the old one, too
                second.queued()
                inode = os.fstat(fd).st_ino
                holder.shutdown()
                tap.check(os.fstat(second.granted()["fd"]).st_ino != inode or IS_ROOT)
        daemon.configure("slots = 3", "slots_max = 9")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_status(slots=3, free=3)


@tap.case("SIGHUP: slots may take the place of those that are there, and of no more")
def _():
    needs_root()
    needs_its_own_size()
    with arena.memory_group(96 * MIB) as group, \
            Daemon("slots = 1\nreserve = 0\nslot_size = 40M\npages = plain", preexec_fn=group.enter) as daemon:
        daemon.configure("slots = 1\nreserve = 0\nslot_size = 60M\npages = plain")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_status(free=1, slot_size=62 * MIB)
        for conf in ("slots = 1\nreserve = 0\nslot_size = 80M\npages = plain",
                     "slots = 2\nreserve = 0\nslot_size = 60M\npages = plain"):
            seen = daemon.said().count("stays as it was")
            daemon.configure(conf)
            daemon.process.send_signal(signal.SIGHUP)
            arena.wait_until(lambda seen=seen: daemon.said().count("stays as it was") > seen, "a complaint")
        tap.contains(daemon.said(), "slot_size = 80M: 82M needed, ")
        tap.contains(daemon.said(), "slots = 2, slot_size = 60M: 124M needed, ")
        report = daemon.status()
        tap.equal((report["free"], report["slot_size"]), (1, 62 * MIB))


def hoard(group, size):
    """A process of the group that has so much memory; it is there when this returns."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            group.enter()
            memory = bytearray(b"x") * size
            os.write(writer, b"x")
            signal.pause()
            del memory
        finally:
            os._exit(0)
    os.close(writer)
    tap.equal(os.read(reader, 1), b"x")
    os.close(reader)
    return child


@tap.case("no slot can be made any more: who has no other memory waits, for as long as it wants to")
def _():
    needs_root()
    needs_its_own_size()
    size = 28 * MIB
    with arena.memory_group(80 * MIB) as group, \
            Daemon("slots = 1\nreserve = 0\nslot_size = 26M\npages = plain", preexec_fn=group.enter) as daemon:
        holder = daemon.lease(uid=1000, size=size)
        holder.granted()
        hog = hoard(group, 36 * MIB)
        try:
            holder.close()
            daemon.wait_status(failed=1)
            tap.contains(daemon.said(), "can't be made: 28M needed, ")
            for uid in (0, 1000):
                with daemon.lease(uid=uid, size=size) as client:
                    tap.equal(client.receive()["reason"], arena.NOT_READY)
            waiting = [daemon.lease(uid=1000, size=size, require=1) for _ in range(2)]
            tap.equal([client.queued() for client in waiting], [1, 2])
            with daemon.lease(uid=1000, size=size, require=1) as third:
                tap.equal(third.receive()["reason"], arena.BUSY)
            with daemon.lease(uid=1001, size=size + 1, require=1) as larger:
                tap.equal(larger.receive()["reason"], arena.TOO_SMALL)
            for require, expected in ((["require"], f"{errno.EBUSY} 0 "), ([], "0 1 ")):
                done = subprocess.run([arena.CLIENT, daemon.socket, "1001", "1200", "8192", *require],
                                      capture_output=True, text=True, check=True, timeout=arena.PATIENCE)
                tap.equal(done.stdout[:len(expected)], expected, done.stdout)
        finally:
            os.kill(hog, signal.SIGKILL)
            os.waitpid(hog, 0)
        for client in waiting:
            client.granted()
            client.close()
        daemon.wait_status(free=1)


tap.main()
