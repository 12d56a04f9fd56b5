"""Drawn calls of linear algebra and spectra in real Paddle 2.6.2 and in wherry."""
from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from numeric_calls import CALLS, COUNT, SEED  # noqa: E402
from test_generated import difference  # noqa: E402

PYTHON = os.environ.get("PARITY_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")


def always(call):
    return True


# Part of the expression, which calls, and why they differ. docs/compatibility.md says it to users.
ON_PURPOSE: list[tuple[str, Callable, str]] = [
    ("pca_lowrank", always, "exact; Paddle approaches the values from random numbers"),
    ("eigh", lambda call: call.grad and call.inputs["x"].ndim > 2, "Paddle's gradient of eigenvalues of a batch takes those of its neighbours"),
    ("eigvalsh", lambda call: call.grad and call.inputs["x"].ndim > 2, "the same"),
    ("matrix_power(x, 0)", lambda call: call.grad, "a constant has no gradient; Paddle gives zeros"),
    ("unitriangular=True", lambda call: call.grad, "a diagonal that is not read has the gradient 0; Paddle's is another"),
]


def reason(call):
    return next((why for part, applies, why in ON_PURPOSE if part in call.expression and applies(call)), None)


def test_drawn_calls_are_answered_as_by_paddle(tmp_path):
    outcomes = {}
    for framework, python in (("wherry", sys.executable), ("paddle", PYTHON)):
        target = tmp_path / f"{framework}.pickle"
        command = [python, str(HERE / "worker.py"), framework, str(target), "numeric_calls"]
        done = subprocess.run(command, cwd=HERE, timeout=900, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, f"{framework} died: {done.stderr[-2000:]}"
        outcomes[framework] = pickle.loads(target.read_bytes())  # noqa: S301  our own file
    found, answered = [], 0
    for number, call in enumerate(CALLS):
        ours, theirs = (outcomes[framework][number, "as given"] for framework in ("wherry", "paddle"))
        answered += "error" not in theirs
        differs = difference(call, ours, theirs)
        if differs and not reason(call):
            inputs = {name: (str(value.dtype), list(value.shape)) for name, value in call.inputs.items()}
            found.append(f"{number}: {call.expression} {inputs}: {differs}")
    assert answered > 0.9 * len(CALLS), "the generator makes sense"
    assert not found, f"seed {SEED}, count {COUNT}: {len(found)} differences\n" + "\n".join(found)
