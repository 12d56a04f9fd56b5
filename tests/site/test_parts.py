"""The parts of tools/site: docstrings as Markdown, differences by name, ops behind a name, the policy of a page."""
import base64
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools" / "site"), str(ROOT / "tools")]
import docstring  # noqa: E402
import draw  # noqa: E402
import notebook  # noqa: E402
import policy  # noqa: E402
import programs  # noqa: E402
import shorter  # noqa: E402
import tutorials  # noqa: E402
from behind import ops_behind  # noqa: E402
from reference import differences, names_in, signature  # noqa: E402
from trained import losses_shown, printed  # noqa: E402

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


def test_pages_lose_what_no_rule_and_no_script_speaks_of(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "a.css").write_text(".literal { color: red } .highlight .k { color: blue } .w-2:hover > a.reference { top: 0 }")
    (tmp_path / "_static" / "a.js").write_text('document.querySelector("p.said");\nvalue.pre = 1;\nbox.classList.contains("open");')
    classes = shorter.spoken_of(tmp_path)
    pages = shorter.Pages(classes)
    assert {"literal", "k", "w-2", "reference", "said", "open"} <= classes and "pre" not in classes
    link = '<span class="std std-doc"><code class="py literal"><span class="pre">x </span></code></span>'
    text = f'<p class="said std"><span class="pre">a</span> {link}</p>'
    assert pages.page(text) == '<p class=said>a <code class=literal>x </code></p>'
    code = '<div class="highlight-python" id="one"><pre><span class="k">if</span> <span class="n">a</span><span id="L2"></span></pre></div>'
    assert pages.page(code) == "<div class=highlight-python id=one><pre><i class=k>if</i> a<i id=L2></i></pre></div>"
    tree = '<div class="sidebar-tree"><li class="toctree-l1 said"><a class="reference" href="a.html">A</a></li></div><a class="reference">b</a>'
    assert pages.page(tree) == '<div><li class=said><a href="a.html">A</a></li></div><a class=reference>b</a>'
    same = '<a href="a b" title="no class=&quot;x&quot;">it says class="x" id="y"</a>'
    assert pages.page(same) == same


def test_a_row_of_losses_is_a_picture():
    text = losses_shown("loss 3.0\nloss: 2.0\nloss: 1\ntest loss 7\n", "it")
    assert "3 first, 1 last: 3 points, from 1 to 3" in text and 'points="56.0,12.0 302.0,109.0 548.0,206.0"' in text
    assert losses_shown("loss 1\nloss 2\n", "it") == ""


def test_losses_of_two_networks_are_two_lines():
    rows = "".join(f"step {i}  judge loss {i + 1}  painter loss {10 - i}\n" for i in range(3))
    text = losses_shown(rows, "it")
    assert text.count("<polyline") == 2 and ">judge loss</text>" in text and "Judge loss: 1 first, 3 last; painter loss: 10 first, 8 last" in text


def test_gaps_and_several_lines_are_drawn():
    rows = [{"label": "a", "y": [1.0, None, 100.0]}, {"label": "b < c", "y": [10.0, 10.0, 10.0]}]
    text = draw.lines({"title": "T", "x_label": "step", "y_label": "", "log": True, "points": True, "x": [0.0, 1.0, 2.0], "lines": rows})
    assert text.count("<circle") == 5 and "b &lt; c" in text and 'cy="109.0"' in text


def test_pictures_become_one_png():
    image = pytest.importorskip("PIL.Image")
    text = draw.pictures({"title": "Two", "count": 2, "channels": 1, "height": 2, "width": 3}, bytes(range(0, 120, 10)))
    assert 'alt="Two: 2 of 3 x 2"' in text
    png = image.open(io.BytesIO(base64.b64decode(re.search('base64,([^"]+)', text)[1])))
    assert png.size == (7, 2) and png.getpixel((2, 1)) == (50, 50, 50, 255)
    assert png.getpixel((3, 0))[3] == 0 and png.getpixel((4, 0)) == (60, 60, 60, 255)


PROGRAM = '''"""What it is."""
import os

SIZE = 3


class A:
    pass


def main(steps=2, rate=0.5):
    # How it
    # begins.
    a = A()
    for step in range(steps):
        print(step)
    with open(os.devnull) as file:
        # inside
        rest = file.read()

    print(rest, SIZE)
    return a


if __name__ == "__main__":
    main()
'''


def test_a_program_becomes_cells():
    assert notebook.cells(PROGRAM) == [
        ("", "import os\n\nSIZE = 3"),
        ("", "class A:\n    pass"),
        ("", "steps, rate = 2, 0.5"),
        ("How it begins.", "a = A()"),
        ("", "for step in range(steps):\n    print(step)"),
        ("", "with open(os.devnull) as file:\n    # inside\n    rest = file.read()\n\nprint(rest, SIZE)"),
    ]


@pytest.mark.parametrize("name", ["hello_paddle", "save_load", "recommendation"])
def test_cells_say_what_the_program_says(name, tmp_path):
    program = tutorials.FOLDER / f"{name}.py"
    done = subprocess.run([sys.executable, "-m", "wherry", "run", notebook.__file__, program, tmp_path / "said.json"], timeout=240)
    assert done.returncode == 0
    said = json.loads((tmp_path / "said.json").read_text())["cells"]
    own = len(notebook.cells(program.read_text()))
    assert "".join(map(printed, said[:own])) == tutorials.output_of("wherry", program)
    assert len(said) == len(notebook.of(program)) and (own == len(said) or {"plot", "pictures"} & {one["kind"] for one in said[own]})


def test_every_picture_belongs_to_a_tutorial():
    assert {path.stem for path in (tutorials.FOLDER / notebook.PICTURES).glob("*.py")} <= {program.stem for program in tutorials.PROGRAMS}
