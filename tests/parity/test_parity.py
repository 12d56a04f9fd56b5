"""The same calls in real Paddle 2.6.2 and in wherry: values, dtypes, shapes, gradients, error types.

Needs a Python that has real Paddle, in PARITY_PYTHON (`tox -e parity` makes one). Differences that we
keep on purpose stand in DIFFERENCES with the reason, and in docs/compatibility.md.
"""
from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from calls import CALLS  # noqa: E402
from comparing import differs  # noqa: E402
from differences import DIFFERENCES  # noqa: E402

PYTHON = os.environ.get("PARITY_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")

# Relative tolerances: both sides round, and sum in different orders.
TOLERANCE = {"float64": 1e-10, "complex128": 1e-10, "float32": 2e-5, "complex64": 2e-5, "float16": 2e-3, "bfloat16": 1e-2}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parity")
    found = {}
    for framework, python in (("wherry", sys.executable), ("paddle", PYTHON)):
        target = folder / f"{framework}.pickle"
        subprocess.run([python, str(HERE / "worker.py"), framework, str(target)], check=True, cwd=HERE, timeout=600)
        found[framework] = pickle.loads(target.read_bytes())  # noqa: S301  our own file
    return found


def compare(ours, theirs, where):
    assert ours[0] == theirs[0], f"{where}: got {ours}, Paddle gives {theirs}"
    if ours[0] == "list":
        assert len(ours[1]) == len(theirs[1]), f"{where}: got {len(ours[1])} results, Paddle gives {len(theirs[1])}"
        for i, (mine, paddles) in enumerate(zip(ours[1], theirs[1], strict=True)):
            compare(mine, paddles, f"{where}[{i}]")
    elif ours[0] == "tensor":
        assert ours[1:3] == theirs[1:3], f"{where}: got {ours[1:3]}, Paddle gives {theirs[1:3]}"
        rtol = TOLERANCE.get(ours[1], 0)
        np.testing.assert_allclose(ours[3], theirs[3], rtol=rtol, atol=rtol, err_msg=where)
    elif isinstance(ours[1], float):
        assert ours[1] == pytest.approx(theirs[1], rel=1e-5), where
    else:
        assert np.all(ours[1] == theirs[1]), f"{where}: got {ours[1]}, Paddle gives {theirs[1]}"


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


STANDARD = ("ValueError", "TypeError", "IndexError", "RuntimeError", "NotImplementedError", "OSError", "MemoryError", "KeyError",
            "AssertionError", "AttributeError")


def check(call, dtype, ours, theirs):
    if "error" in theirs:
        assert "error" in ours, f"{dtype}: Paddle raises {theirs['text']}, we give {ours['result']}"
        # Ours must be caught by whoever catches the standard class of Paddle's error.
        standard = [kind for kind in theirs["error"] if kind in STANDARD]
        assert not standard or standard[0] in ours["error"], f"{dtype}: Paddle raises {theirs['text']}, we raise {ours['text']}"
        return
    assert "error" not in ours, f"{dtype}: we raise {ours.get('text')}, Paddle gives {theirs['result']}"
    compare(ours["result"], theirs["result"], dtype)
    if call.grad:
        for i, (mine, paddles) in enumerate(zip(ours["grads"], theirs["grads"], strict=True)):
            compare(mine, paddles, f"{dtype} gradient {i}")
