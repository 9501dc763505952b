#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Odd shadow files: logins work, a change changes its one line and nothing else, or nothing at all.
And programs with timers and children of their own, which a change waits in."""

import fcntl
import json
import os
import re
import subprocess
import threading
import time

import common
import drive
import tap
from common import need, read, run, write

SHADOW = '/etc/shadow'
HOST = os.path.join(common.SOURCE, 'tests/system/host.py')
FIRST, SECOND = 'the first one of anna', 'the second one of anna'
common.cheap_hashes()
need(drive.add_user('anna', FIRST))
need(drive.add_user('boris', 'boris has one'))
write('/etc/pam.d/changer', 'auth required pam_mhkdf.so\npassword required pam_mhkdf.so\n')
ORIGINAL = read(SHADOW)


def line_of(name, text):
    return re.search(rf'(?m)^{name}:.*$', text)[0]


OTHER_ANNA = 'anna:!another:1:0:99999:7:::'
ODD = [
    ('comments, empty lines and colons', lambda text: '# a comment\n\n::::::::\n' + text + '#end:of:it\n'),
    ('NIS lines', lambda text: '+anna:x:1:0:99999:7:::\n-anna::::::::\n-@group\n' + text + '+::::::::\n'),
    ('a line of 100 KB', lambda text: f'long:{"x" * 100000}:1:0:99999:7:::\n' + text),
    ('a comment of 100 KB', lambda text: '#' + 'x' * 100000 + '\n' + text),
    ('no newline at the end', lambda text: text.rstrip('\n')),
    ('no newline behind the account itself', lambda text: text.replace(line_of('anna', text) + '\n', '') + line_of('anna', text)),
    ('the account a second time', lambda text: text + OTHER_ANNA + '\n'),
    ('the account twice before, malformed', lambda text: 'anna:x:1\nanna:x:a:b:c:d:::\n' + text),
    ('!! and other odd fields', lambda text: 'x1:!!:1:0:99999:7:::\nx2:*LK*:::::::\nx3:!::::::\nx4:NP::::::0:0\n' + text),
    ('blanks and other bytes', lambda text: 'anna :x:1::::::\nanna:x:-1::::::\n\tb:x\r\n\x01\x7f\n' + text),
    ('the account in the old form', lambda text: text.replace(line_of('anna', text), ':'.join(line_of('anna', text).split(':')[:5]))),
    ('the account behind blanks, with signs', lambda text: text.replace(line_of('anna', text), f' \t{line_of("anna", text)}').replace(
        ':0:99999:7:', ':+0: 99999:7:')),
]


def restore(text=ORIGINAL):
    """As it was, in a new file."""
    if os.path.islink(SHADOW):
        os.unlink(SHADOW)
    write(SHADOW + '.new', text)
    os.chown(SHADOW + '.new', 0, 42)
    os.chmod(SHADOW + '.new', 0o640)
    os.rename(SHADOW + '.new', SHADOW)


def expected(before, after, name='anna'):
    """BEFORE with the new hash and day of the account's line, which may be taken from AFTER."""
    number = r'[ +]?\d*'
    old = next(line for line in before.split('\n')
               if re.fullmatch(rf'\s*{name}:[^:]*:\d+:{number}:{number}(:{number}:{number}:{number}:{number})?', line))
    new = next(line for line in after.split('\n') if line.lstrip().startswith(f'{name}:$mhkdf$'))
    fields = old.split(':')
    fields[1:3] = new.split(':')[1], str(int(time.time() // 86400))
    return before.replace(old, ':'.join(fields), 1)


def login_and_change():
    before = read(SHADOW)
    need(drive.su('boris', 'anna', FIRST))
    need(drive.change_password('anna', FIRST, SECOND))
    tap.equal(read(SHADOW), expected(before, read(SHADOW)))
    need(drive.su('boris', 'anna', SECOND))


def refuses_to_change(log, why):
    before = read(SHADOW)
    need(drive.su('boris', 'anna', FIRST))
    need(drive.change_password('anna', FIRST, SECOND), False)
    tap.equal(read(SHADOW), before)
    tap.check(any(why in line for line in log), f'{log}')
    need(drive.su('boris', 'anna', FIRST))
    tap.equal([name for name in os.listdir('/etc') if re.match(r'n?shadow', name) and name not in ('shadow', 'shadow-')], [])


@tap.case('{}', ODD)
def _(_, make):
    restore(make(ORIGINAL))
    login_and_change()


@tap.case('an account with !!: nobody gets in, root sets a password')
def _():
    restore(ORIGINAL.replace(line_of('anna', ORIGINAL), 'anna:!!:1:0:99999:7:::'))
    need(drive.su('boris', 'anna', FIRST), False)
    before = read(SHADOW)
    need(drive.set_password('anna', FIRST))
    tap.equal(read(SHADOW), expected(before, read(SHADOW)))
    need(drive.su('boris', 'anna', FIRST))


@tap.case('mode, owner, group, attributes, access list and SELinux label stay: {}',
          [('0640',), ('0000',), ('0400',)])
def _(mode):
    restore()
    label = b'system_u:object_r:shadow_t:s0\0'
    acl = (b'\2\0\0\0' b'\1\0\6\0\377\377\377\377' b'\2\0\4\0\41\0\0\0' b'\4\0\4\0\377\377\377\377'
           b'\20\0\4\0\377\377\377\377' b'\40\0\0\0\377\377\377\377')
    os.chown(SHADOW, 0, 4)
    attributes = {'security.selinux': label, 'trusted.mhkdf': b'value', 'user.mhkdf': b'text'}
    if mode == '0640':
        attributes['system.posix_acl_access'] = acl
    kept = {}
    for name, value in attributes.items():
        try:
            os.setxattr(SHADOW, name, value)
            kept[name] = value
        except OSError as error:
            print(f'# {name}: {error.strerror}')
    tap.check('security.selinux' in kept, 'no label can be set here')
    os.chmod(SHADOW, int(mode, 8))
    before = os.stat(SHADOW)
    login_and_change()
    after = os.stat(SHADOW)
    tap.equal((oct(after.st_mode), after.st_uid, after.st_gid), (oct(before.st_mode), before.st_uid, before.st_gid))
    tap.check(after.st_ino != before.st_ino, 'it is the same file')
    tap.equal({name: os.getxattr(SHADOW, name) for name in kept}, kept)


@tap.case('a symbolic link: the file behind it is replaced')
def _():
    restore()
    os.makedirs('/etc/real', exist_ok=True)
    os.rename(SHADOW, '/etc/real/shadow')
    os.symlink('real/shadow', SHADOW)
    login_and_change()
    tap.check(os.path.islink(SHADOW) and sorted(os.listdir('/etc/real')) == ['shadow'], f'{os.listdir("/etc/real")}')


@tap.case('a full disk')
def _():
    restore()
    os.makedirs('/mnt/small', exist_ok=True)
    run('mount', '-t', 'tmpfs', '-o', 'size=64k,mode=755', 'tmpfs', '/mnt/small')
    try:
        run('cp', '-p', SHADOW, '/mnt/small/shadow')
        os.unlink(SHADOW)
        os.symlink('/mnt/small/shadow', SHADOW)
        with open('/mnt/small/filler', 'wb', buffering=0) as file:
            try:
                while file.write(b'x' * 512):
                    pass
            except OSError:
                pass
        with drive.syslog() as log:
            refuses_to_change(log, 'No space left on device')
        tap.equal(sorted(os.listdir('/mnt/small')), ['filler', 'shadow'])
        os.unlink('/mnt/small/filler')
        login_and_change()
    finally:
        restore()
        run('umount', '/mnt/small')


@tap.case('shadow is a mount point of its own, {}', [('rw',), ('ro',)])
def _(mode):
    restore()
    weak = drive.perl_crypt(FIRST, '$5$rounds=1000$abcdefgh')
    need(drive.set_password('anna', weak, encrypted=True))
    run('mount', '--bind', SHADOW, SHADOW)
    run('mount', '-o', f'remount,bind,{mode}', SHADOW)
    why = 'shadow can\'t be replaced, as where it is a mount point'
    try:
        with drive.syslog() as log:
            refuses_to_change(log, f'password of anna not changed: {why}')
        tap.contains('\n'.join(log), f'the hash of anna isn\'t upgraded: {why}')
        tap.check(not any('arena' in line for line in log), f'{log}')
        tap.equal(drive.hash_of('anna'), weak)
        result = need(drive.change_password('anna', FIRST, SECOND), False)
        tap.contains(result.transcript, 'where it is a mount point')
    finally:
        run('umount', SHADOW)
    login_and_change()


@tap.case('all of /etc is read-only')
def _():
    restore()
    run('mount', '--bind', '/etc', '/etc')
    run('mount', '-o', 'remount,bind,ro', '/etc')
    try:
        with drive.syslog() as log:
            refuses_to_change(log, 'Read-only file system')
    finally:
        run('umount', '/etc')
    login_and_change()


# ---- programs with timers and children, while a change waits for the lock ----------------

def host(*arguments, password=FIRST):
    done = subprocess.run([HOST, *arguments], input=password.encode(), stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(done.stdout)


def hold_lock(seconds):
    with open('/etc/.pwd.lock', 'w', encoding='ascii') as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        time.sleep(seconds)


HOSTS = [
    ('a timer that goes off while it waits', ('--alarm=0.2',), 1),
    ('a timer that goes off later', ('--alarm=100',), 0),
    ('a timer, and SIGCHLD handled', ('--alarm=0.2', '--chld=handle', '--child'), 1),
    ('a timer, and SIGCHLD ignored', ('--alarm=0.2', '--chld=ignore', '--child'), 1),
    ('a timer, and closed descriptors', ('--alarm=100', '--close'), 0),
]


@tap.case('the lock is taken, and the program has {}', HOSTS)
def _(_, options, alarms):
    restore()
    holder = threading.Thread(target=hold_lock, args=(1,))
    holder.start()
    time.sleep(0.1)
    seen = host('--change', *options, 'changer', 'anna', password=SECOND)
    holder.join()
    tap.equal((seen['status'], len(seen['alarms']), seen['same'], seen['children']), (0, alarms, True, []), f'{seen}')
    tap.check(seen['seconds'] > 0.5, f'it didn\'t wait: {seen}')
    if not alarms:
        tap.check(100 - seen['seconds'] - 2 < seen['timer'] < 100, f'{seen}')
    if '--child' in options and '--chld=handle' in options:
        tap.equal([pid for pids in seen['reaped'] for pid in pids], [seen['child']])
    need(drive.su('boris', 'anna', SECOND))


@tap.case('a hash that takes long, and the program has {}', HOSTS)
def _(_, options, alarms):
    restore()
    need(drive.set_password('boris', 'boris has one'))
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 64M\npasses = 10\n')
    need(drive.set_password('anna', FIRST))
    options = tuple(option.replace('=0.2', '=0.05') for option in options)
    seen = host(*options, 'changer', 'anna')
    common.cheap_hashes()
    tap.equal((seen['status'], len(seen['alarms']), seen['same'], seen['children']), (0, alarms, True, []), f'{seen}')
    if '--child' in options and '--chld=handle' in options:
        tap.equal([pid for pids in seen['reaped'] for pid in pids], [seen['child']])


@tap.case('a login by a set-id program replaces the hash in a child, which the program doesn\'t notice; it has {}', HOSTS + [
    ('another thread that waits for children', ('--threads',), 0)])
def _(_, options, alarms):
    restore()
    need(drive.set_password('anna', drive.perl_crypt(FIRST, '$6$rounds=1000$saltsalt$'), encrypted=True))
    seen = host('--setuid', *options, 'changer', 'anna')
    tap.equal((seen['status'], seen['same'], seen['children']), (0, True, []), f'{seen}')
    tap.check(len(seen['alarms']) <= alarms, f'{seen}')
    own = [seen['child']] if '--child' in options else []
    tap.check(set(seen['stolen']) <= set(own), f'{seen}')
    if '--child' in options and '--chld=handle' in options:
        tap.equal([pid for pids in seen['reaped'] for pid in pids], own)
    tap.equal(common.method_of('anna'), '$mhkdf$')
    need(drive.su('boris', 'anna', FIRST))


tap.main()
