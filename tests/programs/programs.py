# SPDX-License-Identifier: BSD-2-Clause
"""Programs of the distribution that make or verify hashes by crypt(3), each as its users use it.

What verifies takes a password and a hash and says whether they match; a program that neither
accepts nor refuses fails the case. What makes takes a password and a setting and gives the hash.
"""

import base64
import contextlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

import drive
from common import run, write

HERE = '127.0.0.1'


def status_of(argv, text='', yes=0, no=1):
    status, output = run(*argv, text=text, check=False)
    if status not in (yes, no):
        raise AssertionError(f'{" ".join(argv)}: status {status}\n{output}')
    return status == yes


# ---- languages, and single commands -------------------------------------------------------------

PYTHON = 'import crypt, sys\n'


def verify_perl(password, hashed):
    return status_of(['perl', '-e', 'exit(crypt($ARGV[0], $ARGV[1]) eq $ARGV[1] ? 0 : 1)', password, hashed])


def verify_python(password, hashed):
    return status_of(['/usr/bin/python3', '-W', 'ignore', '-c',
                      PYTHON + 'sys.exit(0 if crypt.crypt(*sys.argv[1:]) == sys.argv[2] else 1)', password, hashed])


def verify_ruby(password, hashed):
    return status_of(['ruby', '-e', 'exit(ARGV[0].crypt(ARGV[1]) == ARGV[1] ? 0 : 1)', password, hashed])


def verify_doveadm(password, hashed):
    return status_of(['doveadm', 'pw', '-t', '{CRYPT}' + hashed, '-p', password], no=75)


def verify_htpasswd(password, hashed):
    write('/tmp/htpasswd', f'anna:{hashed}\n')
    return status_of(['htpasswd', '-vb', '/tmp/htpasswd', 'anna', password], no=3)


def verify_su(password, hashed):
    """The hash stored by chpasswd -e, which this release of shadow doesn't look at."""
    run('chpasswd', '-e', text=f'erna:{hashed}\n')
    return bool(drive.su('nobody', 'erna', password))


def verify_vlock(password, hashed):
    """A screen locker, run by the user: pam_mhkdf and mhkdf_chkpwd."""
    run('chpasswd', '-e', text=f'erna:{hashed}\n')
    with drive.Terminal(['vlock', '-c'], user='erna') as tty:
        tty.expect(rb'\[ENTER\]')
        tty.type('')
        tty.expect(rb'Password: ')
        tty.secret(password)
        while not tty.has(rb'\n', 1):       # echo is off all the time, and it may have thrown this away
            tty.type(password)
        found, _ = tty.expect(drive.END, rb'Authentication failure')
        return found == 0 and tty.wait() == 0


VERIFIERS = {'perl': verify_perl, 'python3': verify_python, 'ruby': verify_ruby, 'doveadm pw': verify_doveadm,
             'htpasswd': verify_htpasswd, 'chpasswd -e and su': verify_su, 'vlock': verify_vlock}


def make_perl(password, setting):
    return run('perl', '-e', 'print crypt($ARGV[0], $ARGV[1])', password, setting)


def make_python(password, setting):
    return run('/usr/bin/python3', '-W', 'ignore', '-c', PYTHON + 'print(crypt.crypt(*sys.argv[1:]))', password, setting).strip()


def make_ruby(password, setting):
    return run('ruby', '-e', 'print ARGV[0].crypt(ARGV[1])', password, setting)


MAKERS = {'perl': make_perl, 'python3': make_python, 'ruby': make_ruby}


# ---- daemons ------------------------------------------------------------------------------------

def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex((HERE, port)) == 0


@contextlib.contextmanager
def daemon(argv, is_ready):
    """A program in the foreground, from when it is ready until the block ends."""
    with open(f'/tmp/{os.path.basename(argv[0])}.log', 'w+', encoding='utf-8', errors='replace') as output:
        process = subprocess.Popen(argv, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        end = time.monotonic() + drive.TIMEOUT
        while not is_ready():
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                output.seek(0)
                raise AssertionError(f'{" ".join(argv)} does not get ready: {output.read()}')
            time.sleep(0.02)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(drive.TIMEOUT)


def folder(name):
    path = f'/tmp/{name}'
    os.makedirs(path, exist_ok=True)
    os.chmod(path, 0o755)
    return path


NGINX = '''daemon off;
pid {path}/pid;
error_log {path}/log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {path}/1; proxy_temp_path {path}/2; fastcgi_temp_path {path}/3;
    uwsgi_temp_path {path}/4; scgi_temp_path {path}/5;
    server {{
        listen {here}:{port};
        root {path};
        auth_basic test;
        auth_basic_user_file {path}/users;
    }}
}}
'''


@contextlib.contextmanager
def nginx(port):
    """Basic authentication; yields what verifies."""
    path = folder(f'nginx-{port}')
    write(f'{path}/conf', NGINX.format(path=path, port=port, here=HERE))
    write(f'{path}/index.html', 'hello')

    def verify(password, hashed):
        write(f'{path}/users', f'anna:{hashed}\n')
        secret = base64.b64encode(f'anna:{password}'.encode()).decode()
        request = urllib.request.Request(f'http://{HERE}:{port}/', headers={'Authorization': f'Basic {secret}'})
        try:
            with urllib.request.urlopen(request, timeout=drive.TIMEOUT) as response:
                return response.read() == b'hello'
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
            return False

    with daemon(['nginx', '-c', f'{path}/conf'], lambda: is_open(port)):
        yield verify


DOVECOT = '''base_dir = /run/{name}
log_path = {path}/log
protocols =
ssl = no
{more}
passdb {{
  driver = passwd-file
  args = {path}/users
}}
userdb {{
  driver = passwd-file
  args = {path}/users
}}
'''


@contextlib.contextmanager
def dovecot(number, more=''):
    """The authentication server; yields what verifies."""
    name = f'dovecot-{number}'
    path = folder(name)
    write(f'{path}/conf', DOVECOT.format(path=path, name=name, more=more))
    write(f'{path}/users', '')
    count = 0

    def verify(password, hashed):
        nonlocal count
        count += 1                      # a new name, which no cache knows
        write(f'{path}/users', f'anna{count}:{{CRYPT}}{hashed}:1000:1000::/tmp::\n')
        os.utime(f'{path}/users', (count, count))       # the file is read again when its time is another one
        return status_of(['doveadm', '-c', f'{path}/conf', 'auth', 'test', f'anna{count}', password], no=77)

    with daemon(['dovecot', '-c', f'{path}/conf', '-F'], lambda: os.path.exists(f'/run/{name}/auth-client')):
        yield verify


# ---- OpenLDAP -----------------------------------------------------------------------------------

BASE = 'dc=example,dc=org'
ADMIN = f'cn=admin,{BASE}'
ANNA = f'uid=anna,{BASE}'
ENTRIES = f'''dn: {BASE}
objectClass: dcObject
objectClass: organization
dc: example
o: example

dn: {ANNA}
objectClass: account
objectClass: simpleSecurityObject
uid: anna
userPassword: none
'''
SLAPD = '''include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {path}/pid
{lines}
database mdb
suffix "{base}"
rootdn "{admin}"
rootpw admin
directory {path}/db
access to attrs=userPassword by self write by anonymous auth by * none
access to * by * read
{more}
'''


class Directory:
    """slapd, and what its clients do."""

    def __init__(self, port):
        self.url = f'ldap://{HERE}:{port}/'

    def client(self, program, *arguments, text='', check=True):
        return run(program, '-x', '-H', self.url, *arguments, text=text, check=check)

    def admin(self, program, *arguments, text=''):
        return self.client(program, '-D', ADMIN, '-w', 'admin', *arguments, text=text)

    def set_password(self, password):
        """By ldappasswd: slapd hashes it."""
        self.admin('ldappasswd', '-s', password, ANNA)

    def store(self, value):
        self.admin('ldapmodify', text=f'dn: {ANNA}\nchangetype: modify\nreplace: userPassword\nuserPassword: {value}\n')

    def stored(self):
        found = self.admin('ldapsearch', '-LLL', '-o', 'ldif-wrap=no', '-b', ANNA, 'userPassword')
        return base64.b64decode(found.split('userPassword:: ')[1].split('\n')[0]).decode()

    def binds(self, password):
        status, output = self.client('ldapwhoami', '-D', ANNA, '-w', password, check=False)
        if (status, output.strip()) == (0, f'dn:{ANNA}'):
            return True
        if status == 49:
            return False
        raise AssertionError(f'ldapwhoami: status {status}\n{output}')

    def verify(self, password, hashed):
        self.store('{CRYPT}' + hashed)
        return self.binds(password)


def slapd_conf(port, lines, more):
    """A configuration with these lines in its global part, and these in its database; its path."""
    path = folder(f'slapd-{port}')
    os.makedirs(f'{path}/db', exist_ok=True)
    write(f'{path}/conf', SLAPD.format(path=path, lines='\n'.join(lines), more='\n'.join(more), base=BASE, admin=ADMIN))
    return f'{path}/conf'


@contextlib.contextmanager
def slapd(port, lines=(), more=(), entries='', convert=None):
    """slapd with these lines, and these entries besides the usual ones; with convert, its configuration is a folder of cn=config, which
    convert(FOLDER) may change."""
    conf = slapd_conf(port, lines, more)
    option = ['-f', conf]
    run('slapadd', *option, text=ENTRIES + entries)
    if convert:
        config = folder(f'slapd-{port}/config')
        run('slaptest', '-f', conf, '-F', config)
        convert(config)
        option = ['-F', config]
    directory = Directory(port)
    with daemon(['slapd', *option, '-h', directory.url, '-d', '0'], lambda: is_open(port)):
        yield directory
