# SPDX-License-Identifier: BSD-2-Clause
"""What the whole-system tests share. They run in throwaway roots that have mhkdf installed, each in
one of its own: tests may break what they like."""

import glob
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import drive
import tap

SOURCE = os.environ.get('MHKDF_SRCDIR', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
BUILD = os.environ.get('MHKDF_BUILDDIR')
FRONT_LINE = '/etc/ld.so.conf.d/000-mhkdf.conf'     # leads to our libcrypt
WRONG = 'not this one'

if os.getuid() or not os.path.exists('/run/throwaway-root'):
    tap.skip_all('runs in a throwaway root only; ./check system makes one')


class Attempts:
    """Things to try that don't depend on each other; each is one case. All start together when
    the first one is asked for, since programs wait for seconds after a wrong password."""

    def __init__(self):
        self.todo, self.futures = [], None

    def add(self, name, wanted, function, *arguments, **more):
        number = len(self.todo)
        self.todo.append((function, arguments, more))

        @tap.case(name)
        def _():
            if self.futures is None:
                pool = ThreadPoolExecutor(8)
                self.futures = [pool.submit(function, *arguments, **more) for function, arguments, more in self.todo]
            need(self.futures[number].result(), wanted)


def need(result, wanted=True):
    """An outcome of drive's functions is as it should be."""
    if bool(result) != wanted:
        raise AssertionError(f'should have been {"accepted" if wanted else "refused"}, but was not:\n'
                             f'{getattr(result, "transcript", result)}')
    return result


def right_and_wrong(caller, passwords):
    """By su: each user's password opens, another one and none don't."""
    tries = [(drive.su, caller, name, password, True) for name, password in passwords.items()]
    tries += [(drive.su, caller, name, text, False) for name in passwords for text in (WRONG, '')]
    with ThreadPoolExecutor(8) as pool:
        for result, (*_, wanted) in zip(pool.map(lambda t: t[0](*t[1:4]), tries), tries):
            need(result, wanted)


def run(*argv, text='', check=True):
    """A program; its output, or with check=False (status, output)."""
    done = subprocess.run(argv, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=120, check=False, env=dict(os.environ, LC_ALL='C', DEBIAN_FRONTEND='noninteractive'))
    output = done.stdout.decode(errors='replace')
    if not check:
        return done.returncode, output
    tap.equal(done.returncode, 0, f'{" ".join(argv)}: {output}')
    return output


def mhkdf_libcrypt(*arguments, check=True):
    return run('mhkdf-libcrypt', *arguments, check=check)


def distribution_libcrypt():
    """The distribution's own libcrypt.so.1, behind ours."""
    front = glob.glob('/usr/lib/*/mhkdf/libcrypt.so.1')[0]
    return os.path.join(os.path.dirname(os.path.dirname(front)), 'libcrypt.so.1')


def mhkdf_hash(password, *options):
    return run('mhkdf', 'hash', '--memory', '1M', '--passes', '1', *options, text=password).splitlines()[-1]


def verifies(name, password):
    return run('mhkdf', 'verify', drive.hash_of(name), text=password, check=False)[0] == 0


def store(name, field):
    """A user whose password field is FIELD, whatever that is."""
    drive.add_user(name)
    need(drive.set_password(name, field, encrypted=True))


def method_of(name):
    found = re.match(r'\$\w+\$', drive.hash_of(name))
    return found[0] if found else drive.hash_of(name)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def cheap_hashes():
    """For tests that don't care: a password change takes milliseconds."""
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 1M\n')


def pam_files():
    return {name: read(f'/etc/pam.d/common-{name}') for name in ('auth', 'account', 'password', 'session')}


def chapter(page, heading):
    return re.search(rf'(?ms)^#+ {re.escape(heading)}$(.*?)(?=^#+ |\Z)', read(os.path.join(SOURCE, page)))[1]


def code_blocks(page, heading):
    """The indented blocks of a page's chapter, as texts."""
    blocks = re.findall(r'(?m)(?:^    .*\n(?:^\n(?=    ))?)+', chapter(page, heading))
    return [re.sub(r'(?m)^    ', '', block) for block in blocks]
