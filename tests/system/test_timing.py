#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench/timing, in a root as it wants one: it must find what is planted. Without that its figures are a
report, and decide nothing here."""

import os
import re

import common
import tap

SCRIPT = os.path.join(common.SOURCE, 'bench/timing')


@tap.case('a planted leak is found')
def _():
    output = common.run(SCRIPT, '--attempts', '30', '--memory', '1M', '--plant', 'locked=200')
    print('# ' + output.replace('\n', '\n# '))
    row = re.search(r'(?m)^\| locked \| 30 \| ([0-9.]+) .*\*\*found\*\* \|$', output)
    tap.check(row and float(row[1]) > 200, output)
    tap.contains(output, 'A difference was found.')


tap.main()
