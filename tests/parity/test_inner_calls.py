"""What libraries take from inside of Paddle, in real Paddle 2.6.2 and in wherry."""
from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from inner_calls import CALLS  # noqa: E402
from test_generated import difference  # noqa: E402

PYTHON = os.environ.get("PARITY_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    found = {}
    for framework, python in (("wherry", sys.executable), ("paddle", PYTHON)):
        target = tmp_path_factory.mktemp("inner") / f"{framework}.pickle"
        command = [python, str(HERE / "worker.py"), framework, str(target), "inner_calls"]
        done = subprocess.run(command, cwd=HERE, timeout=900, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, f"{framework} died: {done.stderr[-2000:]}"
        found[framework] = pickle.loads(target.read_bytes())  # noqa: S301  our own file
    return found


@pytest.mark.parametrize("number", range(len(CALLS)), ids=lambda number: f"{number}-{CALLS[number].expression[:60]}")
def test_call_is_answered_as_by_paddle(outcomes, number):
    ours, theirs = (outcomes[framework][number, "float32"] for framework in ("wherry", "paddle"))
    assert "error" not in theirs, f"Paddle refuses the call: {theirs}"
    assert "error" not in ours, ours
    assert not difference(CALLS[number], ours, theirs)
