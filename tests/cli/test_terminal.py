# SPDX-License-Identifier: BSD-2-Clause
"""How the mhkdf command asks for a password on a terminal."""

import os
import signal

import tap
from tool import Terminal, pending, run

CHEAP = ("hash", "--memory", "64K")
ASK = b"Password: "
AGAIN = b"Password again: "
SECRET = b"correct horse"
HASH = "$mhkdf$m64K.t2.p4.c6$AgICAgICAgICAgICAgICAg$KYLe0rmxhTPdfNE6S/M76IM88d4uOM33lsOlWyYWJxM"


def answer(t, prompt, text):
    t.expect(prompt)
    tap.check(not t.echo(), "echo is on at the prompt")
    t.send(text + b"\n")


def finish(t, expected, secrets=(SECRET,)):
    """Its standard output, after a look at how it left."""
    status, out = t.end()
    tap.equal(status, expected, f"end of the command; the screen shows {t.screen!r}")
    tap.check(t.echo(), "echo is off after the end")
    tap.equal(pending(t.slave), 0, "input left to the shell")
    for secret in secrets:
        tap.check(secret not in t.screen, "the password is on the screen")
    t.close()
    return out


def verified(out, password=SECRET):
    tap.check(out.startswith(b"$mhkdf$m64K.") and out.endswith(b"\n"), repr(out))
    status = run("verify", out.decode().strip(), stdin=password).returncode
    tap.equal(status, 0, "status of verify")


@tap.case("hash asks twice, without echo")
def _():
    t = Terminal(*CHEAP)
    answer(t, ASK, SECRET)
    answer(t, AGAIN, SECRET)
    verified(finish(t, "exit 0"))


@tap.case("two different passwords are asked for again")
def _():
    t = Terminal(*CHEAP)
    answer(t, ASK, b"one thing")
    answer(t, AGAIN, b"another")
    t.expect(b"differ")
    answer(t, ASK, SECRET)
    answer(t, AGAIN, SECRET)
    verified(finish(t, "exit 0", (SECRET, b"one thing", b"another")))


@tap.case("a password that the other one starts with is a different one")
def _():
    t = Terminal(*CHEAP)
    answer(t, ASK, b"long")
    answer(t, AGAIN, b"longer")
    t.expect(b"differ")
    answer(t, ASK, b"longer")
    answer(t, AGAIN, b"long")
    t.expect(b"differ")
    t.expect(ASK)
    t.send(b"\x03")
    tap.equal(finish(t, f"signal {signal.SIGINT:d}"), b"")


@tap.case("three times two different ones are an error")
def _():
    t = Terminal(*CHEAP)
    for _ in range(3):
        answer(t, ASK, SECRET)
        answer(t, AGAIN, b"another")
    tap.equal(finish(t, "exit 2"), b"")
    tap.contains(t.screen, b"mhkdf hash: the two passwords differ")


@tap.case("an empty password is refused by hash")
def _():
    t = Terminal(*CHEAP)
    answer(t, ASK, b"")
    tap.equal(finish(t, "exit 2"), b"")
    tap.contains(t.screen, b"empty password")


@tap.case("end of input at the prompt is an error")
def _():
    for args in (CHEAP, ("verify", HASH)):
        t = Terminal(*args)
        t.expect(ASK)
        t.send(b"\x04")
        tap.equal(finish(t, "exit 2"), b"")
        tap.contains(t.screen, b"no password was entered")


@tap.case("511 bytes are taken")
def _():
    t = Terminal(*CHEAP)
    password = b"x" * 510 + b"y"
    answer(t, ASK, password)
    answer(t, AGAIN, password)
    verified(finish(t, "exit 0", (password, b"xxxx")), password)


@tap.case("{} bytes are refused, and the rest isn't left to the shell", [512, 4000])
def _(length):
    t = Terminal(*CHEAP)
    answer(t, ASK, b"x" * length)
    tap.equal(finish(t, "exit 2", (b"xxxx",)), b"")
    tap.contains(t.screen, b"longer than 511 bytes")


@tap.case("a NUL byte is refused")
def _():
    t = Terminal(*CHEAP)
    answer(t, ASK, b"ab\0cd")
    answer(t, AGAIN, b"ab\0cd")
    tap.equal(finish(t, "exit 2"), b"")
    tap.contains(t.screen, b"NUL")


@tap.case("8-bit characters are taken as they are")
def _():
    t = Terminal(*CHEAP)
    password = "Käse".encode()
    answer(t, ASK, password)
    answer(t, AGAIN, password)
    verified(finish(t, "exit 0", (password,)), password)


@tap.case("verify asks once: {}", [("match", b"\x16\x01" * 32, 0), ("mismatch", SECRET, 1)])
def _(_, typed, status):
    t = Terminal("verify", HASH)
    answer(t, ASK, typed)
    tap.equal(finish(t, f"exit {status}"), b"")
    tap.check(AGAIN not in t.screen)


@tap.case("verify takes an empty password")
def _():
    t = Terminal("verify", HASH)
    answer(t, ASK, b"")
    finish(t, "exit 1")


@tap.case("nobody is asked when the string is no hash")
def _():
    for args in (("verify", "$mhkdf$nonsense"), ("hash", "--setting", "$mhkdf$nonsense")):
        t = Terminal(*args)
        finish(t, "exit 2")
        tap.check(ASK not in t.screen)


KEYS = [("Ctrl-C", b"\x03", signal.SIGINT), ("Ctrl-\\", b"\x1c", signal.SIGQUIT)]


@tap.case("{} at the first question ends it by the signal", KEYS)
def _(_, key, number):
    t = Terminal(*CHEAP)
    t.expect(ASK)
    t.send(SECRET + key)
    tap.equal(finish(t, f"signal {number:d}"), b"")


@tap.case("{} at the second question ends it by the signal", KEYS)
def _(_, key, number):
    t = Terminal(*CHEAP)
    answer(t, ASK, SECRET)
    t.expect(AGAIN)
    t.send(key)
    tap.equal(finish(t, f"signal {number:d}"), b"")


@tap.case("{} brings the echo back", ["SIGTERM", "SIGHUP", "SIGALRM", "SIGINT"])
def _(name):
    number = getattr(signal, name)
    t = Terminal("verify", HASH)
    t.expect(ASK)
    t.send(b"half a pass")
    os.kill(t.pid, number)
    tap.equal(finish(t, f"signal {number:d}", (b"half",)), b"")


@tap.case("the tests can be run by somebody who ignores {}", ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTSTP"])
def _(name):
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_IGN)
    t = Terminal(*CHEAP)
    signal.signal(number, before)
    t.expect(ASK)
    os.kill(t.pid, number)
    if number == signal.SIGTSTP:
        t.stopped()
        t.foreground()
        t.expect(ASK)
        number = signal.SIGTERM
        os.kill(t.pid, number)
    finish(t, f"signal {number:d}")


@tap.case("a signal that was ignored stays so")
def _():
    t = Terminal(*CHEAP, ignore=(signal.SIGHUP, signal.SIGINT))
    t.expect(ASK)
    os.kill(t.pid, signal.SIGHUP)
    t.send(b"\x03")  # flushes what was typed
    t.send(SECRET + b"\n")
    answer(t, AGAIN, SECRET)
    verified(finish(t, "exit 0"))


@tap.case("Ctrl-Z brings the echo back, and it asks again when continued")
def _():
    t = Terminal(*CHEAP)
    answer(t, ASK, SECRET)
    t.expect(AGAIN)
    t.send(b"half\x1a")
    t.stopped()
    tap.check(t.echo(), "echo is off while stopped")
    t.foreground()
    answer(t, AGAIN, SECRET)
    verified(finish(t, "exit 0", (SECRET, b"half")))


@tap.case("twice stopped, then ended")
def _():
    t = Terminal(*CHEAP)
    for _ in range(2):
        t.expect(ASK)
        t.send(b"\x1a")
        t.stopped()
        tap.check(t.echo(), "echo is off while stopped")
        t.foreground()
    t.expect(ASK)
    t.send(b"\x03")
    finish(t, f"signal {signal.SIGINT:d}")


@tap.case("stopped by SIGSTOP, it turns the echo off again when continued")
def _():
    t = Terminal(*CHEAP)
    t.expect(ASK)
    os.kill(t.pid, signal.SIGSTOP)
    t.stopped()
    t.foreground()
    answer(t, ASK, SECRET)
    answer(t, AGAIN, SECRET)
    verified(finish(t, "exit 0"))


@tap.case("in the background it leaves the terminal alone until it is in front")
def _():
    t = Terminal(*CHEAP, background=True)
    t.stopped()
    tap.check(t.echo(), "echo was switched off from the background")
    tap.equal(t.screen, b"")
    t.foreground()
    answer(t, ASK, SECRET)
    answer(t, AGAIN, SECRET)
    verified(finish(t, "exit 0"))
    tap.equal(t.screen.count(ASK), 1, "it asks once")


@tap.case("a lost terminal is an error")
def _():
    t = Terminal(*CHEAP, ignore=(signal.SIGHUP,))
    t.expect(ASK)
    os.close(t.slave)
    os.close(t.master)
    t.master = os.open("/dev/null", os.O_RDONLY)
    status, out = t.end()
    tap.equal((status, out), ("exit 2", b""))


tap.main()
