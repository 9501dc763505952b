#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Installing, switching off, removing and purging. After each step: the right passwords open, wrong
ones don't. The commands are those of README.md and doc/PAM.md."""

import glob
import os
import re

import common
import drive
import tap
from common import mhkdf_libcrypt, need, pam_files, read, right_and_wrong, run, store

FIRST, SECOND = 'correct horse 1', 'battery staple 2'
LEAVE_PAM = 'mhkdf-leave-pam'
LEFT = '[default]\nmemory = 1M\nmethod = yescrypt\n'
PROFILE = '/usr/share/pam-configs/mhkdf'
MODULE = glob.glob('/lib/*/security/pam_mhkdf.so')[0]
passwords = {'anna': FIRST, 'carla': FIRST, 'old': FIRST}
installed = {}
common.cheap_hashes()


def check_logins(ours=True):
    """OURS: pam_mhkdf is what verifies; its tests are that no other module is asked."""
    right_and_wrong('boris', passwords)
    used = 'pam_mhkdf.so' in read('/etc/pam.d/common-auth')
    tap.equal(used, ours, 'pam_mhkdf in common-auth')
    auth = re.sub(r'(?m)^#.*\n|^\s*\n', '', read('/etc/pam.d/common-auth'))
    tap.check(re.search(r'^auth\s.*pam_unix\.so', auth, re.M), f'pam_unix is gone:\n{auth}')
    tap.check(re.search(r'^auth\s+requisite\s+pam_deny\.so', auth, re.M), f'pam_deny is gone:\n{auth}')


def can_change(method):
    """A user's password can be changed, and gets a hash of this method."""
    need(drive.change_password('carla', passwords['carla'], SECOND))
    tap.equal(common.method_of('carla'), method)
    need(drive.change_password('carla', SECOND, passwords['carla']))
    need(drive.change_password('carla', common.WRONG, SECOND), False)


@tap.case('README.md\'s blocks stop at the first command that fails')
def _():
    for chapter in ('Install', 'Undo'):
        for block in common.code_blocks('README.md', chapter):
            lines = block.splitlines()
            tap.check(len(lines) == 1 or (lines[0], lines[-1]) == ('(set -e', ')'), block)
            if len(lines) > 1:
                for shell in ('sh', 'bash'):
                    stopped = '\n'.join([lines[0], 'false', 'echo went on', lines[-1]])
                    tap.equal(run(shell, '-c', stopped, check=False), (1, ''))
                    run(shell, '-nc', block)


@tap.case('installed as README.md says')
def _():
    steps = read(os.path.join(common.SOURCE, 'README.md'))
    script = read(os.path.join(common.SOURCE, 'tests/root/install-inside'))
    tap.contains(steps, '    grep pam_unix /etc/pam.d/common-auth\n')
    for step in ('ldconfig', 'pam-auth-update --package', 'mhkdf-libcrypt enable', 'mhkdf-pam-check'):
        tap.check(f'    {step}\n' in steps and f'\n{step}\n' in script, f'{step}: README.md and install-inside differ')
    tap.check('    make install-strip\n' in steps and ' install-strip\n' in script, 'README.md and install-inside differ')
    quickstart = read(os.path.join(common.SOURCE, 'quickstart'))
    tap.equal(set(re.search(r'    apt-get install --no-install-recommends (.*)', steps)[1].split()) | {'python3'},
              set(re.search(r'(?s)build_packages=\((.*?)\)', quickstart)[1].split()), 'packages')
    flags = re.search(r'configure (--prefix.*)', steps)[1]
    tap.contains(quickstart, flags.replace('--libdir=', '--libdir="') + '"', 'flags of configure')
    need(drive.add_user('anna', FIRST))
    need(drive.add_user('carla', FIRST))
    drive.add_user('boris')
    # Of 16M, so that no login replaces it by one of ours of less.
    store('old', drive.perl_crypt(FIRST, '$y$j9T$LdJMENpBABJJ3hIHjB1Bi.$'))
    installed.update(pam_files())
    check_logins()
    can_change('$mhkdf$')


@tap.case('pam_mhkdf stands in front of pam_unix, with jumps that fit')
def _():
    for name in ('auth', 'password'):
        lines = [line for line in installed[name].splitlines() if re.match(rf'{name}\s', line)]
        modules = [re.search(r'(pam_\w+)\.so', line)[1] for line in lines]
        mhkdf, unix, permit = (modules.index(f'pam_{module}') for module in ('mhkdf', 'unix', 'permit'))
        tap.equal(unix, mhkdf + 1)
        tap.contains(lines[mhkdf], f'success={permit - mhkdf - 1} ')
        tap.contains(lines[unix], f'success={permit - unix - 1} ')


@tap.case('pam-auth-update again changes nothing')
def _():
    run('pam-auth-update', '--package')
    tap.equal(pam_files(), installed)


@tap.case('switched off: pam_unix verifies all hashes through libcrypt, new ones are $y$')
def _():
    run('pam-auth-update', '--disable', 'mhkdf')
    tap.equal(common.method_of('anna'), '$mhkdf$')
    check_logins(ours=False)
    need(drive.login('anna', FIRST))
    need(drive.login('anna', common.WRONG), False)
    can_change('$y$')


@tap.case('switched off is remembered')
def _():
    run('pam-auth-update', '--package')
    check_logins(ours=False)


@tap.case('and on again')
def _():
    run('pam-auth-update', '--enable', 'mhkdf')
    tap.equal(pam_files(), installed)
    check_logins()
    can_change('$mhkdf$')


@tap.case('the module is missing: logins go on, passwords stay')
def _():
    os.rename(MODULE, MODULE + '.away')
    check_logins()
    before = read('/etc/shadow')
    need(drive.change_password('anna', FIRST, SECOND), False)
    need(drive.set_password('anna', SECOND), False)
    tap.equal(read('/etc/shadow'), before)
    os.rename(MODULE + '.away', MODULE)
    check_logins()


@tap.case('the profile is deleted first: the next pam-auth-update takes the module out')
def _():
    os.rename(PROFILE, '/root/profile')
    check_logins()
    run('pam-auth-update', '--package')
    check_logins(ours=False)
    os.rename('/root/profile', PROFILE)
    run('pam-auth-update', '--package')
    tap.equal(pam_files(), installed)
    check_logins()


@tap.case('purge by the book, while hashes need our libcrypt: it stays, and says for whom')
def _():
    run('pam-auth-update', '--package', '--remove', 'mhkdf')
    check_logins(ours=False)
    status, output = mhkdf_libcrypt('disable', check=False)
    tap.equal(status, 1, output)
    tap.check('anna' in output and 'old' not in output, output)
    check_logins(ours=False)
    run('pam-auth-update', '--enable', 'mhkdf')
    tap.equal(pam_files(), installed)


@tap.case('with the profile unix switched off README.md\'s first step is refused, and nobody is let in: {}', ('disable', 'remove'))
def _(what):
    run('pam-auth-update', '--disable', 'unix')
    tap.check('pam_unix' not in read('/etc/pam.d/common-auth'), 'it is not off')
    before = pam_files()
    status, output = run(LEAVE_PAM, what, check=False)
    tap.equal(status, 1, output)
    tap.contains(output, 'refused: pam_unix')
    tap.equal(pam_files(), before)
    need(drive.su('boris', 'anna', FIRST))
    for wrong in (common.WRONG, ''):
        need(drive.su('boris', 'anna', wrong), False)
        need(drive.su('boris', 'root', wrong), False)
    run('pam-auth-update', '--enable', 'unix')
    tap.equal(pam_files(), installed)


@tap.case('a line of pam_unix that a profile of another name brings doesn\'t save a stack without pam_deny')
def _():
    text = read('/etc/pam.d/common-auth')
    common.write('/etc/pam.d/common-auth', re.sub(r'(?m)^auth\s+requisite\s+pam_deny.*\n', '', text))
    status, output = run(LEAVE_PAM, 'disable', check=False)
    common.write('/etc/pam.d/common-auth', text)
    tap.equal(status, 1, output)
    tap.contains(output, 'refused: pam_deny')


@tap.case('leaving PAM is refused while nothing else verifies somebody, who is named: {}', ('disable', 'remove'))
def _(what):
    mhkdf_libcrypt('disable')
    before = pam_files()
    status, output = run(LEAVE_PAM, what, check=False)
    mhkdf_libcrypt('enable')
    tap.equal(status, 1, output)
    tap.contains(output, '    anna\n')
    tap.check('    old\n' not in output, output)
    tap.equal(pam_files(), before)


@tap.case('undone as README.md says')
def _():
    first, second = common.code_blocks('README.md', 'Undo')
    os.chdir(common.SOURCE)
    common.write('/etc/security/mhkdf.conf', LEFT)
    tap.contains(run('sh', '-euc', first), 'anna')
    for name in ('anna', 'carla'):
        need(drive.set_password(name, FIRST))
        tap.equal(common.method_of(name), '$y$')
    tap.check(' anna' not in run('sh', '-euc', first))
    tap.check('mhkdf-leave-pam remove' in second, 'README.md goes past the guard')
    output = run('sh', '-uc', second.replace('make -C build', f'make -s -C {common.BUILD}'))
    tap.contains(output, '/etc/security/mhkdf.conf has been edited and stays')
    check_logins(ours=False)
    can_change('$y$')


@tap.case('nothing of mhkdf is left, but for what the administrator wrote')
def _():
    left = run('grep', '-rl', 'mhkdf', '/etc', '/usr/lib', '/usr/bin', '/usr/include', '/usr/share', check=False)[1]
    tap.equal(set(left.split()) - {'/etc/shadow-'}, set(), 'files that speak of mhkdf')
    tap.equal(read('/etc/security/mhkdf.conf'), LEFT)
    tap.check('mhkdf' not in run('ldconfig', '-p'), 'the cache speaks of it')
    tap.equal(run('dpkg', '--verify', 'libcrypt1', 'libpam-runtime', 'libpam-modules'), '')
    drive.set_password('root', SECOND)
    need(drive.sulogin(SECOND))
    need(drive.sulogin(common.WRONG), False)


@tap.case('and pam.d is what it was before')
def _():
    for name, text in pam_files().items():
        tap.equal(text, read(f'/var/tmp/before-mhkdf/common-{name}'))


@tap.case('installed once more')
def _():
    common.cheap_hashes()
    run('make', '-s', '-C', common.BUILD, 'install')
    run('ldconfig')
    run('pam-auth-update', '--package')
    mhkdf_libcrypt('enable')
    tap.equal(pam_files(), installed)
    need(drive.set_password('anna', FIRST))
    tap.equal(common.method_of('anna'), '$mhkdf$')
    check_logins()


@tap.case('a stack edited by hand is left alone: removal has to be looked after')
def _():
    text = read('/etc/pam.d/common-auth')
    edited = re.sub(r'(?m)^(auth.*pam_unix)', 'auth\toptional\tpam_echo.so\n\\1', text)
    common.write('/etc/pam.d/common-auth', edited)
    status, output = run(LEAVE_PAM, 'remove', check=False)
    tap.equal(status, 1, output)
    tap.contains(output, 'by hand')
    tap.contains(read('/etc/pam.d/common-auth'), 'pam_mhkdf.so')
    tap.contains(run('grep', '-r', 'pam_mhkdf', '/etc/pam.d'), 'common-auth')


@tap.case('a line with the whole path of the module is seen, too')
def _():
    common.write('/etc/pam.d/by-path', f'auth\trequired\t{MODULE}\n')
    status, output = run(LEAVE_PAM, 'remove', check=False)
    tap.equal(status, 1, output)
    tap.contains(output, '/etc/pam.d/by-path:')
    os.remove('/etc/pam.d/by-path')


tap.main()
