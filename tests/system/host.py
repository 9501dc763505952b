#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A program that uses PAM, such as a screen locker, of the kind that the options say.

host.py [OPTION ...] SERVICE NAME < PASSWORD

It authenticates NAME with the password on standard input (all of it), and prints as JSON what
pam_authenticate gave, and what it noticed besides. Options:

--change      it calls pam_chauthtok instead, and gives the password for what it is asked
--account     it calls pam_acct_mgmt, too; the status is a list of both

--chld=ignore|handle|nocldwait  what it does about SIGCHLD
--child       a child of its own ends while it authenticates
--close       it has descriptors 0 to 2 closed
--alarm=S     a timer goes off after S seconds
--threads     another thread waits for children all the time
--no-new-privs, --flags=N (of pam_authenticate), --setuid (root's, after which real uid is 1), --times=N
"""

import argparse
import json
import os
import signal
import sys
import threading
import time

PR_SET_NO_NEW_PRIVS = 38

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from pamhost import authenticate, change_password, libc, log_in  # noqa: E402


def descriptors():
    found = {}
    for fd in range(64):
        try:
            found[fd] = os.readlink(f'/proc/self/fd/{fd}')
        except OSError:
            pass
    return found


def wait_for_all():
    """Pids of children that have ended."""
    found = []
    while True:
        try:
            pid = os.waitpid(-1, os.WNOHANG)[0]
        except ChildProcessError:
            return found
        if not pid:
            return found
        found.append(pid)


def children():
    """All children that there are, zombies and those of clone(2) included."""
    found = []
    for task in os.listdir('/proc/self/task'):
        try:
            with open(f'/proc/self/task/{task}/children', encoding='ascii') as file:
                found += file.read().split()
        except FileNotFoundError:       # that thread has ended
            pass
    return found


def arguments():
    parser = argparse.ArgumentParser()
    for option in ('--change', '--account', '--child', '--close', '--threads', '--no-new-privs', '--setuid'):
        parser.add_argument(option, action='store_true')
    parser.add_argument('--chld')
    parser.add_argument('--alarm', type=float)
    parser.add_argument('--flags', type=int, default=0)
    parser.add_argument('--times', type=int, default=1)
    parser.add_argument('service')
    parser.add_argument('name')
    return parser.parse_args()


def handle_signals(options, seen):
    if options.chld == 'ignore':
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    elif options.chld == 'handle':
        signal.signal(signal.SIGCHLD, lambda *_: seen['reaped'].append(wait_for_all()))
    if options.alarm:
        signal.signal(signal.SIGALRM, lambda *_: seen['alarms'].append(time.monotonic() - seen['start']))


def steal(seen, stop):
    while not stop.is_set():
        seen['stolen'] += wait_for_all()
        time.sleep(0.0005)


def own_child():
    pid = os.fork()
    if pid == 0:
        time.sleep(0.2)
        os._exit(0)
    return pid


def main():
    options = arguments()
    password = sys.stdin.buffer.read()
    out = os.dup2(1, 40)
    seen = {'reaped': [], 'alarms': [], 'stolen': [], 'start': time.monotonic()}
    libc.openlog(None, 8, 0)    # at once; it stays open
    stop = threading.Event()
    handle_signals(options, seen)
    if options.no_new_privs:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if options.setuid:
        os.setresuid(1, 0, 0)
    if options.close:
        for fd in (0, 1, 2):
            os.close(fd)
    if options.threads:
        threading.Thread(target=steal, args=(seen, stop)).start()
    seen['child'] = own_child() if options.child else 0
    before = descriptors(), signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(signal.SIG_BLOCK, [])
    if options.alarm:
        signal.setitimer(signal.ITIMER_REAL, options.alarm)
    call = change_password if options.change else log_in if options.account else authenticate
    seen['status'] = [call(options.service, options.name, password, options.flags)
                      for _ in range(options.times)][-1]
    seen['seconds'] = time.monotonic() - seen['start']
    seen['timer'] = signal.getitimer(signal.ITIMER_REAL)[0]
    after = descriptors(), signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(signal.SIG_BLOCK, [])
    time.sleep(0.3 if options.child or options.chld else 0)
    stop.set()
    seen['same'] = before == after
    seen['left'] = wait_for_all() if options.chld != 'ignore' else []
    seen['children'] = children()
    os.write(out, json.dumps(seen).encode())


main()
