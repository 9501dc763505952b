# SPDX-License-Identifier: BSD-2-Clause
"""bench/timing finds a difference where there is one, and none where there is none."""

import json
import os
import random
import re
import subprocess
import tempfile

import tap

SCRIPT = os.path.join(os.environ["MHKDF_SRCDIR"], "bench", "timing")
KINDS = ("existing", "unknown", "locked", "malformed")


def analyse(times):
    """{kind: (percent, p, found)} and the last line."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(times, file)
        file.flush()
        done = subprocess.run([os.environ["PYTHON"], SCRIPT, "--analyse", file.name], stdout=subprocess.PIPE,
                              check=True, text=True)  # fmt: skip
    rows = re.findall(r"^\| (\w+) \| .* \| ([-+][0-9.]+)% \| ([0-9.]+) \| (\*\*found\*\*|not found) \|$", done.stdout, re.M)
    found = {kind: (float(percent), float(p), verdict == "**found**") for kind, percent, p, verdict in rows}
    return found, done.stdout.splitlines()[-1]


def sample(seed, count=500, shift=0.0):
    """Times as logins have them: a floor, a wide right side, some outliers."""
    chance = random.Random(seed)
    return [0.02 + shift + chance.lognormvariate(-7.5, 0.6) + (0.01 if chance.random() < 0.02 else 0) for _ in range(count)]


@tap.case("the same times, in another order: nothing is found")
def _():
    times = sample(1)
    found, verdict = analyse({kind: sorted(times, key=lambda value, k=kind: hash((k, value))) for kind in KINDS})
    tap.equal(found, {kind: (0.0, 1.0, False) for kind in KINDS[1:]})
    tap.equal(verdict, "No difference was found.")


@tap.case("four samples of one kind: nothing is found")
def _():
    found, verdict = analyse({kind: sample(100 + number) for number, kind in enumerate(KINDS)})
    tap.equal([found[kind][2] for kind in KINDS[1:]], [False] * 3, f"{found}")
    tap.equal(verdict, "No difference was found.")


@tap.case("{} takes {} ms longer: it is found, and nothing else", [(kind, ms) for kind in KINDS[1:] for ms in (0.2, 1, -0.2)])
def _(planted, milliseconds):
    times = {kind: sample(100 + number) for number, kind in enumerate(KINDS)}
    times[planted] = [value + milliseconds / 1e3 for value in times[planted]]
    found, verdict = analyse(times)
    tap.equal([kind for kind in found if found[kind][2]], [planted], f"{found}")
    tap.equal(verdict, "A difference was found.")


@tap.case("a difference of the medians alone, and of the order alone")
def _():
    few = {"existing": [1.0, 1.0, 1.0], "unknown": [1.03, 1.03, 0.5], "locked": [1.0] * 3, "malformed": [1.0] * 3}
    found, _ = analyse(few)
    tap.check(found["unknown"][1] > 0.01 and found["unknown"][2], f"{found}")
    wide = [1 + number / 1000 for number in range(500)]
    found, _ = analyse({"existing": wide, "unknown": [value + 0.015 for value in wide], "locked": wide,
                        "malformed": [value + 0.06 for value in wide]})  # fmt: skip
    tap.check(abs(found["unknown"][0]) < 2 and not found["locked"][2] and found["malformed"][2], f"{found}")
    shifted = [1.0, *([1.0001] * 499)]
    found, _ = analyse({"existing": [1.0] * 500, "unknown": shifted, "locked": [1.0] * 500, "malformed": [1.0] * 500})
    tap.check(found["unknown"][0] < 0.1 and found["unknown"][1] < 0.01 and found["unknown"][2], f"{found}")


@tap.case("p is that of others for a known example, and with ties")
def _():
    # Two-sided, asymptotic, with the continuity correction, as statistics packages have it.
    left, right = [19, 22, 16, 29, 24], [20, 11, 17, 12]
    found, _ = analyse({"existing": left, "unknown": right, "locked": left, "malformed": [19, 19, 19, 19, 19]})
    tap.equal(found["unknown"][1], 0.1113)
    tap.equal(found["locked"][1], 1.0)


tap.main()
