#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that call crypt(3) without PAM, and a system whose libcrypt is the distribution's again:
nobody is locked out, root least of all."""

import glob
import os
import tempfile

import common
import drive
import tap
from common import KEPT, WRONG, method_of, mhkdf_hash, need, right_and_wrong, run, store, swap_libcrypt

FIRST, SECOND = 'correct horse 1', 'battery staple 2'
LIBRARY = os.path.realpath(glob.glob('/lib/*-linux-gnu/libcrypt.so.1')[0])
ASIDE = '/usr/lib/mhkdf/ours'       # in LIBRARY's folder ldconfig might choose it

log_open = drive.syslog()
log = log_open.__enter__()


def distribution_back():
    """As an update does it that knows nothing of us: the file is replaced."""
    run('cp', '-p', KEPT, ASIDE + '-new')
    os.rename(LIBRARY, ASIDE)
    os.rename(ASIDE + '-new', LIBRARY)
    run('ldconfig')


def ours_back():
    os.rename(ASIDE, LIBRARY)
    run('ldconfig')


@tap.case('accounts')
def _():
    need(drive.add_user('anna', FIRST, ['sudo']))
    drive.add_user('boris', 'boris has 1 too')
    store('old', drive.perl_crypt(FIRST, '$6$rounds=1000$saltsalt$'))


# ---- with the grafted libcrypt -----------------------------------------------------------


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
        for broken in (stored.replace('p=4', 'p=04'), stored[:-1], stored.replace('m=', 'm =')):
            tap.check((drive.perl_crypt(FIRST, broken) or '*0').startswith('*'), broken)


# ---- an update replaced libcrypt.so.1 -----------------------------------------------------


@tap.case("removing our libcrypt is refused while it is root's hash that needs it")
def _():
    set_by('chpasswd', 'root', FIRST)
    before = run('md5sum', LIBRARY)
    status, output = swap_libcrypt('remove', check=False)
    tap.equal(status, 1, output)
    tap.contains(output, 'root')
    tap.check('anna' not in output, 'pam_mhkdf verifies her')
    tap.check('$mhkdf$v' not in output, 'hashes are nobody\'s business')
    tap.equal(run('md5sum', LIBRARY), before)


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
    tap.check(any('libcrypt' in line for line in log), log)
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



@tap.case('a second installation changes nothing')
def _():
    swap_libcrypt('install', LIBRARY)
    need(drive.sulogin(FIRST))
    right_and_wrong('boris', {'anna': FIRST, 'old': FIRST})


@tap.case('an update of the package libcrypt1 goes to the file kept aside')
def _():
    architecture = run('dpkg', '--print-architecture').strip()
    version = run('dpkg-query', '-W', '-f', '${Version}', f'libcrypt1:{architecture}')
    packaged = next(line for line in run('dpkg', '-L', f'libcrypt1:{architecture}').splitlines() if '/libcrypt.so.1.' in line)
    ours = run('md5sum', LIBRARY)
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(f'{work}/DEBIAN')
        os.makedirs(work + os.path.dirname(packaged))
        common.write(f'{work}/DEBIAN/control', f'Package: libcrypt1\nVersion: {version}.1\nArchitecture: {architecture}\n'
                     'Multi-Arch: same\nMaintainer: nobody <nobody@localhost>\nDescription: an update\n')
        run('cp', '-p', KEPT, work + packaged)
        os.symlink(os.path.basename(packaged), work + os.path.dirname(packaged) + '/libcrypt.so.1')
        with open(work + packaged, 'ab') as file:
            file.write(b'updated')
        run('dpkg-deb', '-b', work, f'{work}.deb')
    run('dpkg', '-i', f'{work}.deb')
    run('ldconfig')
    tap.equal(run('md5sum', LIBRARY), ours)
    with open(KEPT, 'rb') as file:
        tap.check(file.read().endswith(b'updated'), 'the file aside is the old one')
    need(drive.sulogin(FIRST))
    right_and_wrong('boris', {'anna': FIRST, 'old': FIRST})


@tap.case("and removing ours puts the update in place, once root's password is of another method")
def _():
    need(drive.set_password('root', drive.perl_crypt(SECOND, '$y$j75$LdJMENpBABJJ3hIHjB1Bi.$'), encrypted=True))
    swap_libcrypt('remove')
    with open(LIBRARY, 'rb') as file:
        tap.check(file.read().endswith(b'updated'), 'the file in place is the old one')
    tap.equal(run('dpkg-divert', '--list', '*libcrypt*'), '')
    need(drive.sulogin(SECOND))
    check_logins()


@tap.case('a second removal has nothing to do; status says what is in place')
def _():
    tap.contains(swap_libcrypt('remove'), 'already')
    output = swap_libcrypt('status')
    tap.contains(output, "the distribution's is in place")
    tap.contains(output, 'anna')
    tap.check('$mhkdf$v' not in output and 'old' not in output, output)


@tap.case('swap-libcrypt refuses {}', (
    ("the distribution's own library", LIBRARY), ('a library of another name', '/bin/true'), ('nothing', '/nonexistent')))
def _(_name, library):
    before = run('md5sum', LIBRARY)
    status, output = swap_libcrypt('install', library, check=False)
    tap.equal(status, 1, output)
    tap.equal(run('md5sum', LIBRARY), before)
    tap.equal(run('dpkg-divert', '--list', '*libcrypt*'), '')
    need(drive.sulogin(SECOND))


@tap.case('no hash is in the log')
def _():
    for line in log:
        tap.check(not any(text in line for text in ('$mhkdf$v', '$y$', FIRST, SECOND, WRONG)), line)


try:
    tap.main()
finally:
    log_open.__exit__(None, None, None)
