"""docs/guides: the blocks of Python run, one after another in one namespace, and print what the block after says."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

import wherry

GUIDES = sorted((Path(__file__).parent.parent.parent / "docs" / "guides").glob("*.md"))
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n```output\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_blocks_print_what_they_say(guide, tmp_path, monkeypatch):
    if guide.stem in ("from-paddle-1", "from-pytorch"):
        pytest.importorskip("libcst", reason="wherry-migrate rewrites programs with LibCST, which is not installed")
    monkeypatch.chdir(tmp_path)
    text = guide.read_text()
    blocks = list(BLOCK.finditer(text))
    assert blocks, "a guide without a program"
    namespace = {"__name__": "__main__"}
    try:
        for block in blocks:
            line = text.count("\n", 0, block.start("code")) + 1
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                # With the lines of the page, so that a traceback leads there.
                exec(compile("\n" * (line - 1) + block["code"], str(guide), "exec"), namespace)
            assert doctest.OutputChecker().check_output(block["output"] or "", said.getvalue(), FLAGS), (
                f"{guide.name}, line {line}: expected\n{block['output']}\ngot\n{said.getvalue()}"
            )
    finally:
        wherry.set_flags({"FLAGS_check_nan_inf": False})


def test_guides_are_listed():
    index = (GUIDES[0].parent.parent / "index.md").read_text()
    missing = [guide.name for guide in GUIDES if f"](guides/{guide.name})" not in index]
    assert not missing, f"docs/index.md does not lead to {', '.join(missing)}"
