"""The same calls in real Paddle 2.6.2 and in wherry: values, dtypes, shapes, gradients, error types.

Needs a Python that has real Paddle, in PARITY_PYTHON (`tox -e parity` makes one). Differences that we
keep on purpose stand in DIFFERENCES with the reason, and in docs/compatibility.md.
"""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from calls import CALLS  # noqa: E402
from comparing import compare, compare_errors, differs  # noqa: E402
from differences import DIFFERENCES  # noqa: E402
from programs import needs_paddle, outcomes_of  # noqa: E402

pytestmark = needs_paddle

# Tighter than those of layers: few numbers are added here. Relative, and as absolute bound.
TOLERANCE = {"float64": 1e-10, "complex128": 1e-10, "float32": 2e-5, "complex64": 2e-5, "float16": 2e-3, "bfloat16": 1e-2}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    return outcomes_of("worker.py", tmp_path_factory.mktemp("parity"))


@pytest.mark.parametrize("number", range(len(CALLS)), ids=[call.expression for call in CALLS])
def test_parity(number, outcomes):
    call = CALLS[number]
    if call.expression in DIFFERENCES:
        # The difference must be a real one: a row that no longer holds has to go.
        if any(differs(check, call, "", outcomes["wherry"][number, d], outcomes["paddle"][number, d]) for d in call.dtypes) or [
            c.expression for c in CALLS
        ].count(call.expression) > 1:
            return
        pytest.fail("listed in differences.py, but Paddle answers the same: remove the row")
    for dtype in call.dtypes:
        check(call, dtype, outcomes["wherry"][number, dtype], outcomes["paddle"][number, dtype])


def check(call, dtype, ours, theirs):
    if "error" in theirs:
        compare_errors(ours, theirs, dtype)
        return
    assert "error" not in ours, f"{dtype}: we raise {ours.get('text')}, Paddle gives {theirs['result']}"
    compare(ours["result"], theirs["result"], dtype, scale=1.0, tolerances=TOLERANCE)
    if call.grad:
        for i, (mine, paddles) in enumerate(zip(ours["grads"], theirs["grads"], strict=True)):
            compare(mine, paddles, f"{dtype} gradient {i}", scale=1.0, tolerances=TOLERANCE)
