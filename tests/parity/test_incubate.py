"""Functions, optimizers and derivatives of `paddle.incubate` under real Paddle 2.6.2 and under wherry."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402
from test_data import compare  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "incubate_program.py"

NO_KERNEL = "real Paddle adds a bias on GPUs alone"
DIFFERS = {
    "matmul_bias": NO_KERNEL,
    "matmul_bias turned": NO_KERNEL,
    "linear": NO_KERNEL,
    "incubate.LookAhead(3)": "a TypeError rather than an AttributeError",
    "incubate.ModelAverage('x')": "a TypeError rather than an AttributeError",
    "A.Jacobian(3, 4)[:]": "a TypeError rather than an AttributeError",
    "incubate.autotune.set_config(3)": "warns",
}
WITHOUT_GRADIENT_OF_THE_MASK = ("mask", "mask of one")


@pytest.fixture(scope="module")
def outcomes():
    return result_of("wherry", PROGRAM), result_of("paddle", PROGRAM)


def test_what_comes_out_is_the_same(outcomes):
    ours, theirs = outcomes
    assert ours.keys() == theirs.keys()
    assert set(DIFFERS) <= set(theirs)
    for name, expected in theirs.items():
        found = ours[name]
        if name in WITHOUT_GRADIENT_OF_THE_MASK:
            assert expected.pop(2) == "None"
            del found[2]
        if name in DIFFERS:
            with pytest.raises(AssertionError):
                same(found, expected, name)
        else:
            same(found, expected, name)


def same(found, expected, name):
    if expected[:1] == ["error"]:
        assert found[:1] == ["error"] and expected[1][0] in found[1], name
    else:
        compare(found, expected, name)
