#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real login programs with mhkdf-arenad, and a user who stops as many of his set-id programs as he
can, wherever they are: others and root still log in."""

import contextlib
import os
import pwd
import re
import signal
import time

import arenad
import common
import drive
import tap
from common import WRONG, need

ANNA, CARL, MALLORY, ROOT = 'anna has 1', 'carl has 1 too', 'mallory has 1', 'root has 1 as well'
LEASE_S = 2
SLOTS = 3
CONF = f'[default]\nmemory = 64M\nwait = 30s\n[arena]\nslots = {SLOTS}\nslot_size = 64M\nreserve = 1\nlease = {LEASE_S}s\n'
STOPPED = 24            # programs that he stops
TRIES = 100
common.write(arenad.CONF, CONF)


@tap.case('accounts')
def _():
    need(drive.add_user('anna', ANNA))
    need(drive.add_user('carl', CARL))
    need(drive.add_user('mallory', MALLORY, groups=['sudo']))
    need(drive.set_password('root', ROOT))


@tap.case('without the arena logins are as before')
def _():
    need(drive.su('carl', 'anna', ANNA))
    tap.equal(arenad.status(), None)


@tap.case('su, login, sudo, passwd and ssh borrow from it; a wrong password is one')
def _():
    with arenad.running(SLOTS), drive.sshd():
        for count, function in enumerate((
                lambda: drive.su('carl', 'anna', ANNA), lambda: drive.login('anna', ANNA),
                lambda: drive.sudo('mallory', MALLORY), lambda: drive.ssh('anna', ANNA)), 1):
            need(function())
            tap.equal(arenad.status()['leases'], count)
        need(drive.su('carl', 'anna', WRONG), False)
        need(drive.change_password('anna', ANNA, CARL))
        need(drive.change_password('anna', CARL, ANNA))
        report = arenad.wait_status(free=SLOTS)
        tap.equal((report['leases'], report['fallbacks'], report['busy']), (9, 0, 0))


def state_of(pid):
    with contextlib.suppress(OSError):
        return re.search(r'(?m)^State:\s+(\w)', common.read(f'/proc/{pid}/status'))[1]
    return None


def is_connected(pid):
    with contextlib.suppress(OSError):
        return any(os.readlink(f'/proc/{pid}/fd/{fd}').startswith('socket:') for fd in os.listdir(f'/proc/{pid}/fd'))
    return False


def maps_slot(pid):
    with contextlib.suppress(OSError):
        return 'memfd:mhkdf-arena' in common.read(f'/proc/{pid}/maps')
    return False


STATES = {'holding': maps_slot, 'waiting': lambda pid: is_connected(pid) and not maps_slot(pid)}
PROGRAMS = {'su': (['su', 'anna', '-c', 'true'], WRONG), 'sudo': (['sudo', '-k', '-p', 'Password: ', 'true'], MALLORY)}


class Mallory:
    """Has no rights but his own, and doesn't know anna's password."""

    def __init__(self):
        self.account = pwd.getpwnam('mallory')
        self.terminals = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for tty in self.terminals:
            with contextlib.suppress(ProcessLookupError):
                os.kill(tty.pid, signal.SIGKILL)
            tty.__exit__()

    def start(self, program):
        argv, password = PROGRAMS[program]
        tty = drive.Terminal(argv, user='mallory')
        self.terminals.append(tty)
        tty.expect(rb'Password: ')
        tty.secret(password)
        return tty

    def stop(self, tty):
        """By a signal, as he may for programs with his real uid; else by the terminal's key."""
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(self.account.pw_gid)
                os.setuid(self.account.pw_uid)
                os.kill(tty.pid, signal.SIGSTOP)
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(child, 0)[1] != 0:
            with contextlib.suppress(OSError):
                os.write(tty.fd, b'\x1a')

    def stop_in(self, state):
        """Stops a su in this state; it may be faster than he is, so he tries again and again."""
        for _ in range(TRIES):
            tty = self.start('su')
            while state_of(tty.pid) not in (None, 'Z') and not STATES[state](tty.pid) and not is_delayed(tty.pid):
                pass
            self.stop(tty)
            if STATES[state](tty.pid) and state_of(tty.pid) == 'T':
                return
            os.kill(tty.pid, signal.SIGKILL)
        raise AssertionError(f'no su could be stopped while {state}')

    def stopped(self):
        return sum(state_of(tty.pid) == 'T' for tty in self.terminals)


def is_delayed(pid):
    """After a wrong password su sleeps."""
    with contextlib.suppress(OSError):
        return 'nanosleep' in common.read(f'/proc/{pid}/wchan')
    return False


def everybody_logs_in(mallory):
    for _ in range(2):
        need(drive.su('carl', 'anna', ANNA))
        need(drive.su('anna', 'carl', CARL))
        need(drive.su('carl', 'root', ROOT))
        need(drive.login('root', ROOT))
        need(drive.login('anna', ANNA))
    tap.check(mallory.stopped() > 0, 'nothing is stopped any more')


@tap.case('a user stops a program that holds a slot')
def _():
    with arenad.running(SLOTS), Mallory() as mallory:
        mallory.stop_in('holding')
        everybody_logs_in(mallory)
        report = arenad.wait_status(overdue=1, lent=0)
        tap.equal(report['retired'], 1)
        tap.contains(arenad.said(), 'is kept too long')
        everybody_logs_in(mallory)


@tap.case('a user stops as many programs as he can, wherever they are')
def _():
    with arenad.running(SLOTS):
        with Mallory() as mallory:
            mallory.stop_in('holding')
            mallory.stop_in('waiting')
            mallory.stop_in('waiting')
            for number in range(STOPPED):
                tty = mallory.start('su' if number % 4 else 'sudo')
                time.sleep(number % 12 * 0.004)
                mallory.stop(tty)
            tap.check(mallory.stopped() > STOPPED // 2, f'only {mallory.stopped()} are stopped')
            everybody_logs_in(mallory)
            tap.equal(arenad.wait_status(lent=0)['overdue'], 1)
            everybody_logs_in(mallory)
        arenad.wait_status(overdue=0, waiting=0, free=SLOTS)


@tap.case('a daemon that is stopped, or killed, costs no login')
def _():
    with arenad.running(SLOTS) as daemon:
        daemon.send_signal(signal.SIGSTOP)
        need(drive.su('carl', 'anna', ANNA))
        daemon.send_signal(signal.SIGCONT)
        arenad.wait_status(free=SLOTS)
        daemon.kill()
        daemon.wait()
        need(drive.su('carl', 'anna', ANNA))
        need(drive.login('root', ROOT))


@tap.case('it needs no systemd, and no folder in /run')
def _():
    for function, path in ((os.unlink, '/run/mhkdf/arena.sock'), (os.rmdir, '/run/mhkdf')):
        function(path)
    need(drive.su('carl', 'anna', ANNA))
    with arenad.running(SLOTS):
        need(drive.su('carl', 'anna', ANNA))
        tap.equal(arenad.status()['leases'], 1)
        info = os.stat('/run/mhkdf/arena.sock')
        tap.equal((info.st_mode & 0o777, info.st_uid), (0o660, 0))


tap.main()
