"""Every optimizer and scheduler of `optimizer_calls.py` in real Paddle 2.6.2 and in wherry.

Optimizers: losses and learning rates of ten steps, parameters and `state_dict` (keys too) after them.
Schedulers: thirty rates, what `verbose` prints, `state_dict`.
"""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from comparing import AFTER_STEPS, OF_COEFFICIENTS, TOLERANCE, compare, compare_errors, differs, magnitude  # noqa: E402
from differences import OPTIMIZER_DIFFERENCES  # noqa: E402
from optimizer_calls import OPTIMIZERS, SCHEDULERS  # noqa: E402
from programs import needs_paddle, outcomes_of  # noqa: E402

pytestmark = needs_paddle

TRAININGS = [("optimizer", number, dtype) for number, row in enumerate(OPTIMIZERS) for dtype in row.dtypes]
SCHEDULES = [("scheduler", number) for number in range(len(SCHEDULERS))]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    return outcomes_of("optimizer_worker.py", tmp_path_factory.mktemp("optimizers"))


def written(key):
    if key[0] == "scheduler":
        row = SCHEDULERS[key[1]]
        return f"{row.how}: {row.step}"
    row = OPTIMIZERS[key[1]]
    return "; ".join(part for part in (row.before, row.how) if part) + ", sparse" * row.sparse + ", wide" * (row.width > 5)


@pytest.mark.parametrize("key", TRAININGS + SCHEDULES, ids=[" ".join([written(key), *key[2:]]) for key in TRAININGS + SCHEDULES])
def test_same(key, outcomes):
    if written(key) in OPTIMIZER_DIFFERENCES:
        others = [k for k in TRAININGS + SCHEDULES if written(k) == written(key)]
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
    if key[0] == "scheduler":
        np.testing.assert_allclose(np.array(ours["rates"]), np.array(theirs["rates"]), rtol=1e-12)
        same_state(ours["state"], theirs["state"], "state")
        assert ours["said"] == theirs["said"]
        return
    tolerance = OF_COEFFICIENTS * AFTER_STEPS
    factor = tolerance / TOLERANCE[key[2]]
    np.testing.assert_allclose(ours["rates"], theirs["rates"], rtol=1e-6, err_msg="learning rates")
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=tolerance, err_msg="losses")
    assert ours["parameters"].keys() == theirs["parameters"].keys()
    # Adam and its kin take steps of the same length where the gradient is little more than rounding.
    scale = max(magnitude(value) for value in theirs["parameters"].values())
    for name, expected in theirs["parameters"].items():
        compare(ours["parameters"][name], expected, name, factor, scale)
    same_state(ours["state"], theirs["state"], "state", factor)


def kind_of(name: str) -> str:
    """Of an accumulator's name what the parameter's does not say."""
    return "_".join(name.rsplit("_", 2)[1:])


def same_state(ours, theirs, where, factor=1.0):
    assert ours.keys() == theirs.keys(), f"{where}: keys {sorted(ours)}, Paddle's {sorted(theirs)}"
    # As of gradients, the scale is that of all accumulators of a kind together ("w_0_moment1_0", "b_0_moment1_0").
    scales: dict[str, float] = {}
    for name, expected in theirs.items():
        if isinstance(expected, list) and expected[:1] == ["tensor"]:
            scales[kind_of(name)] = max(scales.get(kind_of(name), 0.0), magnitude(expected))
    for name, expected in theirs.items():
        mine = ours[name]
        if isinstance(expected, dict):
            same_state(mine, expected, f"{where} {name}", factor)
        elif isinstance(expected, list) and expected[:1] == ["tensor"]:
            compare(mine, expected, f"{where} {name}", factor, scales[kind_of(name)])
        elif isinstance(expected, float):
            assert mine == pytest.approx(expected, rel=1e-9, abs=1e-12), f"{where} {name}"
        else:
            assert mine == expected, f"{where} {name}"
