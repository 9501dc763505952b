#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients that are killed, at each step and at random moments under load: no slot is lost, none is
lent twice, none is lent dirty."""

import os
import random
import signal
import struct
import time

import arena
import tap
from arena import MIB, Daemon

KILLS = 1000
CLIENTS = 8
SLOTS = 3


def finish(daemon, children):
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    daemon.wait_status(lent=0, waiting=0, overdue=0, making=0, failed=0, free=daemon.status()["slots"])


STEPS = ("connected", "asked", "waiting", "granted", "mapped", "written", "unmapped", "shut down")


def walk(daemon, step, tell):
    """A client that comes as far as step, says so, and stays there."""
    def at(name):
        if name == step:
            os.write(tell, b"x")
            signal.pause()

    client = daemon.connect()
    at("connected")
    client.send(arena.request())
    at("asked")
    if step == "waiting":
        client.queued()
        at("waiting")
    reply = client.granted()
    at("granted")
    slot = arena.map_slot(reply)
    at("mapped")
    slot[:] = b"dirt" * (len(slot) // 4)
    at("written")
    slot.close()
    at("unmapped")
    client.shutdown()
    at("shut down")


@tap.case("killed when it has {}", STEPS)
def _(step):
    with Daemon("slots = 1\nreserve = 0") as daemon:
        holder = daemon.lease() if step == "waiting" else None
        if holder:
            holder.granted()
        heard, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                walk(daemon, step, tell)
            finally:
                os._exit(1)
        tap.equal(os.read(heard, 1), b"x")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if holder:
            holder.close()
        with daemon.lease() as client, arena.map_slot(client.granted()) as slot:
            tap.check(slot[:] == bytes(2 * MIB), "the slot is dirty")
        daemon.wait_status(lent=0, waiting=0, free=1)


class Trouble(Exception):
    pass


def borrow(daemon, uid, mark):
    with daemon.connect() as client:
        client.send(arena.request(uid=uid))
        try:
            reply = client.granted()
        except arena.Refused:
            return
        with arena.map_slot(reply) as slot:
            os.close(reply["fd"])
            if slot[:] != bytes(len(slot)):
                raise Trouble("the slot is dirty")
            slot[:] = mark * (len(slot) // len(mark))
            time.sleep(random.random() * 0.002)
            if slot[:] != mark * (len(slot) // len(mark)):
                raise Trouble("somebody else writes to the slot")
        if random.random() < 0.5:
            client.shutdown()


def client_loop(daemon, number, trouble):
    random.seed(os.getpid())
    status = 1
    try:
        while True:
            borrow(daemon, random.choice((0, 0, 0, 1000 + number)), struct.pack("=Q", os.getpid() | 1 << 40))
    except Trouble as error:
        os.write(trouble, str(error).encode())
    except (OSError, EOFError) as error:
        os.write(trouble, repr(error).encode())
    finally:
        os._exit(status)


@tap.case(f"{KILLS} clients killed at random moments under load")
def _():
    with Daemon(f"slots = {SLOTS}\nreserve = 1") as daemon:
        trouble, tell = os.pipe()
        os.set_blocking(trouble, False)
        children = []

        def start(number):
            child = os.fork()
            if child == 0:
                client_loop(daemon, number, tell)
            return child

        def check():
            try:
                raise AssertionError(os.read(trouble, 1000).decode())
            except BlockingIOError:
                pass

        random.seed(1)
        for number in range(CLIENTS):
            children.append(start(number))
        for _ in range(KILLS):
            time.sleep(random.random() * 0.01)
            victim = random.randrange(CLIENTS)
            os.kill(children[victim], signal.SIGKILL)
            os.waitpid(children[victim], 0)
            children[victim] = start(victim)
            check()
        before = daemon.status()
        finish(daemon, children)
        check()
        tap.check(before["leases"] > KILLS / 10, f"only {before['leases']} leases")
        # Each of them can still be borrowed, and is clean.
        held = [daemon.lease() for _ in range(SLOTS if os.geteuid() == 0 else 1)]
        inodes = set()
        for client in held:
            reply = client.granted()
            inodes.add(os.fstat(reply["fd"]).st_ino)
            with arena.map_slot(reply) as slot:
                tap.check(slot[:] == bytes(2 * MIB), "the slot is dirty")
        tap.equal(len(inodes), len(held))
        for client in held:
            client.close()


tap.main()
