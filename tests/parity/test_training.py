"""Whole models trained in real Paddle 2.6.2 and in wherry: equal loss curves, files that both read."""
from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from comparing import OF_CURVES  # noqa: E402
from programs import needs_paddle, start  # noqa: E402

pytestmark = needs_paddle


def run(framework, *arguments, result):
    start(framework, "training_worker.py", framework, *arguments, result)
    return json.loads(result.read_text())


@pytest.mark.parametrize("model", [pytest.param("resnet18", marks=pytest.mark.slow), "transformer"])
def test_loss_curve_is_paddles(model, tmp_path):
    theirs = run("paddle", "curve", model, tmp_path / "weights.npz", result=tmp_path / "paddle.json")
    ours = run("wherry", "curve", model, tmp_path / "weights.npz", result=tmp_path / "wherry.json")
    assert len(ours["losses"]) == 20 and theirs["losses"][-1] < 0.9 * theirs["losses"][0], "the model learns"
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=0, atol=OF_CURVES * max(theirs["losses"]))
    np.testing.assert_allclose(ours["evaluated"], theirs["evaluated"], rtol=0, atol=OF_CURVES * max(theirs["losses"]))


@pytest.mark.parametrize(("first", "second"), [("paddle", "wherry"), ("wherry", "paddle"), ("wherry", "wherry")])
def test_training_goes_on_from_the_files_of_the_other(first, second, tmp_path):
    went_on = run(first, "begin", tmp_path, result=tmp_path / "first.json")
    resumed = run(second, "resume", tmp_path, result=tmp_path / "second.json")
    np.testing.assert_allclose(resumed["losses"], went_on["losses"], rtol=OF_CURVES if first != second else 0)
    assert resumed["rate"] == pytest.approx(went_on["rate"], rel=1e-12)
    for kind in ("objects", "arrays", "tensor"):
        assert resumed[kind] == went_on[kind], kind
