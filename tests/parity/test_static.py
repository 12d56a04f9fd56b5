"""Static programs of real Paddle 2.6.2 and of wherry: equal losses, parameters and predictions, files that both read."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
PYTHON = os.environ.get("PARITY_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")
PYTHONS = {"paddle": PYTHON, "wherry": sys.executable}

# Both sum in float32, in orders of their own; eight steps of training carry such differences along.
TOLERANCE = {"rtol": 2e-4, "atol": 2e-5}


def run(framework, *arguments, result):
    command = [PYTHONS[framework], HERE / "static_worker.py", framework, *arguments, result]
    environment = dict(os.environ) if framework == "wherry" else {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(list(map(str, command)), cwd=HERE, timeout=300, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(result) as found:
        return dict(found)


def compare(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name].reshape(value.shape), value, err_msg=name, **TOLERANCE)


@pytest.mark.parametrize("model", ["perceptron", "convolutions", "layers_of_nn", "control_flow"])
def test_training_of_a_program_is_paddles(model, tmp_path):
    compare(*(run(name, "train", model, result=tmp_path / f"{name}.npz") for name in ("wherry", "paddle")))


def test_functions_of_static_nn_are_paddles(tmp_path):
    compare(*(run(name, "layers", result=tmp_path / f"{name}.npz") for name in ("wherry", "paddle")))


@pytest.mark.parametrize(("first", "second"), [("paddle", "wherry"), ("wherry", "paddle")])
def test_models_and_checkpoints_are_read_by_the_other(first, second, tmp_path):
    saved = run(first, "save", tmp_path, result=tmp_path / "first.npz")
    compare(run(second, "load", tmp_path, result=tmp_path / "second.npz"), saved)
