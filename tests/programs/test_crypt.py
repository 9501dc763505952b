#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that call crypt(3) without PAM, and some that don't: right, wrong, and made; as
installed, and after the distribution's libcrypt1 was replaced under ours."""

import contextlib
import glob
import itertools
import os
import re
import shutil

import common
import drive
import programs
import tap
from common import WRONG, mhkdf_hash, need, run, verifies, write

RIGHT = 'correct horse'
SETTING = '$mhkdf$m1M.t1.p4.c6$abcdefgh./ABCDEFGH0189'
common.cheap_hashes()
drive.add_user('erna', 'erna has 1')
OURS = mhkdf_hash(RIGHT)
ARGON2 = mhkdf_hash(RIGHT, '--method', 'argon2id')
THEIRS = drive.perl_crypt(RIGHT, '$y$j75$LdJMENpBABJJ3hIHjB1Bi.')
HASHES = {'$mhkdf$': OURS, '$argon2id$': ARGON2, '$y$': THEIRS}
services = contextlib.ExitStack()
running = {}
numbers = itertools.count()


def start(where):
    """Daemons of their own: name to what verifies."""
    number = next(numbers)
    return {'dovecot': where.enter_context(programs.dovecot(number)),
            'nginx': where.enter_context(programs.nginx(8080 + number)),
            'slapd': where.enter_context(programs.slapd(3389 + number)).verify}


def right_and_wrong(verify):
    for name, hashed in HASHES.items():
        tap.check(verify(RIGHT, hashed), f'{name}: the right password is refused')
        tap.check(not verify(WRONG, hashed), f'{name}: a wrong password is accepted')
        tap.check(not verify(RIGHT, hashed[:-1] + ('A' if hashed[-1] != 'A' else 'E')), f'{name}: another hash is accepted')


# ---- as installed -------------------------------------------------------------------------------


@tap.case('daemons start')
def _():
    running.update(start(services))


@tap.case('{}: right and wrong', tuple(programs.VERIFIERS))
def _(name):
    right_and_wrong(programs.VERIFIERS[name])


@tap.case('{}: right and wrong', ('dovecot', 'nginx', 'slapd'))
def _(name):
    right_and_wrong(running[name])


@tap.case('{} makes a hash with a setting that is written by hand', tuple(programs.MAKERS))
def _(name):
    made = programs.MAKERS[name](RIGHT, SETTING)
    tap.equal(made, run('mhkdf', 'hash', '--setting', SETTING, text=RIGHT).splitlines()[-1])


@tap.case('mkpasswd makes hashes, by prefix and not by name')
def _():
    for arguments, start_of_it in ((['-m', '$mhkdf$'], '$mhkdf$m64M.t1.p4.c6$'),
                                   (['-m', '$mhkdf$', '-R', '2'], '$mhkdf$m2M.t1.p4.c6$'),
                                   (['-m', '$argon2id$', '-R', '1'], '$argon2id$v=19$m=1024,t=3,p=4$')):
        made = run('mkpasswd', '-s', *arguments, text=RIGHT).strip()
        tap.check(made.startswith(start_of_it), made)
        tap.equal(run('mhkdf', 'verify', made, text=RIGHT, check=False)[0], 0)
        tap.equal(run('mhkdf', 'verify', made, text=WRONG, check=False)[0], 1)
    status, output = run('mkpasswd', '-s', '-m', 'mhkdf', text=RIGHT, check=False)
    tap.check(status != 0 and 'Invalid method' in output, output)


# ---- what doesn't work, as the manual says --------------------------------------------------------


@tap.case('php has a crypt of its own, which knows neither $y$ nor ours')
def _():
    code = 'exit(password_verify($argv[1], $argv[2]) && crypt($argv[1], $argv[2]) === $argv[2] ? 0 : 1);'
    for name, wanted in ((OURS, False), (ARGON2, False), (THEIRS, False),
                         (drive.perl_crypt(RIGHT, '$6$saltsalt$'), True)):
        tap.equal(programs.status_of(['php', '-r', code, '--', RIGHT, name]), wanted, name)


@tap.case('passlib takes neither $y$ nor ours for a hash')
def _():
    code = ('import sys, passlib.hosts\n'
            'sys.exit(0 if passlib.hosts.host_context.identify(sys.argv[1]) else 1)')
    for hashed, wanted in ((OURS, False), (THEIRS, False), (drive.perl_crypt(RIGHT, '$6$saltsalt$'), True)):
        tap.equal(programs.status_of(['/usr/bin/python3', '-W', 'ignore', '-c', code, hashed]), wanted, hashed)


@tap.case('dovecot computes in 256 MiB of address space unless vsz_limit says otherwise')
def _():
    large = run('mhkdf', 'hash', '--memory', '256M', '--passes', '1', text=RIGHT).splitlines()[-1]
    tap.check(not running['dovecot'](RIGHT, large), 'it had enough')
    with programs.dovecot('large', 'service auth {\n  vsz_limit = 1G\n}') as verify:
        tap.check(verify(RIGHT, large), 'it has too little')
        tap.check(not verify(WRONG, large))


# ---- libcrypt1 replaced under ours ---------------------------------------------------------------

PACKAGE = f'libcrypt1:{run("dpkg", "--print-architecture").strip()}'
INSTALLED = run('dpkg-query', '-W', '-f', '${Version}', PACKAGE)


def repack(version):
    """libcrypt1 as it is installed, as a package of that version. Its library has some more bytes at
    its end, so that it is seen to be another file."""
    path = f'/tmp/libcrypt1-{next(numbers)}'
    os.makedirs(f'{path}/DEBIAN')
    control = run('dpkg-query', '-s', PACKAGE)
    control = re.sub(r'(?m)^(Status|Conffiles):.*\n( .*\n)*', '', control)
    write(f'{path}/DEBIAN/control', re.sub(r'(?m)^Version: .*$', f'Version: {version}', control))
    for kind in ('triggers', 'shlibs', 'symbols', 'postinst', 'postrm', 'preinst', 'prerm'):
        for name in glob.glob(f'/var/lib/dpkg/info/{PACKAGE}.{kind}'):
            shutil.copy(name, f'{path}/DEBIAN/{kind}')
    for name in run('dpkg-query', '-L', PACKAGE).splitlines():
        if os.path.lexists(name) and not os.path.isdir(name):     # manuals may have been left out
            os.makedirs(os.path.dirname(path + name), exist_ok=True)
            shutil.copy2(name, path + name, follow_symlinks=False)
            if re.search(r'/libcrypt\.so\.1\.', name) and not os.path.islink(name):
                with open(path + name, 'ab') as library:
                    library.write(version.encode())
    run('dpkg-deb', '--root-owner-group', '-b', path, f'{path}.deb')
    return f'{path}.deb'


def distribution_ends_with(text):
    with open(os.path.realpath(common.distribution_libcrypt()), 'rb') as library:
        return library.read().endswith(text.encode())


def all_programs():
    """Those that start now, and daemons that were started before."""
    for name, verify in programs.VERIFIERS.items():
        if name not in ('vlock', 'chpasswd -e and su'):     # which wait two seconds after each wrong one
            right_and_wrong(verify)
    for name, verify in running.items():
        right_and_wrong(verify)
    with contextlib.ExitStack() as now:
        for name, verify in start(now).items():
            right_and_wrong(verify)
    for name, make in programs.MAKERS.items():
        tap.equal(make(RIGHT, SETTING), run('mhkdf', 'hash', '--setting', SETTING, text=RIGHT).splitlines()[-1], name)
        tap.equal(make(RIGHT, THEIRS), THEIRS, name)


@tap.case('libcrypt1 is {}: all programs as before', (
    ('reinstalled', INSTALLED), ('upgraded', INSTALLED + '+z1'), ('downgraded', '1:4.4.1'),
    ('upgraded again', INSTALLED + '+z2')))
def _(_what, version):
    run('dpkg', '-i', repack(version))
    tap.equal(run('dpkg-query', '-W', '-f', '${Version}', PACKAGE), version)
    tap.check(distribution_ends_with(version), 'the file of the package is not in place')
    all_programs()
    tap.contains(common.mhkdf_libcrypt('status'), "mhkdf's is in front")


@tap.case('and root gets $mhkdf$ then, too')
def _():
    run('useradd', '-o', '-u', '0', '-M', 'toor')
    need(drive.set_password('toor', RIGHT))
    tap.check(drive.hash_of('toor').startswith('$mhkdf$'), drive.hash_of('toor'))
    tap.check(verifies('toor', RIGHT))


try:
    tap.main()
finally:
    services.close()
