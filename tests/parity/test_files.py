"""Files go from real Paddle 2.6.2 to wherry and back: what one writes the other reads, and trains on from."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, result_of  # noqa: E402

pytestmark = needs_paddle

PROGRAM = Path(__file__).parent / "file_program.py"
OURS, THEIRS = "wherry", "paddle"


def run(framework, *arguments):
    return result_of(framework, PROGRAM, *arguments)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    found = {}
    for name, framework in (("ours", OURS), ("theirs", THEIRS)):
        found[name] = tmp_path_factory.mktemp(name)
        run(framework, "save", found[name])
    assert sorted(os.listdir(found["ours"])) == sorted(os.listdir(found["theirs"]))
    return found


@pytest.fixture(scope="module")
def expected(folders):
    return run(THEIRS, "load", folders["theirs"])


@pytest.mark.parametrize(("reader", "writer"), [(OURS, "theirs"), (THEIRS, "ours"), (OURS, "ours")],
                         ids=["we read Paddle's", "Paddle reads ours", "we read ours"])  # fmt: skip
def test_files_hold_the_same_for_whoever_reads(folders, expected, reader, writer):
    found = run(reader, "load", folders[writer])
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == value, name


@pytest.mark.parametrize(("first", "second"), [(THEIRS, OURS), (OURS, THEIRS), (OURS, OURS)],
                         ids=["we go on from Paddle", "Paddle goes on from us", "we go on from us"])  # fmt: skip
def test_training_goes_on_from_the_other_ones_checkpoint(tmp_path, first, second):
    expected = run(first, "train", tmp_path)
    found = run(second, "resume", tmp_path)
    assert found == pytest.approx(expected, rel=1e-4)
