#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that call crypt(3) without PAM, and a system whose libcrypt is the distribution's again:
nobody is locked out, root least of all."""

import glob
import os
import subprocess
import tempfile
import time

import common
import drive
import tap
from common import KEPT, WRONG, method_of, mhkdf_hash, need, read, right_and_wrong, run, store, swap_libcrypt

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
        # Without two characters; without one it may be a shorter tag's string.
        for broken in (stored.replace('p=4', 'p=04'), stored[:-2], stored.replace('m=', 'm =')):
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
    tap.check('$mhkdf$m' not in output, 'hashes are nobody\'s business')
    tap.equal(run('md5sum', LIBRARY), before)


@tap.case('a program that runs since before an update gives root $y$, and the log says why')
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


@tap.case('a second installation changes nothing')
def _():
    swap_libcrypt('install', LIBRARY)
    need(drive.sulogin(FIRST))
    right_and_wrong('boris', {'anna': FIRST, 'old': FIRST})


MERGED = os.path.realpath('/lib') == '/usr/lib'
FOLDERS = ('/lib', '/usr/lib') if MERGED else ('/lib',)
revision = 0


def update(folder, mark):
    """A new version of the package libcrypt1 with its files below FOLDER; MARK ends its library."""
    global revision
    revision += 1
    kept = newest_kept()
    architecture = run('dpkg', '--print-architecture').strip()
    version = run('dpkg-query', '-W', '-f', '${Version}', f'libcrypt1:{architecture}')
    packaged = f'{folder}/{os.path.basename(os.path.dirname(LIBRARY))}/{os.path.basename(LIBRARY)}'
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(f'{work}/DEBIAN')
        os.makedirs(work + os.path.dirname(packaged))
        common.write(f'{work}/DEBIAN/control', f'Package: libcrypt1\nVersion: {version}.{revision}\n'
                     f'Architecture: {architecture}\nMulti-Arch: same\nMaintainer: nobody <nobody@localhost>\nDescription: an update\n')
        run('cp', '-p', kept, work + packaged)
        os.symlink(os.path.basename(packaged), work + os.path.dirname(packaged) + '/libcrypt.so.1')
        with open(work + packaged, 'ab') as file:
            file.write(mark)
        run('dpkg-deb', '-b', work, f'{work}.deb')
    run('dpkg', '-i', f'{work}.deb')
    os.unlink(f'{work}.deb')
    run('ldconfig')


def newest_kept():
    """The distribution's library, wherever it is."""
    return max(glob.glob('/usr/lib/mhkdf/libcrypt.so.*') or [LIBRARY], key=os.path.getctime)


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def diversions():
    return run('dpkg-divert', '--list', '*libcrypt*')


@tap.case('both names of the file are diverted, to two files')
def _():
    lines = diversions().splitlines()
    tap.equal(len(lines), len(FOLDERS), lines)
    tap.equal(len({line.split(' to ')[1] for line in lines}), len(FOLDERS), lines)


@tap.case('an update of the package libcrypt1 below {} goes to the file kept aside', ('/usr/lib', '/lib', '/usr/lib'))
def _(folder):
    if folder not in FOLDERS:
        tap.skip('/lib is no link to usr/lib')
    ours = content(LIBRARY)
    update(folder, b'updated' + folder.encode())
    tap.check(content(LIBRARY) == ours, 'ours was overwritten')
    tap.check(content(newest_kept()).endswith(b'updated' + folder.encode()), 'the file aside is the old one')
    tap.contains(swap_libcrypt('status'), "mhkdf's is in place")
    need(drive.sulogin(FIRST))
    right_and_wrong('boris', {'anna': FIRST, 'old': FIRST})


@tap.case('what calls left behind that were killed goes away with the next one')
def _():
    os.mkdir('/usr/lib/mhkdf/.new.killed')
    unused = '/usr/lib/mhkdf/libcrypt.so.1.0.9'
    stale = os.path.join(os.path.dirname(LIBRARY), 'libcrypt.so.1.0.9')
    half = os.path.join(os.path.dirname(LIBRARY), '.libcrypt.mhkdf-new')
    for path in (unused, '/usr/lib/mhkdf/.new.killed/libcrypt.so.1', half):
        common.write(path, 'half a libr')
    run('dpkg-divert', '--local', '--no-rename', '--divert', unused, '--add', stale)
    swap_libcrypt('install', LIBRARY)
    left = [name for name in os.listdir('/usr/lib/mhkdf') + os.listdir(os.path.dirname(LIBRARY))
            if name.startswith('.') or name.endswith('crypt.so.1.0.9')]
    tap.equal(left, [])
    tap.equal(len(diversions().splitlines()), len(FOLDERS), diversions())
    need(drive.sulogin(FIRST))


@tap.case('removal is held up by {}', ('another name of user id 0', 'a hash in /etc/passwd', "a group's"))
def _(what):
    yescrypt = drive.perl_crypt(SECOND, '$y$j75$LdJMENpBABJJ3hIHjB1Bi.$')
    before = {path: read(path) for path in ('/etc/passwd', '/etc/shadow', '/etc/gshadow')}
    need(drive.set_password('root', yescrypt, encrypted=True))
    ours = mhkdf_hash(FIRST)
    for path, line, field in (('/etc/passwd', 'toor:{}:0:0::/root:/bin/sh', 'x'), ('/etc/shadow', 'toor:{}:19000::::::', '*')):
        hashed = (path == '/etc/shadow') == (what == 'another name of user id 0') and not what.startswith('a group')
        common.write(path, read(path) + line.format(ours if hashed else field) + '\n')
    if what.startswith('a group'):
        common.write('/etc/gshadow', read('/etc/gshadow') + f'toor:{ours}::\n')
    status, output = swap_libcrypt('remove', check=False)
    listed = swap_libcrypt('status')
    for path, text in before.items():
        common.write(path, text)
    tap.equal(status, 1, output)
    tap.contains(output, 'toor')
    tap.contains(listed, 'toor')
    tap.check('anna' not in output and '$mhkdf$m' not in output, output)
    need(drive.sulogin(FIRST))


@tap.case('status: "none" where there is none; the locked ones by themselves')
def _():
    before = read('/etc/shadow')
    tap.contains(swap_libcrypt('status'), '/etc/gshadow, $mhkdf$ or $argon2*$: none\n')
    common.write('/etc/shadow', before + f'dora:!{mhkdf_hash(FIRST)}:19000::::::\n')
    output = swap_libcrypt('status')
    common.write('/etc/shadow', before)
    lines = [line for line in output.splitlines() if 'dora' in line]
    tap.equal(len(lines), 1, output)
    tap.check('locked' in lines[0] and 'anna' not in lines[0], output)


@tap.case('an update that had overwritten ours, since one name alone was diverted: install repairs that, remove clears it')
def _():
    if not MERGED:
        tap.skip('/lib is no link to usr/lib')
    ours = '/root/ours'
    run('cp', '-p', LIBRARY, ours)
    for repair in ('install', 'remove'):
        packaged = run('dpkg-query', '-L', 'libcrypt1').split('/libcrypt.so.1')[0].splitlines()[-1]
        other = '/lib' if packaged.startswith('/usr/') else '/usr/lib'
        name = f'{other}/{os.path.basename(os.path.dirname(LIBRARY))}/{os.path.basename(LIBRARY)}'
        run('dpkg-divert', '--local', '--no-rename', '--remove', name)
        update(other, b'overwritten')
        tap.check(content(LIBRARY).endswith(b'overwritten'), 'it is not')
        tap.contains(swap_libcrypt('status'), 'overwritten')
        if repair == 'install':
            swap_libcrypt('install', ours)
            tap.equal(len(diversions().splitlines()), 2, diversions())
            need(drive.sulogin(FIRST))
            tap.check(content(newest_kept()).endswith(b'overwritten'), 'the file aside is another')
    tap.contains(swap_libcrypt('remove'), 'in place again')
    tap.equal(diversions(), '')
    tap.check(content(LIBRARY).endswith(b'overwritten'), 'the file in place is the old one')
    tap.check(not os.path.exists('/usr/lib/mhkdf'), 'files are left')
    swap_libcrypt('install', ours)
    update('/usr/lib', b'updated')
    need(drive.sulogin(FIRST))


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
    tap.check('$mhkdf$m' not in output, output)


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
        tap.check(not any(text in line for text in ('$mhkdf$m', '$y$', FIRST, SECOND, WRONG)), line)


try:
    tap.main()
finally:
    log_open.__exit__(None, None, None)
