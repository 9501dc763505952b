#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Leaving mhkdf: whatever takes a verifier away refuses while it would lock somebody out; and undo as
README.md says, each of its steps killed at many points: root at rescue and a user can log in all the
time, a wrong password is refused, and a second call finishes what the first began."""

import glob
import os
import re
import shutil
import signal
import subprocess

import arenad
import common
import drive
import tap
from common import FRONT_LINE, WRONG, need, pam_files, read, run, write

FIRST, SECOND = 'correct horse 1', 'battery staple 2'
LIBRARY = glob.glob('/usr/lib/*/mhkdf/libcrypt.so.*')[0]
MODULE = glob.glob('/lib/*/security/pam_mhkdf.so')[0]
ACCOUNTS = ('/etc/passwd', '/etc/shadow', '/etc/group', '/etc/gshadow')
common.cheap_hashes()
installed = {}


def attempts(name, *passwords):
    """The statuses of pam_authenticate, in a program that starts now and without PAM's pause."""
    code = ('import sys, pamhost\n'
            'for password in sys.argv[2:]: print(pamhost.Attempt("login", sys.argv[1], password.encode(), delay=False).status)')
    return [int(status) for status in run('/usr/bin/python3', '-c', code, name, *passwords).split()]


def can_log_in(when, passwords=(FIRST, SECOND)):
    """The user by PAM; root at rescue by crypt(3) without PAM, and by PAM."""
    for name in ('anna', 'root'):
        results = attempts(name, WRONG, '', *passwords)
        tap.check(0 not in results[:2], f'{when}: {name} got in with a wrong password: {results}')
        tap.equal(results.count(0), 1, f'{when}: {name} by PAM: {results}')
    stored = drive.hash_of('root')
    tap.equal([drive.perl_crypt(password, stored) == stored for password in passwords].count(True), 1, f'{when}: root at rescue')
    tap.check(drive.perl_crypt(WRONG, stored) != stored, when)


def in_programs(password):
    """The same by the real ones."""
    for way, right in ((drive.login, ('anna', password)), (drive.sulogin, (password,))):
        need(way(*right))
        need(way(*right[:-1], WRONG), False)
    need(drive.su('boris', 'anna', password))
    need(drive.su('boris', 'anna', WRONG), False)


def ours(password=FIRST, *options):
    return common.mhkdf_hash(password, *options)


def yescrypt(password=FIRST):
    return drive.perl_crypt(password, '$y$j75$LdJMENpBABJJ3hIHjB1Bi.$')


def accounts():
    return {path: read(path) for path in ACCOUNTS}


def put_back(files):
    for path, text in files.items():
        write(path, text)


# ---- who would be locked out ------------------------------------------------------------


@tap.case('accounts, and all of it in place')
def _():
    need(drive.add_user('anna', FIRST))
    for name in ('boris', 'old'):
        common.store(name, yescrypt())
    need(drive.set_password('root', FIRST))
    installed.update(pam_files())
    tap.equal([common.method_of(name) for name in ('anna', 'root', 'old')], ['$mhkdf$', '$mhkdf$', '$y$'])
    can_log_in('installed', (FIRST,))


@tap.case('mhkdf-leave names those whom nothing else verifies: {}', (
    ('one in shadow', '/etc/shadow', 'dora:{}:19000::::::', 'dora'),
    ('one in shadow, locked by usermod -L', '/etc/shadow', 'dora:!{}:19000::::::', 'locked dora'),
    ('one in shadow, locked by a star', '/etc/shadow', 'dora:*{}:19000::::::', 'locked dora'),
    ('one in passwd', '/etc/passwd', 'dora:{}:2000:2000::/:/bin/sh', 'dora'),
    ('a group', '/etc/gshadow', 'dora:{}::', 'group dora'),
    ('a group, locked', '/etc/gshadow', 'dora:!{}::', 'locked group dora'),
    ('a group without gshadow', '/etc/group', 'dora:{}:2000:', 'group dora')))
def _(_name, path, line, wanted):
    before = accounts()
    for method in ('mhkdf', 'argon2id', 'argon2i', 'argon2d'):
        write(path, before[path] + line.format(ours(FIRST, '--method', method)) + '\n')
        status, output = run('mhkdf-leave', 'both', check=False)
        tap.equal(status, 1, output)
        tap.check(wanted in output.splitlines(), output)
        tap.check('old' not in output and '$' not in output, output)
    write(path, before[path] + line.format(yescrypt()) + '\n')
    output = run('mhkdf-leave', 'both', check=False)[1]
    tap.check('dora' not in output, output)
    put_back(before)


GAWK = r"""#!/usr/bin/python3
import os, re, sys
words = sys.argv
os.execv('/usr/bin/mawk', ['awk'] + [re.sub(r'\\(?=[^\\"/abfnrtv0-7])', '', word) if before == '-v' else word
                                     for before, word in zip(words, words[1:])])
"""


@tap.case('also where awk is gawk, which takes a backslash out of -v')
def _():
    before = accounts()
    os.mkdir('/root/gawk')
    write('/root/gawk/awk', GAWK)
    os.chmod('/root/gawk/awk', 0o755)
    write('/etc/shadow', before['/etc/shadow'] + f'dora:{ours()}:1::::::\nemil:$mhkdf$m1M.t1.p4.c6.kmain$abcdefgh$xxxx:1::::::\n')
    with_gawk = ('env', f'PATH=/root/gawk:{os.environ["PATH"]}')
    tap.equal(run(*with_gawk, 'awk', '-v', r'text=\$x', 'BEGIN { print text }'), '$x\n')
    for what in ('both', 'pam'):
        tap.equal(run(*with_gawk, 'mhkdf-leave', what, check=False), run('mhkdf-leave', what, check=False))
    tap.equal(run(*with_gawk, 'mhkdf-leave', 'pam', check=False), (1, 'emil\n'))
    put_back(before)
    shutil.rmtree('/root/gawk')


@tap.case('wrapped hashes and such with a site key count: only pam_mhkdf has the key')
def _():
    before = accounts()
    lines = ('dora:$mhkdf$m1M.t1.p4.c6.wJDYkc2FsdHNhbHQ$abcdefgh$xxxx:1::::::', 'emil:$mhkdf$m1M.t1.p4.c6.kmain$abcdefgh$xxxx:1::::::')
    write('/etc/shadow', before['/etc/shadow'] + '\n'.join(lines) + '\n')
    tap.check({'dora', 'emil'} < set(run('mhkdf-leave', 'both', check=False)[1].splitlines()))
    tap.equal(run('mhkdf-leave', 'pam', check=False), (1, 'emil\n'))
    put_back(before)


@tap.case('the history of old passwords locks nobody out, and status tells of it')
def _():
    write('/etc/security/opasswd', f'boris:1001:2:{yescrypt()},{ours()}\nold:1002:1:{yescrypt()}\n')
    tap.contains(run('mhkdf-leave', 'status'), '/etc/security/opasswd, old passwords (locks nobody out): boris\n')
    tap.check('boris' not in run('mhkdf-leave', 'both', check=False)[1].split())
    os.unlink('/etc/security/opasswd')


@tap.case('who can\'t read shadow is told so, and is not told "nobody": {}', ('libcrypt', 'pam', 'both', 'files'))
def _(what):
    os.rename('/etc/gshadow', '/root/gshadow')
    status, output = run('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'mhkdf-leave', what, check=False)
    os.rename('/root/gshadow', '/etc/gshadow')
    tap.equal(status, 3, output)
    tap.contains(output, '/etc/shadow can\'t be read')


# ---- refusals -----------------------------------------------------------------------------


def without_front():
    """The distribution's libcrypt alone, as where mhkdf's was left out."""
    os.rename(FRONT_LINE, '/root/front-line')
    run('ldconfig')


def front_back():
    os.rename('/root/front-line', FRONT_LINE)
    run('ldconfig')


@tap.case('the model: pam_unix alone, without our libcrypt, lets nobody in who has our hash')
def _():
    without_front()
    run('pam-auth-update', '--disable', 'mhkdf')
    tap.equal([attempts(name, FIRST) for name in ('anna', 'old')], [[7], [0]])
    run('pam-auth-update', '--enable', 'mhkdf')
    tap.equal(pam_files(), installed)


@tap.case('so taking pam_mhkdf out is refused, with the names and the ways out: {}', ('disable', 'remove'))
def _(what):
    status, output = run('mhkdf-leave-pam', what, check=False)
    tap.equal(status, 1, output)
    for text in ('    anna\n', '    root\n', 'mhkdf-libcrypt enable', 'method = yescrypt'):
        tap.contains(output, text)
    tap.check('old' not in output and '$mhkdf$' not in output, output)
    tap.equal(pam_files(), installed)
    tap.equal(attempts('anna', FIRST, WRONG), [0, 7])


@tap.case('of a thousand accounts it names twenty, and says how to see the others')
def _():
    before = accounts()
    hashed = ours()
    write('/etc/shadow', before['/etc/shadow'] + ''.join(f'user{i}:{hashed}:19000::::::\n' for i in range(1000)))
    output = run('mhkdf-leave-pam', 'disable', check=False)[1]
    put_back(before)
    tap.equal(len(re.findall(r'(?m)^    \w+$', output)), 20)
    tap.contains(output, 'and 982 more: mhkdf-leave pam')


@tap.case('the folder that it was built in is gone: the same')
def _():
    hidden = f'mount -t tmpfs none "{common.SOURCE}" && ! ls "{common.SOURCE}"/* 2> /dev/null'
    status, output = run('unshare', '--mount', 'sh', '-c', f'{hidden} && cd / && mhkdf-leave-pam remove', check=False)
    tap.equal(status, 1, output)
    tap.contains(output, '    anna\n')
    tap.equal(pam_files(), installed)


@tap.case('with our libcrypt pam_unix verifies them: switched off and on again')
def _():
    front_back()
    run('mhkdf-leave-pam', 'disable')
    tap.check('pam_mhkdf' not in ''.join(pam_files().values()))
    can_log_in('switched off', (FIRST,))


@tap.case('then our libcrypt stays, for all of them')
def _():
    status, output = run('mhkdf-libcrypt', 'disable', check=False)
    tap.equal(status, 1, output)
    tap.check('anna' in output.split() and 'root' in output.split() and 'old' not in output.split(), output)
    tap.check(os.path.exists(FRONT_LINE))
    run('pam-auth-update', '--enable', 'mhkdf')
    tap.equal(pam_files(), installed)


def uninstall(check=True):
    return run('make', '-s', '-C', common.BUILD, 'uninstall', check=check)


@tap.case('make uninstall is refused, and removes nothing, while {}', ('PAM has our lines', 'our libcrypt is in front', 'accounts have our hashes'))
def _(what):
    run('pam-auth-update', '--disable', 'mhkdf')
    without_front()
    before = accounts()
    wanted = {'PAM has our lines': '/etc/pam.d/common-auth names pam_mhkdf', 'our libcrypt is in front': FRONT_LINE,
              'accounts have our hashes': 'anna has a hash'}
    if what != 'accounts have our hashes':
        for name in ('anna', 'root'):
            need(drive.set_password(name, yescrypt(), encrypted=True))
    if what == 'PAM has our lines':
        run('pam-auth-update', '--enable', 'mhkdf')
    if what == 'our libcrypt is in front':
        front_back()
    status, output = uninstall(check=False)
    put_back(before)
    if what != 'our libcrypt is in front':
        front_back()
    run('pam-auth-update', '--enable', 'mhkdf')
    tap.check(status != 0, output)
    for reason, text in wanted.items():
        tap.equal(text in output, reason == what, output)
    tap.check(all(os.path.exists(path) for path in (MODULE, LIBRARY, '/usr/bin/mhkdf', '/usr/share/man/man1/mhkdf.1')))
    tap.equal(pam_files(), installed)


# ---- libraries that a system without compilers doesn't keep ----------------------------------


@tap.case('without libinih and libjansson mhkdf-arenad and the command run, and a user logs in')
def _():
    away = [path for name in ('inih', 'jansson') for path in glob.glob(f'/usr/lib/*/lib{name}.so*')]
    tap.check(away, 'they are not there')
    os.mkdir('/root/away')
    for path in away:
        shutil.move(path, '/root/away')
    run('ldconfig')
    try:
        tap.check(not re.search('inih|jansson', run('ldconfig', '-p')))
        with arenad.configured('[default]\nmemory = 64M\n[arena]\nslots = 2\n'), arenad.running(2):
            need(drive.set_password('anna', FIRST))
            tap.equal(attempts('anna', FIRST, WRONG), [0, 7])
            tap.check(arenad.status()['leases'] > 0)
            output = run('mhkdf-leave', 'files', check=False)[1]
            tap.contains(output, 'mhkdf-arenad runs: ')
            tap.contains(output, 'without systemd: kill ')
            run('sh', '-c', stop_daemon())
        tap.check('mhkdf-arenad runs' not in run('mhkdf-leave', 'files', check=False)[1])
        tap.check(not os.path.exists('/run/mhkdf'), 'the folder of its socket is left')
    finally:
        for path in away:
            shutil.move(f'/root/away/{os.path.basename(path)}', path)
        run('ldconfig')


def stop_daemon():
    """README.md's commands where there is no systemd."""
    return next(block for block in common.code_blocks('README.md', 'Memory that is ready before the login comes')
                if 'pidof' in block)


# ---- undo, killed -----------------------------------------------------------------------------

STATE = ('/etc', '/var/lib/pam', '/var/cache/debconf', '/var/cache/ldconfig')
COUNTER, PRELOAD = '/root/killed.count', '/root/killat.so'


def killed(command, kill_at):
    """Runs a step of the undo; kills it before its KILL_AT'th event. Its status; -9: killed."""
    write(COUNTER, 4096 * '\0')
    with open('/root/killed.log', 'wb') as log:
        step = subprocess.Popen(['sh', '-euc', command], stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
                                cwd=common.SOURCE, env=dict(os.environ, LC_ALL='C', DEBIAN_FRONTEND='noninteractive',
                                                            LD_PRELOAD=PRELOAD, KILL_COUNTER=COUNTER, KILL_AT=str(kill_at)))
        step.communicate(f'anna:{SECOND}\nroot:{SECOND}\n'.encode())
        try:
            os.killpg(step.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return step.returncode


def events(command):
    """What a step does, a character each: R where it renames or removes a file."""
    tap.equal(killed(command, 0), 0, read('/root/killed.log'))
    with open(COUNTER, 'rb') as file:
        text = file.read()
    return text[5:][:int.from_bytes(text[:4], 'little')].decode()


def keep(name):
    shutil.rmtree(f'/root/{name}', ignore_errors=True)
    for path in STATE:
        if os.path.exists(path):
            run('sh', '-c', f'mkdir -p /root/{name}{path} && cp -a {path}/. /root/{name}{path}/')


def restore(name):
    for path in STATE:
        if os.path.exists(f'/root/{name}{path}'):
            run('sh', '-c', f'find {path} -mindepth 1 -delete; cp -a /root/{name}{path}/. {path}/')


def walk_killed(command, done, others=16):
    """The step, from the same state each time, killed before each file that it renames or removes, and at OTHERS
    of its other events; after each both can log in, and the step called again comes to its end."""
    keep('before')
    kinds = events(command)
    done()
    total = len(kinds)
    tap.check(total > 5 and 'R' in kinds, f'{kinds}: nothing was preloaded')
    points = {number + 1 for number, kind in enumerate(kinds) if kind == 'R'}
    points |= {1 + i * (total - 1) // (others - 1) for i in range(others)}
    for point in sorted(points):
        restore('before')
        killed(command, point)
        can_log_in(f'{command}, killed at {point} of {total}')
        tap.equal(killed(command, 0), 0, f'{command}, again after {point} of {total}: ' + read('/root/killed.log'))
        done()
        can_log_in(f'{command}, again after {point} of {total}')
    print(f'# {command}: killed at {len(points)} of {total} points')


@tap.case('undo, 1: method = yescrypt')
def _():
    run('gcc', '-shared', '-fPIC', '-o', PRELOAD, os.path.join(common.SOURCE, 'tests/system/killat.c'), '-ldl')
    tap.contains(common.chapter('README.md', 'Undo'), '`method = yescrypt`')
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 1M\nmethod = yescrypt\n')
    can_log_in('method = yescrypt')
    in_programs(FIRST)


@tap.case('undo, 2: new passwords, killed')
def _():
    def done():
        tap.equal([common.method_of(name) for name in ('anna', 'root')], ['$y$', '$y$'])
    walk_killed('chpasswd', done)
    tap.equal(run('mhkdf-leave', 'both'), '')
    in_programs(SECOND)


def steps():
    """The commands of README.md's block, those of the shell left out."""
    block = next(block for block in common.code_blocks('README.md', 'Undo') if 'make -C build uninstall' in block)
    return [line for line in block.splitlines() if line not in ('(set -e', ')')]


@tap.case('copies of stacks that dpkg, pam-auth-update and editors leave are no stacks')
def _():
    before = run('mhkdf-leave', 'files', check=False)[1]
    for end in ('.pam-old', '.dpkg-old', '~'):
        shutil.copy('/etc/pam.d/common-auth', f'/etc/pam.d/common-auth{end}')
    tap.equal(run('mhkdf-leave', 'files', check=False)[1], before)


@tap.case('undo, 3: the commands are those that this test knows')
def _():
    tap.equal(steps(), ['mhkdf-leave-pam remove', 'mhkdf-libcrypt disable', 'make -C build uninstall', 'ldconfig', 'pam-auth-update --package'])


@tap.case('undo, 4: mhkdf-leave-pam remove, killed')
def _():
    def done():
        for name, text in pam_files().items():
            tap.equal(text, read(f'/var/tmp/before-mhkdf/common-{name}'))
    walk_killed(steps()[0], done)
    in_programs(SECOND)


@tap.case('undo, 5: mhkdf-libcrypt disable, killed')
def _():
    def done():
        tap.check(not os.path.exists(FRONT_LINE))
        tap.check('/mhkdf/' not in run('ldconfig', '-p'))
    walk_killed(steps()[1], done)
    in_programs(SECOND)


@tap.case('undo, 6: make uninstall, killed again and again')
def _():
    command = steps()[2].replace('make -C build', f'make -s -C {common.BUILD}')
    point, kills = 1, 0
    while killed(command, point) == -signal.SIGKILL:
        kills += 1
        can_log_in(f'{command}, killed at {point}')
        point += 11
    tap.check(kills > 10, f'{kills}: {read("/root/killed.log")}')
    can_log_in('uninstalled')
    tap.contains(read('/root/killed.log'), '/etc/security/mhkdf.conf has been edited and stays')
    print(f'# killed {kills} times')


@tap.case('undo, 7: the rest, and nothing of mhkdf is left, not even a folder')
def _():
    for step in steps()[3:]:
        run('sh', '-euc', step)
        can_log_in(step)
    in_programs(SECOND)
    run('sh', '-c', 'rm -rf /root/* /etc/pam.d/common-auth[.~]* && rm /etc/security/mhkdf.conf')
    left = run('find', '/usr', '/etc', '/var/lib', '/var/cache', '-name', '*mhkdf*', check=False)[1].split()
    tap.equal([path for path in left if not path.startswith(common.SOURCE)], [])
    tap.equal(run('dpkg', '--verify', 'libcrypt1', 'libpam-runtime', 'libpam-modules'), '')


tap.main()
