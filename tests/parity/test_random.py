"""With FLAGS_paddle_random a seed gives the numbers that it gives under real Paddle 2.6.2 on a CPU."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from comparing import OF_CURVES  # noqa: E402
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle


@pytest.fixture(scope="module")
def results():
    return {framework: result_of(framework, HERE / "random_program.py") for framework in ("paddle", "wherry")}


def test_draws_and_initial_weights_are_paddles(results):
    theirs, ours = results["paddle"], results["wherry"]
    assert theirs.keys() == ours.keys()
    for name in theirs.keys() - {"losses"}:
        # Words of the stream are equal to the bit; the functions after some of them (log, erfinv, a QR) differ by rounding.
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_training_script_has_paddles_losses(results):
    theirs, ours = results["paddle"]["losses"], results["wherry"]["losses"]
    assert theirs[-1] < theirs[0], "it learns"
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=OF_CURVES * max(theirs))
