"""The parts of tools/site: docstrings as Markdown, differences by name, ops behind a name, the policy of a page."""
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools" / "site"), str(ROOT / "tools")]
import docstring  # noqa: E402
import policy  # noqa: E402
import programs  # noqa: E402
from behind import ops_behind  # noqa: E402
from reference import differences, names_in, signature  # noqa: E402
from trained import picture  # noqa: E402

import wherry as paddle  # noqa: E402
from sources import Sources  # noqa: E402
from wherry_tensor.ops import registry  # noqa: E402

TEXT = """Doubles `x` * 2. Twice.

    More of it.

    Args:
        x: a tensor,
            of any shape.
        name: unused.

    Raises:
        ValueError: `x` is [bad].

    Examples:
        >>> 1 + 1
        2
    """


def test_a_docstring_has_parts():
    found = docstring.parse(TEXT)
    assert found.summary == "Doubles `x` * 2."
    assert found.session == ">>> 1 + 1\n2"
    assert docstring.entries(found.sections["Args"]) == [("x", "a tensor, of any shape."), ("name", "unused.")]
    assert docstring.entries(found.sections["Raises"]) == [("ValueError", r"`x` is \[bad\].")]


def test_markdown_reads_nothing_into_prose():
    assert docstring.escaped("a * b, `a * b`, <b>, x_1 | y") == r"a \* b, `a * b`, \<b\>, x\_1 \| y"
    assert docstring.prose(["- one", "  more", "- two"]) == "- one more\n- two"
    assert docstring.prose(["a   b", "1   2"]) == "```text\na   b\n1   2\n```"


@pytest.mark.parametrize(("value", "ops"), [
    (paddle.nn.functional.softmax, "softmax"), (paddle.nn.Conv2D, "conv2d"), (paddle.linalg.svd, "svd"), (paddle.add, "add"),
])
def test_ops_behind_a_name(value, ops):
    assert ops in ops_behind(value, registry)


def test_differences_find_the_names_that_rows_speak_of():
    assert names_in("`nn.functional.pad(x, 1)`, `linalg.*` and `x`") == ["nn.functional.pad", "linalg.*", "x"]
    assert differences.of("nn.functional.gumbel_softmax")
    assert differences.of("linalg.svd")
    assert not [row for row in differences.of("sparse.nn.ReLU") if "linalg" in row[0]]


def test_signatures_are_without_types():
    assert signature(paddle.nn.functional.softmax).startswith("(x, axis=-1")


def test_sources_lead_to_files_of_the_repository():
    sources = Sources()
    assert sources.of_module_file("/somewhere/site-packages/wherry_nn/layer.py") == "packages/nn/src/wherry_nn/layer.py"
    assert sources.address("packages/nn/src/wherry_nn/layer.py", 3) == "source/packages/nn/src/wherry_nn/layer.py.html#L3"
    assert sources.address("no/such/file.py") is None


def test_a_session_becomes_a_program():
    found = programs.attributes(">>> x = paddle.ones([2])\n>>> x.shape\n[2]\n", "pycon", "api/ones")
    assert found["data-runs"] == "yes"
    assert "import wherry as paddle" in found["data-program"] and "print(x.shape)" in found["data-program"]
    assert programs.attributes("cc -o x x.c", "text", "docs/abi") == {}
    elsewhere = programs.attributes(">>> 1\n1\n", "pycon", "docs/abi")
    assert elsewhere == {"data-program": '"print(1)\\n"', "data-runs": "no", "data-reason": "needs a compiler"}


def test_an_error_that_an_example_shows_ends_nothing(capsys):
    session = ">>> 1 / 0\nTraceback (most recent call last):\n    ...\nZeroDivisionError: division by zero\n>>> 2\n2\n"
    exec(json.loads(programs.attributes(session, "pycon", "api/x")["data-program"]), {})
    assert capsys.readouterr().out == "ZeroDivisionError: division by zero\n2\n"


def test_nothing_stays_inline(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "index.html").write_text(
        '<html><head><meta charset="utf-8"><style>p { color: red }</style></head><body><script>a()</script>\n<p class="x" style="width: 3%">'
        '<pre>  a\n    b</pre><td style="width: 3%"></td></body></html>')
    assert policy.apply(tmp_path, "try") == 1
    text = (tmp_path / "index.html").read_text()
    assert "<style" not in text and "style=" not in text and "a()" not in text
    assert text.count("Content-Security-Policy") == 1 and "<pre>  a\n    b</pre>" in text
    assert '<p class="inline-0 x">' in text and '<td class="inline-0">' in text
    assert (tmp_path / "_static" / "inline.css").read_text() == ".inline-0 { width: 3% }\n"


def test_a_row_of_losses_is_a_picture():
    text = picture([3.0, 2.0, 1.0], "Losses")
    assert 'aria-label="Losses: 3 values, from 3 to 1"' in text and "10.0,10.0 280.0,100.0 550.0,190.0" in text
