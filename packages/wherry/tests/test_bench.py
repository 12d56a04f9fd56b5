"""`wherry bench`: the table, the picture, refusals."""
import re
import xml.etree.ElementTree as ElementTree

import pytest

from wherry import _bench
from wherry.__main__ import main


def test_it_prints_the_limits_and_a_row(capsys):
    assert main(["bench", "--seconds", "0.005", "--only", "add of [4096"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"multiply-adds, .*float32 \d+", shown)
    assert re.search(r"memory, in GB a second: read [\d.]+, write [\d.]+, copy [\d.]+", shown)
    assert re.search(r"(?m)^add of \[4096, 1024\], float32 +[\d.]+ [mu]s +\d+% +\d+\.\d\d$", shown)
    assert re.search(r"(?m)^add of \[4096, 1024\], bfloat16 +[\d.]+ [mu]s +\d+%$", shown)


def test_the_picture_has_a_bar_for_each_row_with_a_limit(tmp_path, capsys):
    file = tmp_path / "bench.svg"
    assert main(["bench", "--seconds", "0.002", "--only", "add of", "--svg", str(file)]) == 0
    assert str(file) in capsys.readouterr().out
    root = ElementTree.parse(file).getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert len([rect for rect in root.iter(f"{name}rect") if rect.get("class") == "bar"]) == 2
    texts = [text.text for text in root.iter(f"{name}text")]
    assert "add of [2, 3]: the cost of a call" in texts and "100 %" in texts


def test_rows_beyond_the_limit_move_the_line_and_stay_inside():
    rows = [_bench.Row("a < b", 1.0, 2.0, None), _bench.Row("c", 1.0, 0.5, 2.0)]
    root = ElementTree.fromstring(_bench.picture(rows, "heading & more"))
    name = "{http://www.w3.org/2000/svg}"
    widths = [float(rect.get("width")) for rect in root.iter(f"{name}rect") if rect.get("class") == "bar"]
    assert widths == [420.0, 105.0]
    (line,) = root.iter(f"{name}line")
    assert float(line.get("x1")) == 330 + 420 / 2


def test_every_row_is_built_and_has_a_limit_or_a_reason():
    cases = list(_bench.cases())
    assert len({case.name for case in cases}) == len(cases)
    assert [case.name for case in cases if not (case.multiply_adds or case.size)] == [
        "add of [2, 3]: the cost of a call", "training step of 64 - 128 - 10, batch 32"]


@pytest.mark.parametrize(("arguments", "said"), [
    (["--seconds", "0"], "expected more than 0"),
    (["--only", "nothing like this"], "no row has 'nothing like this'"),
    (["--only", "add of [2", "--svg", "/no/such/folder/x.svg"], "there is no folder"),
])
def test_what_cannot_be_done_is_refused_before_anything_is_measured(capsys, arguments, said):
    assert main(["bench", *arguments]) == 2
    told = capsys.readouterr()
    assert said in told.err and not told.out
