# SPDX-License-Identifier: BSD-2-Clause
"""su as its user may start it: with limits on resources, signals and descriptors of his choice."""

import ctypes
import dataclasses
import os
import pwd
import resource
import signal
import subprocess

import common
import drive
from common import need, read, run, write

CONF = '/etc/security/mhkdf.conf'
OLD = 'cracked already'                     # the password whose hash a floor denies
ATTACKER = 'mallory'
KIB = 1024
LIBC = ctypes.CDLL(None, use_errno=True)
PR_CAPBSET_DROP, CAP_SYS_RESOURCE = 24, 24
NAMES = {'data': resource.RLIMIT_DATA, 'as': resource.RLIMIT_AS, 'nofile': resource.RLIMIT_NOFILE,
         'fsize': resource.RLIMIT_FSIZE, 'nproc': resource.RLIMIT_NPROC, 'stack': resource.RLIMIT_STACK}


@dataclasses.dataclass
class Start:
    """How su is started."""
    limits: dict = dataclasses.field(default_factory=dict)      # name: value
    closed: tuple = ()                                          # descriptors
    used: int = 0                                               # descriptors that are taken already, from 3 on
    ignored: tuple = ()                                         # signals
    blocked: tuple = ()
    bound: bool = False                                         # no right to raise limits, as in most containers

    def __str__(self):
        return ' '.join([f'{name}={value}' for name, value in self.limits.items()] +
                        [f'{field.name}={value}' for field in dataclasses.fields(self)
                         if field.name != 'limits' and (value := getattr(self, field.name))]) or 'nothing odd'

    def apply(self):
        """In the child, before exec."""
        for number in range(3, 3 + self.used):
            os.dup2(0, number, inheritable=True)
        for number in self.ignored:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.blocked)
        account = pwd.getpwnam(ATTACKER)
        if self.bound and LIBC.prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), 'prctl')
        os.initgroups(ATTACKER, account.pw_gid)
        os.setgid(account.pw_gid)
        for name, value in self.limits.items():
            resource.setrlimit(NAMES[name], (value, value))
        os.setuid(account.pw_uid)
        for number in self.closed:
            os.close(number)


@dataclasses.dataclass
class Outcome:
    accepted: bool
    status: int         # -N: signal N; None: it couldn't even be started
    output: str

    def __bool__(self):
        return self.accepted


def su(start, name, password=OLD, meanwhile=None):
    """`su NAME` with the password in a pipe. The command needs nothing that a limit could forbid; its exit status tells."""
    try:
        process = subprocess.Popen(['su', name, '-s', '/bin/sh', '-c', 'echo accepted; exit 77'], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=start.apply,
                                   env={'PATH': os.environ['PATH'], 'LC_ALL': 'C'})
    except (OSError, subprocess.SubprocessError) as error:
        return Outcome(False, None, str(error))
    with process:
        if meanwhile is not None:
            meanwhile(process)
        try:
            output = process.communicate(password.encode() + b'\n', timeout=60)[0].decode(errors='replace')
        except BrokenPipeError:
            output = ''
        except subprocess.TimeoutExpired:
            process.kill()
            output = 'it did not end'
    accepted = 'accepted' in output or process.returncode == 77
    # It was let in, but the shell couldn't be started; or su itself couldn't, which the loader says so, too.
    if process.returncode in (126, 127):
        accepted = can_run(start)
    return Outcome(accepted, process.returncode, output)


def can_run(start):
    return subprocess.run(['su', '--version'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=start.apply,
                          check=False).returncode != 127


def small(password):
    """One of ours for which there is memory where there is hardly any."""
    return drive.perl_crypt(password, '$mhkdf$m8K.t1.p1.c0$saltsalt')


def sha512(password):
    return drive.perl_crypt(password, '$6$rounds=1000$saltsalt$')


def prepare():
    """The attacker, and a victim whose hash a floor denies."""
    drive.add_user('victim')
    need(drive.add_user(ATTACKER, 'of mallory himself'))
    need(drive.set_password('victim', sha512(OLD), encrypted=True))
    without_delays()


def add_accounts(others, upgraded):
    """So many others, and w0 to wN, whose hash is to be upgraded and isn't denied."""
    weak, base = sha512(OLD), 20000
    with open('/etc/passwd', 'a', encoding='ascii') as passwd, open('/etc/shadow', 'a', encoding='ascii') as shadow:
        for number in range(others):
            passwd.write(f'other{number}:x:{base + number}:100:somebody else:/nonexistent:/bin/sh\n')
            shadow.write(f'other{number}:!:20000:0:99999:7:::\n')
        for number in range(upgraded):
            passwd.write(f'w{number}:x:{base + others + number}:100::/:/bin/sh\n')
            shadow.write(f'w{number}:{weak}:20000:0:99999:7:::\n')


def configure(sections):
    """mhkdf.conf denies, but for as many accounts as there are sections."""
    write(CONF, '[default]\nmemory = 1M\nfloor_memory = 512K\nfloor_action = deny\n' +
          ''.join(f'[user w{number}]\nfloor_memory = 0K\n' for number in range(sections)))


def without_delays():
    """A refusal takes time, which nobody measures here."""
    run('sed', '-i', r's/\(pam_mhkdf\.so\|pam_unix\.so\)/\1 nodelay/', '/etc/pam.d/common-auth')
    if 'FAIL_DELAY 0' not in read('/etc/login.defs'):
        write('/etc/login.defs', read('/etc/login.defs') + '\nFAIL_DELAY 0\n')


def lines():
    """Of shadow: name: fields."""
    return {line.split(':')[0]: line.split(':') for line in read('/etc/shadow').splitlines()}


assert common.SOURCE    # it runs in a throwaway root only
