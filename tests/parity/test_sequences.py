"""Programs with sequences of different lengths that real Paddle 2.6.2 saves: what it gives, an Executor and a predictor give here."""
from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from programs import needs_paddle, start  # noqa: E402

from sequence_files import (  # noqa: E402
    ARCHIVE,
    MAKER,
    by_executor,
    by_predictor,
    case,
    parts,
    predictor_of,
    require_same,
    save_again,
    unpacked,
)

pytestmark = needs_paddle


@pytest.mark.parametrize("seed", [11, 12])
def test_files_with_sequences_give_what_they_give_in_paddle(tmp_path, seed):
    start("paddle", MAKER, tmp_path / "made.zip", seed)
    for name in unpacked(tmp_path / "made.zip", tmp_path):
        inputs, outputs = case(tmp_path / name)
        require_same(by_executor(tmp_path / name, inputs), outputs)
        require_same(by_predictor(predictor_of(tmp_path / name), inputs), outputs)


# Sequences of sequences that the program makes are not written.
NESTED = {"reset_below", "beams", "beams_of_products", "beams_over", "beams_that_end", "beams_within"}


def test_files_that_are_saved_again_give_in_paddle_what_the_first_gave(tmp_path):
    names = [name for name in unpacked(ARCHIVE, tmp_path / "first") if name not in NESTED]
    for name in names:
        save_again(tmp_path / "first" / name, tmp_path / "again" / name)
        shutil.copy(tmp_path / "first" / name / "case.npz", tmp_path / "again" / name)
    start("paddle", "sequence_program.py", tmp_path / "again")
    errors = {path.parent.name: path.read_text() for path in (tmp_path / "again").glob("*/error.txt")}
    assert not errors
    for name in names:
        with np.load(tmp_path / "again" / name / "answers.npz") as found:
            require_same(parts(dict(found), "y"), case(tmp_path / "first" / name)[1])
    for name in NESTED:
        with pytest.raises(NotImplementedError, match="sequences of sequences that a program makes"):
            save_again(tmp_path / "first" / name, tmp_path / "again" / name)
