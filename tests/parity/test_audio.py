"""`paddle.audio` in real Paddle 2.6.2 and in wherry: values, gradients, files and data sets."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, outcomes_of  # noqa: E402

pytestmark = needs_paddle


def test_sound_is_what_it_is_in_paddle(tmp_path):
    outcomes = outcomes_of("audio_program.py", tmp_path, tmp_path)
    ours, theirs = outcomes["wherry"], outcomes["paddle"]
    assert ours.keys() == theirs.keys() and len(ours) > 300
    for name, expected in theirs.items():
        found = ours[name]
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), name
        near = 1e-9
        if expected.dtype == np.float32 or "tukey" in name or "taylor" in name:  # for which Paddle counts in float32
            near = 1e-5
        scale = np.abs(expected).max(initial=1e-6) if found.ndim > 1 else 1.0
        np.testing.assert_allclose(found / scale, expected / scale, rtol=near, atol=near, err_msg=name)
