"""Programs with sequences of different lengths that real Paddle 2.6.2 saves: what it gives, an Executor and a predictor give here."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from programs import needs_paddle, start  # noqa: E402

from sequence_files import MAKER, by_executor, by_predictor, case, predictor_of, require_same, unpacked  # noqa: E402

pytestmark = needs_paddle


@pytest.mark.parametrize("seed", [11, 12])
def test_files_with_sequences_give_what_they_give_in_paddle(tmp_path, seed):
    start("paddle", MAKER, tmp_path / "made.zip", seed)
    for name in unpacked(tmp_path / "made.zip", tmp_path):
        inputs, outputs = case(tmp_path / name)
        require_same(by_executor(tmp_path / name, inputs), outputs)
        require_same(by_predictor(predictor_of(tmp_path / name), inputs), outputs)
