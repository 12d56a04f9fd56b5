"""Functions and layers saved here and loaded by real Paddle 2.6.2, and the other way: by `jit.load`, the predictor, `load_inference_model`.

Every call and layer of the other tables is saved with several dtypes and an open axis 0, and asked at several sizes. Every QUICK-th is always asked,
with the marker `slow` all are, which takes hours. The table of docs/compatibility.md is that of every STEP-th:

    PARITY_PYTHON=... python tests/parity/test_saved_files.py STEP [TABLE...]

STEP may say where it begins: 30+4 takes the rows 4, 34, 64, ... of each table; "~gather_tree|istft" takes the rows with these words, "30~istft" both.
With FLAGS_enable_pir_api=1 in the environment and a Python that has Paddle 3.3.1 the files are Paddle 3's, `.json`.
"""
from __future__ import annotations

import pickle
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from programs import FRAMEWORKS, needs_paddle, start  # noqa: E402
from saved_cases import cases  # noqa: E402
from saved_judge import SAME, WRONG, Verdict, table, totals, verdicts  # noqa: E402
from saved_worker import WAYS  # noqa: E402

pytestmark = needs_paddle

QUICK = 150  # a minute
ENOUGH = 0.99


def judged(folder: Path, step: int | str, *tables: str) -> list[Verdict]:
    """What became of every `step`-th case, in both directions."""

    def worked(framework: str, what: str, files: str) -> Any:
        target = folder / f"{framework}.{what}.{files}"
        (folder / files).mkdir(exist_ok=True)
        start(framework, "saved_worker.py", framework, target, what, folder / files, step, *tables, timeout=3 * 3600)
        return pickle.loads(target.read_bytes())  # noqa: S301  our own file

    with ThreadPoolExecutor(2) as pool:
        made = dict(zip(FRAMEWORKS, pool.map(lambda framework: worked(framework, "make", framework), FRAMEWORKS), strict=True))
        directions = {"to Paddle": ("paddle", "wherry"), "from Paddle": ("wherry", "paddle"), "Paddle to Paddle": ("paddle", "paddle")}
        loaded = dict(zip(directions, pool.map(lambda who: worked(who[0], "load", who[1]), directions.values()), strict=True))
    return verdicts(cases(step, *[tables] if tables else []), made, loaded, WAYS)


# What once was read wrongly, by words of the rows.
READ_HERE = {
    "an axis that is squeezed where it is 1": r"calls\[\d+\] (float32|float64) paddle.squeeze\(",
    "weights of positives": r"float32 nn.BCEWithLogitsLoss\(reduction='none', pos_weight",
    "beams": r"float32 .*LSTMCell\(4, 5\).*BeamSearchDecoder.*max_step_num=5\)$",
    "rows whose number is open": r"numeric_calls\[(33|404|617|775)\]",
}


# What Paddle once did not take, with rows and without any, by words of the rows.
WRITTEN_HERE = {
    "paths of tags": r"float32 paddle.text.viterbi_decode",
    "least squares": r"numeric_calls\[(33|86)\]",
    "unpacked factors": r"numeric_calls\[(193|352)\]",
    "beams": r"float32 .*GRUCell\(4, 5\).*BeamSearchDecoder.*max_step_num=5\)$",
    "signs of complex numbers": r"generated_calls\[1747\]",
    "flat rows": r"float32 nn.Flatten\(",
    "groups of channels": r"float32 nn.GroupNorm\(2, 4\)",
    "shuffled pixels": r"float32 nn.Pixel(Uns|S)huffle",
    "volumes": r"float32 nn.(Max|Avg)Pool3D\(2\)",
    "two recurrent layers": r"float32 nn.GRU\(4, 3, 2\): layer\(x\)",
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Every QUICK-th row, and those that once went wrong: the processes of both frameworks start once for all."""
    return judged(tmp_path_factory.mktemp("quick"), f"{QUICK}~{'|'.join((*READ_HERE.values(), *WRITTEN_HERE.values()))}")


def hold_the_same(found):
    print("\n" + table(found))
    for direction in ("to Paddle", "from Paddle"):
        counts = totals(found, direction)
        wrong = [f"{one.way} {one.case.name}: {one.text[:300]}" for one in found if one.kind == WRONG and one.direction == direction]
        assert counts[SAME] >= ENOUGH * (counts[SAME] + counts[WRONG]) and counts[SAME] > 40, f"{direction}: {counts}\n" + "\n".join(wrong)


def test_some_files_hold_the_same_for_both(quick):
    hold_the_same(quick)


@pytest.mark.slow
def test_all_files_hold_the_same_for_both(tmp_path):
    hold_the_same(judged(tmp_path, 1))


def agree(found, named, direction, least):
    """None of these rows is wrong in one direction, and of each name so many are the same."""
    found = [one for one in found if one.direction == direction and re.search("|".join(named.values()), one.case.name)]
    for name, rows in named.items():
        assert sum(one.kind == SAME for one in found if re.search(rows, one.case.name)) >= least, name
    assert not [f"{one.way} {one.case.name}: {one.text[:300]}" for one in found if one.kind == WRONG]


def test_files_of_paddle_that_are_read(quick):
    agree(quick, READ_HERE, "from Paddle", least=3)


def test_files_of_ours_that_paddle_takes(quick):
    agree(quick, WRITTEN_HERE, "to Paddle", least=2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        outcome = judged(Path(folder), sys.argv[1], *sys.argv[2:])
    for one in outcome:
        if one.kind == WRONG:
            print(one.direction, one.way, one.case.name, one.text[:400], sep="; ")
    print(table(outcome))
