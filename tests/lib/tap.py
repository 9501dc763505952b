# SPDX-License-Identifier: BSD-2-Clause
"""For test scripts: each function marked with @case is one case of TAP.

    import tap

    @tap.case("a sum is a sum")
    def _():
        tap.equal(1 + 1, 2)

    tap.main()

A case fails with any exception; tap.skip(REASON) leaves it out. @tap.case("... {}", values) makes
one case of each value, which the function gets as its argument.
"""

import sys
import traceback

_cases = []


class Skip(Exception):
    pass


def case(name, values=None):
    def add(function):
        if values is None:
            _cases.append((name, function, ()))
        else:
            for value in values:
                args = value if isinstance(value, tuple) else (value,)
                _cases.append((name.format(*args), function, args))
        return function

    return add


def skip(reason):
    raise Skip(reason)


def skip_all(reason):
    """Instead of any case."""
    print("1..0 # SKIP", reason)
    sys.exit(0)


def check(condition, what="a condition doesn't hold"):
    if not condition:
        raise AssertionError(what)


def equal(got, expected, what=""):
    if got != expected:
        raise AssertionError(f"{what}\ngot:      {got!r}\nexpected: {expected!r}")


def contains(text, part, what=""):
    if part not in text:
        raise AssertionError(f"{what}\n{part!r} is not in\n{text!r}")


def _title(name):
    name = name if len(name) <= 100 else name[:97] + "..."
    return "".join(c if c.isprintable() and c != "#" else "?" for c in name)


def main():
    failed = 0
    print(f"1..{len(_cases)}")
    for number, (name, function, args) in enumerate(_cases, 1):
        title = f"{number} - {_title(name)}"
        try:
            function(*args)
            print("ok", title)
        except Skip as reason:
            print("ok", title, "# SKIP", reason)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print("not ok", title)
            for line in traceback.format_exc().splitlines():
                print("#", line)
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
