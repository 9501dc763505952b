#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""mhkdf_chkpwd as programs of ordinary users meet it, by hand and through pam_mhkdf."""

import contextlib
import json
import os
import pty
import pwd
import random
import resource
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import arenad
import common
import drive
import tap
from common import need, run, write

PROGRAM = '/usr/sbin/mhkdf_chkpwd'
HOST = os.path.join(common.SOURCE, 'tests/system/host.py')
RIGHT, WRONG, UNKNOWN, UNAVAILABLE, BUSY, REFUSED, DENIED, RIGHT_BELOW = 0, 10, 11, 12, 13, 14, 15, 16
SUCCESS, SYSTEM_ERR, PERM_DENIED, AUTH_ERR, UNAVAIL, USER_UNKNOWN, NEW_AUTHTOK_REQD = 0, 4, 6, 7, 9, 10, 12     # of PAM
WORD, LONG = 'anna knows this', 'x' * 511
common.cheap_hashes()
for name in ('anna', 'boris', 'longa', 'empty', 'locked'):
    need(drive.add_user(name, LONG if name == 'longa' else f'{name} knows this'))
run('passwd', '-d', 'empty')
run('usermod', '-L', 'locked')
run('useradd', '-o', '-u', str(pwd.getpwnam('anna').pw_uid), '-g', 'anna', 'anna2')
need(drive.set_password('anna2', 'the other password'))
write('/etc/pam.d/locker', 'auth required pam_mhkdf.so debug\n')
for service in ('expiring', 'lenient'):
    write(f'/etc/pam.d/{service}', 'auth required pam_mhkdf.so\naccount required pam_permit.so\n'
          'account [success=ok new_authtok_reqd=ok ignore=ignore default=bad] pam_mhkdf.so\n')
write('/etc/pam.d/mixed', '@include common-auth\n')
os.chmod('/tmp', 0o1777)


def as_user(name):
    account = pwd.getpwnam(name)
    return {'user': account.pw_uid, 'group': account.pw_gid, 'extra_groups': []}


def start(*arguments, user='anna', stdin=subprocess.PIPE, program=PROGRAM, **more):
    return subprocess.Popen([program, *arguments], stdin=stdin, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, cwd='/', **as_user(user), **more)


def ask(password, *arguments, user='anna', **more):
    """Exit status of the program."""
    with start(*arguments, user=user, **more) as process:
        output = process.communicate(password.encode() if isinstance(password, str) else password, timeout=60)[0]
    if output:
        print('#', output.decode(errors='replace').strip())
    return process.returncode


def host(*arguments, password=WORD, user='anna', **more):
    """What host.py noticed."""
    done = subprocess.run([HOST, *arguments], input=password.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, check=False, cwd='/', **as_user(user), **more)
    if done.returncode or not done.stdout:
        raise AssertionError(f'{arguments}: {done.returncode} {done.stderr.decode()}')
    return json.loads(done.stdout)


def undisturbed(seen, children=0):
    """The host found everything as it was."""
    tap.equal((seen['same'], seen['left'], seen['children'], seen['stolen'] if not children else []), (True, [], [], []))


# ---- by hand; a wrong answer takes seconds, so all at once -------------------------------

ANSWERS = [
    ('the right password', RIGHT, WORD, 'anna', 'nonull'),
    ('a wrong one', WRONG, 'boris knows this', 'anna', 'nonull'),
    ('none', WRONG, '', 'anna', 'nullok'),
    ('the start of the right one', WRONG, WORD[:-1], 'anna', 'nonull'),
    ('the right one and a newline', WRONG, WORD + '\n', 'anna', 'nonull'),
    ('the right one and a NUL', RIGHT, WORD + '\0', 'anna', 'nonull'),
    ('the right one and two NULs', WRONG, WORD + '\0\0', 'anna', 'nonull'),
    ('the right one, a NUL and more', WRONG, WORD + '\0more', 'anna', 'nonull'),
    ('a NUL alone', WRONG, '\0', 'anna', 'nullok'),
    ('512 bytes', WRONG, 'x' * 512, 'anna', 'nonull'),
    ('70,000 bytes', WRONG, 'x' * 70000, 'anna', 'nonull'),
    ('another name of the same uid', RIGHT, 'the other password', 'anna2', 'nonull'),
    ('that name with the first one\'s password', WRONG, WORD, 'anna2', 'nonull'),
    ('another user, with his right password', REFUSED, 'boris knows this', 'boris', 'nonull'),
    ('root', REFUSED, WORD, 'root', 'nonull'),
    ('an account that isn\'t there', UNKNOWN, WORD, 'nobody-there', 'nonull'),
    ('a name with a newline', UNKNOWN, WORD, 'anna\nroot', 'nonull'),
    ('an empty name', UNKNOWN, WORD, '', 'nonull'),
    ('a long name', UNKNOWN, WORD, 'a' * 100000, 'nonull'),
    ('a word that nobody knows', REFUSED, WORD, 'anna', 'nulls'),
    ('no word', REFUSED, WORD, 'anna'),
    ('a service', REFUSED, WORD, 'anna', 'nonull', 'sshd'),
    ('a word too many', REFUSED, WORD, 'anna', 'nonull', 'sshd', 'sshd'),
    ('what root may say', REFUSED, WORD, 'anna', 'nonull', 'sshd', '0', 'console'),
    ('nothing', REFUSED, WORD),
]
attempts = common.Attempts()


def answer(wanted, password, *arguments, user='anna', **more):
    since = time.monotonic()
    got = ask(password, *arguments, user=user, **more)
    seconds = time.monotonic() - since
    if got == wanted and user != 'root' and wanted in (WRONG, REFUSED) and (seconds < 2) == (wanted == WRONG):
        if wanted == WRONG:
            return f'answered after {seconds:.1f} s'
    return True if got == wanted else f'answer {got}, not {wanted}'


def check_answer(*arguments, **more):
    result = answer(*arguments, **more)
    tap.check(result is True, result)
    return True


def from_terminal():
    leader, follower = pty.openpty()
    with start('anna', 'nonull', stdin=follower) as process:
        os.write(leader, WORD.encode() + b'\n')
        output = process.communicate(timeout=60)[0]
    tap.contains(output.decode(), 'of no use')
    tap.equal(process.returncode, REFUSED)
    return True


def from_file(path):
    with open(path, 'rb') as file:
        tap.equal(ask(b'', 'anna', 'nonull', stdin=file), REFUSED)
    return True


for title, wanted, password, *arguments in ANSWERS:
    attempts.add(f'mhkdf_chkpwd and {title}: {wanted}', True, check_answer, wanted, password, *arguments)
write('/tmp/password', WORD)
os.chmod('/tmp/password', 0o644)
attempts.add('511 bytes', True, check_answer, RIGHT, LONG, 'longa', 'nonull', user='longa')
attempts.add('511 bytes, the last one wrong', True, check_answer, WRONG, LONG[:-1] + 'y', 'longa', 'nonull', user='longa')
attempts.add('an account without password, nullok', True, check_answer, UNKNOWN, '', 'empty', 'nullok', user='empty')
attempts.add('an account without password, nonull', True, check_answer, UNKNOWN, '', 'empty', 'nonull', user='empty')
attempts.add('an account without password, and a password', True, check_answer, UNKNOWN, 'x', 'empty', 'nullok', user='empty')
attempts.add('a locked account', True, check_answer, UNKNOWN, 'locked knows this', 'locked', 'nonull', user='locked')
attempts.add('root asks for anna', True, check_answer, RIGHT, WORD, 'anna', 'nonull', user='root')
attempts.add('root asks for anna, wrong', True, check_answer, WRONG, 'x', 'anna', 'nonull', user='root')
attempts.add('root asks for anna and a service', True, check_answer, RIGHT, WORD, 'anna', 'nonull', 'sshd', '0', 'elsewhere', user='root')
attempts.add('root asks for nobody', True, check_answer, UNKNOWN, WORD, '', 'nonull', 'sshd', '0', 'console', user='root')
for more in (('sshd',), ('sshd', '0'), ('sshd', 'sshd', 'console'), ('sshd', '4294967296', 'console'), ('sshd', '', 'console'),
             ('sshd', '0', 'console', 'console')):
    attempts.add(f'root says {more}', True, check_answer, REFUSED, WORD, 'anna', 'nonull', *more, user='root')
attempts.add('the password on a terminal', True, from_terminal)
attempts.add('the password in a file', True, from_file, '/tmp/password')
attempts.add('no password, but /dev/null', True, from_file, '/dev/null')


@tap.case('it never says a password or a hash, and names who asked wrongly')
def _():
    # All of the above has been logged by now.
    text = '\n'.join(LOG)
    for secret in (WORD, 'knows this', '$mhkdf$', LONG):
        tap.check(secret not in text, f'{secret} was logged:\n{text}')
    tap.contains(text, 'mhkdf_chkpwd[')
    tap.contains(text, 'password check failed for user (anna)')
    tap.contains(text, f'refused: uid {pwd.getpwnam("anna").pw_uid} asked for the password of boris')
    tap.contains(text, f'inappropriate use by uid {pwd.getpwnam("anna").pw_uid}')
    tap.check('nobody-there' not in text, 'a name that is no account was logged')


# ---- a hostile caller ---------------------------------------------------------------------

def trap_library():
    """A library that leaves a file behind where it is loaded."""
    os.makedirs('/tmp/trap', exist_ok=True)
    write('/tmp/trap/trap.c', '#include <fcntl.h>\n#include <unistd.h>\n'
          '__attribute__((constructor)) static void trap(void)\n'
          '{ close(open("/tmp/trap/sprung", O_CREAT | O_WRONLY, 0666)); }\n'
          'unsigned la_version(unsigned v) { return v; }\nvoid gconv_init(void) {}\nvoid gconv(void) {}\n')
    run('gcc', '-shared', '-fPIC', '-o', '/tmp/trap/trap.so', '/tmp/trap/trap.c')
    for library in ('libcrypt.so.1', 'libcap.so.2', 'libc.so.6'):
        os.symlink('trap.so', f'/tmp/trap/{library}')
    os.chmod('/tmp/trap', 0o777)


ENVIRONMENTS = {
    'LD_PRELOAD': '/tmp/trap/trap.so', 'LD_AUDIT': '/tmp/trap/trap.so', 'LD_LIBRARY_PATH': '/tmp/trap',
    'GCONV_PATH': '/tmp/trap', 'TZ': ':/tmp/trap/sprung', 'TZDIR': '/tmp/trap', 'LOCPATH': '/tmp/trap', 'LC_ALL': 'de_DE.UTF-8',
    'LANGUAGE': '../../tmp/trap', 'NLSPATH': '/tmp/trap/%N', 'MALLOC_TRACE': '/tmp/trap/sprung', 'LD_DEBUG': 'all',
    'LD_DEBUG_OUTPUT': '/tmp/trap/sprung', 'LD_PROFILE': 'libc.so.6', 'LD_PROFILE_OUTPUT': '/tmp/trap',
    'GLIBC_TUNABLES': 'glibc.malloc.check=3', 'RES_OPTIONS': 'debug', 'HOSTALIASES': '/tmp/trap/sprung', 'TMPDIR': '/tmp/trap',
    'MHKDF_TEST_ETC': '/tmp/trap', 'MHKDF_TEST_UID': '0', 'MHKDF_TEST_LOG': '/tmp/trap/sprung', 'PATH': '/tmp/trap', 'HOME': '/tmp/trap',
}


@tap.case('an environment full of traps: nothing of it is used')
def _():
    trap_library()
    need(subprocess.run(['/bin/true'], env={'LD_PRELOAD': '/tmp/trap/trap.so'}, check=True).returncode == 0)
    tap.check(os.path.exists('/tmp/trap/sprung'), 'the trap doesn\'t work')
    os.unlink('/tmp/trap/sprung')
    before = sorted(os.listdir('/tmp/trap'))
    tap.equal(ask(WORD, 'anna', 'nonull', env=ENVIRONMENTS), RIGHT)
    for name, value in ENVIRONMENTS.items():
        tap.equal(ask(WORD, 'anna', 'nonull', env={name: value}), RIGHT, name)
    tap.equal(ask(WORD, 'boris', 'nonull', env=ENVIRONMENTS), REFUSED)
    tap.equal(sorted(os.listdir('/tmp/trap')), before)
    seen = host('locker', 'anna', env=dict(ENVIRONMENTS, LD_PRELOAD='', LD_AUDIT='', LD_LIBRARY_PATH='', PATH='/usr/bin:/bin',
                                           LD_DEBUG='', LD_PROFILE=''))
    tap.equal((seen['status'], sorted(os.listdir('/tmp/trap'))), (SUCCESS, before), 'through the module')


@tap.case('what it is while it waits for the password')
def _():
    reader, writer = os.pipe()
    with open('/tmp/trap/other', 'wb') as other, \
            start('anna', 'nonull', stdin=reader, pass_fds=[other.fileno()],
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)) as process:
        directory = f'/proc/{process.pid}'
        end = time.monotonic() + 5
        while os.readlink(f'{directory}/cwd') != '/' or len(os.listdir(f'{directory}/fd')) > 3:
            tap.check(time.monotonic() < end, f'descriptors: {os.listdir(directory + "/fd")}')
            time.sleep(0.01)
        time.sleep(0.05)
        status = common.read(f'{directory}/status')
        tap.contains(common.read(f'{directory}/limits'), 'Max core file size        0                    0 ')
        tap.equal([line for line in status.splitlines() if line.startswith('Gid')],
                  ['Gid:\t{0}\t{1}\t{1}\t{1}'.format(pwd.getpwnam('anna').pw_gid, os.stat('/etc/shadow').st_gid)])
        for line in ('CapPrm:\t0000000000000000', 'CapEff:\t0000000000000000', 'SigBlk:\t0000000000000000', 'SigCgt:\t0000000000000000'):
            tap.contains(status, line)
        tap.equal(os.stat(f'{directory}/mem').st_uid, 0, 'its memory belongs to')
        peek = subprocess.run(['cat', f'{directory}/environ', f'{directory}/maps'], **as_user('anna'), check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tap.equal((peek.returncode, peek.stdout), (1, b''), 'its user can look into it')
        os.write(writer, WORD.encode())
        os.close(writer)
        os.close(reader)
        process.communicate(timeout=60)
        tap.equal(process.returncode, RIGHT)


@tap.case('it doesn\'t wait for a password for ever, and that is no answer')
def _():
    reader, writer = os.pipe()
    with start('anna', 'nonull', stdin=reader) as process:
        os.write(writer, WORD.encode())
        process.communicate(timeout=40)
        tap.equal(process.returncode, WRONG)
    with start('anna', 'nonull', stdin=reader) as process:     # it is all there, though the pipe is open
        os.write(writer, WORD.encode() + b'\0')
        process.communicate(timeout=40)
        tap.equal(process.returncode, RIGHT)
    os.close(reader)
    os.close(writer)


def limited(*limits):
    def prepare():
        for which, value in limits:
            resource.setrlimit(which, value)
    return prepare


@tap.case('limits that its caller lowered softly don\'t matter')
def _():
    soft = [(which, (0, resource.getrlimit(which)[1])) for which in
            (resource.RLIMIT_FSIZE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)]
    for limit in soft[:2] + soft[3:]:
        tap.equal(ask(WORD, 'anna', 'nonull', preexec_fn=limited(limit)), RIGHT, f'limit {limit}')


@tap.case('limits that are too low to work give no answer, and never the wrong one')
def _():
    for which, value in ((resource.RLIMIT_NOFILE, 3), (resource.RLIMIT_AS, 3 << 20), (resource.RLIMIT_AS, 8 << 20),
                         (resource.RLIMIT_DATA, 100 << 10), (resource.RLIMIT_STACK, 16 << 10)):
        got = ask(WORD, 'anna', 'nonull', preexec_fn=limited((which, (value, value))))
        tap.check(got in (RIGHT, UNAVAILABLE, BUSY, 127) or got < 0, f'limit {which} of {value}: {got}')
        got = ask('wrong', 'anna', 'nonull', preexec_fn=limited((which, (value, value))))
        tap.check(got != RIGHT, f'limit {which} of {value} makes a wrong password right')


@tap.case('signals: ignored, blocked, and pending timers')
def _():
    def prepare():
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.001)
        signal.setitimer(signal.ITIMER_PROF, 0.001)
    for _ in range(5):
        tap.equal(ask(WORD, 'anna', 'nonull', preexec_fn=prepare), RIGHT)


@tap.case('a closed output, and all descriptors closed')
def _():
    line = f'printf %s "{WORD}" | {PROGRAM} anna nonull'
    for command, wanted in ((f'{line} >&- 2>&-', RIGHT), (f'{PROGRAM} anna nonull <&- >&- 2>&-', REFUSED),
                            (f'{line} >/dev/full 2>&1', RIGHT)):
        done = subprocess.run(['sh', '-c', command], **as_user('anna'), check=False, timeout=60)
        tap.equal(done.returncode, wanted, command)


@tap.case('killed at 40 moments: no answer, and nothing is left')
def _():
    chance, got = random.Random(), []
    before = sorted(os.listdir('/etc'))
    since = time.monotonic()
    tap.equal(ask(WORD, 'anna', 'nonull'), RIGHT)
    span = time.monotonic() - since
    for _ in range(40):
        with start('anna', 'nonull') as process:
            process.stdin.write(WORD.encode())
            process.stdin.close()
            time.sleep(chance.uniform(0, span))
            process.kill()
            process.wait()
        got.append(process.returncode)
    tap.check(set(got) <= {RIGHT, -signal.SIGKILL} and -signal.SIGKILL in got, f'{got}')
    tap.equal(sorted(os.listdir('/etc')), before)


@tap.case('set-user-id root, where there is no group')
def _():
    os.chown(PROGRAM, 0, 0)
    os.chmod(PROGRAM, 0o4755)
    try:
        tap.equal(ask(WORD, 'anna', 'nonull'), RIGHT)
        tap.equal(ask(WORD, 'boris', 'nonull'), REFUSED)
        tap.equal(host('locker', 'anna')['status'], SUCCESS)
        with start('anna', 'nonull') as process:
            time.sleep(0.5)
            status = common.read(f'/proc/{process.pid}/status')
            process.communicate(WORD.encode(), timeout=60)
        # cap_dac_read_search and cap_ipc_lock
        tap.contains(status, f'CapPrm:\t{1 << 2 | 1 << 14:016x}')
        tap.contains(status, f'CapEff:\t{1 << 2 | 1 << 14:016x}')
    finally:
        os.chown(PROGRAM, 0, os.stat('/etc/shadow').st_gid)
        os.chmod(PROGRAM, 0o2755)


@tap.case('without its set-id bit: the log says so')
def _():
    os.chmod(PROGRAM, 0o755)
    try:
        tap.equal(ask(WORD, 'anna', 'nonull'), UNAVAILABLE)
        tap.equal(host('locker', 'anna')['status'], UNAVAIL)
    finally:
        os.chmod(PROGRAM, 0o2755)
    tap.contains('\n'.join(LOG), 'shadow can\'t be read, since this program runs without its set-id bit')


# ---- through the module -------------------------------------------------------------------

HOSTS = [
    ('as it is', ()),
    ('that ignores SIGCHLD', ('--chld=ignore',)),
    ('with a handler for SIGCHLD', ('--chld=handle',)),
    ('with descriptors 0 to 2 closed', ('--close',)),
    ('with all of that', ('--close', '--chld=handle', '--alarm=0.01')),
    ('with a thread that waits for children', ('--threads',)),
    ('that asks ten times', ('--times=10', '--close')),
]


@tap.case('a host {}: right and wrong passwords', HOSTS)
def _(_, options):
    with ThreadPoolExecutor() as pool:
        wrong = pool.submit(host, *options, 'locker', 'anna', password='wrong') if '--times=10' not in options else None
        seen = host(*options, 'locker', 'anna')
        tap.equal(seen['status'], SUCCESS)
        undisturbed(seen)
        if wrong:
            tap.equal(wrong.result()['status'], AUTH_ERR)
            undisturbed(wrong.result())


@tap.case('a host with a handler gets one signal for its own child, and none for ours')
def _():
    for password, wanted in ((WORD, SUCCESS), ('wrong', AUTH_ERR)):
        seen = host('--child', '--chld=handle', 'locker', 'anna', password=password)
        tap.equal((seen['status'], seen['reaped']), (wanted, [[seen['child']]]))
        undisturbed(seen)


@tap.case('a host that ignores SIGCHLD, with a child that ends')
def _():
    seen = host('--child', '--chld=ignore', 'locker', 'anna', password='wrong')
    tap.equal(seen['status'], AUTH_ERR)
    undisturbed(seen)


@tap.case('a host whose thread waits for all children gets its own alone')
def _():
    seen = host('--child', '--threads', 'locker', 'anna', password='wrong')
    tap.equal((seen['status'], seen['stolen']), (AUTH_ERR, [seen['child']]))
    undisturbed(seen, children=1)


@tap.case('the host\'s alarm goes off in time, or is still there')
def _():
    seen = host('--alarm=0.5', 'locker', 'anna', password='wrong')
    tap.equal((seen['status'], len(seen['alarms'])), (AUTH_ERR, 1))
    seen = host('--alarm=100', 'locker', 'anna', password='wrong')
    tap.equal((seen['status'], seen['alarms']), (AUTH_ERR, []))
    tap.check(100 - seen['seconds'] - 1 < seen['timer'] < 100 - 1, f'{seen}')


@tap.case('NoNewPrivileges: unavailable, and the log says why')
def _():
    seen = host('--no-new-privs', 'locker', 'anna')
    tap.equal(seen['status'], UNAVAIL)
    undisturbed(seen)
    tap.contains('\n'.join(LOG), 'this process has NoNewPrivileges, with which no set-id program gets its rights')


@tap.case('another user, a locked account, one without password, one that isn\'t there')
def _():
    tap.equal(host('locker', 'boris', password='boris knows this')['status'], UNAVAIL)
    tap.equal(host('mixed', 'boris', password='boris knows this')['status'], AUTH_ERR)
    tap.equal(host('locker', 'locked', user='locked', password='locked knows this')['status'], USER_UNKNOWN)
    tap.equal(host('locker', 'empty', user='empty', password='')['status'], USER_UNKNOWN)
    tap.equal(host('mixed', 'empty', user='empty', password='')['status'], SUCCESS, 'by pam_unix')
    tap.equal(host('--flags=1', 'mixed', 'empty', user='empty', password='')['status'], AUTH_ERR, 'by pam_unix')
    tap.equal(host('locker', 'nobody-there')['status'], USER_UNKNOWN)


@tap.case('in the stack of pam-auth-update our answer is the last one')
def _():
    tap.equal(host('mixed', 'anna')['status'], SUCCESS)
    seen = len(LOG)
    tap.equal(host('mixed', 'anna', password='wrong')['status'], AUTH_ERR)
    time.sleep(0.1)
    tap.check(not any('pam_unix' in line or 'unix_chkpwd' in line for line in LOG[seen:]), f'{LOG[seen:]}')


@tap.case('the program is missing: unavailable, the log says so, and pam_unix goes on')
def _():
    os.rename(PROGRAM, PROGRAM + '.away')
    try:
        tap.equal(host('locker', 'anna')['status'], UNAVAIL)
        tap.equal(host('mixed', 'anna')['status'], SUCCESS)
    finally:
        os.rename(PROGRAM + '.away', PROGRAM)
    tap.contains('\n'.join(LOG), f'{PROGRAM} can\'t be started')


@tap.case('the program is killed in the middle: unavailable, and never success')
def _():
    # A hash that takes so long that it can't be done before it is killed.
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 64M\npasses = 60\n')
    need(drive.add_user('slow', 'slow knows this'))
    common.cheap_hashes()
    for password in ('slow knows this', 'wrong'):
        with ThreadPoolExecutor() as pool:
            result = pool.submit(host, '--chld=handle', 'locker', 'slow', password=password, user='slow')
            while not result.done():
                subprocess.run(['killall', '-q', '-9', 'mhkdf_chkpwd'], check=False)
                time.sleep(0.001)
        tap.equal(result.result()['status'], UNAVAIL)
        undisturbed(result.result())
    tap.contains('\n'.join(LOG), 'has failed: signal 9')


@contextlib.contextmanager
def kept_from_shadow():
    """A shadow that is somebody else's; yields what makes a host root without the capability, as SELinux
    has it."""
    os.chown('/etc/shadow', pwd.getpwnam('daemon').pw_uid, os.stat('/etc/shadow').st_gid)
    try:
        yield ['setpriv', '--bounding-set', '-dac_override,-dac_read_search', '--inh-caps', '-dac_override,-dac_read_search']
    finally:
        os.chown('/etc/shadow', 0, os.stat('/etc/shadow').st_gid)


def confined_host(confined, *arguments, password=WORD):
    done = subprocess.run([*confined, HOST, *arguments], input=password.encode(), stdout=subprocess.PIPE, check=True,
                          timeout=60)
    return json.loads(done.stdout)['status']


@tap.case('a program of root that can\'t read shadow, and one that a user started')
def _():
    with kept_from_shadow() as confined:
        for options in ((), ('--setuid',)):
            for password, wanted in ((WORD, SUCCESS), ('wrong', AUTH_ERR)):
                tap.equal(confined_host(confined, *options, 'locker', 'anna', password=password), wanted,
                          f'{options} {password}')


@tap.case('a floor that expires: the account phase asks for a new password, of root\'s services and of users\' programs')
def _():
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 2M\nfloor_memory = 2M\nfloor_action = expire\n\n'
                                      '[service lenient]\nfloor_action = log\n')
    try:
        seen = len(LOG)
        tap.equal(ask(WORD, 'anna', 'nonull'), RIGHT_BELOW)
        tap.equal(host('--account', 'expiring', 'anna')['status'], [SUCCESS, NEW_AUTHTOK_REQD])
        tap.equal(host('--account', 'lenient', 'anna')['status'], [SUCCESS, NEW_AUTHTOK_REQD], 'a user\'s word for it')
        with kept_from_shadow() as confined:
            tap.equal(confined_host(confined, '--account', 'expiring', 'anna'), [SUCCESS, NEW_AUTHTOK_REQD])
            tap.equal(confined_host(confined, '--account', 'lenient', 'anna'), [SUCCESS, SUCCESS])
            tap.equal(confined_host(confined, '--account', 'expiring', 'anna', password='wrong'), [AUTH_ERR, None])
        tap.contains('\n'.join(LOG[seen:]), 'the hash of anna is below floor_memory; the password is to be changed')
    finally:
        common.cheap_hashes()
    tap.equal(host('--account', 'expiring', 'anna')['status'], [SUCCESS, SUCCESS])


# Account, password, PAM's answer, and how many hashes are computed.
REFUSALS = [
    ('boris', 'wrong', AUTH_ERR, 1),
    ('anna', 'wrong', AUTH_ERR, 1),     # 1M aren't the arena's; but the 7M are
    ('locked', 'locked knows this', USER_UNKNOWN, 1),
    ('empty', 'x', USER_UNKNOWN, 1),
    ('malformed', 'x', USER_UNKNOWN, 1),
    ('dear', 'dear knows this', PERM_DENIED, 1),
    ('nobody-there', 'x', USER_UNKNOWN, 1),
    ('boris', 'x' * 512, AUTH_ERR, 0),
    ('locked', 'x' * 512, USER_UNKNOWN, 0),
    ('nobody-there', 'x' * 512, USER_UNKNOWN, 0),
]


@tap.case('a service of root that can\'t read shadow: a hash is computed, whatever the reason of the refusal')
def _():
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 16M\n')
    need(drive.add_user('dear', 'dear knows this'))
    need(drive.add_user('malformed'))
    run('usermod', '-p', '$mhkdf$broken', 'malformed')
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 8M\nceiling_memory = 8M\n\n[arena]\nslots = 2\nslot_size = 8M\n')
    need(drive.set_password('boris', 'eight megabytes'))
    try:
        with arenad.running(2), kept_from_shadow() as confined:
            for name, password, wanted, computed in REFUSALS:
                before = arenad.status()['leases']
                tap.equal(confined_host(confined, 'locker', name, password=password), wanted, name)
                tap.equal(arenad.status()['leases'] - before, computed, f'{name}: hashes')
            os.rename(PROGRAM, PROGRAM + '.away')
            try:
                for name in ('boris', 'locked', 'nobody-there'):
                    tap.equal(confined_host(confined, 'locker', name, password='wrong'), UNAVAIL, name)
            finally:
                os.rename(PROGRAM + '.away', PROGRAM)
    finally:
        common.cheap_hashes()
    tap.check('nobody-there' not in '\n'.join(LOG), 'a name that is no account was logged')


@tap.case('it dies: in a set-id program of root\'s, whose user may have brought that about, the login ends')
def _():
    os.rename(PROGRAM, PROGRAM + '.away')
    try:
        with kept_from_shadow() as confined:
            for script in ('exit 127', 'kill -9 $$'):
                write(PROGRAM, f'#!/bin/sh\n{script}\n')
                os.chmod(PROGRAM, 0o755)
                tap.equal(confined_host(confined, 'locker', 'anna'), UNAVAIL, script)
                tap.equal(confined_host(confined, '--setuid', 'locker', 'anna'), SYSTEM_ERR, script)
            write(PROGRAM, '')
            os.chmod(PROGRAM, 0o644)
            tap.equal(confined_host(confined, '--setuid', 'locker', 'anna'), UNAVAIL)
    finally:
        os.rename(PROGRAM + '.away', PROGRAM)


@tap.case('want of memory to read what holds: a floor that denies isn\'t forgotten')
def _():
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 2M\nfloor_memory = 2M\nfloor_action = deny\n' +
          ''.join(f'[service s{number}]\nmemory = 2M\n' for number in range(200)))
    try:
        seen = set()
        for kib in (*range(100, 1500, 20), 65536):
            limit = resource.RLIMIT_DATA, (kib << 10, kib << 10)
            got = ask(WORD, 'anna', 'nonull', preexec_fn=limited(limit))
            tap.check(got in (DENIED, BUSY, 127) or got < 0, f'{kib} KiB: {got}')
            seen.add(got)
        tap.check({DENIED, BUSY} <= seen, f'{seen}')
    finally:
        common.cheap_hashes()


@tap.case('memory comes from the arena, and one user has but one slot of it')
def _():
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 8M\n\n[arena]\nslots = 2\nslot_size = 8M\n')
    need(drive.set_password('boris', 'eight megabytes'))
    os.makedirs('/run/mhkdf', exist_ok=True)
    with subprocess.Popen(['mhkdf-arenad', '--user', 'nobody'], stderr=subprocess.DEVNULL) as daemon:
        try:
            end = time.monotonic() + 20
            while True:
                status, output = run('mhkdf', 'arena', 'status', '--json', check=False)
                if status == 0 and json.loads(output)['free'] == 2:
                    break
                tap.check(time.monotonic() < end, output)
                time.sleep(0.05)
            leases = json.loads(output)['leases']
            tap.equal(ask('eight megabytes', 'boris', 'nonull', user='boris'), RIGHT)
            tap.equal(json.loads(run('mhkdf', 'arena', 'status', '--json'))['leases'], leases + 1)
        finally:
            daemon.terminate()
    common.cheap_hashes()


with drive.syslog() as LOG:
    tap.main()
