#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Who is let in by the real login programs, and who isn't; and what the log says of it."""

import common
import drive
import tap
from common import WRONG, mhkdf_hash, need, run, store

PASSWORD = 'correct horse 1'
OLD = 'the old way'
METHODS = {         # prefix for perl's crypt; names of users
    'md5': '$1$saltsalt$', 'sha256': '$5$rounds=1000$saltsalt$', 'sha512': '$6$rounds=1000$saltsalt$',
    'yescrypt': '$y$j75$LdJMENpBABJJ3hIHjB1Bi.$',
}
ARGON2 = ('argon2id', 'argon2i', 'argon2d')
secrets = {PASSWORD, OLD, WRONG, PASSWORD[:-1], PASSWORD + 'x'}


@tap.case('accounts: by useradd and chpasswd, with old hashes, locked, broken')
def _():
    drive.add_user('boris', 'boris has 1 too')
    secrets.add('boris has 1 too')
    need(drive.add_user('anna', PASSWORD, ['sudo']))
    tap.equal(common.method_of('anna'), '$mhkdf$')
    for name, prefix in METHODS.items():
        store(name, drive.perl_crypt(OLD, prefix))
    for name in ARGON2:
        store(name, mhkdf_hash(OLD, '--method', name))
    good = mhkdf_hash(PASSWORD)
    for name, field in (('bang', '!'), ('star', '*'), ('lockedours', '!' + good), ('cut', good[:-1]),
                        ('long', good + 'A'), ('version', good.replace('$m1M', '$v=1$m1M')), ('cross', 'x')):
        store(name, field)
    drive.add_user('blank')
    run('passwd', '-d', 'blank')
    need(drive.add_user('ended', PASSWORD))
    run('chage', '-E', '2001-01-01', 'ended')
    with open('/etc/shadow', encoding='ascii') as shadow:
        secrets.update(field for field in (line.split(':')[1] for line in shadow) if len(field) > 4)


log_open = drive.syslog()
log = log_open.__enter__()
sshd_open = drive.sshd()
ways = {
    'su': lambda name, password: drive.su('boris', name, password),
    'login': drive.login,
    'ssh, password': drive.ssh,
    'ssh, keyboard-interactive': lambda name, password: drive.ssh(name, password, 'keyboard-interactive'),
}


@tap.case('sshd starts')
def _():
    sshd_open.__enter__()


attempts = common.Attempts()
for what, way in ways.items():
    attempts.add(f'{what}: the right password', True, way, 'anna', PASSWORD)
    attempts.add(f'{what}: a wrong one', False, way, 'anna', WRONG)
    attempts.add(f'{what}: one byte less', False, way, 'anna', PASSWORD[:-1])
    attempts.add(f'{what}: one byte more', False, way, 'anna', PASSWORD + 'x')
    attempts.add(f'{what}: an account that is over', False, way, 'ended', PASSWORD)
    attempts.add(f'{what}: a locked account', False, way, 'lockedours', PASSWORD)
    if what != 'su':        # which says so before it asks
        attempts.add(f'{what}: no such user', False, way, 'nobody-here', PASSWORD)
    if 'ssh' not in what:   # whose client takes an empty answer as the end
        attempts.add(f'{what}: an empty password', False, way, 'anna', '')
    else:                   # test_unix.py has the others, which don't ask
        attempts.add(f'{what}: a password for an account without one', False, way, 'blank', WRONG)
attempts.add('sudo: the right password', True, drive.sudo, 'anna', PASSWORD)
attempts.add('sudo: a wrong one', False, drive.sudo, 'anna', WRONG)
attempts.add('ssh: without a password, by rule of sshd', False, drive.ssh, 'blank', ' ')
for user in (*METHODS, *ARGON2):
    attempts.add(f'{user}: the right password', True, drive.su, 'boris', user, OLD)
    attempts.add(f'{user}: a wrong one', False, drive.su, 'boris', user, WRONG)
    attempts.add(f'{user}: by ssh', True, drive.ssh, user, OLD)
for user in ('bang', 'star', 'lockedours', 'cut', 'long', 'version', 'cross'):
    for text in (PASSWORD, '', '!', '*'):
        attempts.add(f'{user}: refused with {"the password" if text == PASSWORD else repr(text)}', False,
                     drive.su, 'boris', user, text)


@tap.case('old hashes have been replaced by those who logged in, with the same passwords')
def _():
    for name in (*METHODS, *ARGON2):
        tap.equal(common.method_of(name), '$mhkdf$')
        tap.check(common.verifies(name, OLD), f'another password than that of {name}')
    tap.equal(common.method_of('version'), '$mhkdf$')


@tap.case('failures are logged as pam_unix does, with the name of the user')
def _():
    tap.check(any('pam_mhkdf(su:auth): authentication failure;' in line and 'user=anna' in line for line in log), log)


@tap.case('no password and no hash is in the log')
def _():
    tap.check(len(log) > 20, 'nothing was logged at all')
    for secret in secrets:
        for line in log:
            tap.check(secret not in line, f'in the log: {line}')


try:
    tap.main()
finally:
    sshd_open.__exit__(None, None, None)
    log_open.__exit__(None, None, None)
