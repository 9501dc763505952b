#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""su is attacked with combinations of limits, descriptors and signals (MHKDF_ATTACKS, 200), by somebody who has cracked an
old hash that floor_action = deny retires. He is never let in, and shadow loses no line and nothing else.

What mhkdf can't help is told apart: where the limits keep pam_mhkdf.so from being loaded at all the profile goes on with
pam_unix, and module_unknown=die is the answer (PAM.md)."""

import os
import random
import resource
import signal
from concurrent.futures import ThreadPoolExecutor

import attack
import common
import drive
import tap
from attack import KIB, OLD, Start
from common import need, run

COUNT = int(os.environ.get('MHKDF_ATTACKS', '200'))
SEED = int(os.environ.get('MHKDF_SEED', '1'))
SIGNALS = (signal.SIGXFSZ, signal.SIGXCPU, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGTSTP)
chance = random.Random(SEED)


def alone():
    """One thing at a time, close to where programs just about run."""
    yield Start()
    yield Start({'as': 5800 * KIB})
    for kib in range(300, 1100, 17):
        yield Start({'data': kib * KIB})
    for kib in range(4600, 9000, 140):
        yield Start({'as': kib * KIB})
    for number in range(12):
        yield Start({'nofile': number})
    for number in range(3, 9):
        yield Start({'nofile': number + 3}, used=number)
    for size in (0, 1, 100, 4096, 200000, 400000):
        yield Start({'fsize': size})
    for number in (0, 1, 2):
        yield Start({'nproc': number})
    for kib in (16, 64, 128, 256):
        yield Start({'stack': kib * KIB})
    for closed in ((0,), (1,), (2,), (1, 2), (0, 1, 2)):
        yield Start(closed=closed)
    for number in SIGNALS:
        yield Start(ignored=(number,))
        yield Start(blocked=(number,))


def mixed():
    while True:
        limits = {'data': lambda: chance.randint(400, 1200) * KIB, 'as': lambda: chance.randint(5000, 9000) * KIB,
                  'nofile': lambda: chance.randint(4, 16), 'fsize': lambda: chance.choice((0, 1000, 300000)),
                  'nproc': lambda: chance.randint(0, 3), 'stack': lambda: chance.choice((64, 128, 512)) * KIB}
        chosen = chance.sample(sorted(limits), chance.randint(1, 3))
        yield Start({name: limits[name]() for name in chosen},
                    closed=chance.choice(((), (), (1,), (2,), (1, 2))), used=chance.choice((0, 0, 0, 2, 5)),
                    ignored=tuple(chance.sample(SIGNALS, chance.randint(0, 2))),
                    blocked=tuple(chance.sample(SIGNALS, chance.randint(0, 2))))


def combinations():
    found = list(alone())
    if len(found) > COUNT:
        return chance.sample(found, COUNT)
    more = mixed()
    return found + [next(more) for _ in range(COUNT - len(found))]


def stops_and_goes(process):
    """Signals while it runs: some stop it for a moment, some are to end it."""
    for number in chance.sample((signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU), 2):
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)


STARTS = combinations()


def try_all(*names, meanwhile=None):
    """Outcomes in the order of STARTS; NAMES: one for all, or one for each."""
    with ThreadPoolExecutor(12) as pool:
        return list(pool.map(lambda number: attack.su(STARTS[number], names[number % len(names)], meanwhile=meanwhile),
                             range(len(STARTS))))


def is_loaded(start):
    """Whether the module can be loaded then; libpam logs where it can't."""
    with drive.syslog() as log:
        attack.su(start, 'victim')
    return not any('unable to dlopen(pam_mhkdf.so)' in line for line in log)


def accepted_at(limit, sizes, **more):
    """Those of the sizes (KiB) at which the module was loaded, and su let somebody in all the same."""
    starts = [Start({limit: kib * KIB}, **more) for kib in sizes]
    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(lambda start: attack.su(start, 'victim'), starts))
    return [str(start) for start, outcome in zip(starts, outcomes) if outcome and is_loaded(start)]


@tap.case('200 sections in mhkdf.conf, and RLIMIT_DATA: a file that can\'t be read isn\'t one without a floor')
def _():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    attack.prepare()
    attack.configure(200)
    tap.equal(accepted_at('data', range(420, 660, 10)), [])


@tap.case('a large group that is denied, and limits that can\'t be raised: it isn\'t let in since it can\'t be read')
def _():
    members = ','.join(f'member{number:05}' for number in range(8000))
    attack.write('/etc/group', attack.read('/etc/group') + f'retired:x:7777:{members},victim\n')
    attack.write(attack.CONF, '[default]\nmemory = 1M\n[group retired]\nfloor_memory = 512K\nfloor_action = deny\n')
    tap.equal(accepted_at('data', range(440, 1000, 20), bound=True), [])
    tap.equal(accepted_at('as', range(5600, 8000, 200), bound=True), [])
    tap.check(not attack.su(Start(bound=True), 'victim'), 'without limits')
    tap.check(attack.su(Start({'data': 200000 * KIB}, bound=True), attack.ATTACKER, 'of mallory himself'), 'who is not in it')


@tap.case('RLIMIT_AS: mhkdf.conf is not a broken file where the libcrypt behind ours couldn\'t be loaded')
def _():
    need(drive.set_password('victim', attack.small(OLD), encrypted=True))
    attack.write(attack.CONF, '[default]\nmemory = 1M\nfloor_memory = 512K\nfloor_action = deny\n'
                              '[user root]\nmethod = yescrypt\n')
    tap.check(not attack.su(Start(), 'victim'), 'without limits')
    tap.equal(accepted_at('as', range(4600, 8000, 8)), [])
    need(drive.set_password('victim', attack.sha512(OLD), encrypted=True))


@tap.case('some thousand accounts, and RLIMIT_DATA: accounts that can\'t be read aren\'t left to pam_unix')
def _():
    attack.configure(0)
    attack.add_accounts(4000, len(STARTS))
    tap.equal(accepted_at('data', range(448, 1080, 24)), [])


@tap.case('accounts, some thousand of them, and a mhkdf.conf of 200 sections')
def _():
    attack.configure(200)
    attack.BEFORE = attack.lines()


@tap.case(f'{len(STARTS)} combinations: the cracked password, whose hash is denied, lets nobody in')
def _():
    outcomes = try_all('victim')
    accepted = [start for start, outcome in zip(STARTS, outcomes) if outcome]
    unloaded = [start for start in accepted if not is_loaded(start)]
    refused = sum('Authentication' in outcome.output or 'Permission' in outcome.output or 'System error' in outcome.output
                  for outcome in outcomes)
    print(f'# seed {SEED}: {refused} refused by PAM, {len(STARTS) - refused - len(accepted)} ended before, '
          f'{len(accepted)} accepted, of them {len(unloaded)} without the module')
    tap.check(refused > len(STARTS) / 4, 'hardly any came as far as PAM')
    tap.equal([str(start) for start in accepted if start not in unloaded], [])


@tap.case('where the module isn\'t loaded, module_unknown=die refuses: the recipe of PAM.md')
def _():
    run('bash', '-ec', common.code_blocks('doc/PAM.md', 'Where a floor must deny')[0])
    attack.without_delays()
    accepted = [str(start) for start, outcome in zip(STARTS, try_all('victim')) if outcome]
    tap.equal(accepted, [])


@tap.case('signals while it runs: nobody is let in either')
def _():
    accepted = [str(start) for start, outcome in zip(STARTS, try_all('victim', meanwhile=stops_and_goes)) if outcome]
    tap.equal(accepted, [])


@tap.case('accounts that aren\'t denied: their hash is upgraded or not, and shadow loses nothing')
def _():
    run('pam-auth-update', '--disable', 'mhkdf-strict')
    run('pam-auth-update', '--enable', 'mhkdf')
    attack.without_delays()
    names = [f'w{number}' for number in range(len(STARTS))]
    outcomes = try_all(*names)
    after = attack.lines()
    tap.equal([name for name in attack.BEFORE if name not in after], [], 'lost lines')
    tap.equal(list(after), list(attack.BEFORE), 'lines')
    upgraded = [name for name in names if after[name] != attack.BEFORE[name]]
    print(f'# {sum(map(bool, outcomes))} let in, {len(upgraded)} upgraded')
    for name, before in attack.BEFORE.items():
        if name in upgraded:
            tap.check(after[name][1].startswith('$mhkdf$'), f'{name}: {after[name]}')
            tap.equal(after[name][2:], before[2:])
        else:
            tap.equal(after[name], before)
    tap.check(len(upgraded) > len(STARTS) / 10, 'hardly anything was upgraded')
    for name in chance.sample(upgraded, 5):
        tap.equal(drive.run(['mhkdf', 'verify', drive.hash_of(name)], attack.OLD), b'')
    tap.equal([name for name in os.listdir('/etc') if name == 'nshadow'], [])


@tap.case('after that, su lets in who may, and nobody else')
def _():
    tap.check(attack.su(Start(), 'w0'))
    tap.check(not attack.su(Start(), 'w0', 'another password'))
    tap.check(not attack.su(Start(), 'victim'))


tap.main()
