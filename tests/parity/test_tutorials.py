"""Each program of examples/tutorials has the losses of real Paddle 2.6.2."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]
import tutorials  # noqa: E402
from comparing import OF_CURVES  # noqa: E402
from programs import needs_paddle  # noqa: E402

pytestmark = needs_paddle

# These amplify rounding, so Paddle runs them a second time: with the marker `slow`.
AMPLIFYING = {"image_search", "cifar10_convnet", "ocr_ctc", "ddpg", "point_clouds"}
PROGRAMS = [pytest.param(each, marks=[pytest.mark.slow] if each.stem in AMPLIFYING else []) for each in tutorials.PROGRAMS]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_losses_are_paddles(program):
    theirs = tutorials.losses_of(tutorials.output_of("paddle", program))
    apart = tutorials.distance(tutorials.losses_of(tutorials.output_of("wherry", program)), theirs)
    if apart > OF_CURVES:
        # They may be as far away as Paddle is from itself, and once more, when weights move by 1e-5.
        moved = tutorials.losses_of(tutorials.output_of("paddle", program, tutorials.NOISE))
        assert apart <= 2 * tutorials.distance(moved, theirs)
