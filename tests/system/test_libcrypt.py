#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""mhkdf's libcrypt in front of the distribution's: put there and taken away, killed at any step,
with updates of libcrypt1 under it, and without anything behind it."""

import glob
import os
import re
import signal
import subprocess
import tempfile

import common
import drive
import tap
from common import FRONT_LINE, WRONG, mhkdf_hash, mhkdf_libcrypt, need, read, run, write

FIRST, SECOND = 'correct horse 1', 'battery staple 2'
FRONT = glob.glob('/usr/lib/*/mhkdf/libcrypt.so.1')[0]
PLACE = os.path.dirname(os.path.dirname(FRONT))     # of the distribution's
LINK = f'{PLACE}/libcrypt.so.1'
ORIGINAL = os.path.realpath(LINK)
OTHERS = drive.perl_crypt(FIRST, '$6$rounds=1000$saltsalt')
OURS = mhkdf_hash(FIRST)


def content(path):
    with open(path, 'rb') as file:
        return file.read()


UNTOUCHED = content(ORIGINAL)


def programs(ours=True):
    """A program that starts now verifies others' hashes, and ours or not."""
    tap.equal(drive.perl_crypt(FIRST, OTHERS), OTHERS)
    tap.equal(drive.perl_crypt(FIRST, OURS) == OURS, ours, 'our hash is verified')
    tap.check(drive.perl_crypt(WRONG, OURS) != OURS and drive.perl_crypt(WRONG, OTHERS) != OTHERS)


def root_has(hashed):
    need(drive.set_password('root', hashed, encrypted=True))


@tap.case('it is in front: programs without PAM verify all; the file of libcrypt1 is as it was')
def _():
    programs()
    tap.contains(mhkdf_libcrypt('status'), "mhkdf's is in front")
    tap.equal(mhkdf_libcrypt('check'), '')
    first = re.search(r'libcrypt\.so\.1 .*=> (\S+)', run('ldconfig', '-p'))[1]
    tap.equal(os.path.realpath(first), FRONT)
    tap.equal(run('dpkg', '--verify', 'libcrypt1'), '')
    root_has(OURS)
    need(drive.sulogin(FIRST))
    need(drive.sulogin(WRONG), False)


@tap.case('a second time changes nothing')
def _():
    before = content('/etc/ld.so.cache')
    mhkdf_libcrypt('enable')
    tap.check(content('/etc/ld.so.cache') == before)
    programs()


@tap.case("taking it away is refused while root's hash needs it; the refusal names root alone, and the ways out")
def _():
    store_anna()
    status, output = mhkdf_libcrypt('disable', check=False)
    tap.equal(status, 1, output)
    tap.contains(output, '    root\n')
    tap.check('anna' not in output, 'pam_mhkdf verifies her')
    tap.check('$mhkdf$' not in output.replace('$mhkdf$ ', ''), "hashes are nobody's business")
    tap.contains(run('mhkdf-leave', '--help'), 'passwd NAME')
    programs()


def store_anna():
    common.store('anna', OURS)


@tap.case('it is held up by {}', ('another name of user id 0', 'a hash in /etc/passwd', "a group's", 'a locked one of root'))
def _(what):
    files = ('/etc/passwd', '/etc/shadow', '/etc/gshadow')
    before = {path: read(path) for path in files}
    root_has(('!' + OURS) if what.startswith('a locked') else OTHERS)
    if what.startswith('a group'):
        write('/etc/gshadow', read('/etc/gshadow') + f'toor:{OURS}::\n')
    elif not what.startswith('a locked'):
        in_shadow = what.startswith('another')
        write('/etc/passwd', read('/etc/passwd') + f'toor:{"x" if in_shadow else OURS}:0:0::/root:/bin/sh\n')
        write('/etc/shadow', read('/etc/shadow') + f'toor:{OURS if in_shadow else "*"}:19000::::::\n')
    status, output = mhkdf_libcrypt('disable', check=False)
    listed = mhkdf_libcrypt('status')
    for path, text in before.items():
        write(path, text)
    tap.equal(status, 1, output)
    name = {'a group': 'group toor', 'a locke': 'locked root'}.get(what[:7], 'toor')
    tap.contains(output, f'    {name}\n')
    tap.check('anna' not in output and OURS not in output, output)
    tap.contains(listed, name.split()[-1])


@tap.case('status: "none" where there is none; the locked ones by themselves')
def _():
    before = read('/etc/shadow')
    tap.contains(mhkdf_libcrypt('status'), '/etc/gshadow, $mhkdf$ or $argon2*$: none\n')
    write('/etc/shadow', before + f'dora:!{OURS}:19000::::::\n')
    output = mhkdf_libcrypt('status')
    write('/etc/shadow', before)
    lines = [line for line in output.splitlines() if 'dora' in line]
    tap.equal(len(lines), 1, output)
    tap.check('locked' in lines[0] and 'anna' not in lines[0], output)


@tap.case('mhkdf-leave: who needs what')
def _():
    before = read('/etc/shadow')
    keyed = '$mhkdf$m64M.t1.p4.c6.kmain$abcdefgh$' + 43 * 'A'
    write('/etc/shadow', before + f'kim:{keyed}:19000::::::\ndora:!{OURS}:19000::::::\nold:{OTHERS}:19000::::::\n')
    got = {what: run('mhkdf-leave', what, check=False) for what in ('libcrypt', 'pam', 'both')}
    mhkdf_libcrypt_line(False)
    without = run('mhkdf-leave', 'pam', check=False)
    mhkdf_libcrypt_line(True)
    write('/etc/shadow', before)
    tap.equal(got['libcrypt'], (1, 'root\n'))
    tap.equal(got['pam'], (1, 'kim\n'), 'libcrypt has no site keys')
    tap.equal((got['both'][0], set(got['both'][1].splitlines())), (1, {'root', 'anna', 'kim', 'locked dora'}))
    tap.equal(without, got['both'])
    tap.equal(run('mhkdf-leave', check=False)[0], 2)
    tap.equal(run('setpriv', '--reuid', '65534', '--clear-groups', 'mhkdf-leave', 'both', check=False)[0], 3)


def mhkdf_libcrypt_line(there):
    os.rename(*((FRONT_LINE + '.away', FRONT_LINE) if there else (FRONT_LINE, FRONT_LINE + '.away')))
    run('ldconfig')


@tap.case("with root's password of another method it goes, and comes back")
def _():
    root_has(OTHERS)
    mhkdf_libcrypt('disable')
    tap.check(not os.path.exists(FRONT_LINE))
    programs(ours=False)
    tap.equal(mhkdf_libcrypt('check', check=False)[0], 1)
    output = mhkdf_libcrypt('status')
    tap.contains(output, "the distribution's, without mhkdf's methods")
    tap.contains(output, 'anna')
    tap.contains(mhkdf_libcrypt('disable'), 'already')
    mhkdf_libcrypt('enable')
    programs()


# ---- killed ------------------------------------------------------------------------------

# Commands that change something, or on which something depends. Each counts; the one whose turn it
# is kills all of mhkdf-libcrypt, before or after its work.
SHIM = '''#!/bin/sh
echo >> "$SHIM_LOG"
turn=no
[ "$(wc -l < "$SHIM_LOG")" != "$SHIM_AT" ] || turn=yes
[ "$turn$SHIM_HOW" != yesbefore ] || kill -KILL 0
PATH=$SHIM_PATH "${0##*/}" "$@"
status=$?
[ $turn = no ] || kill -KILL 0
exit $status
'''


def killed(action, at, how, folder):
    log = f'{folder}/log'
    write(log, '')
    environment = dict(os.environ, SHIM_LOG=log, SHIM_AT=str(at), SHIM_HOW=how, SHIM_PATH=os.environ['PATH'],
                       PATH=f'{folder}/bin:{os.environ["PATH"]}')
    return subprocess.run(['mhkdf-libcrypt', action], env=environment, start_new_session=True, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


@tap.case('SIGKILL {1} each step of {0}: programs find a libcrypt that works, and a second call ends what the first began', [
    (action, how) for action in ('enable', 'disable') for how in ('before', 'after')])
def _(action, how):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f'{folder}/bin')
        for name in ('mv', 'rm', 'mkdir', 'sync', 'ldconfig', 'grep', 'flock'):
            write(f'{folder}/bin/{name}', SHIM)
            os.chmod(f'{folder}/bin/{name}', 0o755)
        for at in range(1, 100):
            mhkdf_libcrypt('disable' if action == 'enable' else 'enable')
            status = killed(action, at, how, folder)
            tap.check(status in (0, -signal.SIGKILL), status)
            tap.equal(drive.perl_crypt(FIRST, OTHERS), OTHERS, f'step {at}')
            run('ldconfig')         # as any package's script may
            tap.equal(drive.perl_crypt(FIRST, OTHERS), OTHERS, f'step {at}, and ldconfig')
            tap.check(content(ORIGINAL) == UNTOUCHED)
            mhkdf_libcrypt(action)
            programs(ours=action == 'enable')
            tap.equal([name for name in os.listdir(os.path.dirname(FRONT_LINE)) if 'new' in name], [])
            if status == 0:
                break
        tap.check(status == 0 and at > 5, f'{at} steps, status {status}')
    mhkdf_libcrypt('enable')


@tap.case('a second enable that is interrupted, or fails, takes nothing away: {}', ('kill -INT $PPID', 'exit 1'))
def _(what):
    with tempfile.TemporaryDirectory() as folder:
        write(f'{folder}/ldconfig', f'#!/bin/sh\n{what}\n')
        os.chmod(f'{folder}/ldconfig', 0o755)
        status = run('env', f'PATH={folder}:{os.environ["PATH"]}', 'mhkdf-libcrypt', 'enable', check=False)[0]
    tap.check(status != 0)
    run('ldconfig')
    programs()


@tap.case('enable is refused, and all is as before: {}', (
    'a library that is none', "the distribution's own", 'none', 'a line that has no effect'))
def _(what):
    mhkdf_libcrypt('disable')
    ours, settings = content(FRONT), read('/etc/ld.so.conf')
    cache = content('/etc/ld.so.cache')
    if what == 'a line that has no effect':
        write('/etc/ld.so.conf', f'{PLACE}\n')
        run('ldconfig')
        cache = content('/etc/ld.so.cache')
    else:
        os.unlink(FRONT)
        if what != 'none':
            with open(FRONT, 'wb') as file:
                file.write(UNTOUCHED if what.startswith('the') else b'nothing')
    status, output = mhkdf_libcrypt('enable', check=False)
    line = os.path.exists(FRONT_LINE)
    programs(ours=False)
    tap.check(content('/etc/ld.so.cache') == cache, 'the cache has changed')
    write('/etc/ld.so.conf', settings)
    with open(FRONT, 'wb') as file:
        file.write(ours)
    mhkdf_libcrypt('enable')
    tap.equal((status, line), (1, False), output)
    programs()


@tap.case("enable is refused while the distribution's has functions that ours lacks")
def _():
    mhkdf_libcrypt('disable')
    write('/root/new.c', 'int crypt_new(void) { return 0; }\n')
    write('/root/new.map', 'XCRYPT_9.9 { global: crypt_new; local: *; };\n')
    os.rename(ORIGINAL, '/root/original')
    run('gcc', '-shared', '-fPIC', '-o', ORIGINAL, '/root/new.c', '-Wl,-soname,libcrypt.so.1', '-Wl,--version-script=/root/new.map')
    status, output = mhkdf_libcrypt('enable', check=False)
    os.rename('/root/original', ORIGINAL)
    mhkdf_libcrypt('enable')
    tap.equal(status, 1, output)
    tap.contains(output, 'crypt_new@@XCRYPT_9.9')


SETUID = r'''
#include <crypt.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *hash = crypt("correct horse 1", argv[i]);
        if (hash == NULL || strcmp(hash, argv[i]) != 0)
            return 1;
    }
    return getauxval(AT_SECURE) != 0 ? 0 : 2;
}
'''


def compiled(source, path):
    write(path + '.c', source)
    run('gcc', '-o', path, path + '.c', '-lcrypt')
    return path


@tap.case('a program built here depends on libcrypt1 as before')
def _():
    if run('which', 'dpkg-shlibdeps', check=False)[0]:
        tap.skip('dpkg-dev is not installed')
    os.makedirs('/root/source/debian/one/usr/bin')
    os.makedirs('/root/source/debian/one/DEBIAN')
    program = compiled(SETUID, '/root/source/debian/one/usr/bin/one')
    write('/root/source/debian/control', 'Source: one\n\nPackage: one\nArchitecture: any\n')
    depends = run('sh', '-c', f'cd /root/source && dpkg-shlibdeps -O {program}')
    tap.check(re.search(r'shlibs:Depends=.*\blibcrypt1 \(>= 1:4', depends), depends)


# ---- updates of libcrypt1 ----------------------------------------------------------------

MERGED = os.path.realpath('/lib') == '/usr/lib'
ARCHITECTURE = run('dpkg', '--print-architecture').strip()
VERSION = run('dpkg-query', '-W', '-f', '${Version}', f'libcrypt1:{ARCHITECTURE}')


def package(version, name, folder, mark):
    """Installs libcrypt1 of this version, whose library is NAME below FOLDER, with MARK at its end."""
    below = f'{folder}/{os.path.basename(PLACE)}'
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(f'{work}/DEBIAN')
        os.makedirs(work + below)
        write(f'{work}/DEBIAN/control', f'Package: libcrypt1\nVersion: {version}\nArchitecture: {ARCHITECTURE}\n'
              'Multi-Arch: same\nMaintainer: nobody <nobody@localhost>\nDescription: an update\n')
        with open(f'{work}{below}/{name}', 'wb') as file:
            file.write(UNTOUCHED + mark)
        os.symlink(name, f'{work}{below}/libcrypt.so.1')
        run('dpkg-deb', '-b', work, f'{work}.deb')
    run('dpkg', '-i', '--force-downgrade', f'{work}.deb')
    os.unlink(f'{work}.deb')
    run('ldconfig')


MAPS = r'''
    $| = 1; crypt("x", '$1$saltsalt') or die; print "ready\n"; <STDIN>;
    my ($ours, $others) = @ARGV;
    print crypt("correct horse 1", $ours) eq $ours, crypt("correct horse 1", $others) eq $others;
    open my $maps, "<", "/proc/self/maps"; print " $_" for grep { /libcrypt\./ } <$maps>;
'''


@tap.case('libcrypt1 {0}: programs get it at once behind ours, those that run go on', (
    ('reinstalled', VERSION, 'libcrypt.so.1.1.0', '/lib'),
    ('upgraded', VERSION + '.9', 'libcrypt.so.1.1.0', '/usr/lib'),
    ('upgraded to libcrypt.so.1.2.0', VERSION + '.91', 'libcrypt.so.1.2.0', '/usr/lib'),
    ('downgraded', VERSION + '.5', 'libcrypt.so.1.1.0', '/lib'),
    ('upgraded again', VERSION + '.6', 'libcrypt.so.1.1.0', '/lib')))
def _(_what, version, name, folder):
    if folder == '/usr/lib' and not MERGED and LINK.startswith('/lib'):
        tap.skip('/lib is no link to usr/lib')
    with subprocess.Popen(['perl', '-we', MAPS, OURS, OTHERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as running:
        running.stdout.readline()
        package(version, name, folder, version.encode())
        tap.check(running.communicate('\n')[0].startswith('11'), 'a program that ran before it')
    programs()
    tap.check(content(LINK).endswith(version.encode()), 'it is not installed')
    maps = subprocess.run(['perl', '-we', MAPS, OURS, OTHERS], input='\n', stdout=subprocess.PIPE, text=True, check=True).stdout
    tap.contains(maps, os.path.realpath(LINK))
    tap.contains(maps, FRONT)
    tap.contains(mhkdf_libcrypt('status'), "mhkdf's is in front")
    root_has(OURS)
    need(drive.sulogin(FIRST))
    root_has(OTHERS)
    need(drive.sulogin(FIRST))


@tap.case('and after all of it taking ours away leaves the last of them')
def _():
    mhkdf_libcrypt('disable')
    programs(ours=False)
    tap.check(content(LINK).endswith(b'.6'))
    tap.equal(run('dpkg-divert', '--list', '*libcrypt*'), '')
    mhkdf_libcrypt('enable')


# ---- odd surroundings --------------------------------------------------------------------


@tap.case("without the distribution's: ours work, others fail, sulogin lets root in")
def _():
    target = os.path.realpath(LINK)
    root_has(OURS)
    os.rename(target, '/root/target')
    try:
        tap.equal(drive.perl_crypt(FIRST, OURS), OURS)
        tap.check((drive.perl_crypt(FIRST, OTHERS) or '*0').startswith('*'))
        need(drive.sulogin(FIRST))
        need(drive.sulogin(WRONG), False)
        tap.equal(mhkdf_libcrypt('disable', check=False)[0], 1)
    finally:
        os.rename('/root/target', target)
    root_has(OTHERS)
    programs()


@tap.case("with ours deleted programs get the distribution's")
def _():
    os.rename(FRONT, '/root/front')
    try:
        programs(ours=False)
    finally:
        os.rename('/root/front', FRONT)
    programs()


@tap.case('a set-user-id program verifies all, whatever its user says about libraries')
def _():
    program = compiled(SETUID, '/usr/local/bin/setuid-crypt')
    os.chmod(program, 0o4755)
    run('setpriv', '--reuid', '65534', '--clear-groups', 'env', 'LD_LIBRARY_PATH=' + PLACE, 'LD_BIND_NOW=1',
        program, OURS, OTHERS)


@tap.case("initramfs-tools: the hook adds the distribution's, where ours is in front")
def _():
    hook = '/usr/share/initramfs-tools/hooks/mhkdf'
    functions = '/usr/share/initramfs-tools/hook-functions'
    os.makedirs(os.path.dirname(functions), exist_ok=True)
    write(functions, 'copy_exec() { echo "copy $1"; }\n')
    tap.equal(run(hook, 'prereqs'), '')
    tap.equal(run(hook), f'copy {LINK}\n')
    mhkdf_libcrypt('disable')
    tap.equal(run(hook), '')
    mhkdf_libcrypt('enable')


@tap.case('make install puts the library in place in one step; make uninstall leaves it while it is in front')
def _():
    before = os.stat(FRONT).st_ino
    run('make', '-s', '-C', common.BUILD, 'install')
    tap.check(os.stat(FRONT).st_ino != before, 'it was written in place')
    tap.equal(os.listdir(os.path.dirname(FRONT)), ['libcrypt.so.1'])
    programs()
    status, output = run('make', '-s', '-C', common.BUILD, 'uninstall', 'FORCE=yes', check=False)
    tap.check(status != 0, output)
    tap.contains(output, 'mhkdf-libcrypt disable')
    programs()
    run('make', '-s', '-C', common.BUILD, 'install')
    mhkdf_libcrypt('disable')
    run('make', '-s', '-C', common.BUILD, 'uninstall', 'FORCE=yes')
    tap.check(not os.path.exists(os.path.dirname(FRONT)), 'files are left')
    programs(ours=False)


tap.main()
