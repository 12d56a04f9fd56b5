"""`paddle.jit` under real Paddle 2.6.2 and under wherry: captured functions, and layers that one saves and the other loads."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import PYTHON, result_of  # noqa: E402

pytestmark = pytest.mark.skipif(not PYTHON, reason="PARITY_PYTHON names no Python with real Paddle: use `tox -e parity`")

PROGRAM = Path(__file__).parent / "jit_program.py"


def test_captured_functions_give_the_same():
    ours, theirs = result_of("wherry", PROGRAM, "run"), result_of("paddle", PROGRAM, "run")
    assert ours == theirs


@pytest.mark.parametrize(("saves", "loads"), [("wherry", "paddle"), ("paddle", "wherry")])
def test_what_one_saves_the_other_loads(saves, loads, tmp_path):
    saved = result_of(saves, PROGRAM, "save", tmp_path)
    loaded = result_of(loads, PROGRAM, "load", tmp_path)
    own = result_of(saves, PROGRAM, "load", tmp_path)
    assert loaded["parameters"] == own["parameters"]
    for name in saved.keys() - {"parameters", "inputs"}:
        compare(loaded[name], saved[name])


def compare(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        assert mine[:3] == theirs[:3]
        # Both compute products in float32, in orders of their own.
        assert mine[3] == pytest.approx(theirs[3], rel=1e-4, abs=1e-5)
