"""What other people write for `to_static` (`conversion_cases`) under real Paddle 2.6.2 and under wherry: captured, saved, loaded by either."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import FRAMEWORKS, needs_paddle, outcome  # noqa: E402

pytestmark = needs_paddle

# Where Paddle's captured function is not what it computes eagerly, which ours is.
PADDLE_IS_WRONG = {
    "inner_loop_function": "an inner function that was converted for an int is used for a tensor: one round less",
    "CallsFunctionOnSelf": "a lambda is not converted: the truth of a tensor is always true",
    "fibonacci": "`a, b = b, a + b` in a loop takes b for both, in one of two orders of a set",
    "none_beside_another_test": "what is None is a number that means nothing",
    "none_in_nested_choices": "what is None is a number that means nothing",
    "none_replaced": "what is None is a number that means nothing",
}


@pytest.fixture(scope="module", params=[3, pytest.param(1, marks=pytest.mark.slow)], ids=["every third", "all"])
def found(tmp_path_factory, request):
    """(framework, key) -> results by case; "crossed" is what a framework computes with the files of the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONHASHSEED", "0")  # Paddle's conversion goes through sets of names
        return run(tmp_path_factory.mktemp("conversions"), request.param)


def run(folder, step):
    out = {}
    for framework in FRAMEWORKS:
        (folder / framework).mkdir()
        ran = outcome("conversion_worker.py", framework, folder / f"{framework}.run", "run", folder / framework, step)
        for (name, key), value in ran.items():
            out.setdefault((framework, key), {})[name] = value
    for framework, other in ("wherry", "paddle"), ("paddle", "wherry"):
        crossed = outcome("conversion_worker.py", framework, folder / f"{framework}.load", "load", folder / other, step)
        out[framework, "crossed"] = {name: value for (name, _), value in crossed.items()}
    return out


@pytest.mark.parametrize(("ours", "theirs"), [
    (("wherry", "eager"), ("paddle", "eager")),
    (("wherry", "captured"), ("paddle", "captured")),
    (("wherry", "loaded"), ("paddle", "loaded")),
    (("wherry", "crossed"), ("paddle", "loaded")),
    (("paddle", "crossed"), ("paddle", "loaded")),
], ids=["eager", "captured", "saved and loaded", "Paddle's files here", "our files in Paddle"])  # fmt: skip
def test_what_paddle_computes_is_computed_here(found, ours, theirs):
    expected = {name: value for name, value in found[theirs].items() if not isinstance(value, str)}
    assert len(expected) > 0.8 * len(found[theirs])  # the others Paddle refuses
    wrong = [name for name, value in expected.items() if not same(found[ours][name], value) and (ours[1] == "eager" or name not in PADDLE_IS_WRONG)]
    assert not wrong, {name: (found[ours][name], expected[name]) for name in wrong}


def test_what_is_captured_is_what_runs_eagerly(found):
    eager = found["wherry", "eager"]
    wrong = [name for name, value in found["wherry", "captured"].items() if not same(value, eager[name], numbers=False)]
    assert not wrong


def test_gradients_of_what_is_captured_are_those_of_what_runs_eagerly(found):
    eager = found["wherry", "eager gradients"]
    wrong = [name for name, value in found["wherry", "gradients"].items() if not isinstance(eager[name], str) and not same(value, eager[name])]
    # A number of Python has no gradient, the tensor that `float` makes of it in a program has, in Paddle too.
    assert wrong == (["casts"] if "casts" in eager else [])


def test_our_files_give_in_paddle_what_they_give_here(found):
    mine, there = found["wherry", "loaded"], found["paddle", "crossed"]
    wrong = [name for name, value in mine.items() if not same(there[name], value)]
    assert wrong == [name for name in ("masked",) if name in mine]  # a sum of no elements, which Paddle refuses


def same(found, expected, numbers=True):
    """`numbers`: is a number of Python other than a tensor of one element?"""
    if isinstance(found, str) or isinstance(expected, str):
        return False
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(same(x, y, numbers) for x, y in zip(found, expected))
    if isinstance(found, list) or (found.shape != expected.shape and (numbers or found.size != 1)):
        return False
    return np.allclose(found.astype("float64"), expected.astype("float64"), rtol=2e-4, atol=2e-5)  # float32, summed in other orders
