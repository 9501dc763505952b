#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A user stops his own su or passwd while it changes /etc/shadow: everybody may watch /etc, and he is the one who starts
it, with the lowest priority and on one CPU. Nobody else is kept from changing accounts, and what root changes meanwhile
without the lock stays.

When a signal arrives is chance; what must hold isn't. (Code that holds the lock itself fails most of the rounds.)"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import common
import drive
import tap
from common import need, read, run, write

ROUNDS = 8
USER, OLD, NEW = 'mallory', 'mallory knows this', 'another one 7'
common.cheap_hashes()

# Started as the user. It stops the process, and tries to stop all that it started, when /etc/NAME is made or opened;
# then it says what it could stop.
WATCHER = r'''
import ctypes, json, os, signal, struct, sys
pid, event, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(0)
assert libc.inotify_add_watch(fd, b'/etc', event) >= 0
print('ready', flush=True)
seen = False
while not seen:
    data = os.read(fd, 65536)
    seen = name in data
    if seen:
        os.kill(pid, signal.SIGSTOP)
stopped, refused = [pid], []
for entry in os.listdir('/proc'):
    try:
        with open(f'/proc/{entry}/stat', 'rb') as file:
            parent = int(file.read().rsplit(b')', 1)[1].split()[1])
        if parent == pid:
            os.kill(int(entry), signal.SIGSTOP)
            stopped.append(int(entry))
    except PermissionError:
        refused.append(int(entry))
    except (OSError, ValueError):
        pass
print(json.dumps([stopped, refused]), flush=True)
'''
IN_CREATE, IN_OPEN = 0x100, 0x20


@contextlib.contextmanager
def watcher(pid, event, name):
    with subprocess.Popen([sys.executable, '-c', WATCHER, str(pid), str(event), name], stdout=subprocess.PIPE,
                          user=USER, group=USER, extra_groups=[], text=True) as process:
        tap.equal(process.stdout.readline(), 'ready\n')
        yield process
        process.kill()


def weaken(name, password):
    need(drive.set_password(name, drive.perl_crypt(password, '$6$rounds=1000$saltsalt$'), encrypted=True))


def lock_without_lock(name):
    """As an editor does that knows nothing of /etc/.pwd.lock."""
    before = read('/etc/shadow')
    after = before.replace(f'\n{name}:', f'\n{name}:!', 1)
    tap.check(after != before, before)
    write('/etc/edited', after)
    os.chown('/etc/edited', 0, 42)
    os.chmod('/etc/edited', 0o640)
    os.rename('/etc/edited', '/etc/shadow')


def what_fails(number):
    """Each program that takes the lock; it would wait for 15 seconds."""
    failed = []
    for argv, text in ((['useradd', '-M', f'new{number}'], ''), (['usermod', '-L', 'anna'], ''), (['usermod', '-U', 'anna'], ''),
                       (['chpasswd'], f'anna:the one number {number}\n')):
        since = time.monotonic()
        code, output = run(*argv, text=text, check=False)
        if code or time.monotonic() - since > 5:
            failed.append(f'{argv[0]}: {output.strip()}, {time.monotonic() - since:.1f} s')
            break
    if not failed and not common.verifies('anna', f'the one number {number}'):
        failed.append('chpasswd: nothing changed')
    return failed


@contextlib.contextmanager
def going_on(pids):
    """Again and again: su stops itself when its child was stopped."""
    end = threading.Event()

    def go_on():
        while not end.wait(0.05):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def stopped_at(tty, last_answer, event, name, number):
    """Types the last answer, has the program stopped, and tries what others do then."""
    with watcher(tty.pid, event, name) as watching:
        tty.secret(last_answer)
        stopped, refused = json.loads(watching.stdout.readline())
    print(f'# stopped {len(stopped)}, refused {len(refused)}')
    lock_without_lock('emil')
    failed = what_fails(number)
    with going_on(stopped):
        tty.wait()
    if not drive.hash_of('emil').startswith('!'):
        failed.append('what root wrote meanwhile is undone')
    if not failed and f'new{number}' not in [line.split(':')[0] for line in read('/etc/shadow').splitlines()]:
        failed.append('an account is lost')
    tap.equal(failed, [])


@tap.case('accounts')
def _():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name, password in ((USER, OLD), ('anna', 'anna has one'), ('emil', 'emil has one')):
        need(drive.add_user(name, password))
    with open('/etc/shadow', 'a', encoding='ascii') as shadow:
        for number in range(3000):
            shadow.write(f'other{number}:!:20000:0:99999:7:::\n')


MOMENTS = [('its new file is made', IN_CREATE, 'nshadow'), ('the lock is opened', IN_OPEN, '.pwd.lock'),
           ('shadow is opened', IN_OPEN, 'shadow')]


@tap.case('su that upgrades a hash, stopped when {}', MOMENTS)
def _(_, event, name):
    for number in range(ROUNDS):
        weaken(USER, OLD)
        with drive.Terminal(['nice', '-n', '19', 'su', USER, '-c', 'true'], user=USER) as tty:
            tty.expect(rb'Password: ')
            stopped_at(tty, OLD, event, name, f'{number}{event}{name[:1].strip(".")}')
            tap.equal(tty.status, 0)


@tap.case('passwd, stopped when {}', MOMENTS)
def _(_, event, name):
    for number in range(ROUNDS):
        need(drive.set_password(USER, OLD))
        with drive.Terminal(['nice', '-n', '19', 'passwd'], user=USER) as tty:
            for prompt, answer in ((rb'Current password: ', OLD), (rb'New password: ', NEW)):
                tty.expect(prompt)
                tty.secret(answer)
            tty.expect(rb'Retype new password: ')
            stopped_at(tty, NEW, event, name, f'p{number}{event}{name[:1].strip(".")}')
        tap.check(common.verifies(USER, NEW if tty.status == 0 else OLD), 'neither the old nor the new password')


@tap.case('after that: upgrades and changes go on, and nothing is left')
def _():
    weaken(USER, OLD)
    need(drive.su(USER, USER, OLD))
    tap.equal(common.method_of(USER), '$mhkdf$')
    need(drive.change_password(USER, OLD, NEW))
    tap.equal([name for name in os.listdir('/etc') if name in ('nshadow', 'edited')], [])


tap.main()
