# SPDX-License-Identifier: BSD-2-Clause
"""Which of two ways is faster, on a machine that does other things as well."""

import math

LEAST, CALM, MOST = 16, 5, 40       # turns
BETTER = 0.98                       # of the fastest so far: less is no news
SURE = 2.6                          # standard deviations of what chance alone does


def measure(first, second):
    """Calls the two in turn, so that what else the machine does meets both; each returns its seconds. It ends
    when for CALM turns neither was faster than before. Returns both lists."""
    times = [], []
    calm = 0
    while len(times[0]) < LEAST or calm < CALM and len(times[0]) < MOST:
        calm += 1
        for way, seconds in zip((first, second), times):
            took = way()
            if seconds and took < BETTER * min(seconds):
                calm = 0
            seconds.append(took)
    return times


def difference(first, second):
    """What the second way saves, in words: between the fastest runs, since noise makes runs slower and never
    faster. It counts only if all runs together say the same (Mann and Whitney's test)."""
    pairs = len(first) * len(second)
    faster = sum((b < a) + (b == a) / 2 for a in first for b in second)
    deviations = (faster - pairs / 2) / math.sqrt(pairs * (len(first) + len(second) + 1) / 12)
    saved = min(first) - min(second)
    if deviations >= SURE and saved > 0:
        return f'{saved:.3f} s faster'
    if deviations <= -SURE and saved < 0:
        return f'{-saved:.3f} s slower'
    return 'no difference'
