"""Transforms of images of Pillow and of tensors under real Paddle 2.6.2 and under wherry."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "transform_program.py"

# Patterns of calls with another outcome, and why. Those of which the outcome is the same after all are reported.
DIFFERS = {
    r"(affine|perspective)\(.*'nearest', 7\) of (RGB|L|RGBA)": "the fill of images is ignored",
    r"(pad\(x, 2, 9\)|Pad\(\(1, 2\), 3\)) of RGBA?": "a number fills the first channel alone",
    r"(pad\(x, 1, \(4, 5, 6\)\)|erase\(.*\)|RandomErasing\(1.0\)|RandomErasing\(0.9, .*\)) of (L|RGBA)": "numbers of channels that do not fit",
    r"(rotate\(x, (?!0|180).*\)|RandomRotation\(.*\)) of (L|RGBA)": "fails for one channel, and fills the fourth with 255",
    r"affine\(.*\(3.0, 2.0\)\) of tensor": "another centre than for images",
    r"pad\(x, 1, \(4, 5, 6\)\) of tensor": "the class of the error",
    r"pad\(.*symmetric.*\) of tensor": "refused",
    r"rotate\(x, 90\) of tensor|(rotate|RandomRotation)\(.*True\) of tensor": "around a point half a pixel from the middle; other sizes",
    r"RandomPerspective\((1.0, 0.9|1.0, 0.3)\) of .*": "middles of pixels that fall on the border",
}
WRONG_BUT_TAKEN = {
    "T.Pad('x')": "a TypeError rather than an AssertionError",
    "T.Pad(1, 'x')": "taken, and refused by the first image",
    "T.HueTransform(0.7)": "taken, and refused by the first image",
    "T.RandomPerspective(fill=None)": "a TypeError rather than an AssertionError",
    "T.RandomErasing(scale=0.5)": "a TypeError rather than an AssertionError",
}


@pytest.fixture(scope="module")
def outcomes():
    return result_of("wherry", PROGRAM), result_of("paddle", PROGRAM)


def same(found, expected):
    if "error" in (found[0], expected[0]):
        return found[0] == expected[0] and expected[1][0] in found[1]
    # Colours of tensors are computed in float32 in [0, 1]; hue divides by the spread of a pixel.
    return found[:3] == expected[:3] and np.allclose(np.array(found[3], float), np.array(expected[3], float), rtol=1e-4, atol=2e-5)


def test_names_parameters_and_members_are_paddles(outcomes):
    ours, theirs = outcomes
    for name, parameters in theirs["signatures"].items():
        assert ours["signatures"][name] == parameters, name
        assert set(theirs["members"][name]) <= set(ours["members"][name]), name


def test_images_are_the_same(outcomes):
    ours, theirs = outcomes
    used = set()
    for call, expected in theirs["calls"].items():
        excused = [pattern for pattern in DIFFERS if re.fullmatch(pattern, call)]
        if not same(ours["calls"][call], expected):
            assert excused, f"{call}: got {ours['calls'][call][:3]}, expected {expected[:3]}"
            used.update(excused)
    assert used == set(DIFFERS), "these are the same by now"


def test_wrong_arguments_are_refused_by_the_same_class(outcomes):
    ours, theirs = outcomes
    for call, expected in theirs["wrong"].items():
        assert same(ours["wrong"][call], expected) != (call in WRONG_BUT_TAKEN), f"{call}: got {ours['wrong'][call]}, expected {expected}"
