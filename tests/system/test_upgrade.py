#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What mhkdf.conf does at logins through the real programs: weak hashes are replaced, floors and
ceilings hold, services with different costs get along, and a broken file stops no login."""

import os
import subprocess

import common
import drive
import tap
from common import WRONG, method_of, mhkdf_hash, need, read, run, store, verifies, write

CONF = '/etc/security/mhkdf.conf'
OLD, NEW = 'the old way', 'a new way 2'
SHA512 = '$6$rounds=1000$saltsalt$'
secrets = {OLD, NEW, WRONG}


def line_of(name):
    return next(line for line in read('/etc/shadow').splitlines() if line.startswith(name + ':'))


def others():
    """Everything in shadow but the hashes."""
    return [line.split(':')[:1] + line.split(':')[2:] for line in read('/etc/shadow').splitlines()]


def old_user(name, setting=SHA512, groups=()):
    store(name, drive.perl_crypt(OLD, setting))
    for group in groups:
        run('gpasswd', '-a', name, group)
    run('chage', '-d', '2020-02-02', '-m', '1', '-W', '9', name)


def starts(name, prefix):
    tap.check(drive.hash_of(name).startswith(prefix), f'{name} has {drive.hash_of(name)[:40]}...')


log_open = drive.syslog()
log = log_open.__enter__()
sshd_open = drive.sshd()


def logged(text):
    return any(text in line for line in log)


def key_login(name):
    """ssh with a key: no password is asked for."""
    home = os.path.expanduser(f'~{name}')
    os.makedirs(f'{home}/.ssh', mode=0o700, exist_ok=True)
    if not os.path.exists('/root/key'):
        run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', '/root/key')
    write(f'{home}/.ssh/authorized_keys', read('/root/key.pub'))
    run('chown', '-R', f'{name}:', home)
    done = subprocess.run(['ssh', '-F', 'none', '-p', str(drive.SSH_PORT), '-i', '/root/key', '-o', 'BatchMode=yes',
                           '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null',
                           f'{name}@127.0.0.1', 'id -un'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=60, check=False)
    return done.returncode == 0 and done.stdout.decode().splitlines()[-1] == name


@tap.case('accounts with old hashes; sshd starts')
def _():
    common.cheap_hashes()
    drive.add_user('boris', 'boris has 1 too')
    secrets.add('boris has 1 too')
    for name in ('bysu', 'bylogin', 'byssh', 'bykbd', 'stays', 'wheely', 'quarrel', 'weak', 'key', 'floor'):
        old_user(name)
    old_user('bysudo', groups=['sudo'])
    old_user('des', 'ab')
    sshd_open.__enter__()


WAYS = {
    'bysu': lambda name, password: drive.su('boris', name, password),
    'bylogin': drive.login,
    'byssh': drive.ssh,
    'bykbd': lambda name, password: drive.ssh(name, password, 'keyboard-interactive'),
    'bysudo': drive.sudo,
}


@tap.case('{}: a wrong password leaves the old hash, the right one replaces it, and nothing else', WAYS)
def _(name):
    before, rest = drive.hash_of(name), others()
    need(WAYS[name](name, WRONG), False)
    tap.equal(drive.hash_of(name), before)
    need(WAYS[name](name, OLD))
    starts(name, '$mhkdf$m1M.t1.p4.c6$')
    tap.equal(others(), rest)
    tap.check(verifies(name, OLD), 'another password')
    tap.check(logged(f'the hash of {name} has been upgraded'), log)
    after = line_of(name)
    need(WAYS[name](name, OLD))
    tap.equal(line_of(name), after)
    need(WAYS[name](name, WRONG), False)


@tap.case('a key, or root\'s su, upgrades nothing')
def _():
    before = line_of('key')
    tap.check(key_login('key'), 'the key is not accepted')
    tap.equal(run('su', 'key', '-c', 'id -un').strip(), 'key')
    tap.equal(line_of('key'), before)


@tap.case('upgrade = no for a user, and for a group')
def _():
    write(CONF, '[default]\nmemory = 1M\n[user stays]\nupgrade = no\n[group sudo]\nupgrade = no\n')
    run('gpasswd', '-a', 'wheely', 'sudo')
    for name in ('stays', 'wheely'):
        need(drive.su('boris', name, OLD))
        tap.equal(method_of(name), '$6$')
    common.cheap_hashes()
    need(drive.su('boris', 'wheely', OLD))
    tap.equal(method_of('wheely'), '$mhkdf$')


SERVICES = {'bysu': 'su', 'bylogin': 'login', 'byssh': 'sshd', 'bykbd': 'sshd', 'bysudo': 'sudo'}


@tap.case('{}: upgrade = no of the service, the user, a group; elsewhere it doesn\'t count', WAYS)
def _(name):
    store(f'{name}-no', drive.perl_crypt(OLD, SHA512))
    user = f'{name}-no'
    if name == 'bysudo':
        run('gpasswd', '-a', user, 'sudo')
    before = line_of(user)
    for section in (f'service {SERVICES[name]}', f'user {user}', f'group {user}', 'group adm'):
        run('gpasswd', '-a' if section == 'group adm' else '-M', user if section == 'group adm' else '', 'adm')
        write(CONF, f'[default]\nmemory = 1M\n[{section}]\nupgrade = no\n')
        need(WAYS[name](user, OLD))
        tap.equal(line_of(user), before, section)
    run('gpasswd', '-d', user, 'adm')
    other = 'sshd' if name != 'byssh' and name != 'bykbd' else 'su'
    write(CONF, f'[default]\nmemory = 1M\n[service {other}]\nupgrade = no\n[user boris]\nupgrade = no\n'
          '[group adm]\nupgrade = no\n')
    need(WAYS[name](user, OLD))
    starts(user, '$mhkdf$m1M.')


@tap.case('a group with 50,000 members, and one that there isn\'t')
def _():
    old_user('of-many')
    kept = read('/etc/group')
    try:
        members = ','.join(f'somebody-with-a-long-name-{i:05}' for i in range(50000))
        write('/etc/group', f'{kept}many:x:77777:{members},of-many\n')
        write(CONF, '[default]\nmemory = 1M\n[group nosuch]\nmemory = 4M\n[group many]\nupgrade = no\n')
        before = line_of('of-many')
        need(drive.su('boris', 'of-many', OLD))
        tap.equal(line_of('of-many'), before)
        write('/etc/group', f'{kept}many:x:77777:{members}\n')
        need(drive.su('boris', 'of-many', OLD))
        starts('of-many', '$mhkdf$m1M.')
    finally:
        write('/etc/group', kept)
    tap.check(not logged('the name service'), log)


@tap.case('two services of different cost: in by both for ever, and rewritten no more than needed')
def _():
    write(CONF, '[service su]\nmemory = 1M\n[service sshd]\nmemory = 2M\n[service login]\nmemory = 3M\nupgrade = no\n')
    seen = []
    for _ in range(3):
        for way in (WAYS['bysu'], drive.ssh, drive.login):
            need(way('quarrel', OLD))
            seen.append(drive.hash_of('quarrel'))
    tap.equal([seen[0], seen[1]] + seen[1:2] * 7, seen)
    starts('quarrel', '$mhkdf$m2M.')


@tap.case('two services of which neither is stronger: the first one\'s hash stays')
def _():
    write(CONF, '[service su]\nmemory = 2M\n[service sshd]\nmemory = 1M\npasses = 4\n')
    old_user('crosswise')
    seen = []
    for _ in range(2):
        for way in (drive.ssh, WAYS['bysu']):
            need(way('crosswise', OLD))
            seen.append(line_of('crosswise'))
    tap.equal(seen, seen[:1] * 4)
    starts('crosswise', '$mhkdf$m1M.t4.')


@tap.case('a password that DES looked at in part stays with it')
def _():
    common.cheap_hashes()
    before = drive.hash_of('des')
    need(drive.su('boris', 'des', OLD))
    tap.equal(drive.hash_of('des'), before)
    tap.check(logged('the hash of des stays'), log)


@tap.case('/etc that can\'t be written: the login goes on, and the log says why')
def _():
    del log[:]
    os.mkdir('/etc/nshadow')
    try:
        need(drive.su('boris', 'weak', OLD))
    finally:
        os.rmdir('/etc/nshadow')
    tap.equal(method_of('weak'), '$6$')
    tap.equal(sum('the hash of weak isn\'t upgraded' in line for line in log), 1)


@tap.case('floor_action = expire: su asks for a new password; keys and cron\'s way don\'t')
def _():
    write(CONF, '[default]\nmemory = 1M\nupgrade = no\nfloor_memory = 1M\nfloor_action = expire\n')
    tap.check(key_login('floor'), 'the key is not accepted')
    with drive.Terminal(['su', 'floor', '-c', 'echo "[$(id -un)]"'], 'boris') as tty:
        tty.expect(rb'Password: ')
        tty.secret(OLD)
        tty.expect(rb'(?i)current password: ')
        tty.secret(OLD)
        tty.expect(rb'(?i)new password: ')
        tty.secret(NEW)
        tty.expect(rb'(?i)retype new password: ')
        tty.secret(NEW)
        tty.expect(rb'\[floor\]')
    tap.check(verifies('floor', NEW), 'the change is not stored')
    need(drive.su('boris', 'floor', NEW))


EXPIRE = '[default]\nmemory = 1M\nupgrade = no\nfloor_memory = 1M\nfloor_action = expire\n'


def ssh_argv(name, method, *more):
    return ['ssh', '-F', 'none', '-p', str(drive.SSH_PORT), '-o', 'StrictHostKeyChecking=no',
            '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR', '-o', f'PreferredAuthentications={method}',
            '-o', 'PubkeyAuthentication=no', *more, f'{name}@127.0.0.1', 'echo "[$(id -un)]"']


PROMPTS = rb'(?i)current password: ', rb'(?i)new password: ', rb'(?i)retype new password: '


def changes(tty, asked=rb'assword: ', prompts=PROMPTS):
    """The old password, and what follows where it has to be changed."""
    for prompt, text in zip((asked, *prompts), (OLD, OLD, NEW, NEW)):
        tty.expect(prompt)
        tty.secret(text)


def change_by_kbd(name):
    """sshd asks for it in the dialogue of keyboard-interactive, and needs no terminal."""
    with drive.Terminal(ssh_argv(name, 'keyboard-interactive')) as tty:
        changes(tty)
        tty.expect(rb'\[' + name.encode() + rb'\]')


def change_by_ssh(name):
    """By the method password, sshd runs passwd on the session's terminal, and ends it."""
    with drive.Terminal(ssh_argv(name, 'password', '-tt')) as tty:
        changes(tty)
        tty.expect(rb'updated successfully')
        tty.wait()
        tap.check(f'[{name}]' not in tty.transcript(), tty.transcript())


def change_by_login(name):
    with drive.Terminal(['login']) as tty:
        tty.expect(rb'login: ')
        tty.type(name)
        changes(tty)
        tty.expect(rb'(?m)[$#] \Z')
        tty.type('echo "[$(id -un)]"; exit 0')
        tty.expect(rb'\[' + name.encode() + rb'\]')


def change_by_sudo(name):
    """sudo has a prompt of its own in place of each."""
    with drive.Terminal(['sudo', '-k', '-p', 'sudo asks: ', 'sh', '-c', 'echo "[$(id -un)]"'], name) as tty:
        changes(tty, rb'sudo asks: ', [rb'\[sudo\] password[^:]*: '] * 3)
        tty.expect(rb'\[root\]')


CHANGES = {'bylogin': change_by_login, 'byssh': change_by_ssh, 'bykbd': change_by_kbd, 'bysudo': change_by_sudo}


@tap.case('{}: floor_action = expire has the password changed once, and then it is a login as any', CHANGES)
def _(name):
    user = f'{name}-due'
    old_user(user, groups=['sudo'] if name == 'bysudo' else [])
    write(CONF, EXPIRE)
    before = line_of(user)
    need(WAYS[name](user, WRONG), False)
    tap.check(key_login(user), 'the key is not accepted')
    tap.equal(run('su', user, '-c', 'id -un').strip(), user)
    tap.equal(line_of(user), before)
    CHANGES[name](user)
    starts(user, '$mhkdf$m1M.')
    after = line_of(user)
    need(WAYS[name](user, NEW))
    need(WAYS[name](user, OLD), False)
    tap.equal(line_of(user), after)


@tap.case('floor_action = expire by ssh, with a password and no terminal: refused, and nothing is lost')
def _():
    old_user('no-terminal')
    run('chage', '-d', run('date', '+%F').strip(), 'no-terminal')   # and it may not be changed again today
    write(CONF, EXPIRE)
    before = line_of('no-terminal')
    with drive.Terminal(ssh_argv('no-terminal', 'password')) as tty:
        tty.expect(rb'assword: ')
        tty.secret(OLD)
        tty.expect(rb'(?i)password change required but no tty')
        tap.equal(tty.wait(), 1)
    tap.equal(line_of('no-terminal'), before)
    change_by_ssh('no-terminal')
    need(drive.ssh('no-terminal', NEW))


@tap.case('floor_action = deny: refused with the right password, and the log says why')
def _():
    write(CONF, '[default]\nmemory = 1M\n[service sshd]\nfloor_memory = 1M\nfloor_action = deny\n')
    need(drive.ssh('weak', OLD), False)
    tap.equal(method_of('weak'), '$6$')
    tap.check(logged('login of weak denied'), log)
    need(drive.su('boris', 'weak', OLD))
    need(drive.ssh('weak', OLD))


@tap.case('a hash above the ceiling is refused at once, with whatever password')
def _():
    write(CONF, '[default]\nmemory = 1M\nceiling_memory = 64M\n')
    store('heavy', '$mhkdf$m1024G.t1.p4.c6$' + 'A' * 22 + '$' + 'A' * 43)
    store('rounds', '$6$rounds=999999999$saltsalt$' + 'x' * 86)
    for name in ('heavy', 'rounds'):
        result = drive.su('boris', name, OLD)
        need(result, False)
        tap.check(logged(f'the hash of {name} is refused'), log)
        tap.check(result.seconds < 60, f'{result.seconds} s')


@tap.case('a file that could lock someone out is refused with both lines; logins go on')
def _():
    del log[:]
    write(CONF, '[default]\nmemory = 1M\n[service sshd]\nmemory = 128M\n[user anna]\nceiling_memory = 64M\n')
    before = read('/etc/shadow')
    need(drive.su('boris', 'weak', OLD))
    result = drive.change_password('weak', OLD, NEW)
    need(result, False)
    for text in (result.transcript, '\n'.join(log)):
        for part in ('mhkdf.conf:6:', 'in line 4', 'in line 6', 'ceiling_memory'):
            tap.contains(text.replace('\r\n', ' '), part)
    tap.equal(read('/etc/shadow'), before)


@tap.case('new passwords by another method of the system\'s libcrypt')
def _():
    write(CONF, '[default]\nmemory = 4M\nmethod = yescrypt\n')
    need(drive.set_password('weak', NEW))
    starts('weak', '$y$')
    need(drive.su('boris', 'weak', NEW))
    need(drive.ssh('weak', NEW))
    need(drive.su('boris', 'weak', OLD), False)
    common.cheap_hashes()


@tap.case('no password and no hash is in the log')
def _():
    stored = {line.split(':')[1] for line in read('/etc/shadow').splitlines()}
    for line in log:
        for secret in secrets | {s for s in stored if len(s) > 4}:
            tap.check(secret not in line, f'in the log: {line}')


try:
    tap.main()
finally:
    sshd_open.__exit__(None, None, None)
    log_open.__exit__(None, None, None)
