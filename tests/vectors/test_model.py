# SPDX-License-Identifier: BSD-2-Clause
"""The model still gives published values, and the committed files are what it gives."""

import os
import subprocess
import sys

import tap

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*args):
    return subprocess.run([sys.executable, *args], cwd=HERE, capture_output=True, text=True)


@tap.case("the model gives the values of SPEC.md and RFC 9106")
def _():
    done = run("mhkdf_model.py", "--self-test")
    tap.equal(done.returncode, 0, done.stdout + done.stderr)


@tap.case("a sample of the committed vectors is what the model gives")
def _():
    done = run("generate_vectors.py", "--check", os.environ.get("MHKDF_TEST_VECTORS", "100"))
    tap.equal(done.returncode, 0, done.stdout + done.stderr)


tap.main()
