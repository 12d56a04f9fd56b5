"""Static mode as other people write it (`static_cases`) under real Paddle 2.6.2 and under wherry: what is fetched is equal."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, outcomes_of  # noqa: E402

pytestmark = needs_paddle


def test_static_programs_fetch_what_paddle_fetches(tmp_path):
    found = outcomes_of("static_cases.py", tmp_path, tmp_path)
    refused = {name: value for name, value in found["paddle"].items() if isinstance(value, str)}
    assert not refused
    wrong = {name: (found["wherry"][name], value) for name, value in found["paddle"].items() if not same(found["wherry"][name], value)}
    assert not wrong


def same(ours, theirs):
    return not isinstance(ours, str) and len(ours) == len(theirs) and all(
        x.dtype == y.dtype and x.shape == y.shape and np.allclose(x, y, rtol=2e-4, atol=2e-5) for x, y in zip(ours, theirs)
    )
