#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""/etc/shadow is whole at any moment: programs that change passwords are killed, and run beside those
of shadow-utils that change the same files. What is killed when is chance; what must hold isn't."""

import os
import random
import re
import signal
import subprocess
import threading
import time

import common
import drive
import tap
from common import need, read, run, verifies

KILLS = 140             # of chpasswd; half as many of passwd
LOGIN_KILLS = 60
ROUNDS = 25             # of each program that runs beside others
common.cheap_hashes()
chance = random.Random()


@tap.case('accounts')
def _():
    for name in ('anna', 'boris', 'carla', 'dora', 'emil'):
        need(drive.add_user(name, 'the password 0'))


def lines():
    return dict(line.split(':', 1) for line in read('/etc/shadow').splitlines())


class Watch:
    """Reads /etc/shadow all the time; what it sees must be whole."""

    def __init__(self):
        self.expected, self.wrong, self.seen, self.stop = set(lines()), [], 0, False
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.stop:
            with open('/etc/shadow', encoding='utf-8') as file:
                text = file.read()
            self.seen += 1
            time.sleep(0.002)
            if not text.endswith('\n') or not self.expected <= {line.split(':')[0] for line in text.splitlines()} or \
                    any(line.count(':') != 8 for line in text.splitlines()):
                self.wrong.append(text)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        self.thread.join()

    def check(self):
        tap.check(not self.wrong, f'{len(self.wrong)} of {self.seen} views were not whole')
        tap.check(self.seen > 100, f'only {self.seen} views')


def wait_for_child(program):
    """What a user's program has begun to write, a child of it finishes."""
    end = time.monotonic() + 30
    while run('pgrep', '-x', program, check=False)[0] == 0:
        tap.check(time.monotonic() < end, f'{program} is still there')
        time.sleep(0.005)


def check_after_kill(before, old, new, name):
    """Others' lines are untouched, and NAME has the old password or the new one."""
    after = lines()
    tap.equal({n: rest for n, rest in after.items() if n != name}, {n: rest for n, rest in before.items() if n != name})
    if after[name] == before[name]:
        return old
    tap.check(verifies(name, new), 'neither the old password nor the new one')
    return new


def time_of(function):
    since = time.monotonic()
    function()
    return time.monotonic() - since


@tap.case(f'chpasswd is killed at {KILLS} moments')
def _():
    password, killed, changed = 'the password 0', 0, 0
    span = max(time_of(lambda: need(drive.set_password('anna', password))) for _ in range(5))
    mode = os.stat('/etc/shadow')
    with Watch() as watch:
        for number in range(KILLS):
            before, new = lines(), f'killed {number}'
            with subprocess.Popen(['chpasswd'], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                process.stdin.write(f'anna:{new}\n'.encode())
                process.stdin.close()
                time.sleep(chance.uniform(0, span))
                process.kill()
            killed += process.returncode == -signal.SIGKILL
            now = check_after_kill(before, password, new, 'anna')
            changed += now == new
            tap.check(process.returncode != 0 or now == new, 'it said that it had changed it')
            password = now
    watch.check()
    print(f'# {killed} of {KILLS} killed, {changed} changes stored')
    after = os.stat('/etc/shadow')
    tap.equal((after.st_mode, after.st_uid, after.st_gid), (mode.st_mode, mode.st_uid, mode.st_gid))


@tap.case(f'passwd is killed at {KILLS // 2} moments after the last key')
def _():
    password, killed, changed = 'the password 0', 0, 0
    need(drive.set_password('boris', password))
    span = drive.change_password('boris', password, 'the password 1').seconds
    password = 'the password 1'
    with Watch() as watch:
        for number in range(KILLS // 2):
            before, new = lines(), f'killed {number}'
            with drive.Terminal(['passwd'], user='boris') as tty:
                for prompt, answer in ((rb'Current password: ', password), (rb'New password: ', new),
                                       (rb'Retype new password: ', new)):
                    tty.expect(prompt)
                    tty.secret(answer)
                time.sleep(chance.uniform(0, span))
                os.kill(tty.pid, signal.SIGKILL)
                killed += tty.wait() == -signal.SIGKILL
            wait_for_child('passwd')
            now = check_after_kill(before, password, new, 'boris')
            changed += now == new
            password = now
    watch.check()
    print(f'# {killed} of {KILLS // 2} killed, {changed} changes stored')


@tap.case(f'a login that upgrades the hash is killed at {LOGIN_KILLS} moments')
def _():
    password, killed, upgraded = 'the password 0', 0, 0
    weak = drive.perl_crypt(password, '$5$rounds=1000$abcdefgh')
    need(drive.set_password('emil', weak, encrypted=True))
    span = drive.su('boris', 'emil', password).seconds
    with Watch() as watch:
        for _ in range(LOGIN_KILLS):
            need(drive.set_password('emil', weak, encrypted=True))
            before = lines()
            with drive.Terminal(['su', 'emil', '-c', 'true'], user='boris') as tty:
                tty.expect(rb'Password: ')
                tty.secret(password)
                time.sleep(chance.uniform(0, span))
                os.kill(tty.pid, signal.SIGKILL)
                killed += tty.wait() == -signal.SIGKILL
            wait_for_child('su')
            after = lines()
            tap.equal({n: rest for n, rest in after.items() if n != 'emil'}, {n: rest for n, rest in before.items() if n != 'emil'})
            tap.equal(after['emil'].split(':')[1:], before['emil'].split(':')[1:], 'fields beside the hash')
            if after['emil'] != before['emil']:
                upgraded += 1
                tap.check(verifies('emil', password), 'the hash is neither the old one nor one of the password')
    watch.check()
    print(f'# {killed} of {LOGIN_KILLS} killed, {upgraded} upgrades stored')


@tap.case('after that, passwords can be changed, and nothing is left behind')
def _():
    need(drive.set_password('anna', 'the password 2'))
    tap.check(verifies('anna', 'the password 2'))
    left = [name for name in os.listdir('/etc') if re.search(r'shadow|pwd', name)]
    known = {'shadow', 'shadow-', 'gshadow', 'gshadow-', '.pwd.lock', 'subuid', 'subgid'}
    tap.equal(sorted(set(left) - known), [])


@tap.case('programs that change the same files at the same time lose nothing of each other')
def _():
    failed, jobs = [], []

    def repeat(work):
        def loop():
            for number in range(ROUNDS):
                if not work(number):
                    failed.append((work.__name__, number))
        jobs.append(threading.Thread(target=loop))

    def status(*argv, text=''):
        code, output = run(*argv, text=text, check=False)
        if code:
            print(f'# {argv[0]}: {output.strip()}')
        return code == 0

    # shadow-utils wait 15 s for the lock, pam_mhkdf too; none of these may fail.
    @repeat
    def chpasswd(number):
        return bool(drive.set_password('anna', f'anna has {number}'))

    @repeat
    def passwd(number):
        return bool(drive.change_password('boris', f'boris has {number - 1}', f'boris has {number}'))

    need(drive.set_password('boris', 'boris has -1'))

    @repeat
    def as_root(number):
        return bool(drive.change_password_as_root('carla', f'carla has {number}'))

    @repeat
    def useradd(number):
        return status('useradd', '-M', f'new{number}')

    @repeat
    def usermod(number):
        return status('usermod', '-e', f'2099-01-{number % 28 + 1:02}', 'dora')

    @repeat
    def chage(number):
        return status('chage', '-M', str(1000 + number), 'emil')

    others = {name: rest for name, rest in lines().items() if name not in ('anna', 'boris', 'carla', 'dora', 'emil')}
    with Watch() as watch:
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
    watch.check()
    tap.equal(failed, [])
    after, last = lines(), ROUNDS - 1
    for name in ('anna', 'boris', 'carla'):
        tap.check(verifies(name, f'{name} has {last}'), f'{name}: the last password is lost')
    tap.equal([name for name in (f'new{number}' for number in range(ROUNDS)) if name not in after], [], 'lost accounts')
    tap.equal(after['emil'].split(':')[3], str(1000 + last), 'lost change by chage')
    tap.check(after['dora'].split(':')[6] not in ('', '0'), 'lost change by usermod')
    tap.equal({name: rest for name, rest in after.items() if name in others}, others, 'changed lines of others')


tap.main()
