#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Logins and password changes through the real programs in memory cgroups that are smaller than a
hash: nobody is killed for it, and who gets in with pam_unix alone gets in with pam_mhkdf, too."""

import contextlib
import os
import pwd
import re
import signal
import socket
import subprocess
import time

import common
import drive
import tap
from common import WRONG, need, read, write

SIZES = (24, 32, 48, 64, 96)            # MiB, of the group
ENOUGH = 96                             # for a hash of 64 MiB beside the programs
OLD, NEW = 'the old way', 'a new way 2'
YESCRYPT = '$y$j9T$saltsaltsalt'        # takes 16 MiB
SHORT = r'not enough memory: 67M needed, \d+M available \(\S+ = \d+K\)'
HINT = '"memory = ..." in mhkdf.conf changes what is needed'


# ---- groups ------------------------------------------------------------------------

def version_1():
    """The folder of this process's own memory cgroup, if the memory has version 1."""
    found = re.search(r'(?m)^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(/.*)$', read('/proc/self/cgroup'))
    return '/sys/fs/cgroup/memory' + found[1].rstrip('/') if found else None


def prepare():
    """Where groups can be made; or why they can't."""
    where = version_1()
    if where is None:
        where = '/sys/fs/cgroup'        # only the topmost group may have both groups and processes
        with contextlib.suppress(OSError):
            write(f'{where}/cgroup.subtree_control', '+memory')
    try:
        with group(SIZES[-1]):
            return where, None
    except OSError as error:
        return where, f'memory cgroups can\'t be made here: {error}'


@contextlib.contextmanager
def group(mib):
    """A group with this limit; at the end it is gone, with all that is in it."""
    folder = f'{WHERE}/mhkdf-headroom-{os.getpid()}'
    os.mkdir(folder)
    try:
        write(f'{folder}/{"memory.limit_in_bytes" if version_1() else "memory.max"}', f'{mib}M')
        with contextlib.suppress(OSError):      # swap isn't what is tested
            write(f'{folder}/{"memory.swappiness" if version_1() else "memory.swap.max"}', '0')
        yield folder
    finally:
        end_group(folder)


def end_group(folder):
    for _ in range(200):
        for pid in read(f'{folder}/cgroup.procs').split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        try:
            os.rmdir(folder)
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f'{folder} stays')


def kills(folder):
    """How many processes the kernel has killed there for want of memory."""
    text = read(f'{folder}/{"memory.oom_control" if version_1() else "memory.events"}')
    return int(re.search(r'(?m)^oom_kill (\d+)$', text)[1])


WHERE = version_1() or '/sys/fs/cgroup'
WHERE, why_not = prepare()
if why_not:
    tap.skip_all(why_not)

log_open = drive.syslog()
log = log_open.__enter__()


def mark():
    """Where the log stands, with all that was sent until now: datagrams keep their order."""
    text = f'mark {time.monotonic_ns()}'
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect('/dev/log')
        sender.send(text.encode())
    end = time.monotonic() + drive.TIMEOUT
    while text not in log:
        tap.check(time.monotonic() < end, 'the log stands still')
        time.sleep(0.002)
    return len(log)


def logged(pattern, since):
    mark()
    return [line for line in log[since:] if re.search(pattern, line)]


# ---- what is tried ------------------------------------------------------------------

WAYS = {
    'su': lambda name, password: drive.su('boris', name, password),
    'login': drive.login,
    'ssh': drive.ssh,
}


def attempt(mib, way, name, password):
    """(what came of it, how many were killed for it); the ssh client isn't in the group, sshd is."""
    with group(mib) as folder:
        try:
            if way == 'ssh':
                with drive.inside(folder):
                    daemon = drive.sshd()
                    daemon.__enter__()
                try:
                    result = WAYS[way](name, password)
                finally:
                    daemon.__exit__(None, None, None)
            else:
                with drive.inside(folder):
                    result = WAYS[way](name, password)
        except drive.Unexpected as error:
            result = error
        return result, kills(folder)


def survives(mib, way, name, password, wanted):
    result, killed = attempt(mib, way, name, password)
    tap.equal(killed, 0, f'{way} {name} in {mib}M: killed for memory; {result}')
    need(result, wanted) if not isinstance(result, Exception) else tap.check(False, str(result))


def old_hash(name):
    common.run('usermod', '-p', drive.perl_crypt(OLD, YESCRYPT), name)


def cases(ways=WAYS):
    return [(mib, way) for mib in SIZES for way in ways]


# ---- the cases ----------------------------------------------------------------------

@tap.case('accounts')
def _():
    for name in ('anna', 'boris', 'memhard'):
        drive.add_user(name)
    old_hash('anna')
    old_hash('root')
    common.run('usermod', '-p', common.run('mhkdf', 'hash', text=OLD).splitlines()[-1], 'memhard')
    need(drive.set_password('boris', NEW))


unix_alone = {}


@tap.case('pam_unix alone')
def _():
    """What it can, to compare with."""
    saved = common.pam_files()
    write('/etc/pam.d/common-auth', 'auth required pam_unix.so\n')
    try:
        for mib, way in cases():
            result, killed = attempt(mib, way, 'anna', OLD)
            unix_alone[mib, way] = killed == 0 and not isinstance(result, Exception) and bool(result)
    finally:
        write('/etc/pam.d/common-auth', saved['auth'])
    print('#', ', '.join(f'{way} in {mib}M: {"in" if ok else "out"}' for (mib, way), ok in unix_alone.items()))
    tap.check(all(unix_alone[mib, way] for mib, way in cases() if mib >= 32), unix_alone)


@tap.case('{}M, {}: the right password for $y$ opens as with pam_unix alone; an upgrade needs room', cases())
def _(mib, way):
    old_hash('anna')
    before, since = drive.hash_of('anna'), mark()
    if not unix_alone[mib, way]:
        tap.skip('not with pam_unix alone either')
    survives(mib, way, 'anna', OLD, True)
    lines = logged(rf'the hash of anna isn\'t upgraded: {SHORT}; {re.escape(HINT)}$', since)
    if mib < ENOUGH:
        tap.equal(drive.hash_of('anna'), before)
        tap.equal(len(lines), 1, log[since:])
    else:
        tap.check(drive.hash_of('anna').startswith('$mhkdf$'), log[since:])
        tap.equal(lines, [])


@tap.case('{}M: a wrong password, and a name that isn\'t there, are refused', SIZES)
def _(mib):
    old_hash('anna')
    since = mark()
    survives(mib, 'su', 'anna', WRONG, False)
    survives(mib, 'login', 'nosuchname', WRONG, False)
    survives(mib, 'ssh', 'nosuchname', WRONG, False)
    left_out = logged(r'the dummy hash is left out: not enough memory: ', since)
    tap.equal(bool(left_out), mib < ENOUGH, log[since:])


@tap.case('{}M: root, by su and login', SIZES)
def _(mib):
    old_hash('root')
    before, since = drive.hash_of('root'), mark()
    survives(mib, 'su', 'root', OLD, True)
    survives(mib, 'login', 'root', OLD, True)
    if mib < ENOUGH:
        tap.equal(drive.hash_of('root'), before)
        tap.check(logged(rf'the hash of root isn\'t upgraded: {SHORT}', since), log[since:])


@tap.case('{}M, {}: a hash that there is no room for is a temporary error, not another module\'s', cases())
def _(mib, way):
    since = mark()
    survives(mib, way, 'memhard', OLD, mib >= ENOUGH)
    lines = logged(rf'the password of memhard can\'t be verified for now: {SHORT}$', since)
    tap.equal(bool(lines), mib < ENOUGH, log[since:])
    tap.equal(logged('authentication failure.*user=memhard', since), [])


@tap.case('{}M: passwd and chpasswd refuse what there is no room for, and say how much is needed', SIZES)
def _(mib):
    old_hash('anna')
    before = drive.hash_of('anna')
    for change in (lambda: drive.change_password('anna', OLD, NEW),
                   lambda: drive.change_password_as_root('anna', NEW),
                   lambda: drive.set_password('anna', NEW)):
        since = mark()
        with group(mib) as folder:
            with drive.inside(folder):
                result = change()
            tap.equal(kills(folder), 0, result.transcript)
        need(result, mib >= ENOUGH)
        if mib < ENOUGH:
            tap.check(re.search(rf'{SHORT}; {re.escape(HINT)}', result.transcript), result.transcript)
            tap.check(logged(rf'password of anna not changed: {SHORT}; ', since), log[since:])
            tap.equal(drive.hash_of('anna'), before)
        old_hash('anna')


@tap.case('{}M: mhkdf_chkpwd, for a screen locker', SIZES)
def _(mib):
    account, since = pwd.getpwnam('memhard'), mark()

    def become():
        drive.join_groups()
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)

    with group(mib) as folder, drive.inside(folder):
        done = subprocess.run(['/usr/sbin/mhkdf_chkpwd', 'memhard', 'nonull'], input=OLD.encode(), timeout=60,
                              cwd='/', preexec_fn=become, check=False)
        tap.equal(kills(folder), 0)
    tap.equal(done.returncode, 0 if mib >= ENOUGH else 13)
    lines = logged(rf'the password of memhard can\'t be verified for now: {SHORT}$', since)
    tap.equal(bool(lines), mib < ENOUGH, log[since:])


@tap.case('{}M: mhkdf hash, verify and bench', SIZES)
def _(mib):
    hashed = drive.hash_of('memhard')
    with group(mib) as folder, drive.inside(folder):
        for argv in (['mhkdf', 'hash'], ['mhkdf', 'verify', hashed], ['mhkdf', 'bench', '--runs', '1', 'mhkdf']):
            error = ''
            try:
                drive.run(argv, OLD)
            except drive.Unexpected as exception:
                error = str(exception)
            tap.equal(bool(error), mib < ENOUGH, f'{argv}: {error}')
            tap.check(not error or re.search(rf'status 2\nmhkdf {argv[1]}: {SHORT}', error), error)
        tap.equal(kills(folder), 0)


@tap.case('{}M: crypt(3) of the libcrypt that has the methods gives no hash', SIZES)
def _(mib):
    setting = drive.hash_of('memhard')
    with group(mib) as folder, drive.inside(folder):
        for text in (setting, setting.rsplit('$', 1)[0]):
            made = drive.perl_crypt(OLD, text)
            tap.equal(made is not None and made[0] != '*', mib >= ENOUGH, made)
        tap.equal(kills(folder), 0)


tap.main()
