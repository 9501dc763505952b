#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""minlen of pam_unix, which no longer counts behind pam_mhkdf: mhkdf-pam-check says so, and what it
says to write has the same effect. pam_unix alone is the model. And accounts that mhkdf.conf locks out
are named where a password is changed."""

import os
import subprocess

import arenad
import common
import drive
import tap
from common import need, read, run, write

FIRST, EIGHT, FOURTEEN = 'correct horse 1', 'Xk3.pq9w', 'Xk3.pq9wXk4.pr'
PROFILE, CONF = '/usr/share/pam-configs/unix', '/etc/security/mhkdf.conf'
common.cheap_hashes()
for user in ('anna', 'boris', 'carla'):
    need(drive.add_user(user, FIRST))
run('sed', '-i', 's/pam_unix.so obscure/pam_unix.so obscure minlen=14/', PROFILE)
tap.check('minlen=14' in read(PROFILE))


def accepts(password):
    """Whether anna may have this one."""
    need(drive.set_password('anna', FIRST))
    return bool(drive.change_password('anna', FIRST, password))


@tap.case('pam_unix alone: minlen holds, and nothing is named')
def _():
    run('pam-auth-update', '--disable', 'mhkdf')
    tap.equal((accepts(EIGHT), accepts(FOURTEEN)), (False, True))
    tap.contains(run('mhkdf-pam-check'), 'no option of pam_unix has lost its effect')


@tap.case('pam_mhkdf before it: minlen is named, with what to write')
def _():
    run('pam-auth-update', '--enable', 'mhkdf')
    tap.equal((accepts(EIGHT), accepts(FOURTEEN)), (True, True))
    said = run('mhkdf-pam-check')
    for option in ('minlen=14', 'obscure', 'yescrypt'):
        tap.contains(said, f'\n  {option} ')
    tap.contains(said, '\nmin_length = 14\n')


@tap.case('what was pasted holds')
def _():
    line = next(line for line in run('mhkdf-pam-check').splitlines() if line.startswith('min_length'))
    write(CONF, read(CONF).replace('[default]\n', f'[default]\n{line}\n'))
    tap.equal((accepts(EIGHT), accepts(FOURTEEN)), (False, True))
    said = run('mhkdf-pam-check')
    tap.contains(said, 'it is 14, nothing to do')
    tap.check('\nmin_length' not in said, said)
    common.cheap_hashes()


# ---- accounts that mhkdf.conf locks out ---------------------------------------------------

@tap.case('a ceiling below a stored hash: the next change of a password and the start of mhkdf-arenad name the account')
def _():
    write(CONF, '[default]\nmemory = 8M\n')
    need(drive.set_password('carla', FIRST))
    write(CONF, '[default]\nmemory = 1M\nceiling_memory = 4M\n')
    need(drive.su('boris', 'carla', FIRST), False)
    told = 'mhkdf.conf locks out carla: their hashes are above its ceiling_memory or ceiling_passes'
    with drive.syslog() as log:
        tap.contains(need(drive.change_password_as_root('boris', FIRST)).transcript, f'Warning: {told}')
        result = need(drive.change_password('boris', FIRST, FOURTEEN))
        tap.check('carla' not in result.transcript, result.transcript)
    tap.equal(len([line for line in log if told in line]), 2, f'{log}')     # all has come now
    done = subprocess.run(['mhkdf-arenad', '--check'], capture_output=True, check=True, timeout=60)
    tap.contains(done.stderr.decode(), told)
    os.makedirs('/run/mhkdf', exist_ok=True)
    with subprocess.Popen(['mhkdf-arenad', '--user', 'nobody'], stderr=subprocess.PIPE) as daemon:
        tap.contains(daemon.stderr.readline().decode(), told)
        daemon.terminate()
    need(drive.set_password('carla', FIRST))
    need(drive.su('boris', 'carla', FIRST))


@tap.case('arena = require without a daemon: the next change of a password names whom that locks out')
def _():
    write(CONF, '[default]\nmemory = 8M\n')
    need(drive.set_password('carla', FIRST))
    write(CONF, '[default]\nmemory = 1M\narena = require\n\n[arena]\nslots = 2\nslot_size = 8M\n')
    need(drive.su('boris', 'carla', FIRST), False)
    told = 'mhkdf.conf locks out carla: it says arena = require, but mhkdf-arenad isn\'t running'
    with drive.syslog() as log:
        tap.contains(need(drive.change_password_as_root('boris', FIRST)).transcript, f'Warning: {told}')
    tap.check(any(told in line for line in log), f'{log}')
    with arenad.running(2):
        result = need(drive.change_password_as_root('boris', FIRST))
        tap.check('locks out' not in result.transcript, result.transcript)
        need(drive.su('boris', 'carla', FIRST))


tap.main()
