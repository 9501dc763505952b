#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The walk of ./quickstart: a user's life with a $mhkdf$ password, in the throwaway root that this
runs in. Exit status 1 where a program did not do as it should."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arenad  # noqa: E402
import drive  # noqa: E402
import turns  # noqa: E402

FIRST, SECOND, OTHER = 'correct horse 1', 'battery staple 2', 'boris has 1 too'
WRONG = 'incorrect horse'


def hash_seconds(name, password):
    """The time that the user's hash takes, and a second opinion that it is this password's."""
    since = time.monotonic()
    done = subprocess.run(['mhkdf', 'verify', drive.hash_of(name)], input=password.encode(), check=False)
    if done.returncode:
        sys.exit(f'mhkdf verify: the stored hash of {name} is not of the password that was set')
    return time.monotonic() - since


def need(result, wanted, what):
    if bool(result) != wanted:
        print(f'{what}: should have been {"accepted" if wanted else "refused"}, but was not:', file=sys.stderr)
        print(result.transcript, file=sys.stderr)
        sys.exit(1)
    return result


def need_ours(name):
    if not drive.hash_of(name).startswith('$mhkdf$'):
        sys.exit(f'{name} got a hash of another method: {drive.hash_of(name)[:5]}...')


def shadow_line(name):
    with open('/etc/shadow', encoding='ascii') as shadow:
        return next(line.strip() for line in shadow if line.startswith(name + ':'))


def show(text=''):
    print(text, flush=True)


def passwords():
    show('1. useradd: two users, anna and boris, without passwords')
    drive.add_user('anna')
    drive.add_user('boris')
    show('2. chpasswd: root gives both a password')
    result = need(drive.set_password('anna', FIRST), True, 'chpasswd')
    need(drive.set_password('boris', OTHER), True, 'chpasswd')
    need_ours('anna')
    show(f'     {result.seconds:.2f} s for one of them; a hash alone takes about {hash_seconds("anna", FIRST):.2f} s')
    show('3. passwd: anna changes hers on a terminal')
    need(drive.change_password('anna', WRONG, SECOND), False, 'passwd with a wrong old password')
    result = need(drive.change_password('anna', FIRST, SECOND), True, 'passwd')
    need_ours('anna')
    show(f'     {result.seconds:.2f} s for the new one; a hash alone takes about {hash_seconds("anna", SECOND):.2f} s; '
         'with a wrong old password: refused')
    show('4. Her line in /etc/shadow is now')
    show(f'     {shadow_line("anna")}')


def logins():
    ways = [('su anna, by boris', lambda password: drive.su('boris', 'anna', password)),
            ('login', lambda password: drive.login('anna', password)),
            ('ssh, password', lambda password: drive.ssh('anna', password)),
            ('ssh, keyboard-interactive', lambda password: drive.ssh('anna', password, 'keyboard-interactive'))]
    show('5. anna logs in, on terminals and over a real sshd on a loopback port')
    show(f'     {"":26} {"right password":22} a hash     wrong password')
    with drive.sshd(), ThreadPoolExecutor() as pool:
        right = []
        for what, way in ways:
            result = need(way(SECOND), True, what)
            right.append((result.seconds, hash_seconds('anna', SECOND)))
        wrong = list(pool.map(lambda pair: pair[1](WRONG), ways))
    for (what, _), (seconds, hashing), refused in zip(ways, right, wrong):
        need(refused, False, f'{what} with a wrong password')
        show(f'     {what:26} let in after {seconds:.2f} s    {hashing:.2f} s     refused after {refused.seconds:.1f} s')
    show('     (After a wrong password these programs wait on purpose.)')


ARENA_CONF = '[default]\nmemory = 256M\narena = {}\n[arena]\nslots = 2\nslot_size = 256M\n'


def login_seconds(way, name, password, use):
    """A login whose hash takes its memory from the arena if USE is "try", and from the system if it is "off"."""
    with arenad.configured(ARENA_CONF.format(use)):
        return need(way(name, password), True, f'a login with arena = {use}').seconds


def arena():
    """Memory that is ready before the login comes."""
    show('6. mhkdf-arenad: memory that is ready before the login comes; anna has a hash of 256 MiB now')
    times = []
    with arenad.configured(ARENA_CONF.format('try')), drive.sshd(), arenad.running(2):
        need(drive.set_password('anna', FIRST), True, 'chpasswd')
        before = arenad.status()['leases']
        for what, way in ('login', drive.login), ('ssh', drive.ssh):
            times.append((what, turns.measure(lambda way=way: login_seconds(way, 'anna', FIRST, 'off'),
                                              lambda way=way: login_seconds(way, 'anna', FIRST, 'try'))))
        report = arenad.status()
        if report['leases'] - before < sum(len(with_it) for _, (_, with_it) in times) or report['fallbacks']:
            sys.exit(f'the arena was not used: {report}')
        show('     mhkdf arena status')
        for line in drive.run(['mhkdf', 'arena', 'status']).decode().splitlines():
            show(f'       {line}')
    show(f'     {"fastest of several":26} {"without the arena":22} {"with it":10} with it')
    for what, (without, with_it) in times:
        show(f'     {what:26} let in after {min(without):.3f} s   {min(with_it):.3f} s    '
             f'{turns.difference(without, with_it)} ({len(without)} logins each)')


def main():
    if os.getuid() or not os.path.exists('/run/throwaway-root'):
        sys.exit('walk.py: only for a throwaway root; ./quickstart makes one')
    show('In the throwaway root, which is gone when this ends')
    try:
        passwords()
        logins()
        arena()
    except drive.Unexpected as error:
        sys.exit(f'{error}')


main()
