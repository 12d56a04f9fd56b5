"""The same program of layers under real Paddle 2.6.2 and under wherry: names, keys, texts, errors."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = os.environ.get("PARITY_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")

PROGRAM = Path(__file__).parent / "layer_program.py"


def outcome(*command):
    done = subprocess.run([*map(str, command), str(PROGRAM)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    return json.loads(line.removeprefix("RESULT "))


@pytest.fixture(scope="module")
def outcomes():
    return outcome(sys.executable, "-m", "wherry", "run"), outcome(PYTHON)


def test_program_sees_the_same(outcomes):
    ours, theirs = outcomes
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        found = ours[name]
        if is_error(expected):
            # What catches Paddle's error catches ours.
            assert is_error(found), (name, found, expected)
            assert expected[0][0] in found[0], (name, found, expected)
        else:
            assert found == expected, name


def is_error(result):
    return isinstance(result, list) and len(result) == 2 and isinstance(result[0], list) and "BaseException" in result[0]
