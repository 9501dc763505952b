#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shadow under fire: many writers, ours and shadow-utils', and logins that upgrade hashes, all at the
same time. Each writer has accounts of its own and knows what their lines must be in the end."""

import fcntl
import os
import random
import re
import subprocess
import threading
import time

import common
import drive
import tap
from common import need, write

CHANGES = int(os.environ.get('MHKDF_TEST_CHANGES', '2000'))
WRITERS, ACCOUNTS = 8, 4        # accounts of each writer at the start
WAYS = ('su', 'login', 'ssh', 'sudo')
OLD = '$5$rounds=1000$abcdefgh'  # a weak setting, for logins to upgrade
seed = random.SystemRandom().randrange(1 << 32)
print(f'# random seed {seed}')
common.cheap_hashes()
FIELDS = ('hash', 'last', 'min', 'max', 'warn', 'inactive', 'expire', 'flag')


def fields_of(name, text):
    found = re.search(rf'(?m)^{name}:(.*)$', text)
    return dict(zip(FIELDS, found[1].split(':'))) if found else None


def command(*argv, text='', env=None):
    done = subprocess.run(argv, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120,
                          env={'PATH': os.environ['PATH'], 'LC_ALL': 'C', **(env or {})})
    tap.check(done.returncode == 0, f'{argv}: status {done.returncode}: {done.stdout.decode(errors="replace")}')


class Account:
    """What a line of shadow must be; the password is None while nothing is known of the hash."""

    def __init__(self, name, password, text):
        self.name, self.password, self.locked = name, password, False
        self.known = fields_of(name, text)
        self.stored = False             # whether the hash was made by pam_mhkdf

    def check(self, text):
        now = fields_of(self.name, text)
        if now is None:
            return [f'{self.name}: the line is lost']
        wrong = [f'{self.name}: {field} is {now[field]!r}, not {self.known[field]!r}'
                 for field in FIELDS[1:] if now[field] != self.known[field]]
        field = now['hash']
        if field.startswith('!') != self.locked:
            wrong.append(f'{self.name}: locked is {not self.locked}')
        done = subprocess.run(['mhkdf', 'verify', field.lstrip('!')], input=self.password.encode(), check=False,
                              stderr=subprocess.DEVNULL)
        if done.returncode:
            wrong.append(f'{self.name}: the last password is lost')
        return wrong


class Writer(threading.Thread):
    def __init__(self, number, changes, names, text):
        super().__init__()
        self.number, self.left, self.failed, self.done = number, changes, None, {}
        self.chance = random.Random(f'{seed} {number}')
        self.accounts = [Account(name, f'{name} has 0', text) for name in names]
        self.new = 0

    def run(self):
        kinds = [self.chpasswd] * 5 + [self.chage] * 5 + [self.lock] * 3 + [self.vipw] * 3 + [self.passwd] * 2 + [self.newusers]
        try:
            while self.left > 0:
                kind = self.chance.choice(kinds)
                kind(self.chance.choice(self.accounts))
                self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1
                self.left -= 1
        except Exception as error:      # pylint: disable=broad-except
            self.failed = error

    def word(self, account):
        return f'{account.name} has {self.chance.randrange(1 << 30)}'

    def set(self, account, password):
        account.password, account.locked = password, False
        account.known['last'] = str(int(time.time() // 86400))

    def chpasswd(self, account):
        password = self.word(account)
        command('chpasswd', text=f'{account.name}:{password}\n')
        self.set(account, password)

    def passwd(self, account):
        """As root, or, where the account isn't locked, as the user."""
        password = self.word(account)
        if account.locked or account.name.startswith('new') or self.chance.random() < 0.5:
            need(drive.change_password_as_root(account.name, password))
        else:
            need(drive.change_password(account.name, account.password, password))
        self.set(account, password)

    def chage(self, account):
        option, field = self.chance.choice((('-M', 'max'), ('-W', 'warn'), ('-I', 'inactive')))
        value = str(self.chance.randrange(10000, 99999))
        command('chage', option, value, account.name)
        account.known[field] = value

    def lock(self, account):
        command('usermod', '-U' if account.locked else '-L', account.name)
        account.locked = not account.locked

    def vipw(self, account):
        value = str(self.chance.randrange(50000, 99999))
        command('vipw', '-s', '-q', env={'EDITOR': '/tmp/editor', 'EDIT_NAME': account.name, 'EDIT_VALUE': value})
        account.known['expire'] = value

    def newusers(self, _):
        name = f'new{self.number}x{self.new}'
        self.new += 1
        command('newusers', text=f'{name}:{name} has 0:::new:/nonexistent/{name}:/bin/sh\n')
        account = Account(name, f'{name} has 0', Watch.view())
        self.accounts.append(account)


class Login(threading.Thread):
    """Logs in again and again to an account whose hash is made weak again; changes nothing itself
    but that."""

    def __init__(self, way, name, text):
        super().__init__()
        self.way, self.name, self.stop, self.failed, self.count, self.upgraded, self.again = way, name, False, None, 0, 0, []
        self.account = Account(name, f'{name} has 0', text)
        self.weak = drive.perl_crypt(self.account.password, OLD)

    def login(self):
        if self.way == 'su':
            return drive.su('visitor', self.name, self.account.password)
        return getattr(drive, self.way)(self.name, self.account.password)

    def run(self):
        try:
            while not self.stop:
                command('chpasswd', '-e', text=f'{self.name}:{self.weak}\n')
                self.account.known['last'] = str(int(time.time() // 86400))
                result = self.login()
                if not result:          # pam_unix's account phase, too, may meet an emptied file (see Watch)
                    self.again.append(result.transcript)
                    need(self.login())
                now = fields_of(self.name, Watch.view())
                tap.equal({f: now[f] for f in FIELDS[1:]}, {f: self.account.known[f] for f in FIELDS[1:]}, f'{self.name} by {self.way}')
                self.upgraded += now['hash'] != self.weak
                self.count += 1
        except Exception as error:      # pylint: disable=broad-except
            self.failed = error


class Watch(threading.Thread):
    """Each view of shadow must be whole."""

    def __init__(self):
        super().__init__()
        self.names, self.wrong, self.seen, self.stop = set(re.findall(r'(?m)^[^:]+', self.view())), [], 0, False

    @staticmethod
    def view():
        """vipw makes the file that it replaces the backup, which the next writer empties; who has opened
        it just before sees that. So only a file that is still there counts."""
        while True:
            with open('/etc/shadow', encoding='utf-8') as file:
                text = file.read()
                if os.fstat(file.fileno()).st_ino == os.stat('/etc/shadow').st_ino:
                    return text

    def run(self):
        while not self.stop:
            text = self.view()
            self.seen += 1
            lines = text.splitlines()
            if not text.endswith('\n') or any(line.count(':') != 8 for line in lines) or \
                    not self.names <= {line.split(':')[0] for line in lines}:
                self.wrong.append(text)
            time.sleep(0.005)


everyone = []


@tap.case('accounts')
def _():
    write('/tmp/editor', '#!/bin/sh\nsed -i "s/^\\($EDIT_NAME:.*:\\)[^:]*:\\([^:]*\\)$/\\1$EDIT_VALUE:\\2/" "$1"\n'
          '# vipw takes it for unchanged if its time is the same second\ntouch -d "@$EDIT_VALUE" "$1"\n')
    os.chmod('/tmp/editor', 0o755)
    drive.add_user('visitor')
    for number in range(WRITERS):
        for k in range(ACCOUNTS):
            need(drive.add_user(f'w{number}x{k}', f'w{number}x{k} has 0'))
    for way in WAYS:
        need(drive.add_user(f'by{way}', f'by{way} has 0', ('sudo',) if way == 'sudo' else ()))


@tap.case(f'{CHANGES} changes by {WRITERS} writers, with logins beside')
def _():
    text = Watch.view()
    rest = [line for line in text.splitlines() if not re.match(r'(w\d+x|by|new\d+x)', line)]
    writers = [Writer(number, CHANGES // WRITERS, [f'w{number}x{k}' for k in range(ACCOUNTS)], text) for number in range(WRITERS)]
    logins = [Login(way, f'by{way}', text) for way in WAYS]
    watch = Watch()
    since = time.monotonic()
    with drive.sshd():
        for thread in (*writers, *logins, watch):
            thread.start()
        for thread in writers:
            thread.join()
        for thread in (*logins, watch):
            thread.stop = True
        for thread in (*logins, watch):
            thread.join()
    for thread in (*writers, *logins):
        if thread.failed:
            raise thread.failed
    done = {kind: sum(w.done.get(kind, 0) for w in writers) for kind in ('chpasswd', 'passwd', 'chage', 'lock', 'vipw', 'newusers')}
    print(f'# {time.monotonic() - since:.0f} s; {done}; logins: ' +
          ', '.join(f'{login.way} {login.count} ({login.upgraded} upgraded)' for login in logins) + f'; {watch.seen} views')
    again = [text for login in logins for text in login.again]
    tap.check(len(again) < 3, f'{len(again)} refused logins:\n{again}')
    tap.equal(watch.wrong, [], 'views that were not whole')
    tap.check(watch.seen > 100, f'only {watch.seen} views')
    tap.check(min(login.count for login in logins) > 0, 'no logins')
    after = Watch.view()
    tap.equal([line for line in after.splitlines() if not re.match(r'(w\d+x|by|new\d+x)', line)], rest, 'lines of others')
    everyone.extend(account for writer in writers for account in writer.accounts)
    everyone.extend(login.account for login in logins)
    tap.equal(sorted(re.findall(r'(?m)^(?:w\d+x|by|new\d+x)[^:]*', after)), sorted(account.name for account in everyone))


@tap.case('no line is lost, no field is changed that shouldn\'t be, each last password counts')
def _():
    text = Watch.view()
    tap.check(len(everyone) > WRITERS * ACCOUNTS, 'there are none')
    tap.equal([wrong for account in everyone for wrong in account.check(text)], [])


@tap.case('no lock and no file is left')
def _():
    known = {'shadow', 'shadow-', 'gshadow', 'gshadow-', '.pwd.lock'}
    tap.equal([name for name in os.listdir('/etc') if re.search(r'shadow|pwd|\.lock$', name) and name not in known], [])
    with open('/etc/.pwd.lock', 'r+b') as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


tap.main()
