"""benchmarks/RESULTS.md: the numbers of its first table stand in the tables after, and its commands exist."""
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "benchmarks" / "RESULTS.md").read_text()


def anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def sections() -> dict[str, str]:
    parts = re.split(r"(?m)^#{1,4} (.*)$", re.sub(r"(?m)^#(?= )(?=.*--)", "", TEXT))
    return {anchor(heading): body for heading, body in zip(parts[1::2], parts[2::2])}


def first_table() -> list[list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in sections()["the-ten-most-important-rows-and-their-targets"].splitlines()
            if line.startswith("|")]
    return rows[2:]


def test_the_first_table_has_ten_rows_with_targets():
    assert len(first_table()) == 10
    assert all(cells[2] for cells in first_table())


@pytest.mark.parametrize(("what", "measured", "target", "details"), first_table())
def test_a_row_repeats_what_its_section_says(what, measured, target, details):
    behind = "".join(sections()[name] for name in re.findall(r"\(#([^)]*)\)", details))
    assert behind
    for number in re.findall(r"\d+(?:\.\d+)?", measured):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", behind), f"{what}: {number} is not in {details}"


def commands() -> list[str]:
    blocks = re.findall(r"(?ms)^```\n(.*?)^```", TEXT)
    lines = [re.sub(r"\s+#.*", "", line) for block in blocks for line in block.splitlines()]
    return sorted({line for line in lines if re.match(r"(\w+=\w+ )*(python|PADDLE|pytest|benchmarks/)", line)})


def test_each_section_with_a_table_has_a_command():
    without = [name for name, body in sections().items() if re.search(r"(?m)^\|---", body) and "```\n" not in body]
    assert without == ["the-ten-most-important-rows-and-their-targets"]


@pytest.mark.parametrize("command", commands())
def test_a_command_names_a_program_that_is_there(command):
    words = [word for word in shlex.split(command) if not re.fullmatch(r"[A-Z_]+=\w+", word)]
    program = ROOT / (words[0] if words[0].startswith("benchmarks/") else words[1])
    assert program.is_file(), f"{command}: {words} names no file"
    if words[1:2] == ["benchmarks/run.py"]:
        module = ROOT / "benchmarks" / f"cases_{words[2]}.py"
        assert module.is_file() or words[2] == "limit", f"{command}: there is no {module.name}"
        said = subprocess.run([sys.executable, program, "--help"], capture_output=True, text=True, check=True).stdout
        for option in [word for word in words if word.startswith("--")]:
            assert re.search(rf"{option}\b", said), f"{command}: run.py has no option {option}"


def test_names_of_the_api_are_as_many_as_the_table_says():
    sys.path.append(str(ROOT / "tests"))
    import test_api_names as names

    left_out = sum(name in names.EXCLUDED for name, _, _ in names.ROWS)
    (measured,) = [cells[1] for cells in first_table() if cells[0].startswith("compatibility: names")]
    assert measured == f"{len(names.ROWS) - left_out} of {len(names.ROWS)}, {left_out} left out with reasons"
