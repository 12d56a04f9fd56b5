"""Data sets of `paddle.vision.datasets`: what they hold of small files, beside real Paddle."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "vision_data_program.py"


def test_data_sets_hold_what_paddle_reads(tmp_path):
    subprocess.run([sys.executable, PROGRAM, "make", tmp_path], check=True)
    ours, theirs = result_of("wherry", PROGRAM, "read", tmp_path), result_of("paddle", PROGRAM, "read", tmp_path)
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        if expected[0] == "error":
            assert ours[name][0] == "error" and expected[1] in ours[name], (name, ours[name], expected)
        else:
            assert ours[name] == expected, name
