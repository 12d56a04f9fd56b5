"""`paddle.quantization` under real Paddle 2.6.2 and under wherry, and quantized models that one saves and the other loads."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import PYTHON, result_of  # noqa: E402

pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")

PROGRAM = Path(__file__).parent / "quant_program.py"
CLOSE = dict(rtol=1e-5, atol=1e-5)  # both compute in float32, in orders of their own


def compare(ours, theirs):
    for key, expected in theirs.items():
        found = ours[key]
        if key == "state":
            assert list(found) == list(expected)
            for name, (shape, values) in expected.items():
                assert found[name][0] == shape, name
                np.testing.assert_allclose(found[name][1], values, **CLOSE, err_msg=name)
        elif key in ("text", "names"):
            assert found == expected
        elif key == "whole":
            # A step is divided by here, its reciprocal multiplied by there: what lies between two numbers may become either.
            different = np.asarray(found) != np.asarray(expected)
            assert different.mean() < 1e-3 and np.abs(np.subtract(found, expected)).max() <= 1
        else:
            np.testing.assert_allclose(found, expected, **CLOSE, err_msg=key)


def test_calibration_and_training_give_the_same():
    ours, theirs = result_of("wherry", PROGRAM, "run"), result_of("paddle", PROGRAM, "run")
    assert ours.keys() == theirs.keys()
    for name in theirs:
        compare(ours[name], theirs[name])


@pytest.mark.parametrize(("saves", "loads"), [("wherry", "paddle"), ("paddle", "wherry")])
def test_a_converted_model_of_one_answers_the_same_in_the_other(saves, loads, tmp_path):
    saved = result_of(saves, PROGRAM, "save", tmp_path)
    np.testing.assert_allclose(result_of(loads, PROGRAM, "load", tmp_path)["net"], saved["net"], **CLOSE)


def test_models_of_the_static_tools_answer_as_in_paddles_predictor(tmp_path):
    theirs = result_of("paddle", PROGRAM, "static", tmp_path)
    assert len(theirs) == 7
    ours = result_of("wherry", PROGRAM, "load", tmp_path)
    for name, expected in theirs.items():
        np.testing.assert_allclose(ours[name], expected, **CLOSE, err_msg=name)
        assert not re.search("nan", str(expected))


def test_the_flow_of_2_3_gives_models_that_answer_the_same(tmp_path):
    for name in "ours", "theirs":
        (tmp_path / name).mkdir()
    ours, theirs = result_of("wherry", PROGRAM, "flow", tmp_path / "ours"), result_of("paddle", PROGRAM, "flow", tmp_path / "theirs")
    assert list(ours) == list(theirs) and len(ours) == 3
    for name, expected in theirs.items():
        np.testing.assert_allclose(ours[name], expected, **CLOSE, err_msg=name)


def test_static_calibration_gives_models_that_answer_as_paddles(tmp_path):
    float_model = result_of("paddle", PROGRAM, "static", tmp_path / "static")["float/model"]
    source = tmp_path / "static" / "float"
    ours = result_of("wherry", PROGRAM, "post", source, tmp_path / "ours")
    theirs = result_of("paddle", PROGRAM, "post", source, tmp_path / "theirs")
    assert list(ours) == list(theirs) and len(ours) == 12
    step = max(map(abs, float_model)) / 127
    for name, expected in theirs.items():
        assert np.abs(np.subtract(ours[name], float_model)).max() > 1e-4  # something was rounded
        if name == "min_max/model":  # Paddle writes thresholds of this one down, and rounds nothing
            assert ours[name] == ours["abs_max/model"] and expected == float_model
        elif name.split("/")[0] in ("KL", "hist", "mse", "emd"):  # thresholds of histograms that are counted otherwise
            np.testing.assert_allclose(ours[name], expected, rtol=0, atol=3 * step, err_msg=name)
        else:
            np.testing.assert_allclose(ours[name], expected, **CLOSE, err_msg=name)
    loaded = result_of("paddle", PROGRAM, "load", tmp_path / "ours")
    for name, expected in ours.items():
        np.testing.assert_allclose(loaded[name], expected, **CLOSE, err_msg=name)


def test_recurrent_layers_with_whole_weights_answer_as_in_paddles_predictor(tmp_path):
    ours = result_of("wherry", PROGRAM, "recurrent", tmp_path)
    theirs = result_of("paddle", PROGRAM, "loaded_rows", tmp_path)
    assert list(ours) == list(theirs) and len(ours) == 4
    for name, expected in theirs.items():
        np.testing.assert_allclose(ours[name], expected, **CLOSE, err_msg=name)
    for file in tmp_path.glob("*.pdmodel"):
        assert b"dequantize_linear" in file.read_bytes()
