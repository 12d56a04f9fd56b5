"""Functions and layers saved here and loaded by real Paddle 2.6.2, and the other way: by `jit.load`, the predictor, `load_inference_model`.

Every call and layer of the other tables is saved with several dtypes and an open axis 0, and asked at several sizes. Every QUICK-th is always asked;
the marker `slow` asks for all:

    PARITY_PYTHON=... python -m pytest tests/parity/test_saved_files.py -m slow -s      an hour and a half on two cores

Both print the table that docs/compatibility.md has.
"""
from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from programs import needs_paddle, start  # noqa: E402
from saved_cases import cases  # noqa: E402
from saved_judge import SAME, WRONG, Verdict, table, totals, verdicts  # noqa: E402
from saved_worker import WAYS  # noqa: E402

pytestmark = needs_paddle

QUICK = 150
ENOUGH = 0.99


def judged(folder: Path, step: int, *tables: str) -> list[Verdict]:
    """What became of every `step`-th case, in both directions."""

    def worked(framework: str, what: str, files: str) -> Any:
        target = folder / f"{framework}.{what}.{files}"
        (folder / files).mkdir(exist_ok=True)
        start(framework, "saved_worker.py", framework, target, what, folder / files, step, *tables, timeout=3 * 3600)
        return pickle.loads(target.read_bytes())  # noqa: S301  our own file

    made = {framework: worked(framework, "make", framework) for framework in ("wherry", "paddle")}
    loaded = {
        "to Paddle": worked("paddle", "load", "wherry"),
        "from Paddle": worked("wherry", "load", "paddle"),
        "Paddle to Paddle": worked("paddle", "load", "paddle"),
    }
    return verdicts(cases(step, *[tables] if tables else []), made, loaded, WAYS)


@pytest.mark.parametrize("step", [QUICK, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_files_hold_the_same_for_both(step, tmp_path):
    found = judged(tmp_path, step)
    print("\n" + table(found))
    for direction in ("to Paddle", "from Paddle"):
        counts = totals(found, direction)
        wrong = [f"{one.way} {one.case.name}: {one.text[:300]}" for one in found if one.kind == WRONG and one.direction == direction]
        assert counts[SAME] >= ENOUGH * (counts[SAME] + counts[WRONG]) and counts[SAME] > 40, f"{direction}: {counts}\n" + "\n".join(wrong)
