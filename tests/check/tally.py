#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counts results for ./check.

tally.py tap RESULTS PART LOG STATUS    LOG holds the TAP of a program that ended with STATUS
tally.py trs RESULTS PART FOLDER STATUS FOLDER is where "make check" ended with STATUS
tally.py one RESULTS PART PASS|FAIL|SKIP NAME [LOG or reason]
tally.py part RESULTS PART              prints the part's counts, and its failures with their logs
tally.py end RESULTS                    prints all failures, skips with their reasons, and the sums

RESULTS is a file that grows by one JSON array a result: part, outcome, name, log or reason.
"""
import itertools
import json
import os
import re
import sys

TAIL = 25                   # lines of a log that are shown


class Results:
    def __init__(self, path):
        self.path = path

    def add(self, part, outcome, name, detail=''):
        with open(self.path, 'a', encoding='utf-8') as file:
            print(json.dumps([part, outcome, name, detail]), file=file)

    def all(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding='utf-8') as file:
            return [json.loads(line) for line in file]


def read(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


def tap(results, part, log, status):
    """A plan that doesn't fit, or a bad exit status without a failed case, is a failure too."""
    program = os.path.basename(log)[:-len('.log')]
    planned, seen, failed = None, 0, False
    for line in read(log).splitlines():
        case = re.match(r'(not )?ok\b\s*\d*\s*-?\s*(.*)', line)
        plan = re.match(r'1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?', line)
        if case:
            seen += 1
            name, _, skipped = case[2].partition(' # SKIP')
            if case[1]:
                failed = True
                results.add(part, 'FAIL', f'{program}: {name}', log)
            elif skipped or case[2].endswith('# SKIP'):
                results.add(part, 'SKIP', f'{program}: {name}', skipped.strip() or 'no reason given')
            else:
                results.add(part, 'PASS', f'{program}: {name}')
        elif plan:
            planned = int(plan[1])
            if planned == 0 and status == 0:
                results.add(part, 'SKIP', program, plan[2] or 'no reason given')
    if planned != seen:
        what = 'no plan' if planned is None else f'{planned} planned'
        results.add(part, 'FAIL', f'{program}: {seen} cases seen, {what}, exit status {status}', log)
    elif status and not failed:
        results.add(part, 'FAIL', f'{program}: exit status {status}', log)


def trs(results, part, folder, status):
    """The result files of Automake's test drivers."""
    failed = seen = 0
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for file in sorted(name for name in names if name.endswith('.trs')):
            path = os.path.join(parent, file)
            log = path[:-len('.trs')] + '.log'
            program = os.path.relpath(path, folder)[:-len('.trs')]
            mine = 0
            for outcome, name in outcomes(path, log):
                seen += 1
                name, _, reason = name.partition('# SKIP')
                name = f'{program}: {name.strip()}'.rstrip(': ')
                if outcome in ('PASS', 'XFAIL'):
                    results.add(part, 'PASS', name)
                elif outcome == 'SKIP':
                    results.add(part, 'SKIP', name, reason.strip() or skip_reason(log))
                elif outcome == 'FAIL' or not (mine and 'exited with status' in name):
                    # (the exit status of a program with failed cases is no failure of its own)
                    mine += 1
                    results.add(part, 'FAIL', f'{name} ({outcome})', log)
            failed += mine
    if seen == 0 or (status and not failed):
        results.add(part, 'FAIL', f'make check: {seen} results, exit status {status}',
                    os.path.join(folder, 'make-check.log'))


def outcomes(path, log):
    """Outcomes are in the result file; the driver for TAP puts the names into the log."""
    found = re.findall(r'^:test-result: *(\w+)', read(path), re.M)
    named = re.findall(r'^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): \S+ (?:\d+ )?(?:- )?(.*)$', read(log), re.M)
    return named if [outcome for outcome, _ in named] == found else [(outcome, '') for outcome in found]


def skip_reason(log):
    found = os.path.exists(log) and re.search(r'^1\.\.0\s*#\s*SKIP\s*(.*)', read(log), re.M)
    return found[1] if found else 'no reason given'


def excerpt(name, log):
    """What TAP says of the case, or else the end of the log."""
    lines = read(log).splitlines()
    case = name.partition(': ')[2].removesuffix(' (FAIL)')
    for start, line in enumerate(lines):
        if case and line.startswith('not ok') and line.endswith(case):
            around = itertools.takewhile(lambda text: not re.match(r'(not )?ok\b', text), lines[start + 1:])
            return list(around)[-TAIL:]
    return lines[-TAIL:]


def show_failure(name, log, shown):
    print(f'    FAILED {name}')
    if log and os.path.exists(log):
        lines = excerpt(name, log)
        if lines not in shown:
            print(f'      from {log}:')
            for line in lines:
                print(f'        {line}')
        shown.append(lines)


def counts(rows):
    return [sum(row[1] == outcome for row in rows) for outcome in ('PASS', 'FAIL', 'SKIP')]


def part_summary(results, part):
    rows = [row for row in results.all() if row[0] == part]
    print('{} passed, {} failed, {} skipped'.format(*counts(rows)))
    shown = []
    for _, outcome, name, log in rows:
        if outcome == 'FAIL':
            show_failure(name, log, shown)


def end(results):
    rows = results.all()
    # Sanitizers can't run some cases, which counts only if they weren't run without them.
    plain = {name for part, outcome, name, _ in rows if part == 'unit' and outcome == 'PASS'}
    left = [row for row in rows if row[0] in ('asan', 'tsan') and row[1] == 'SKIP' and row[2] in plain]
    rows = [row for row in rows if row not in left]
    if left:
        print(f'{len(left)} cases are not for sanitizers; they passed without (part unit).')
    for outcome, title in (('SKIP', 'Skipped:'), ('FAIL', 'Failed:')):
        chosen = [row for row in rows if row[1] == outcome]
        if chosen:
            print(title)
        for part, _, name, detail in chosen:
            print(f'  {part}: {name}' + (f' ({detail})' if detail else ''))
    passed, failed, skipped = counts(rows)
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not passed else 0


def main():
    command, results, *arguments = sys.argv[1:]
    results = Results(results)
    if command == 'tap':
        tap(results, arguments[0], arguments[1], int(arguments[2]))
    elif command == 'trs':
        trs(results, arguments[0], arguments[1], int(arguments[2]))
    elif command == 'one':
        results.add(*arguments)
    elif command == 'part':
        part_summary(results, arguments[0])
    elif command == 'end':
        return end(results)
    else:
        return 2
    return 0


sys.exit(main())
