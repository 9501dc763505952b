# SPDX-License-Identifier: BSD-2-Clause
"""Runs the mhkdf-arenad that is installed, in a throwaway root, as README.md says for machines
without systemd; and writes the [arena] of mhkdf.conf."""

import contextlib
import json
import os
import subprocess
import time

import drive

CONF = '/etc/security/mhkdf.conf'
PROGRAM = '/usr/sbin/mhkdf-arenad'
USER = 'mhkdf-arena'


def status():
    """What `mhkdf arena status --json` says; None: no daemon answers."""
    done = subprocess.run(['mhkdf', 'arena', 'status', '--json'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def wait_status(**wanted):
    """Waits until the status is so."""
    end = time.monotonic() + drive.TIMEOUT
    while True:
        report = status()
        if report is not None and all(report[name] == value for name, value in wanted.items()):
            return report
        if time.monotonic() > end:
            raise drive.Unexpected(f'mhkdf-arenad: {wanted} in vain; it says {report}')
        time.sleep(0.02)


@contextlib.contextmanager
def running(slots):
    """The daemon, with all its slots made; yields it."""
    if subprocess.run(['id', USER], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        drive.run(['useradd', '--system', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', USER])
    with open('/run/mhkdf-arenad.log', 'wb') as log:
        daemon = subprocess.Popen([PROGRAM], stdin=subprocess.DEVNULL, stderr=log)
    try:
        while status() is None:
            if daemon.poll() is not None:
                raise drive.Unexpected(f'mhkdf-arenad ended with {daemon.returncode}: {said()}')
            time.sleep(0.02)
        wait_status(free=slots)
        yield daemon
    finally:
        daemon.terminate()
        daemon.wait(drive.TIMEOUT)


def said():
    with open('/run/mhkdf-arenad.log', encoding='utf-8') as log:
        return log.read()


@contextlib.contextmanager
def configured(text):
    """mhkdf.conf holds text for a while."""
    old = None
    if os.path.exists(CONF):
        with open(CONF, encoding='utf-8') as file:
            old = file.read()
    with open(CONF, 'w', encoding='ascii') as file:
        file.write(text)
    try:
        yield
    finally:
        if old is None:
            os.unlink(CONF)
        else:
            with open(CONF, 'w', encoding='utf-8') as file:
                file.write(old)
