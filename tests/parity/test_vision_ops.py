"""Operators of `paddle.vision.ops` on random boxes and images, beside real Paddle."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "vision_ops_program.py"


def assert_same(ours, theirs, what):
    if isinstance(theirs, list) and theirs[:1] == ["error"]:
        assert ours[0] == "error" and theirs[1] in ours, (what, ours, theirs)
        return
    if not isinstance(theirs, list) or not theirs or isinstance(theirs[0], (list, type(None))):
        assert type(ours) is type(theirs), (what, ours, theirs)
        if not isinstance(theirs, list):
            assert ours == theirs, what
            return
        assert len(ours) == len(theirs), what
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{what}, result {i}")
        return
    assert ours[:2] == theirs[:2], what
    # Sums in another order; overlaps and exponentials of float32.
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-3, atol=2e-4, err_msg=what)


@pytest.mark.parametrize("seed", [0, 1])
def test_detection_computes_what_paddle_does(seed):
    ours, theirs = result_of("wherry", PROGRAM, seed), result_of("paddle", PROGRAM, seed)
    assert ours.keys() == theirs.keys()
    wrong = []
    for name, expected in theirs.items():
        try:
            assert_same(ours[name], expected, name)
        except AssertionError as error:
            wrong.append(f"{name}: {str(error)[:600]}")
    assert not wrong, "\n".join(wrong)
