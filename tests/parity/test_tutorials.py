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

# One of each kind of network and of loop; the others with the marker `slow`, those too that amplify rounding, so that Paddle runs them twice.
ALWAYS = {"mnist_classification", "translation", "segmentation_unet", "a2c", "save_load", "gan", "recommendation", "dynamic_graph"}
PROGRAMS = [pytest.param(each, marks=[] if each.stem in ALWAYS else [pytest.mark.slow]) for each in tutorials.PROGRAMS]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_losses_are_paddles(program):
    theirs = tutorials.losses_of(tutorials.output_of("paddle", program))
    apart = tutorials.distance(tutorials.losses_of(tutorials.output_of("wherry", program)), theirs)
    if apart > OF_CURVES:
        # They may be as far away as Paddle is from itself, and once more, when weights move by 1e-5.
        moved = tutorials.losses_of(tutorials.output_of("paddle", program, tutorials.NOISE))
        assert apart <= 2 * tutorials.distance(moved, theirs)
