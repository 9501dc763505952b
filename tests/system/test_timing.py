#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a refusal does beside the hash, which is counted, not timed: the same for each kind of account.
And bench/timing, in a root as it wants one: it must find what is planted. Without that its figures
are a report, and decide nothing here."""

import contextlib
import ctypes
import os
import re

import common
import drive
import pamhost
import tap

SCRIPT = os.path.join(common.SOURCE, 'bench/timing')


IN_OPEN, IN_CLOSE_NOWRITE = 0x20, 0x10
libc = ctypes.CDLL(None, use_errno=True)


def count_openings(function):
    """How often it opens passwd and shadow: (passwd, shadow)."""
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    watched = [libc.inotify_add_watch(fd, path, IN_OPEN | IN_CLOSE_NOWRITE) for path in (b'/etc/passwd', b'/etc/shadow')]
    try:
        function()
        data = os.read(fd, 65536)       # one event: watch, mask, cookie, length of a name, here 0
        events = [tuple(memoryview(data[i:i + 8]).cast('I')) for i in range(0, len(data), 16)]
    finally:
        os.close(fd)
    return tuple(sum(1 for watch, mask in events if watch == one and mask & IN_OPEN) for one in watched)


@tap.case('pam_unix behind, or nothing: a refusal of each kind reads the accounts equally often')
def _():
    common.write('/etc/pam.d/alone', 'auth required pam_mhkdf.so\n')
    common.write('/etc/pam.d/stack', '@include common-auth\n')
    common.write('/etc/nsswitch.conf', 'passwd: files\nshadow: files\ngroup: files\n')
    for name in ('counted', 'counted-locked', 'counted-bad'):
        drive.add_user(name, 'the right password')
    common.run('usermod', '-L', 'counted-locked')
    common.run('usermod', '-p', drive.hash_of('counted-bad')[:-1] + '=', 'counted-bad')
    counts = {}
    for service in ('alone', 'stack'):
        for name in ('counted', 'counted-locked', 'counted-bad', 'counted-nobody'):
            def attempt(service=service, name=name):
                tap.check(pamhost.Attempt(service, name, b'a wrong password', delay=False).status != 0, name)
            counts[service, name] = count_openings(attempt)
    print(f'# {counts}')
    # A name that isn't there is looked for once more in passwd; shadow is opened, but then not read.
    for service in ('alone', 'stack'):
        passwd, shadow = counts[service, 'counted-nobody']
        tap.equal([counts[service, name] for name in ('counted', 'counted-locked', 'counted-bad')], [(passwd - 1, shadow)] * 3)


HELPER = '/sbin/unix_chkpwd'


@contextlib.contextmanager
def helper_is_counted():
    """pam_unix's helper says in a file that it ran; yields what reads and empties that."""
    real, runs = os.path.realpath(HELPER), '/run/helper-runs'
    os.rename(real, real + '.real')
    try:
        common.write(real, f'#!/bin/sh\necho "$*" >> {runs}\nexec {real}.real "$@"\n')
        os.chmod(real, 0o755)

        def take():
            with contextlib.suppress(FileNotFoundError):
                lines = common.read(runs).splitlines()
                os.unlink(runs)
                return lines
            return []

        yield take
    finally:
        os.rename(real + '.real', real)


KINDS = {'helped': None, 'helped-6': ('usermod', '-p', '$6$saltsalt$' + 'a' * 86), 'helped-locked': ('usermod', '-L'),
         'helped-nobody': None, 'helped-not': None}


@tap.case("pam_unix's helper runs equally often for each kind of account: never, or, where one has no line in shadow, twice")
def _():
    common.write('/etc/pam.d/stack', '@include common-auth\n')
    for name, change in KINDS.items():
        if name != 'helped-nobody':
            drive.add_user(name, 'the right password')
        if change:
            common.run(*change, name)
    with helper_is_counted() as take:
        def count():
            runs = {}
            for name in KINDS:
                tap.check(pamhost.Attempt('stack', name, b'a wrong password', delay=False).status != 0, name)
                runs[name] = take()
            return runs

        tap.equal(count(), {name: [] for name in KINDS})
        common.run('sed', '-i', '/^helped-not:/d', '/etc/shadow')
        tap.equal(count(), {name: ['helped-not nullok'] * 2 for name in KINDS})
        common.run('userdel', 'helped-not')


@tap.case('a planted leak is found')
def _():
    output = common.run(SCRIPT, '--attempts', '30', '--memory', '1M', '--plant', 'locked=200')
    print('# ' + output.replace('\n', '\n# '))
    row = re.search(r'(?m)^\| locked \| 30 \| ([0-9.]+) .*\*\*found\*\* \|$', output)
    tap.check(row and float(row[1]) > 200, output)
    tap.contains(output, 'A difference was found.')


tap.main()
