#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Setting and changing passwords with passwd and chpasswd, and how long a password may be."""

import re

import common
import drive
import tap
from common import WRONG, mhkdf_hash, method_of, need, read, run, store, verifies


def text(length):
    """A password of LENGTH bytes; not the same byte all over, so that a cut would be seen."""
    return ''.join(chr(ord('a') + (i * i + i // 26) % 26) for i in range(length))


def field(name, number):
    line = re.search(rf'^{name}:.*$', read('/etc/shadow'), re.M)[0]
    return line.split(':')[number]


log_open = drive.syslog()
log = log_open.__enter__()
common.cheap_hashes()
drive.add_user('boris', 'boris has 1 too')
sshd_open = drive.sshd()
sshd_open.__enter__()

# ---- lengths ---------------------------------------------------------------------------

LENGTHS = (1, 127, 128, 511)


@tap.case('chpasswd sets a password of {} bytes', LENGTHS)
def _(length):
    need(drive.add_user(f'by{length}', text(length)))
    tap.equal(method_of(f'by{length}'), '$mhkdf$')
    tap.check(verifies(f'by{length}', text(length)), 'the hash is of another password')
    tap.check(not verifies(f'by{length}', text(length)[:-1]), 'the last byte does not count')


@tap.case('an account may have the hash of an empty password')
def _():
    store('by0', mhkdf_hash(''))


attempts = common.Attempts()
for size in (0, *LENGTHS):
    user = f'by{size}'
    attempts.add(f'{size} bytes: su', True, drive.su, 'boris', user, text(size))
    attempts.add(f'{size} bytes: login', True, drive.login, user, text(size))
    if size:
        attempts.add(f'{size} bytes: ssh', True, drive.ssh, user, text(size))
        attempts.add(f'{size} bytes: ssh, keyboard-interactive', True, drive.ssh, user, text(size), 'keyboard-interactive')
        attempts.add(f'{size} bytes: su with the last byte missing', False, drive.su, 'boris', user, text(size)[:-1])
        attempts.add(f'{size} bytes: ssh with the last byte missing', False, drive.ssh, user, text(size)[:-1])
        attempts.add(f'{size} bytes: ssh with a byte more', False, drive.ssh, user, text(size) + 'x')
    attempts.add(f'{size} bytes: su with a wrong one', False, drive.su, 'boris', user, WRONG)


@tap.case('chpasswd refuses {} bytes and leaves the old password', (512, 513, 600, 1000))
def _(length):
    before = drive.hash_of('by128')
    need(drive.set_password('by128', text(length)), False)
    tap.equal(drive.hash_of('by128'), before)


@tap.case('passwd by root sets {} bytes', (1, 511))
def _(length):
    need(drive.change_password_as_root('by127', text(length)))
    tap.check(verifies('by127', text(length)), 'the hash is of another password')


@tap.case('passwd refuses {} bytes and leaves the old password', (512, 513, 1000))
def _(length):
    before = drive.hash_of('by128')
    need(drive.change_password_as_root('by128', text(length)), False)
    tap.equal(drive.hash_of('by128'), before)


# ---- passwd by the user and by root ------------------------------------------------------

FIRST, SECOND = 'correct horse 1', 'battery staple 2'


@tap.case('passwd by the user: old, then new; what is stored otherwise stays')
def _():
    need(drive.add_user('anna', FIRST))
    run('chage', '-d', '2020-01-02', '-M', '9999', '-W', '11', '-I', '12', 'anna')
    rest = [field('anna', number) for number in range(3, 9)]
    other = [line for line in read('/etc/shadow').splitlines() if not line.startswith('anna:')]
    need(drive.change_password('anna', FIRST, SECOND))
    tap.check(verifies('anna', SECOND), 'the hash is of another password')
    tap.equal([field('anna', number) for number in range(3, 9)], rest)
    tap.check(int(field('anna', 2)) > 20000, 'the day of the change')
    tap.equal([line for line in read('/etc/shadow').splitlines() if not line.startswith('anna:')], other)


@tap.case('passwd by the user: {}', (
    ('a wrong old password', WRONG, 'something new 3', None),
    ('an empty old password', '', 'something new 3', None),
    ('the new one is too short', SECOND, 'short', None),
    ('the new one is empty', SECOND, '', None),
    ('the new one is the old one', SECOND, SECOND, None),
    ('the new one is typed differently again', SECOND, 'something new 3', 'something new 4'),
    ('the new one has 512 bytes', SECOND, text(512), None)))
def _(_name, old, new, again):
    before = read('/etc/shadow')
    need(drive.change_password('anna', old, new, again), False)
    tap.equal(read('/etc/shadow'), before)


@tap.case('passwd by the user takes 511 bytes, and changes them back')
def _():
    need(drive.change_password('anna', SECOND, text(511)))
    need(drive.change_password('anna', text(511), SECOND))
    tap.check(verifies('anna', SECOND), 'the hash is of another password')


@tap.case('passwd by the user, too early')
def _():
    run('chage', '-m', '7', 'anna')
    need(drive.change_password('anna', SECOND, 'something new 3'), False)
    run('chage', '-m', '0', 'anna')
    tap.check(verifies('anna', SECOND), 'the password changed')


@tap.case('passwd by root: no old one is asked for, and a short one may be set')
def _():
    need(drive.change_password_as_root('anna', 'short'))
    tap.check(verifies('anna', 'short'), 'the hash is of another password')
    need(drive.change_password_as_root('anna', 'one', 'another'), False)
    tap.check(verifies('anna', 'short'), 'the password changed')


@tap.case('passwd by root unlocks an account, and passwd -l and -u lock and unlock it')
def _():
    store('locked', '!')
    need(drive.change_password_as_root('locked', FIRST))
    tap.check(verifies('locked', FIRST))
    run('passwd', '-l', 'locked')
    tap.check(drive.hash_of('locked').startswith('!$mhkdf$'))
    need(drive.su('boris', 'locked', FIRST), False)
    run('passwd', '-u', 'locked')
    need(drive.su('boris', 'locked', FIRST))


@tap.case('passwd by the user of a locked account')
def _():
    run('passwd', '-l', 'locked')
    before = read('/etc/shadow')
    need(drive.change_password('locked', FIRST, 'something new 3'), False)
    tap.equal(read('/etc/shadow'), before)


@tap.case('a {} account gets a $mhkdf$ hash when its owner changes the password', (
    ('$1$', '$1$saltsalt$'), ('$5$', '$5$rounds=1000$saltsalt$'), ('$6$', '$6$rounds=1000$saltsalt$'),
    ('$y$', '$y$j75$LdJMENpBABJJ3hIHjB1Bi.$')))
def _(name, prefix):
    user_name = 'old' + name.strip('$')
    store(user_name, drive.perl_crypt(FIRST, prefix))
    need(drive.change_password(user_name, WRONG, SECOND), False)
    tap.equal(method_of(user_name), name)
    need(drive.change_password(user_name, FIRST, SECOND))
    tap.equal(method_of(user_name), '$mhkdf$')
    need(drive.su('boris', user_name, SECOND))


@tap.case('passwd by the user of an account without a password asks for none')
def _():
    drive.add_user('blank')
    run('passwd', '-d', 'blank')
    need(drive.change_password('blank', None, SECOND))
    tap.check(verifies('blank', SECOND), 'the hash is of another password')


# ---- expired passwords -------------------------------------------------------------------


def expired_su(name, old, new):
    """su to a user whose password has expired: it has to be changed on the way in."""
    with drive.Terminal(['su', name, '-c', 'echo "[$(id -un)]"'], user='boris') as tty:
        tty.expect(rb'Password: ')
        tty.secret(old)
        found, _ = tty.expect(rb'(?i)current password: ', rb'su: [^\n]*\n')
        if found == 1:
            tty.wait()
            return tty.result(False, 0)
        tty.secret(old)
        for prompt in (rb'New password: ', rb'Retype new password: '):
            tty.expect(prompt)
            tty.secret(new)
        return drive.verdict(tty, 0, name, [rb'su: [^\n]*\n'])


@tap.case('an expired password has to be changed at the next su')
def _():
    need(drive.add_user('late', FIRST))
    run('chage', '-d', '0', 'late')
    need(expired_su('late', WRONG, SECOND), False)
    tap.equal(field('late', 2), '0')
    need(expired_su('late', FIRST, SECOND))
    tap.check(verifies('late', SECOND) and field('late', 2) != '0', 'the change is not stored')
    need(drive.su('boris', 'late', SECOND))
    need(drive.su('boris', 'late', FIRST), False)


# ---- configuration, and the log -----------------------------------------------------------


@tap.case('mhkdf.conf says what a new hash costs')
def _():
    common.write('/etc/security/mhkdf.conf', '[default]\nmemory = 2M\npasses = 2\nlanes = 3\nchain = 12\n')
    need(drive.set_password('anna', FIRST))
    tap.contains(drive.hash_of('anna'), '$mhkdf$m2M.t2.p3.c12$')


@tap.case('with an error in mhkdf.conf nothing is changed, and logins go on')
def _():
    common.write('/etc/security/mhkdf.conf', '[default]\nmemory = 2\n')
    before = read('/etc/shadow')
    need(drive.set_password('anna', SECOND), False)
    need(drive.change_password('anna', FIRST, SECOND), False)
    need(drive.change_password_as_root('anna', SECOND), False)
    tap.equal(read('/etc/shadow'), before)
    need(drive.su('boris', 'anna', FIRST))
    need(drive.su('boris', 'anna', SECOND), False)
    tap.check(any('mhkdf.conf' in line for line in log), 'the log does not say why')
    common.cheap_hashes()


@tap.case('no password and no hash is in the log')
def _():
    tap.check(len(log) > 20, 'nothing was logged at all')
    stored = [line.split(':')[1] for line in read('/etc/shadow').splitlines()]
    secrets = [FIRST, SECOND, WRONG, 'something new', *map(text, (127, 128, 511, 512)), *(s for s in stored if len(s) > 4)]
    for line in log:
        tap.check(not any(secret in line for secret in secrets), f'in the log: {line}')
        tap.check('$mhkdf$m' not in line, f'in the log: {line}')


try:
    tap.main()
finally:
    sshd_open.__exit__(None, None, None)
    log_open.__exit__(None, None, None)
