#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ansible's user module with $mhkdf$ hashes: no warning, nothing changed twice, and what an upgrade
at login means to it."""

import ctypes
import json
import os
import secrets

import common
import drive
import tap
from common import mhkdf_hash, need, run, write

RIGHT = 'correct horse'
CONF = '/etc/security/mhkdf.conf'
WARNING = 'appears not to have been hashed'
common.cheap_hashes()
drive.add_user('boris', 'boris has 1 too')


def user_module(**arguments):
    """The module's result, by the ansible command."""
    os.environ.update(HOME='/root', ANSIBLE_NOCOLOR='1', ANSIBLE_LOCAL_TEMP='/tmp/ansible', ANSIBLE_REMOTE_TEMP='/tmp/ansible')
    output = run('env', 'LC_ALL=C.UTF-8', 'ansible', 'localhost', '-c', 'local', '-e', 'ansible_python_interpreter=/usr/bin/python3',
                 '-m', 'user', '-a', json.dumps(arguments))
    result = json.loads(output[output.index('=> {') + 3:output.rindex('}') + 1])
    return result['changed'], WARNING in ' '.join(output.split())


@tap.case('a declared hash is set once, without a warning: {}', (
    ('$mhkdf$', []), ('of twelve steps', ['--chain', '12']), ('$argon2id$', ['--method', 'argon2id'])))
def _(name, options):
    write(CONF, '[default]\nmemory = 1M\nupgrade = no\n')
    hashed = mhkdf_hash(RIGHT, *options)
    user = 'user' + str(len(hashed)) + name[1]
    wanted = (True, '+' in hashed.split('$')[-1])       # the alphabet of $argon2*$ has it, and can't be helped
    tap.equal(user_module(name=user, password=hashed), wanted)
    tap.equal(drive.hash_of(user), hashed)
    need(drive.su('boris', user, RIGHT))
    tap.equal(user_module(name=user, password=hashed)[0], False)
    tap.check('+' not in hashed or 'argon2' in hashed)
    common.cheap_hashes()


@tap.case('it does warn of a plain password')
def _():
    tap.equal(user_module(name='plain', password='correct horse'), (True, True))


@tap.case('a declared hash that a login replaced is set again, unless upgrade = no')
def _():
    hashed = drive.perl_crypt(RIGHT, '$6$rounds=1000$saltsalt$')
    tap.equal(user_module(name='declared', password=hashed), (True, False))
    need(drive.su('boris', 'declared', RIGHT))
    tap.check(drive.hash_of('declared').startswith('$mhkdf$'))
    tap.equal(user_module(name='declared', password=hashed), (True, False))
    tap.equal(user_module(name='declared', password=hashed), (False, False))
    write(CONF, '[default]\nmemory = 1M\nupgrade = no\n')
    need(drive.su('boris', 'declared', RIGHT))
    tap.equal(drive.hash_of('declared'), hashed)
    tap.equal(user_module(name='declared', password=hashed), (False, False))
    common.cheap_hashes()


@tap.case('update_password = on_create leaves what a login replaced')
def _():
    hashed = drive.perl_crypt(RIGHT, '$6$rounds=1000$saltsalt$')
    user_module(name='once', password=hashed, update_password='on_create')
    need(drive.su('boris', 'once', RIGHT))
    tap.equal(user_module(name='once', password=hashed, update_password='on_create'), (False, False))
    tap.check(drive.hash_of('once').startswith('$mhkdf$'))


class Module:
    """What the check looks at."""

    def __init__(self, password):
        self.module, self.platform, self.params, self.warnings = self, 'Linux', {'password': password}, []

    def warn(self, text):
        self.warnings.append(text)


@tap.case('of a thousand hashes it warns of none')
def _():
    from ansible.modules.user import User       # pylint: disable=import-outside-toplevel,import-error
    hashed, seen = [], set()
    libcrypt = ctypes.CDLL('libcrypt.so.1')
    libcrypt.crypt.restype = ctypes.c_char_p
    for _ in range(1000):
        setting = '$mhkdf$m8K.t1.p1.c0$' + secrets.token_hex(11)
        hashed.append(libcrypt.crypt(secrets.token_bytes(8).hex().encode(), setting.encode()).decode())
    for text in hashed:
        tap.check(text.startswith('$mhkdf$'), text)
        module = Module(text)
        User.check_password_encrypted(module)
        tap.equal(module.warnings, [], text)
        seen |= set(text.split('$')[-1])
    tap.equal(len(seen), 64, 'not all characters of the alphabet were tried')
    module = Module(hashed[0][:-1] + '+')
    User.check_password_encrypted(module)
    tap.equal(len(module.warnings), 1, 'the check is not the one that warned of a +')


tap.main()
