"""Whole models go both ways between real Paddle 2.6.2 and wherry, and give the same through every way of loading them.

What wherry saves Paddle loads by `paddle.jit.load`, `paddle.static.load_inference_model` and `paddle.inference`, and the other way round; what
wherry has loaded of Paddle's it saves again, for Paddle. Batches have sizes that the program was not made for.
"""
from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, start  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "whole_model_program.py"
QUICK = ["lenet", "resnet18", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3", "transformer", "lstm", "gru", "detector", "yolo", "regions", "flow"]
LARGE = ["resnet50", "vgg11"]
OURS = [name for name in QUICK if name not in ("detector", "yolo")]  # that wherry defines
NAMES = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)]


def run(framework, what, folder, *arguments):
    start(framework, *["-m", "wherry", "run"] * (framework == "wherry"), PROGRAM, what, folder, *arguments)
    target = arguments[0] if what == "again" else folder
    return pickle.loads((Path(target) / f"{what}.pickle").read_bytes())  # noqa: S301  our own file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


class Exchange:
    """What each step gives, run once for all quick models, and by itself for a large one."""

    def __init__(self, folder):
        self.folder, self.known = folder, {}

    def __call__(self, framework, what, place, name, *arguments):
        names = [n for n in QUICK if place != "ours" or n in OURS] if name in QUICK else [name]
        key = framework, what, place, names[0]
        if key not in self.known:
            (self.folder / place).mkdir(exist_ok=True)
            self.known[key] = run(framework, what, self.folder / place, *arguments, *names)
        return self.known[key][name]


@pytest.fixture(scope="module")
def exchange(folder):
    return Exchange(folder)


def same(saved, loaded):
    (expected,) = saved.values()
    assert loaded
    for way, batches in loaded.items():
        for batch, others in zip(batches, expected, strict=True):
            for x, y in zip(batch, others, strict=True):
                assert (x.shape, x.dtype) == (y.shape, y.dtype), way
                # Both sum in float32, in orders of their own, through some fifty layers; logits are of size 1 to 10.
                np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4, err_msg=way)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_paddle_gives_the_same_in_wherry(name, exchange):
    same(exchange("paddle", "save", "theirs", name), exchange("wherry", "load", "theirs", name))


@pytest.mark.parametrize("name", OURS)
def test_a_model_of_wherry_gives_the_same_in_paddle(name, exchange):
    same(exchange("wherry", "save", "ours", name), exchange("paddle", "load", "ours", name))


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_paddle_that_wherry_saves_again_gives_the_same_in_paddle(name, exchange, folder):
    saved = exchange("paddle", "save", "theirs", name)
    (folder / "again").mkdir(exist_ok=True)
    same(saved, exchange("wherry", "again", "theirs", name, folder / "again"))
    same(saved, exchange("paddle", "load", "again", name))


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [("paddle", "wherry", "plain"), ("wherry", "paddle", "plain"), ("paddle", "wherry", "choice"), ("paddle", "wherry", "loop")],
)
def test_a_program_with_its_training_graph_goes_on_in_the_other(first, second, kind, tmp_path):
    expected = run(first, "train", tmp_path, kind)
    assert len(set(expected)) == 3
    assert run(second, "go_on", tmp_path, kind) == pytest.approx(expected, rel=1e-4)
