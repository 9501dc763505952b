#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that call crypt(3) without PAM, and a system whose libcrypt is the distribution's again:
nobody is locked out, root least of all."""

import os
import re
import subprocess
import time

import common
import drive
import tap
from common import FRONT_LINE, WRONG, method_of, mhkdf_hash, need, right_and_wrong, run, store

FIRST, SECOND = 'correct horse 1', 'battery staple 2'
AWAY = '/root/line'

log_open = drive.syslog()
log = log_open.__enter__()


def distribution_back():
    """As somebody does it who knows nothing of mhkdf-libcrypt."""
    os.rename(FRONT_LINE, AWAY)
    run('ldconfig')


def ours_back():
    os.rename(AWAY, FRONT_LINE)
    run('ldconfig')


def need_logged(text):
    """What a program logged may arrive after it has ended."""
    end = time.monotonic() + 10
    while not any(text in line for line in log):
        tap.check(time.monotonic() < end, log)
        time.sleep(0.05)


@tap.case('accounts')
def _():
    need(drive.add_user('anna', FIRST, ['sudo']))
    drive.add_user('boris', 'boris has 1 too')
    # Of 16M, so that no login replaces it by one of ours of less.
    store('old', drive.perl_crypt(FIRST, '$y$j9T$LdJMENpBABJJ3hIHjB1Bi.$'))


# ---- with our libcrypt in front -----------------------------------------------------------


@tap.case('sulogin: a $mhkdf$ password of root, set by {}', ('chpasswd', 'passwd'))
def _(program):
    set_by(program, 'root', FIRST)
    tap.equal(method_of('root'), '$mhkdf$')
    need(drive.sulogin(FIRST))
    need(drive.sulogin(WRONG), False)
    need(drive.sulogin(''), False)
    need(drive.sulogin(FIRST[:-1]), False)
    before = drive.hash_of('root')
    need(drive.sulogin(FIRST, ['-e']))
    tap.equal(drive.hash_of('root'), before)


def set_by(program, name, password):
    if program == 'chpasswd':
        need(drive.set_password(name, password))
    else:
        need(drive.change_password_as_root(name, password))


@tap.case('sulogin: {} of root', ('$argon2id$', '$argon2i$', '$argon2d$'))
def _(method):
    need(drive.set_password('root', mhkdf_hash(FIRST, '--method', method.strip('$')), encrypted=True))
    need(drive.sulogin(FIRST))
    need(drive.sulogin(WRONG), False)


@tap.case('perl: crypt() computes $mhkdf$ and $argon2*$, and fails as it should')
def _():
    for method in ('mhkdf', 'argon2id', 'argon2i', 'argon2d'):
        stored = mhkdf_hash(FIRST, '--method', method)
        tap.equal(drive.perl_crypt(FIRST, stored), stored)
        tap.check(drive.perl_crypt(WRONG, stored) != stored)
        # Without two characters; without one it may be a shorter tag's string.
        for broken in (re.sub(r'(p=?)4', r'\g<1>04', stored, count=1), stored[:-2], re.sub(r'(p=?)4', r'\1 4', stored, count=1)):
            tap.check((drive.perl_crypt(FIRST, broken) or '*0').startswith('*'), broken)


# ---- the line is gone -----------------------------------------------------


@tap.case('a program that runs since before gives root $y$, and the log says why')
def _():
    del log[:]
    before = drive.hash_of('anna')
    with subprocess.Popen(['chpasswd'], stdin=subprocess.PIPE, text=True) as program:
        print(f'anna:{FIRST}', file=program.stdin, flush=True)
        end = time.monotonic() + 60
        while drive.hash_of('anna') == before and time.monotonic() < end:
            time.sleep(0.05)
        distribution_back()
        try:
            program.communicate(f'root:{SECOND}\n')
        finally:
            ours_back()
    tap.equal(program.returncode, 0)
    tap.equal(method_of('anna'), '$mhkdf$')
    tap.equal(method_of('root'), '$y$')
    need_logged('this process has loaded')


@tap.case("the distribution's libcrypt is back")
def _():
    distribution_back()
    stored = mhkdf_hash(FIRST)
    tap.check(drive.perl_crypt(FIRST, stored) != stored, 'it is not')


def check_logins():
    right_and_wrong('boris', {'anna': FIRST, 'old': FIRST})
    for way in (drive.login, drive.sudo):
        need(way('anna', FIRST))
        need(way('anna', WRONG), False)
    with drive.sshd():
        need(drive.ssh('anna', FIRST))
        need(drive.ssh('anna', WRONG), False)
        need(drive.ssh('anna', FIRST, 'keyboard-interactive'))


@tap.case('users are let in by pam_mhkdf all the same, with the right password alone')
def _():
    check_logins()


@tap.case('users get $mhkdf$ hashes all the same')
def _():
    need(drive.change_password('anna', FIRST, SECOND))
    tap.equal(method_of('anna'), '$mhkdf$')
    need(drive.change_password('anna', SECOND, FIRST))


@tap.case('root gets $y$ from {}, the log says why, and sulogin lets root in', ('chpasswd', 'passwd'))
def _(program):
    del log[:]
    set_by(program, 'root', SECOND)
    tap.equal(method_of('root'), '$y$')
    need_logged('libcrypt')
    need(drive.sulogin(SECOND))
    need(drive.sulogin(WRONG), False)
    need(drive.su('boris', 'root', SECOND))
    need(drive.su('boris', 'root', WRONG), False)


@tap.case('so does another name of user id 0')
def _():
    run('useradd', '-o', '-u', '0', '-g', '0', '-M', '-d', '/root', '-s', '/bin/sh', 'toor')
    set_by('chpasswd', 'toor', FIRST)
    tap.equal(method_of('toor'), '$y$')
    run('sed', '-i', '/^toor:/d', '/etc/passwd', '/etc/shadow')


@tap.case('with our libcrypt in place again the $y$ password of root still works')
def _():
    ours_back()
    need(drive.sulogin(SECOND))
    need(drive.sulogin(WRONG), False)
    set_by('passwd', 'root', FIRST)
    tap.equal(method_of('root'), '$mhkdf$')
    need(drive.sulogin(FIRST))


@tap.case('no hash is in the log')
def _():
    for line in log:
        tap.check(not any(text in line for text in ('$mhkdf$m', '$y$', FIRST, SECOND, WRONG)), line)


try:
    tap.main()
finally:
    log_open.__exit__(None, None, None)
