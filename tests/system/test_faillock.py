#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The recipes of doc/PAM.md for pam_faillock, as they are written there."""

import re

import common
import drive
import tap
from common import WRONG, need, read, run, store, write

FIRST = 'correct horse 1'
CHAPTER = 'With pam_faillock'
preauth, authfail, commands, by_hand = common.code_blocks('doc/PAM.md', CHAPTER)
common.cheap_hashes()


@tap.case('accounts')
def _():
    need(drive.add_user('anna', FIRST))
    drive.add_user('boris', 'boris has 1 too')
    store('old', drive.perl_crypt(FIRST, '$6$rounds=1000$saltsalt$'))
    run('pam-auth-update', '--package')


def failures(name):
    """How many failures pam_faillock has counted."""
    return len(re.findall(r'(?m)^\d{4}-.* V$', run('faillock', '--user', name)))


def counts_and_locks(name):
    need(drive.su('boris', name, FIRST))
    tap.equal(failures(name), 0)
    for count in (1, 2):
        need(drive.su('boris', name, WRONG), False)
        tap.equal(failures(name), count)
    need(drive.su('boris', name, FIRST))
    tap.equal(failures(name), 0, 'after a success')
    for count in (1, 2, 3):
        need(drive.su('boris', name, WRONG), False)
        tap.equal(failures(name), count)
    need(drive.su('boris', name, FIRST), False)
    need(drive.login(name, FIRST), False)
    run('faillock', '--user', name, '--reset')
    need(drive.su('boris', name, FIRST))
    need(drive.login(name, FIRST))
    need(drive.login(name, WRONG), False)
    tap.equal(failures(name), 1)
    need(drive.login(name, FIRST))


@tap.case('with the stock profile pam_faillock is not there')
def _():
    tap.check('faillock' not in read('/etc/pam.d/common-auth'))


@tap.case('pam-auth-update: three profiles')
def _():
    write('/usr/share/pam-configs/faillock-preauth', preauth)
    write('/usr/share/pam-configs/faillock-authfail', authfail)
    run('sh', '-euc', commands)
    stack = re.findall(r'(?m)^auth\s.*(pam_\w+)\.so', read('/etc/pam.d/common-auth'))
    tap.equal(stack[:5], ['pam_faillock', 'pam_mhkdf', 'pam_unix', 'pam_faillock', 'pam_deny'])


@tap.case('pam-auth-update: failures of {} are counted, lock, and are forgotten', ('anna', 'old'))
def _(name):
    counts_and_locks(name)


@tap.case('pam-auth-update: password changes work as before')
def _():
    need(drive.change_password('anna', WRONG, 'battery staple 2'), False)
    need(drive.change_password('anna', FIRST, 'battery staple 2'))
    need(drive.change_password('anna', 'battery staple 2', FIRST))


@tap.case('pam-auth-update: undone')
def _():
    run('pam-auth-update', '--disable', 'faillock-preauth', 'faillock-authfail', 'mhkdf-faillock')
    run('pam-auth-update', '--enable', 'mhkdf')
    run('sh', '-euc', 'cd /usr/share/pam-configs && rm faillock-preauth faillock-authfail mhkdf-faillock')
    run('pam-auth-update', '--package')
    tap.check('faillock' not in read('/etc/pam.d/common-auth') + read('/etc/pam.d/common-account'))
    run('faillock', '--user', 'anna', '--reset')
    need(drive.su('boris', 'anna', FIRST))
    need(drive.su('boris', 'anna', WRONG), False)


@tap.case('by hand')
def _():
    auth = re.findall(r'(?m)^auth .*$', by_hand)
    account = re.findall(r'(?m)^account [^#\n]*', by_hand)
    tap.equal((len(auth), len(account)), (6, 1))
    write('/etc/pam.d/common-auth', '\n'.join(auth) + '\n')
    write('/etc/pam.d/common-account', account[0] + '\n' + read('/etc/pam.d/common-account'))


@tap.case('by hand: failures of {} are counted, lock, and are forgotten', ('anna', 'old'))
def _(name):
    counts_and_locks(name)


tap.main()
