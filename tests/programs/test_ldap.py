#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""OpenLDAP makes and verifies $mhkdf$ hashes with the lines that mhkdf-ldap(7) shows."""

import os
import re

import common
import programs
import tap
from common import WRONG, run

RIGHT = 'correct horse'
PAGE = common.read(os.path.join(common.SOURCE, 'man/mhkdf-ldap.7'))
# The lines of slapd.conf that the page shows, and its table of formats.
LINES = [line.replace(r'\e', '\\') for line in re.findall(r'(?m)^(password-.*)$', PAGE)]
FORMATS = re.findall(r'(?m)^\.It Li (\$mhkdf\$\S+)$', PAGE)
# As long as those of the page, and cheap.
CHEAP = ('$mhkdf$m64K.t1.p4.c6$%.10s', '$mhkdf$m256K.t1.p4.c6$%.9s', '$mhkdf$m1M.t1.p4.c6$%.11s',
         '$mhkdf$m64K.t1.p4.c12$%.9s', '$mhkdf$m256K.t1.p4.c12$%.8s')
LONGEST = 31


def shape(setting_format):
    """What a hash made by it looks like."""
    setting, length = re.fullmatch(r'(.*)%\.(\d+)s', setting_format).groups()
    return re.escape(setting) + r'[./0-9A-Za-z]{' + length + r'}\$[./0-9A-Za-z]{43}'


def lines_for(setting_format):
    return ['password-hash {CRYPT}', f'password-crypt-salt-format "{setting_format}"']


def makes_and_verifies(directory, setting_format):
    stored = []
    for _ in range(2):
        directory.set_password(RIGHT)
        stored.append(directory.stored())
        tap.check(re.fullmatch(r'\{CRYPT\}' + shape(setting_format), stored[-1]), stored[-1])
        tap.check(directory.binds(RIGHT), 'the right password is refused')
        tap.check(not directory.binds(WRONG), 'a wrong password is accepted')
        tap.check(not directory.binds(RIGHT[:-1]), 'a shorter password is accepted')
    tap.check(stored[0] != stored[1], 'twice the same salt')
    hashed = stored[0].removeprefix('{CRYPT}')
    tap.equal(run('mhkdf', 'verify', hashed, text=RIGHT, check=False)[0], 0)


@tap.case('the page shows lines, and formats that use all the room there is')
def _():
    tap.equal(len(LINES), 2)
    tap.check(len(FORMATS) >= 4, FORMATS)
    for setting_format in (*FORMATS, *CHEAP):
        setting, length = re.fullmatch(r'(.*)%\.(\d+)s', setting_format).groups()
        tap.equal(len(setting) + int(length), LONGEST, setting_format)
        tap.check(int(length) >= 8, setting_format)
    tap.contains(LINES[1], FORMATS[0])


@tap.case('ldappasswd and binds, with the lines of the page')
def _():
    with programs.slapd(3389, LINES) as directory:
        makes_and_verifies(directory, FORMATS[0])


@tap.case('ldappasswd and binds: {}', CHEAP)
def _(setting_format):
    with programs.slapd(3400 + CHEAP.index(setting_format), lines_for(setting_format)) as directory:
        makes_and_verifies(directory, setting_format)


@tap.case('the user changes the password with ldappasswd')
def _():
    with programs.slapd(3410, lines_for(CHEAP[0])) as directory:
        directory.set_password(RIGHT)
        directory.client('ldappasswd', '-D', programs.ANNA, '-w', RIGHT, '-a', RIGHT, '-s', 'battery staple')
        tap.check(directory.binds('battery staple'))
        tap.check(not directory.binds(RIGHT))
        status, _ = directory.client('ldappasswd', '-D', programs.ANNA, '-w', RIGHT, '-s', 'x', check=False)
        tap.equal(status, 49)


@tap.case('cn=config has these lines where the page says')
def _():
    shown = re.findall(r'(?m)^(dn: .*|olcPassword\w+: .*)$', PAGE)
    frontend, top = shown.index('dn: olcDatabase={-1}frontend,cn=config'), shown.index('dn: cn=config')
    where = {'olcPasswordHash': frontend, 'olcPasswordCryptSaltFormat': top}
    found = {}

    def look(config):
        found['top'] = common.read(f'{config}/cn=config.ldif')
        found['frontend'] = common.read(f'{config}/cn=config/olcDatabase={{-1}}frontend.ldif')

    with programs.slapd(3411, LINES, convert=look) as directory:
        makes_and_verifies(directory, FORMATS[0])
    tap.contains(found['frontend'], 'olcPasswordHash: {CRYPT}')
    tap.contains(found['top'], f'olcPasswordCryptSaltFormat: {FORMATS[0]}')
    for key, start in where.items():
        tap.check(shown[start + 1].startswith(f'{key}: '), shown)
        tap.contains(found['top'] + found['frontend'], shown[start + 1].replace('"', ''))


@tap.case('cn=config: the lines of the page are taken by a running slapd')
def _():
    ldif = re.search(r'(?ms)^(dn: cn=config$.*?)^\.Ed', PAGE)[1]
    access = 'database config\naccess to * by dn.base="cn=admin,dc=example,dc=org" write'
    with programs.slapd(3412, [access], convert=lambda config: None) as directory:
        directory.set_password(RIGHT)
        tap.check(directory.stored().startswith('{SSHA}'), directory.stored())
        tap.check(directory.binds(RIGHT))
        directory.admin('ldapmodify', text=ldif)
        tap.check(directory.binds(RIGHT), 'a password that was set before is refused')
        makes_and_verifies(directory, FORMATS[0])


POLICY = f'''
dn: cn=policy,{programs.BASE}
objectClass: device
objectClass: pwdPolicy
cn: policy
pwdAttribute: userPassword
pwdInHistory: 3
'''


@tap.case('ppolicy recognises passwords that were used before')
def _():
    lines, overlay = ['moduleload ppolicy', *lines_for(CHEAP[0])], ['overlay ppolicy', f'ppolicy_default "cn=policy,{programs.BASE}"']
    with programs.slapd(3415, lines, overlay, POLICY) as directory:
        directory.set_password('number 1')

        def change(old, new):
            return directory.client('ldappasswd', '-D', programs.ANNA, '-w', f'number {old}', '-s', f'number {new}', check=False)

        for old, new in ((1, 2), (2, 3)):
            tap.equal(change(old, new)[0], 0)
        for new in (1, 2):
            status, output = change(3, new)
            tap.check(status != 0 and 'in history' in output, output)
        tap.equal(change(3, 4)[0], 0)


@tap.case('a hash of the mhkdf command, stored as it is')
def _():
    with programs.slapd(3413) as directory:
        hashed = common.mhkdf_hash(RIGHT)
        directory.store('{CRYPT}' + hashed)
        tap.check(directory.binds(RIGHT))
        tap.check(not directory.binds(WRONG))


@tap.case('slappasswd: {}', (FORMATS[0], *CHEAP))
def _(setting_format):
    made = run('slappasswd', '-h', '{CRYPT}', '-c', setting_format, '-s', RIGHT).strip()
    tap.check(re.fullmatch(r'\{CRYPT\}' + shape(setting_format), made), made)
    tap.equal(run('mhkdf', 'verify', made.removeprefix('{CRYPT}'), text=RIGHT, check=False)[0], 0)
    tap.equal(run('mhkdf', 'verify', made.removeprefix('{CRYPT}'), text=WRONG, check=False)[0], 1)


WRONG_FORMATS = ('$mhkdf$m64K.t1.p4.c6$%.7s', '$mhkdf$m1048577K.t1.p4.c12$%.8s')


@tap.case('slappasswd refuses a format that makes no hash: {}', WRONG_FORMATS)
def _(setting_format):
    status, output = run('slappasswd', '-h', '{CRYPT}', '-c', setting_format, '-s', RIGHT, check=False)
    tap.check(status != 0 and '{CRYPT}' not in output, output)


@tap.case('slapd takes it, and stores the failure token, as the page warns')
def _():
    with programs.slapd(3414, lines_for(WRONG_FORMATS[0])) as directory:
        directory.set_password(RIGHT)
        tap.equal(directory.stored(), '{CRYPT}*0')
        tap.check(not directory.binds(RIGHT))
        tap.check(not directory.binds('*0'))


tap.main()
