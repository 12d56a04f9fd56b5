"""The calls of `functional_calls.py` and `training_calls.py` in real Paddle 2.6.2 and in wherry.

Results, gradients, classes of errors.
"""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from comparing import compare, compare_errors, differs, magnitude  # noqa: E402
from differences import FUNCTIONAL_DIFFERENCES  # noqa: E402
from functional_calls import CALLS, RANDOM  # noqa: E402
from programs import needs_paddle, outcomes_of  # noqa: E402
from training_calls import CALLS as TRAINING  # noqa: E402

pytestmark = needs_paddle

TABLES = {"functional_calls": CALLS, "training_calls": TRAINING}
CASES = [(table, number, dtype) for table, calls in TABLES.items() for number, call in enumerate(calls) for dtype in call.dtypes]


def expression_of(key):
    return TABLES[key[0]][key[1]].expression


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    found = {"wherry": {}, "paddle": {}}
    for table in TABLES:
        for framework, results in outcomes_of("worker.py", tmp_path_factory.mktemp(table), table).items():
            found[framework] |= {(table, *key): one for key, one in results.items()}
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
