#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Password history: pam_pwhistory in front of pam_mhkdf, by passwd as its user and as root."""

import contextlib
import itertools
import os
import re
import syslog
import time

import common
import drive
import tap
from common import method_of, need, read, run, store, write

OPASSWD = '/etc/security/opasswd'
CONF = '/etc/security/mhkdf.conf'
STACK = '/etc/pam.d/common-password'
ORIGINAL = read(STACK)
USED = 'already used'
numbers = itertools.count()
WORDS = [f'correct horse {number}' for number in range(12)]
A, B, C, D = WORDS[:4]


def with_history(options='remember=5'):
    """As the manual shows it: in front of pam_mhkdf."""
    write(STACK, re.sub(r'(?m)^(?=password.*pam_mhkdf\.so)', f'password requisite pam_pwhistory.so {options}\n', ORIGINAL, count=1))
    tap.contains(read(STACK), 'pam_pwhistory')


def configure(*lines):
    write(CONF, '\n'.join(['[default]', *lines, '']))


def remembered(name):
    """The hashes in opasswd."""
    line = re.search(rf'(?m)^{name}:\d+:(\d+):(.*)$', read(OPASSWD)) if os.path.exists(OPASSWD) else None
    hashes = line[2].split(',') if line else []
    tap.equal(len(hashes), int(line[1]) if line else 0, 'what opasswd says of their number')
    return [hashed for hashed in hashes if hashed != '!']       # which useradd left


def matches(password, hashed):
    return run('mhkdf', 'verify', hashed, text=password, check=False)[0] == 0


@contextlib.contextmanager
def logged():
    """The lines about history that are logged meanwhile."""
    start, found = len(log), []
    yield found
    mark = f'the end of number {next(numbers)}'
    syslog.syslog(mark)
    while not any(mark in line for line in log[start:]):        # datagrams keep their order
        time.sleep(0.002)
    found += [line for line in log[start:] if 'password history of' in line]


def refused(result):
    need(result, False)
    tap.contains(result.transcript, USED)


log_open = drive.syslog()
log = log_open.__enter__()
configure('memory = 1M')
with_history()


# ---- who changes: name, and how it is done from old to new -------------------------------------

def by_user(name, old, new):
    return drive.change_password(name, old, new)


def by_root(name, _old, new):
    return drive.change_password_as_root(name, new)


WAYS = (('the user', 'anna', by_user, 'remember=5'), ('root', 'berta', by_root, 'remember=5 enforce_for_root'))


@tap.case('from A to B and back to A: refused, by {}', WAYS)
def _(_who, name, change, options):
    with_history(options)
    need(drive.add_user(name, A))
    with logged() as warnings:
        need(change(name, A, B))
        tap.equal(method_of(name), '$mhkdf$')
        before = drive.hash_of(name)
        refused(change(name, B, A))
        tap.equal(drive.hash_of(name), before)
        need(change(name, B, C))
        refused(change(name, C, A))
        refused(change(name, C, B))
        need(change(name, C, D))
    tap.equal(warnings, [])


@tap.case('through the change-over from $y$ to $mhkdf$, by {}', WAYS)
def _(_who, name, change, options):
    name = 'y' + name
    with_history(options)
    configure('method = yescrypt')
    need(drive.add_user(name, A))
    need(change(name, A, B))
    tap.equal(method_of(name), '$y$')
    configure('memory = 1M', 'upgrade = no')
    refused(change(name, B, A))
    need(change(name, B, C))
    need(change(name, C, D))
    for old in (A, B, C):
        refused(change(name, D, old))
    hashes = remembered(name)
    tap.equal([re.match(r'\$\w+\$', h)[0] for h in hashes], ['$y$', '$y$', '$mhkdf$', '$mhkdf$'])
    tap.equal([matches(word, h) for word, h in zip((A, B, C, D), hashes)], [True] * 4)


@tap.case('remember= counts whole hashes, by {}', WAYS)
def _(_who, name, change, options):
    name = 'many' + name
    with_history(options)
    configure('method = yescrypt')
    need(drive.add_user(name, WORDS[0]))
    need(change(name, WORDS[0], WORDS[1]))
    configure('memory = 1M')
    for number in range(2, 8):
        need(change(name, WORDS[number - 1], WORDS[number]))
    hashes = remembered(name)
    tap.equal(len(hashes), 5)
    tap.equal([matches(word, h) for word, h in zip(WORDS[2:7], hashes)], [True] * 5)
    # The current one is remembered at the next attempt, for which the oldest makes room.
    for number in range(6, 2, -1):
        refused(change(name, WORDS[7], WORDS[number]))
    hashes = remembered(name)
    tap.equal(len(hashes), 5)
    tap.check(matches(WORDS[7], hashes[-1]))
    need(change(name, WORDS[7], WORDS[0]))


@tap.case('a password whose hash was replaced at a login is remembered')
def _():
    with_history()
    configure('memory = 1M')
    store('old', drive.perl_crypt(A, '$6$rounds=1000$saltsalt$'))
    drive.add_user('boris', 'boris has 1 too')
    need(drive.su('boris', 'old', A))
    tap.equal(method_of('old'), '$mhkdf$')
    need(drive.change_password('old', A, B))
    refused(drive.change_password('old', B, A))


@tap.case('the profile of doc/PAM.md')
def _():
    profile, enable = common.code_blocks('doc/PAM.md', 'With pam_pwhistory')
    write(STACK, ORIGINAL)
    write('/usr/share/pam-configs/pwhistory', profile)
    run('sh', '-euc', enable)
    stack = re.findall(r'(?m)^password\s.*(pam_\w+)\.so.*', read(STACK))
    tap.equal(stack[:3], ['pam_pwhistory', 'pam_mhkdf', 'pam_unix'])
    need(drive.add_user('emma', A))
    need(drive.change_password('emma', A, B))
    refused(drive.change_password('emma', B, A))
    need(drive.change_password('emma', B, 'short'), False)
    need(drive.change_password('emma', B, C))
    run('pam-auth-update', '--disable', 'pwhistory')
    tap.check('pwhistory' not in read(STACK))


# ---- where it can't work ------------------------------------------------------------------------

def change_quietly(name, new, libcrypt=None):
    """chpasswd, with another libcrypt if wanted; the warnings."""
    with logged() as warnings:
        run('env', *([f'LD_LIBRARY_PATH={libcrypt}'] if libcrypt else []), 'chpasswd', text=f'{name}:{new}\n')
    tap.check(matches(new, drive.hash_of(name)))
    return warnings


@tap.case('a hash with commas: one warning, and the change is made')
def _():
    with_history()
    configure('method = argon2id', 'memory = 1M')
    need(drive.add_user('comma', A))
    with logged() as warnings:
        need(drive.change_password('comma', A, B))
    tap.equal(method_of('comma'), '$argon2id$')
    tap.equal(len(warnings), 1)
    tap.contains(warnings[0], 'commas')
    tap.contains(warnings[0], 'history of comma')
    tap.contains(warnings[0], 'method = mhkdf')
    need(drive.change_password('comma', B, A))     # as the manual says


@tap.case('a libcrypt without $mhkdf$: one warning, and the change is made')
def _():
    with_history()
    configure('memory = 1M')
    os.makedirs('/tmp/plain', exist_ok=True)
    os.symlink(common.distribution_libcrypt(), '/tmp/plain/libcrypt.so.1')
    need(drive.add_user('plain', A))
    warnings = change_quietly('plain', B, libcrypt='/tmp/plain')
    tap.equal(method_of('plain'), '$mhkdf$')
    tap.equal(len(warnings), 1)
    tap.contains(warnings[0], 'libcrypt')
    tap.equal(change_quietly('plain', C), [])
    configure('method = yescrypt')
    tap.equal(change_quietly('plain', B, libcrypt='/tmp/plain'), [])


@tap.case('pam_unix behind pam_mhkdf remembers nothing: one warning')
def _():
    configure('memory = 1M')
    write(STACK, re.sub(r'(?m)^(password.*pam_unix\.so.*)$', r'\1 remember=5', ORIGINAL))
    need(drive.add_user('dora', A))
    with logged() as warnings:
        need(drive.change_password('dora', A, B))
    tap.equal(len(warnings), 1)
    tap.contains(warnings[0], 'remember= of pam_unix')
    tap.equal(remembered('dora'), [])
    need(drive.change_password('dora', B, A))


@tap.case('without a history nothing is said: {}', ('mhkdf', 'argon2id', 'yescrypt'))
def _(method):
    write(STACK, ORIGINAL)
    configure(f'method = {method}', *(['memory = 1M'] if method != 'yescrypt' else []))
    need(drive.add_user(f'no{method}', A))
    tap.equal(change_quietly(f'no{method}', B), [])


@tap.case('no password and no hash is in the log')
def _():
    tap.check(len(log) > 20, 'nothing was logged at all')
    for line in log:
        tap.check(not any(word in line for word in WORDS), f'in the log: {line}')
        tap.check(not re.search(r'\$(?:y|mhkdf|argon2id)\$[a-z]', line), f'in the log: {line}')


try:
    tap.main()
finally:
    log_open.__exit__(None, None, None)
