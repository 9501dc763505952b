#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What an administrator had with pam_unix alone is the same with pam_mhkdf before it: accounts without
a password, odd lines of shadow, accounts that aren't there. Each case runs with both stacks."""

import json
import os
import pwd
import re
import subprocess

import common
import drive
import tap
from common import need, read, run, write

HOST = os.path.join(common.SOURCE, 'tests/system/host.py')
SHADOW, PROFILE = '/etc/shadow', '/usr/share/pam-configs/unix'
WORD, OTHER = 'anna knows this', 'and now another'
SUCCESS = 0
STACKS = {'pam_unix alone': '--disable', 'pam_mhkdf before it': '--enable'}
common.cheap_hashes()
# A refusal takes seconds, which nobody measures here.
for profile in (PROFILE, '/usr/share/pam-configs/mhkdf'):
    write(profile, re.sub(r'(pam_(?:unix|mhkdf)\.so)', r'\1 nodelay', read(profile)))
run('pam-auth-update', '--package')
write('/etc/login.defs', read('/etc/login.defs') + '\nFAIL_DELAY 0\n')
write('/etc/pam.d/locker', '@include common-auth\n')
for user in ('anna', 'boris', 'blank', 'hashed', 'old'):
    drive.add_user(user, WORD)
run('passwd', '-d', 'blank')
run('usermod', '-p', drive.perl_crypt('', '$y$j75$LdJMENpBABJJ3hIHjB1Bi.$'), 'hashed')
ORIGINAL = read(SHADOW)


def use(stack):
    """Switches to one of STACKS."""
    def is_used():
        return ('pam_mhkdf.so' in read('/etc/pam.d/common-auth')) == (STACKS[stack] == '--enable')
    if not is_used():
        run('pam-auth-update', STACKS[stack], 'mhkdf')
    tap.check(is_used(), stack)


def each_stack(name):
    """A case for each stack; the function gets the stack's name."""
    def add(function):
        for stack in STACKS:
            def run_with(stack=stack):
                use(stack)
                return function(stack)
            tap.case(f'{stack}: {name}')(run_with)
        return function
    return add


def enter(argv, name, answer, user='root'):
    """What a program does: (whether it asks for a password, whether NAME is in). In a shell that
    it starts, id is run."""
    with drive.Terminal(argv, user=user) as tty:
        if argv == ['login']:
            tty.expect(rb'login: ')
            tty.type(name)
        done = [rb'\[([^\]\s$]+)\]', rb'(?m)[$#] \Z', rb'su: [^\n]*\n|Login incorrect|Authentication failure']
        found, match = tty.expect(rb'Password: ', *done)
        asked = found == 0
        if asked:
            tty.secret(answer)
            found, match = tty.expect(*done)
            found += 1
        if found == 2:
            tty.type('echo "[$(id -un)]"; exit 0')
            found, match = tty.expect(rb'\[([^\]\s$]+)\]')
            found += 1
        if found == 1:
            tap.equal(match[1].decode(), name)
        return asked, found == 1


def su(name, answer):
    return enter(['su', name, '-c', 'echo "[$(id -un)]"'], name, answer, user='boris')


def locker(name, password):
    """A screen locker of NAME: PAM's status, or "refused"."""
    account = pwd.getpwnam(name)
    done = subprocess.run([HOST, 'locker', name], input=password.encode(), stdout=subprocess.PIPE, check=True,
                          timeout=60, user=account.pw_uid, group=account.pw_gid, extra_groups=[])
    status = json.loads(done.stdout)['status']
    return status if status == SUCCESS else 'refused'


def restore(text=ORIGINAL):
    write(SHADOW + '.new', text)
    os.chown(SHADOW + '.new', 0, 42)
    os.chmod(SHADOW + '.new', 0o640)
    os.rename(SHADOW + '.new', SHADOW)


# ---- accounts without a password ------------------------------------------------------

@each_stack('an account without a password is entered without a prompt')
def _(_):
    restore()
    tap.equal(su('blank', 'x'), (False, True))
    tap.equal(enter(['login'], 'blank', 'x'), (False, True))
    tap.equal(su('hashed', ''), (True, True), 'the hash of an empty password')
    tap.equal(su('hashed', 'x'), (True, False))
    tap.equal(su('anna', ''), (True, False))


@each_stack('an account without a password: a screen locker')
def _(_):
    tap.equal(locker('blank', ''), SUCCESS)
    tap.equal(locker('anna', WORD), SUCCESS)
    tap.equal(locker('anna', ''), 'refused')


@each_stack('an account without a password: sshd, which refuses it')
def _(_):
    with drive.sshd():
        for method in ('password', 'keyboard-interactive'):
            need(drive.ssh('blank', 'x', method), False)
            need(drive.ssh('anna', WORD, method))


@each_stack('an account without a password gets one from its owner, who is asked for none')
def _(stack):
    restore()
    need(drive.change_password('blank', None, OTHER))
    tap.equal(common.method_of('blank'), '$y$' if stack == 'pam_unix alone' else '$mhkdf$')
    tap.equal(su('blank', 'x'), (True, False))
    tap.equal(su('blank', OTHER), (True, True))
    restore()


@each_stack('nullok taken out of the profile unix: nobody gets in without a password')
def _(_):
    profile = read(PROFILE)
    write(PROFILE, profile.replace(' nullok', ''))
    try:
        run('pam-auth-update', '--package')
        tap.check('nullok' not in read('/etc/pam.d/common-auth'), read('/etc/pam.d/common-auth'))
        for text in ('', 'x'):
            tap.equal(su('blank', text), (True, False))
            tap.equal(enter(['login'], 'blank', text), (True, False))
            tap.equal(locker('blank', text), 'refused')
        tap.equal(su('anna', WORD), (True, True))
    finally:
        write(PROFILE, profile)
        run('pam-auth-update', '--package')
    tap.equal(su('blank', 'x'), (False, True))


@tap.case('nullok on the line of pam_mhkdf: no effect, which is logged once')
def _():
    use('pam_mhkdf before it')
    stack = read('/etc/pam.d/common-auth')
    write('/etc/pam.d/common-auth', stack.replace(' nullok', '').replace('pam_mhkdf.so', 'pam_mhkdf.so nullok'))
    try:
        with drive.syslog() as log:
            tap.equal(su('blank', ''), (True, False))
            tap.equal(su('anna', WORD), (True, True))
        told = [line for line in log if 'nullok has no effect' in line]
        tap.equal(len(told), 2, f'{log}')
        tap.check(not any('unknown option' in line for line in log), f'{log}')
    finally:
        write('/etc/pam.d/common-auth', stack)


# ---- lines of shadow as the C library reads them ----------------------------------------

# A line with the hash as {0}; whether the C library (glibc 2.36) takes it for one.
LINES = [
    ('as usual', 'old:{0}:19000:0:99999:7:::', True),
    ('five fields', 'old:{0}:19000:0:99999', True),
    ('five fields and a colon', 'old:{0}:19000:0:99999:', True),
    ('eight fields', 'old:{0}:19000:0:99999:7::90000', True),
    ('blanks in front', ' \told:{0}:19000:0:99999:7:::', True),
    ('+19000', 'old:{0}:+19000:0:99999:7:::', True),
    ('a blank before a number', 'old:{0}: 19000:0: 99999:7:::', True),
    ('-1', 'old:{0}:-1:0:99999:7:::', False),
    ('-1 in the last field but one', 'old:{0}:19000:0:99999:7::-1:', False),
    ('more than 32 bits', 'old:{0}:19000:0:4294967296:7:::', False),
    ('six fields', 'old:{0}:19000:0:99999:7', False),
    ('a blank behind a number', 'old:{0}:19000 :0:99999:7:::', False),
    ('a CR at the end', 'old:{0}:19000:0:99999:7:::\r', False),
    ('no line at all', '#old:{0}:19000:0:99999:7:::', False),
]
weak = drive.perl_crypt(WORD, '$y$j75$LdJMENpBABJJ3hIHjB1Bi.$')


def with_line(line):
    restore(re.sub(r'(?m)^old:.*$', lambda _: line.format(weak), ORIGINAL))


def case_of_lines(name, function):
    for what, line, is_one in LINES:
        tap.case(f'{name}: a line of shadow with {what}')(lambda line=line, is_one=is_one: function(line, is_one))


def let_in(stack, line, is_one):
    use(stack)
    with_line(line)
    tap.equal(su('old', common.WRONG), (True, False))
    tap.equal(su('old', WORD), (True, is_one))
    with_line(line)
    # pam_unix, which writes shadow anew from what it understands, adds a line where it finds none.
    need(drive.set_password('old', OTHER))
    tap.equal(su('old', OTHER), (True, True))
    tap.equal(su('old', WORD), (True, False))


for kind in STACKS:
    case_of_lines(kind, lambda line, is_one, kind=kind: let_in(kind, line, is_one))


def denied(line, _):
    """A floor that denies such hashes holds for each line that lets somebody in."""
    use('pam_mhkdf before it')
    with_line(line)
    write('/etc/security/mhkdf.conf', '[default]\nmemory = 8M\nfloor_memory = 8M\nfloor_action = deny\n')
    try:
        tap.equal(su('old', WORD), (True, False))
    finally:
        common.cheap_hashes()


case_of_lines('pam_mhkdf and a floor that denies', denied)


@each_stack('a line of passwd with blanks and signs')
def _(_):
    restore()
    passwd = read('/etc/passwd')
    ids = pwd.getpwnam('anna')
    try:
        write('/etc/passwd', re.sub(r'(?m)^anna:.*$', f'  anna:x:+{ids.pw_uid}: {ids.pw_gid}::/:/bin/sh', passwd))
        tap.equal(su('anna', WORD), (True, True))
        tap.equal(su('anna', common.WRONG), (True, False))
    finally:
        write('/etc/passwd', passwd)


tap.main()
