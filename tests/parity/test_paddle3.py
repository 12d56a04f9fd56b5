"""The calls of `paddle3_calls.py` and `paddle3_version_calls.py` in Paddle 3.3.1 and in wherry: values, dtypes, shapes, gradients, errors.

Needs a Python that has Paddle 3.3.1, in PARITY_PYTHON_3 (`tox -e parity` makes one).
"""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from comparing import compare, compare_errors, differs  # noqa: E402
from differences import DIFFERENCES_FROM_3  # noqa: E402
from paddle3_calls import CALLS  # noqa: E402
from paddle3_version_calls import CALLS as VERSION  # noqa: E402
from programs import needs_paddle_3, outcomes_beside_3  # noqa: E402

pytestmark = needs_paddle_3

TABLES = {"paddle3_calls": CALLS, "paddle3_version_calls": VERSION}
CASES = [(table, number, dtype) for table, calls in TABLES.items() for number, call in enumerate(calls) for dtype in call.dtypes]


def call_of(key):
    return TABLES[key[0]][key[1]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    found = {"wherry": {}, "paddle": {}}
    for table in TABLES:
        for framework, results in outcomes_beside_3("worker.py", tmp_path_factory.mktemp(table), table).items():
            found[framework] |= {(table, *key): one for key, one in results.items()}
    return found


@pytest.mark.parametrize("key", CASES, ids=[f"{call_of(key).expression.rpartition('; ')[2]}, {key[2]}" for key in CASES])
def test_call_of_paddle_3(key, outcomes):
    call, ours, theirs = call_of(key), outcomes["wherry"][key], outcomes["paddle"][key]
    if call.expression in DIFFERENCES_FROM_3:
        found = {d: [outcomes[framework][(*key[:2], d)] for framework in ("wherry", "paddle")] for d in call.dtypes}
        assert any(differs(check, call, d, *both) for d, both in found.items()), "listed in differences.py, but Paddle 3 answers the same: remove the row"
        return
    check(call, key[2], ours, theirs)


def check(call, dtype, ours, theirs):
    if "error" in theirs:
        compare_errors(ours, theirs, dtype)
        return
    assert "error" not in ours, f"{dtype}: we raise {ours.get('text')}, Paddle gives {theirs['result']}"
    compare(ours["result"], theirs["result"], dtype)
    if call.grad:
        for i, (mine, paddles) in enumerate(zip(ours["grads"], theirs["grads"], strict=True)):
            compare(mine, paddles, f"{dtype} gradient {i}")
