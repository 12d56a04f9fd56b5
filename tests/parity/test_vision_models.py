"""Models of `paddle.vision.models`: real Paddle's files load here, and predict the same."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "vision_program.py"


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.slow)])
def both(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("models")
    theirs = result_of("paddle", PROGRAM, "save", folder, request.param)
    ours = result_of("wherry", PROGRAM, "load", folder, request.param)
    for file in folder.iterdir():  # hundreds of megabytes
        file.unlink()
    assert ours.keys() == theirs.keys()
    return ours, theirs


def assert_same(ours, theirs, rtol, what, largest=0.0):
    """Numbers in the same shapes, which differ by no more than a share of the largest, or of one that is given."""
    assert ours[0] == theirs[0], what
    largest = max(largest, np.abs(theirs[1]).max())
    np.testing.assert_allclose(ours[1], theirs[1], rtol=rtol, atol=rtol * largest, err_msg=what)


def test_files_of_real_paddle_predict_the_same(both):
    ours, theirs = both
    for name, expected in theirs.items():
        assert len(ours[name]["logits"]) == len(expected["logits"]), name
        for a, b in zip(ours[name]["logits"], expected["logits"], strict=True):
            assert_same(a, b, 1e-4, name)  # sums of thousands of products in another order, through fifty layers


def test_training_has_the_same_outputs_gradients_and_statistics(both):
    ours, theirs = both
    trained = [name for name, found in theirs.items() if "train" in found]
    assert len(trained) == 2
    for name in trained:
        assert_same(ours[name]["train"], theirs[name]["train"], 1e-3, name)
        for kind in ("gradients", "statistics"):
            assert ours[name][kind].keys() == theirs[name][kind].keys()
            # What a normalization after it takes away again has gradients that are rounding errors of all others.
            largest = 1e-5 * max(np.abs(values).max() for _, values in theirs[name][kind].values())
            for key, expected in theirs[name][kind].items():
                # Gradients through statistics of two images are differences of large numbers.
                assert_same(ours[name][kind][key], expected, 5e-3, f"{name} {kind} {key}", largest / 5e-3)


@pytest.mark.slow  # makes nearly all models of both
def test_models_have_the_parameters_and_layers_of_paddle():
    ours, theirs = result_of("wherry", PROGRAM, "names"), result_of("paddle", PROGRAM, "names")
    assert ours.keys() == theirs.keys()
    for name, (layers, parameters) in theirs.items():
        assert ours[name][1] == parameters, name
        assert ours[name][0] == layers, name
