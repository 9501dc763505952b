#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Uses the machine's real login programs as a person at a terminal would.

Run it inside a throwaway root: it creates users, changes passwords and starts
sshd.  `drive.py COMMAND ...` (see --help) exits with 0 where the login or change
worked, 1 where it was refused, 2 with the terminal's transcript on anything else.
As a module: each function returns a Result; what is neither accepted nor refused
raises Unexpected, whose text holds the transcript.

No fixed pauses: each step waits for what the program prints, and a password is
typed once the program has switched the terminal's echo off (programs throw
pending input away when they do that).  Every wait has an end: see TIMEOUT.
"""

import argparse
import contextlib
import os
import pty
import pwd
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from dataclasses import dataclass

TIMEOUT = 60.0          # seconds for one step; a hash may take several of them
SSH_PORT = 2222         # the root has a network of its own
ESCAPES = re.compile(rb'\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07')
END = object()          # in patterns of expect(): the program closed the terminal


class Unexpected(Exception):
    """A program did neither what means yes nor what means no."""


@dataclass
class Result:
    ok: bool            # accepted, and the program then ran as the right user
    seconds: float      # from the last password typed to the verdict
    transcript: str

    def __bool__(self):
        return self.ok


# ---- a program on a terminal of its own ------------------------------------------

class Terminal:
    """ARGV as leader of a session whose controlling terminal is a new pty."""

    def __init__(self, argv, user='root', env=None):
        self.argv, self.seen, self.pending = argv, b'', b''
        self.status = None
        account = pwd.getpwnam(user)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            become(account, argv, env or {})
        self.pidfd = os.pidfd_open(self.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Hangs up; who stays is killed."""
        os.close(self.fd)
        if self.status is None and not self._reap(5):
            os.kill(self.pid, signal.SIGKILL)
            self._reap(5)
        os.close(self.pidfd)

    def expect(self, *patterns, timeout=TIMEOUT):
        """Waits for one of the regular expressions in what is printed after the last
        match; returns (its index, the match or None for END)."""
        end = time.monotonic() + timeout
        while True:
            for index, pattern in enumerate(patterns):
                match = pattern is not END and re.search(pattern, self.pending)
                if match:
                    self.pending = self.pending[match.end():]
                    return index, match
            if not self._read(end):
                if END in patterns:
                    return patterns.index(END), None
                self.fail(f'ended before {patterns}')

    def has(self, pattern, timeout):
        """Whether this comes in time; it is left to the next expect()."""
        end = time.monotonic() + timeout
        while not re.search(pattern, self.pending):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0] or not self._read(end):
                return False
        return True

    def _read(self, end):
        """Adds what is printed next to pending; False once the program hung up."""
        if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
            self.fail('nothing more came in time')
        try:
            data = os.read(self.fd, 65536)
        except OSError:                 # EIO: no process has the terminal open
            return False
        self.seen += data
        self.pending = ESCAPES.sub(b'', self.pending + data)
        return bool(data)

    def type(self, text):
        os.write(self.fd, to_bytes(text) + b'\n')

    def secret(self, text, timeout=TIMEOUT):
        """Types a password once echo is off; returns the moment."""
        end = time.monotonic() + timeout
        while termios.tcgetattr(self.fd)[3] & termios.ECHO:
            if time.monotonic() > end:
                self.fail('echo was not switched off for a password')
            time.sleep(0.002)
        self.type(text)
        return time.monotonic()

    def wait(self, timeout=TIMEOUT):
        """Reads to the end; returns the exit status (-N for signal N)."""
        end = time.monotonic() + timeout
        while self._read(end):
            pass
        if not self._reap(max(0.1, end - time.monotonic())):
            self.fail('closed its terminal, but does not end')
        return self.status

    def _reap(self, timeout):
        if not select.select([self.pidfd], [], [], timeout)[0]:
            return False
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return True

    def transcript(self):
        text = ESCAPES.sub(b'', self.seen).replace(b'\r\n', b'\n')
        return f'$ {" ".join(self.argv)}\n' + text.decode(errors='backslashreplace')

    def fail(self, why):
        raise Unexpected(f'{why}; the terminal so far:\n{self.transcript()}')

    def result(self, ok, since):
        return Result(ok, time.monotonic() - since, self.transcript())


def to_bytes(text):
    return text if isinstance(text, bytes) else os.fsencode(text)


def environment(account, env):
    """As after a login; C locale, since prompts are matched."""
    return {'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
            'HOME': account.pw_dir, 'USER': account.pw_name, 'LOGNAME': account.pw_name,
            'SHELL': account.pw_shell, 'TERM': 'dumb', 'LC_ALL': 'C', **env}


groups = []             # folders of control groups that programs are started in


@contextlib.contextmanager
def inside(folder):
    """Programs start in this control group."""
    groups.append(folder)
    try:
        yield
    finally:
        groups.remove(folder)


def join_groups():
    """In the child, before the program runs."""
    for folder in groups:
        with open(f'{folder}/cgroup.procs', 'w', encoding='ascii') as file:
            file.write('0')


def become(account, argv, env):
    """In the child: that user, owner of its terminal as after login, then ARGV."""
    try:
        join_groups()
        os.fchown(0, account.pw_uid, -1)
        os.chdir('/')
        os.initgroups(account.pw_name, account.pw_gid)
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)
        os.execvpe(argv[0], argv, environment(account, env))
    except BaseException as error:      # must not return into the parent's code
        print(f'can\'t start {argv[0]}: {error}', flush=True)
    os._exit(127)


def run(argv, text=''):
    """A program without a terminal; fails loudly."""
    done = subprocess.run(argv, input=to_bytes(text), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT,
                          preexec_fn=join_groups if groups else None,
                          env=environment(pwd.getpwuid(0), {}))
    if done.returncode:
        raise Unexpected(f'{" ".join(argv)}: status {done.returncode}\n{done.stdout.decode(errors="replace")}')
    return done.stdout


# ---- accounts ----------------------------------------------------------------------

def add_user(name, password=None, groups=()):
    """useradd, with /bin/sh (a plain prompt), and chpasswd."""
    run(['useradd', '-m', '-s', '/bin/sh', *(['-G', ','.join(groups)] if groups else []), name])
    if password is not None:
        return set_password(name, password)
    return Result(True, 0.0, '')


def set_password(name, password, encrypted=False):
    """chpasswd; with encrypted, PASSWORD is a hash to store as it is."""
    since = time.monotonic()
    try:
        run(['chpasswd', *(['-e'] if encrypted else [])], to_bytes(name) + b':' + to_bytes(password) + b'\n')
    except Unexpected as error:
        return Result(False, time.monotonic() - since, str(error))
    return Result(True, time.monotonic() - since, '')


def hash_of(name):
    """The password field of the user's line in /etc/shadow."""
    with open('/etc/shadow', 'rb') as shadow:
        for line in shadow:
            fields = line.split(b':')
            if fields[0] == to_bytes(name):
                return os.fsdecode(fields[1])
    return None


PASSWD_REFUSES = rb'(?i)passwd: .*(?:token|password).*\n|authentication failure|unchanged'


def change_password(name, old, new, retyped=None):
    """passwd as the user himself; old=None where passwd must not ask for it."""
    with Terminal(['passwd'], user=name) as tty:
        if old is not None:
            if tty.expect(rb'Current password: ', PASSWD_REFUSES)[0] == 1:
                tty.wait()
                return tty.result(False, time.monotonic())
            tty.secret(old)
        return new_password(tty, new, retyped)


def change_password_as_root(name, new, retyped=None):
    """passwd NAME as root."""
    with Terminal(['passwd', name]) as tty:
        return new_password(tty, new, retyped)


def new_password(tty, new, retyped):
    """The rest of passwd's dialogue.  A refusal may come at each step."""
    since = time.monotonic()
    for prompt, answer in ((rb'New password: ', new),
                           (rb'Retype new password: ', new if retyped is None else retyped)):
        found, _ = tty.expect(rb'(?i)' + prompt, PASSWD_REFUSES)
        if found == 1:
            tty.wait()
            return tty.result(False, since)
        since = tty.secret(answer)
    # After a password that is too weak modules ask again.
    found, _ = tty.expect(rb'updated successfully', PASSWD_REFUSES, rb'New password: ')
    result = tty.result(found == 0, since)
    if found == 2:
        os.kill(tty.pid, signal.SIGKILL)
    tty.wait()
    return result


# ---- logins -------------------------------------------------------------------------

def su(caller, name, password):
    """`su NAME -c 'id -un'` as the unprivileged user CALLER."""
    with Terminal(['su', name, '-c', 'echo "[$(id -un)]"'], user=caller) as tty:
        since, refusal = time.monotonic(), rb'su: [^\n]*\n'
        found, _ = tty.expect(rb'Password: ', refusal)
        if found == 1:                  # before it asked: locked by pam_faillock
            tty.wait()
            return tty.result(False, since)
        since = tty.secret(password)
        return verdict(tty, since, name, [refusal])


def verdict(tty, since, name, refusals):
    """The program printed [USER] for `id -un` as the right user, or a refusal."""
    found, match = tty.expect(rb'\[([^\]\s$]+)\]', *refusals)
    result = tty.result(found == 0, since)
    if found == 0 and match[1] != to_bytes(name):
        tty.fail(f'became the wrong user, not {name}')
    status = tty.wait()
    if (status == 0) != (found == 0):
        tty.fail(f'exit status {status} does not fit')
    result.transcript = tty.transcript()
    return result


def login(name, password):
    """login(1) as getty runs it: by root, session leader, on its own terminal."""
    with Terminal(['login']) as tty:
        tty.expect(rb'login: ')
        tty.type(name)
        since = time.monotonic()
        if tty.expect(rb'Password: ', rb'account is locked')[0] == 1:   # by pam_faillock
            return tty.result(False, since)
        since = tty.secret(password)
        found, _ = tty.expect(rb'(?m)[$#] \Z', rb'Login incorrect|Authentication failure|expired|account')
        result = tty.result(found == 0, since)
        if found == 0:
            tty.type('echo "[$(id -un)]"; exit 0')
            _, match = tty.expect(rb'\[([^\]\s$]+)\]')
            if match[1] != to_bytes(name):
                tty.fail(f'became the wrong user, not {name}')
            tty.wait()
        return result       # refused: login asks for a name again; the terminal hangs up


def sudo(name, password):
    """sudo by NAME, who is in group sudo, with no earlier ticket."""
    with Terminal(['sudo', '-k', '-p', 'sudo asks: ', 'sh', '-c', 'echo "[$(id -un)]"'], user=name) as tty:
        tty.expect(rb'sudo asks: ')
        since = tty.secret(password)
        found, _ = tty.expect(rb'\[root\]', rb'Sorry, try again|not in the sudoers|incorrect password|sudo: [^\n]*\n')
        result = tty.result(found == 0, since)
        if found == 0 and tty.wait() != 0:
            tty.fail('sudo failed')
        return result       # refused: it asks again; the terminal hangs up


def sulogin(password, arguments=()):
    """sulogin on this terminal, as in rescue mode.  Password None: sulogin is expected
    to ask for Enter only (no password set, or locked and -e).  A locked root is refused."""
    with Terminal(['sulogin', *arguments]) as tty:
        found, _ = tty.expect(rb'Give root password[^:]*: ', rb'Press Enter for[^:]*: ',
                              rb'root account is locked', rb'(?m)# \Z')
        if found == 3 or found == 1 and password is not None:
            tty.fail('sulogin asked for no password')
        if found == 2:
            return tty.result(False, time.monotonic())
        since = tty.secret('' if password is None else password)
        found, _ = tty.expect(rb'(?m)# \Z', rb'Login incorrect|crypt failed[^\n]*')
        result = tty.result(found == 0, since)
        if found == 0:
            tty.type('echo "[$(id -un)]"; exit 0')
            tty.expect(rb'\[root\]')
            tty.wait()
        return result


@contextlib.contextmanager
def sshd(port=SSH_PORT, options=()):
    """The distribution's sshd with its own configuration, on a loopback port."""
    os.makedirs('/run/sshd', mode=0o755, exist_ok=True)
    run(['ssh-keygen', '-A'])
    argv = ['/usr/sbin/sshd', '-D', '-e', '-p', str(port), '-o', 'ListenAddress=127.0.0.1',
            '-o', 'UsePAM=yes', '-o', 'PasswordAuthentication=yes',
            '-o', 'KbdInteractiveAuthentication=yes', '-o', 'PidFile=none']
    for option in options:
        argv += ['-o', option]
    with tempfile.TemporaryFile() as log, subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
            preexec_fn=join_groups if groups else None,
            env=environment(pwd.getpwuid(0), {})) as daemon:
        try:
            wait_listening(port, daemon)
            yield daemon
        except Unexpected as error:
            log.seek(0)
            raise Unexpected(f'{error}\nsshd said:\n{log.read().decode(errors="replace")}') from None
        finally:
            daemon.terminate()


def wait_listening(port, daemon, timeout=10.0):
    end = time.monotonic() + timeout
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(('127.0.0.1', port)) == 0:
                return
        if daemon.poll() is not None or time.monotonic() > end:
            raise Unexpected('sshd does not listen')
        time.sleep(0.01)


def ssh(name, password, method='password', port=SSH_PORT):
    """The ssh client with the password typed; METHOD: password or keyboard-interactive."""
    argv = ['ssh', '-F', 'none', '-p', str(port), '-o', 'StrictHostKeyChecking=no',
            '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR',
            '-o', f'PreferredAuthentications={method}', '-o', 'NumberOfPasswordPrompts=1',
            '-o', 'PubkeyAuthentication=no', f'{name}@127.0.0.1', 'echo "[$(id -un)]"']
    with Terminal(argv) as tty:
        tty.expect(rb'(?i)password: ')
        since = tty.secret(password)
        return verdict(tty, since, name, [rb'Permission denied[^\n]*', rb'Connection [^\n]*', END])


# ---- crypt(3) without PAM, and the log -----------------------------------------------

def perl_crypt(password, setting):
    """perl's crypt(), which is the system's crypt(3); None for undef."""
    code = 'binmode STDIN; local $/; my ($p, $s) = split /\\0/, <STDIN>; $_ = crypt($p, $s); print defined ? "=$_" : "undef"'
    out = run(['perl', '-e', code], to_bytes(password) + b'\0' + to_bytes(setting))
    return os.fsdecode(out[1:]) if out.startswith(b'=') else None


@contextlib.contextmanager
def syslog():
    """Receives what programs log; yields a list that grows.  A root has no /dev/log."""
    lines = []
    with contextlib.suppress(FileNotFoundError):
        os.unlink('/dev/log')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind('/dev/log')
        os.chmod('/dev/log', 0o666)

        def receive():
            while data := log.recv(65536):
                lines.append(re.sub(rb'^<\d+>', b'', data).decode(errors='replace').rstrip('\0\n'))
        thread = threading.Thread(target=receive, daemon=True)
        thread.start()
        try:
            yield lines
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
                last.connect('/dev/log')
                last.send(b'')          # datagrams keep their order
            thread.join(5)
            os.unlink('/dev/log')


# ---- command line ---------------------------------------------------------------------

COMMANDS = {            # name: (function, its arguments)
    'useradd': (add_user, ['name', 'password']),
    'chpasswd': (set_password, ['name', 'password']),
    'passwd': (change_password, ['name', 'old', 'new']),
    'passwd-as-root': (change_password_as_root, ['name', 'new']),
    'su': (su, ['caller', 'name', 'password']),
    'login': (login, ['name', 'password']),
    'sudo': (sudo, ['name', 'password']),
    'sulogin': (sulogin, ['password']),
    'ssh': (ssh, ['name', 'password']),
    'ssh-kbdint': (lambda name, password: ssh(name, password, 'keyboard-interactive'), ['name', 'password']),
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0],
                                     epilog='Passwords are arguments: for throwaway roots only.')
    parser.add_argument('-v', '--verbose', action='store_true', help='print the transcript in any case')
    commands = parser.add_subparsers(dest='command', required=True)
    for name, (_, arguments) in COMMANDS.items():
        command = commands.add_parser(name)
        for argument in arguments:
            command.add_argument(argument)
    return parser.parse_args()


def main():
    arguments = parse()
    function, names = COMMANDS[arguments.command]
    server = sshd() if arguments.command.startswith('ssh') else contextlib.nullcontext()
    try:
        with server:
            result = function(*(getattr(arguments, name) for name in names))
    except Unexpected as error:
        print(f'drive.py {arguments.command}: {error}', file=sys.stderr)
        return 2
    if arguments.verbose:
        print(result.transcript)
    print(f'{arguments.command}: {"accepted" if result else "refused"} after {result.seconds:.3f} s')
    return 0 if result else 1


if __name__ == '__main__':
    sys.exit(main())
