"""Samplers, batches and transforms under real Paddle 2.6.2 and under wherry."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "data_program.py"


@pytest.fixture(scope="module")
def outcomes():
    return result_of("wherry", PROGRAM), result_of("paddle", PROGRAM)


def test_orders_batches_and_images_are_the_same(outcomes):
    ours, theirs = outcomes
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        compare(ours[name], expected, name)


def compare(found, expected, where):
    if isinstance(expected, list) and expected and expected[0] in ("tensor", "array"):
        assert found[:3] == expected[:3], where
        # Colours are computed in float32 in [0, 1]; hue divides by the spread of a pixel, and contrast takes a mean.
        assert found[3] == pytest.approx(expected[3], rel=1e-4, abs=2e-5), where
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), where
        for a, b in zip(found, expected, strict=True):
            compare(a, b, where)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            compare(found[key], expected[key], f"{where}[{key}]")
    else:
        assert found == expected, where
