"""The calls of `functional_calls.py` and `training_calls.py` in real Paddle 2.6.2 and in wherry.

Results, gradients, classes of errors.
"""
from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from comparing import compare, compare_errors, differs, magnitude  # noqa: E402
from differences import FUNCTIONAL_DIFFERENCES  # noqa: E402
from functional_calls import CALLS, RANDOM  # noqa: E402
from training_calls import CALLS as TRAINING  # noqa: E402

PYTHON = os.environ.get("PARITY_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")

TABLES = {"functional_calls": CALLS, "training_calls": TRAINING}
CASES = [(table, number, dtype) for table, calls in TABLES.items() for number, call in enumerate(calls) for dtype in call.dtypes]


def expression_of(key):
    return TABLES[key[0]][key[1]].expression


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("functional")
    found = {}
    for framework, python in (("wherry", sys.executable), ("paddle", PYTHON)):
        found[framework] = {}
        for table in TABLES:
            target = folder / f"{framework}.{table}"
            done = subprocess.run([python, str(HERE / "worker.py"), framework, str(target), table], cwd=HERE, timeout=600,
                                  capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[-3000:]
            results = pickle.loads(target.read_bytes())  # noqa: S301  our own file
            found[framework] |= {(table, *key): outcome for key, outcome in results.items()}
    return found


@pytest.mark.parametrize("key", CASES, ids=[f"{expression_of(key)}, {key[2]}" for key in CASES])
def test_function(key, outcomes):
    expression = expression_of(key)
    if expression in FUNCTIONAL_DIFFERENCES:
        others = [k for k in CASES if expression_of(k) == expression]
        assert any(differs(check, k, outcomes["wherry"][k], outcomes["paddle"][k]) for k in others), (
            "listed in differences.py, but Paddle answers the same: remove the row"
        )
        return
    check(key, outcomes["wherry"][key], outcomes["paddle"][key])


def check(key, ours, theirs):
    if "error" in theirs:
        compare_errors(ours, theirs, "")
        return
    assert "error" not in ours, f"we raise {ours.get('text')}"
    if key[0] == "functional_calls" and key[1] in RANDOM:
        assert ours["result"][:3] == theirs["result"][:3]
        return
    compare(ours["result"], theirs["result"], "result")
    if "grads" in theirs:
        scale = magnitude(["list", theirs["grads"]])
        for i, (mine, paddles) in enumerate(zip(ours["grads"], theirs["grads"], strict=True)):
            compare(mine, paddles, f"gradient {i}", scale=scale)
