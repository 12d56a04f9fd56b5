"""Every layer of `layer_calls.py` in real Paddle 2.6.2 and in wherry, from the same weights.

Names, shapes and dtypes of parameters and buffers, the layer's text, the distribution of its initial
values, results, gradients, and the state after five steps of SGD.
"""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from comparing import AFTER_STEPS, compare, compare_arrays, compare_errors, compare_initial, differs, magnitude  # noqa: E402
from differences import LAYER_DIFFERENCES  # noqa: E402
from layer_calls import LAYERS, cases  # noqa: E402
from programs import needs_paddle, outcome  # noqa: E402

pytestmark = needs_paddle

CASES = cases(LAYERS)

# Buffers that belong to real Paddle's kernels for GPUs.
INTERNAL = {"_dropout_state"}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    theirs = outcome("layer_worker.py", "paddle", folder / "paddle.pickle")
    # Ours begin with their weights.
    return {"paddle": theirs, "wherry": outcome("layer_worker.py", "wherry", folder / "wherry.pickle", folder / "paddle.pickle")}


def written(row):
    return f"{row.layer}: {row.call}"


@pytest.mark.parametrize("key", CASES, ids=[f"{written(LAYERS[number])}, {dtype}, {mode}" for number, dtype, mode in CASES])
def test_layer(key, outcomes):
    row = LAYERS[key[0]]
    ours, theirs = outcomes["wherry"][key], outcomes["paddle"][key]
    if written(row) in LAYER_DIFFERENCES:
        others = [k for k in CASES if written(LAYERS[k[0]]) == written(row)]
        assert any(differs(check, row, outcomes["wherry"][k], outcomes["paddle"][k]) for k in others), (
            "listed in differences.py, but Paddle answers the same: remove the row"
        )
        return
    check(row, ours, theirs)


def named(state):
    """Buffers made from results are numbered through the whole program: their names say nothing."""
    return {key: ["a result", *rest] if name.startswith(("eager_tmp_", "generated_tensor_")) else [name, *rest]
            for key, (name, *rest) in state.items()}


def check(row, ours, theirs):
    if "error" in theirs:
        compare_errors(ours, theirs, "")
        return
    assert "error" not in ours, f"we raise {ours.get('text')}"
    assert ours["layer"] == theirs["layer"], "text of the layer"
    assert named(ours["state"]) == named(theirs["state"]), "names, shapes, dtypes, stop_gradient"
    assert ours["tensors"] == {key: shape for key, shape in theirs["tensors"].items() if key not in INTERNAL}
    for key, values in theirs["initial"].items():
        compare_initial(ours["initial"][key], values, key)
    if row.call is None:
        return
    if row.random:
        assert without_values(ours["result"]) == without_values(theirs["result"])
        return
    assert ours.keys() == theirs.keys()
    compare(ours["result"], theirs["result"], "result")
    gradients = [theirs.get("input gradients", ["list", []]), *theirs.get("gradients", {}).values()]
    scale = magnitude(["list", gradients])
    for key, mine in ours.get("gradients", {}).items():
        compare(mine, theirs["gradients"][key], f"gradient of {key}", scale=scale)
    if "gradients" in theirs:
        compare(ours["input gradients"], theirs["input gradients"], "gradients of inputs", scale=scale)
    for key, values in theirs.get("trained", {}).items():
        assert np.isfinite(values).all(), "the row says nothing: Paddle's weights grow without bound"
        compare_arrays(ours["trained"][key], values, str(values.dtype), f"{key} after five steps", AFTER_STEPS, max(scale, magnitude(values)))


def without_values(result):
    if result[0] == "list":
        return [without_values(item) for item in result[1]]
    return result[:3]
