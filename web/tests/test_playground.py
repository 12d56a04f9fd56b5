"""The Python of the page Playground, here without a page: runs, their bounds, pictures, examples."""
import importlib.abc
import io
import json
import os
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest

import wherry as paddle
from wherry_web import Config, create_app
from wherry_web.client.on_demand import Finder
from wherry_web.playground import cells, digits, pictures, plot, show

WEB = Path(__file__).parent.parent
MENU = json.loads((WEB / "src" / "wherry_web" / "static" / "data" / "examples.json").read_text())


class Notebook:
    """A session that keeps what it was sent."""

    def __init__(self):
        self.sent = []
        self.session = cells.Session(lambda message, content: self.sent.append((json.loads(message), content)), {"__name__": "__main__"})

    def run(self, source, arguments=""):
        self.sent.clear()
        return json.loads(self.session.run(source, arguments))

    def text(self, stream="stdout"):
        return "".join(message["text"] for message, _ in self.sent if message["kind"] == "text" and message["stream"] == stream)

    def only(self, kind):
        return [(message, content) for message, content in self.sent if message["kind"] == kind]


@pytest.fixture
def notebook():
    return Notebook()


def test_names_stay_from_run_to_run(notebook):
    notebook.run("a = 6")
    assert notebook.run("a * 7")["outcome"] == "done"
    assert notebook.only("value") == [({"kind": "value", "text": "42"}, None)]
    notebook.run("_ + 1")
    assert notebook.only("value")[0][0]["text"] == "43"


def test_a_last_statement_that_is_no_expression_shows_no_value(notebook):
    for source in ("", "a = 1", "a = 1\nNone", "# nothing", "1\na = 2"):
        assert notebook.run(source)["outcome"] == "done"
        assert notebook.only("value") == []


def test_lines_go_out_when_they_are_complete_and_in_order(notebook):
    notebook.run("import sys\nprint('a', end='')\nprint('b', file=sys.stderr)\nprint('c')\nprint('d', end='')")
    assert [(m["stream"], m["text"]) for m, _ in notebook.sent] == [("stdout", "a"), ("stderr", "b\n"), ("stdout", "c\n"), ("stdout", "d")]


def test_too_much_text_is_counted_and_its_end_is_shown(notebook):
    notebook.run("for i in range(20000):\n    print(i)")
    left_out = notebook.only("left_out")[-1][0]
    shown = notebook.text().splitlines()
    assert shown[: cells.LINES] == [str(i) for i in range(cells.LINES)]
    assert shown[-1] == "19999" and sum(len(line) + 1 for line in shown[cells.LINES :]) <= cells.TAIL + 10
    assert len(shown) + left_out["lines"] in (20000, 20001)  # one line may be cut in two
    whole = sum(len(str(i)) + 1 for i in range(20000))
    assert len(notebook.text()) + left_out["characters"] == whole
    assert len(notebook.sent) < cells.LINES + 2 * cells.TAIL


def test_one_endless_line_is_cut_too(notebook):
    notebook.run("print('x' * 10**7)")
    assert len(notebook.text()) <= cells.CHARACTERS + cells.TAIL
    assert len(notebook.text()) + notebook.only("left_out")[-1][0]["characters"] == 10**7 + 1


def test_an_error_points_at_its_line_and_leaves_libraries_out(notebook):
    result = notebook.run("import wherry as paddle\n\nx = paddle.ones([2, 3])\ny = 'é', paddle.matmul(x, x)")
    error = result["error"]
    assert result["outcome"] == "failed" and error["title"].startswith("InvalidArgumentError: (InvalidArgument) matmul: ")
    assert (error["line"], error["column"], error["end_column"]) == (4, 10, 29)  # characters, not bytes
    assert "wherry_tensor/" not in error["text"] and "cells.py" not in error["text"] and "inside libraries left out" in error["text"]
    assert 'File "<run 1>", line 4' in error["text"]


def test_an_error_in_a_function_of_an_earlier_run_points_at_the_call(notebook):
    notebook.run("def invert(x):\n    return 1 / x")
    error = notebook.run("\ninvert(0)")["error"]
    assert (error["line"], error["column"]) == (2, 1)
    assert 'File "<run 1>", line 2, in invert\n    return 1 / x' in error["text"]


@pytest.mark.parametrize(("source", "line", "column"), [
    ("a = (1 +\nprint(", 2, 6), ("if True:\npass", 2, 1), ("x = 1\n\ty = 2", 2, 1), ("\0", None, None),
])
def test_a_syntax_error_has_a_place(notebook, source, line, column):
    result = notebook.run(source)
    assert result["outcome"] == "failed" and "Error: " in result["error"]["title"]
    assert result["error"].get("line") == line
    if column:
        assert result["error"]["column"] >= column


def test_endless_recursion_and_groups_of_errors_stay_short(notebook):
    group = "raise ExceptionGroup('several', [ValueError(str(i)) for i in range(50)])"
    for source in ("def a(): b()\ndef b(): a()\na()", "def a(): a()\na()", group):
        result = notebook.run(source)
        assert result["outcome"] == "failed" and len(result["error"]["text"]) < 6000


def test_a_chain_of_errors_is_told(notebook):
    text = notebook.run("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('no') from error")["error"]["text"]
    assert text.index("ZeroDivisionError") < text.index("direct cause") < text.index("ValueError: no")


def test_a_value_that_cannot_be_shown_is_an_error_and_a_long_one_is_shortened(notebook):
    result = notebook.run("class Broken:\n    def __repr__(self):\n        raise RuntimeError('no words')\nBroken()")
    assert result["error"]["title"] == "RuntimeError: no words" and result["error"]["line"] == 3
    notebook.run("'x' * 10**6")
    assert len(notebook.only("value")[0][0]["text"]) < cells.VALUE + 100


def test_exit_and_interrupts_are_no_errors(notebook):
    assert notebook.run("import sys\nsys.exit(3)")["code"] == "3"
    assert notebook.run("raise SystemExit")["code"] == ""
    result = notebook.run("a = 1\nraise KeyboardInterrupt")
    assert result["outcome"] == "interrupted" and result["error"]["line"] == 2
    assert notebook.run("a")["outcome"] == "done"


def test_a_program_that_asks_for_input_is_told_that_there_is_none(notebook):
    assert "there is no keyboard" in notebook.run("input('name? ')")["error"]["title"]


def test_a_run_leaves_the_streams_and_arguments_of_the_process_alone(notebook):
    before = sys.stdout, sys.stderr, sys.argv, input
    notebook.run("import sys\nprint(sys.argv)", "--quick now")
    assert notebook.text() == "['playground.py', '--quick', 'now']\n"
    notebook.run("1 / 0")
    assert (sys.stdout, sys.stderr, sys.argv, input) == before


def test_functions_of_a_run_can_be_read_again(notebook):
    source = "import wherry\n@wherry.jit.to_static\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\nf(-wherry.ones([2])).tolist()"
    assert notebook.run(source)["outcome"] == "done"
    assert notebook.only("value")[0][0]["text"] == "[1.0, 1.0]"


def drawn(notebook, source):
    result = notebook.run("import wherry as paddle\nfrom wherry_web.playground import *\nnan = float('nan')\n" + source)
    assert result["outcome"] == "done", result
    return [(message, content) for message, content in notebook.sent if message["kind"] in ("plot", "pictures", "image")]


def test_lines_have_numbers_and_gaps(notebook):
    ((message, content),) = drawn(notebook, "plot({'a': [1, nan, 3], 'b': paddle.to_tensor([1.0, 2.0])}, title='T', x_label='step')")
    assert content is None and message["x"] == [0, 1, 2] and message["title"] == "T"
    assert message["lines"] == [{"label": "a", "y": [1, None, 3]}, {"label": "b", "y": [1, 2, None]}]
    ((message, _),) = drawn(notebook, "plot([1, 2, 3], [-1, 0, 5], log=True)")
    assert message["lines"][0]["y"] == [None, None, 5]


def test_points_need_no_order_and_long_lines_are_thinned(notebook):
    ((message, _),) = drawn(notebook, "plot([3, 1, 2], [30, 10, 20], points=True)")
    assert message["x"] == [1, 2, 3] and message["lines"][0]["y"] == [10, 20, 30]
    ((message, _),) = drawn(notebook, "plot(range(25_000))")
    assert len(message["x"]) == 8334 and message["note"] == "every 3th of 25000 points"


@pytest.mark.parametrize(("call", "says"), [
    ("plot()", "got 0 values"), ("plot([2, 1], [1, 2])", "x does not ascend"), ("plot([1, 2], [1])", "x has 2 numbers and y has 1"),
    ("plot(paddle.ones([2, 2]))", "y is not a sequence of numbers. Got Tensor of shape [2, 2]"), ("plot({})", "got 0 lines"),
    ("plot('ab')", "not a sequence"), ("show(paddle.ones([0, 3]))", "nothing to draw"),
])
def test_wrong_pictures_are_explained(notebook, call, says):
    assert says in notebook.run(f"import wherry as paddle\nfrom wherry_web.playground import *\n{call}")["error"]["title"]


@pytest.mark.parametrize(("value", "size", "content"), [
    ("paddle.to_tensor([[0.0, 1.0, 2.0]])", (1, 1, 1, 3), bytes([0, 128, 255])),
    ("paddle.to_tensor([[0, 255]], dtype='uint8')", (1, 1, 1, 2), bytes([0, 255])),
    ("paddle.to_tensor([[[0.0]], [[0.5]], [[1.0]]])", (1, 3, 1, 1), bytes([0, 128, 255])),
    ("paddle.to_tensor([[[0.0, 0.5, 1.0], [1.0, 1.0, 1.0]]]).transpose([1, 0, 2])", (1, 3, 2, 1), bytes([0, 128, 255, 255, 255, 255])),
    ("paddle.to_tensor([[[0.0, 1.0]], [[0.5, 0.5]]])", (2, 1, 1, 2), bytes([0, 255, 128, 128])),
    ("paddle.full([2, 2], 7.0)", (1, 1, 2, 2), bytes(4)),
    ("paddle.to_tensor([[0.0, nan, 1.0]])", (1, 1, 1, 3), bytes([0, 0, 255])),
    ("paddle.to_tensor([[True, False]])", (1, 1, 1, 2), bytes([255, 0])),
    ("__import__('numpy').eye(2)", (1, 1, 2, 2), bytes([255, 0, 0, 255])),
])
def test_tensors_are_pictures(notebook, value, size, content):
    ((message, got),) = drawn(notebook, f"show({value})")
    assert (message["count"], message["channels"], message["height"], message["width"]) == size
    assert got == content


def test_large_pictures_and_batches_are_cut(notebook):
    ((message, content),) = drawn(notebook, "show(paddle.rand([3000, 2000]))")
    assert len(content) == message["height"] * message["width"] <= pictures.PIXELS and message["note"] == "every 3th pixel"
    ((message, content),) = drawn(notebook, "show(paddle.rand([100, 1, 4, 4]))")
    assert message["count"] == pictures.PICTURES and message["note"] == "the first 64 of 100"


def test_what_is_no_picture_is_printed(notebook):
    assert drawn(notebook, "show(paddle.to_tensor([1, 2]))\nshow('text')") == []
    assert "[1, 2]" in notebook.text() and "text" in notebook.text()


def test_pictures_of_a_name_are_the_newest_and_others_are_counted(notebook):
    found = drawn(notebook, "for i in range(1000):\n    plot([i], name='one')")
    assert found[-1][0]["lines"][0]["y"] == [999] and len(found) < 500
    found = drawn(notebook, "for i in range(70):\n    plot([i])")
    assert len(found) == cells.PICTURES
    assert notebook.only("left_out")[-1][0]["pictures"] == 20


def test_open_figures_of_matplotlib_are_shown(notebook, monkeypatch):
    closed = []
    figure = types.SimpleNamespace(savefig=lambda file, format: file.write(b"PNG"))
    pyplot = types.SimpleNamespace(get_fignums=lambda: [1, 2], figure=lambda number: figure, close=closed.append)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    notebook.run("pass")
    assert notebook.only("image") == [({"kind": "image"}, b"PNG")] * 2 and closed == ["all"]


def test_outside_a_page_matplotlib_draws_or_its_lack_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (lambda: plot([1]), lambda: show(paddle.eye(2))):
        with pytest.raises(ModuleNotFoundError, match="there is no page and no matplotlib"):
            call()


def test_digits_are_those_of_the_pages():
    images, labels = digits()
    assert images.shape == [1797, 1, 28, 28] and labels.shape == [1797]
    assert float(images.min()) == -1 and float(images.max()) == 1


class MakesUp(importlib.abc.MetaPathFinder):
    """As Wherry's AbsentFinder: has a module for every name that comes as far."""

    def find_spec(self, name, path=None, target=None):
        assert not name.startswith("offered"), f"{name} was not asked of what is offered"


def test_packages_are_loaded_when_they_are_imported(tmp_path, monkeypatch, notebook):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("offered_here/__init__.py", "from offered_here.part import VALUE")
        archive.writestr("offered_here/part.py", "VALUE = 5")
        archive.writestr("offered_beside.py", "OTHER = 6")
    asked = []
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, MakesUp()])
    address = "bundle/0/offered.zip"
    addresses = json.dumps({"offered_here": address, "offered_beside": address})
    notebook.session.offer(addresses, lambda url: asked.append(url) or buffer.getvalue(), str(tmp_path))
    result = notebook.run("import offered_here, offered_beside\noffered_here.VALUE + offered_beside.OTHER")
    assert result["outcome"] == "done" and asked == [address]
    assert notebook.only("value")[0][0]["text"] == "11"
    assert [message["text"] for message, _ in notebook.only("loading")] == ["Loading offered", "Unpacking offered, 0.0 MB"]
    sys.modules.pop("offered_here"), sys.modules.pop("offered_here.part"), sys.modules.pop("offered_beside")
    error = notebook.run("raise ModuleNotFoundError('No module', name='numpy')")["error"]
    assert "This server has no numpy for the browser" in error["text"]
    assert any(isinstance(finder, Finder) for finder in sys.meta_path)


def test_a_module_of_a_package_that_is_there_is_loaded_too(tmp_path, monkeypatch):
    (tmp_path / "halved").mkdir()
    (tmp_path / "halved" / "__init__.py").write_text("")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("halved/rest.py", "VALUE = 7")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder({"halved.rest": "rest.zip"}, lambda address: buffer.getvalue(), tmp_path)])
    import halved.rest

    assert halved.rest.VALUE == 7
    with pytest.raises(ModuleNotFoundError):
        import halved.other  # noqa: F401


def test_the_menu_is_what_the_documentation_says():
    done = subprocess.run([sys.executable, WEB / "make_examples.py", "--check"], check=False)
    assert done.returncode == 0, "the documentation has changed: run python web/make_examples.py"


def test_names_of_examples_differ():
    names = [example["name"] for group in MENU["groups"] for example in group["examples"]]
    assert len(names) == len(set(names)) >= 30


RUN_ALL = """
import json, os, sys
from wherry_web.playground.cells import Session

menu = json.load(open(sys.argv[1]))
os.chdir(sys.argv[2])
session = Session(lambda message, content: None)
session.beside(json.dumps(menu["files"]))
session.offer("{}", None, "")
ended = {}
for group in menu["groups"]:
    for example in group["examples"]:
        if "quick" not in example:  # those are whole programs, with tests of their own
            result = json.loads(session.run(example["code"]))
            ended[example["name"]] = result["outcome"] if result["outcome"] == "done" else result
print(json.dumps(ended))
"""


def test_every_example_runs(tmp_path):
    menu = WEB / "src" / "wherry_web" / "static" / "data" / "examples.json"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", RUN_ALL, menu, tmp_path], capture_output=True, text=True, env=environment, check=True, timeout=300)
    ended = json.loads(done.stdout.splitlines()[-1])
    assert {name: end for name, end in ended.items() if end != "done"} == {} and len(ended) >= 30


def test_wheels_of_others_become_packages_of_the_playground_and_no_part_of_the_bundle(wheels):
    with zipfile.ZipFile(wheels / "numpy-2.3.5-cp313-cp313-pyemscripten_2025_0_wasm32.whl", "w") as wheel:
        for name in ("numpy/__init__.py", "numpy/core/_core.so", "numpy/tests/test_x.py", "numpy/x.pyi", "numpy-2.3.5.dist-info/METADATA",
                     "numpy-2.3.5.dist-info/RECORD", "alone.py"):
            wheel.writestr(name, name)
    client = create_app(Config(wheels=wheels)).test_client()
    manifest = client.get("/manifest.json").get_json()
    offered = manifest["playground"]["packages"]
    assert set(offered) == {"numpy", "alone"} and len(set(offered.values())) == 1
    with zipfile.ZipFile(io.BytesIO(client.get(f"/{offered['numpy']}").data)) as archive:
        assert sorted(archive.namelist()) == ["alone.py", "numpy-2.3.5.dist-info/METADATA", "numpy/__init__.py", "numpy/core/_core.so"]
    with zipfile.ZipFile(io.BytesIO(client.get(f"/{manifest['bundle']['url']}").data)) as archive:
        assert not any(name.startswith("numpy") for name in archive.namelist())
    with zipfile.ZipFile(wheels / "later-1.0-py3-none-any.whl", "w") as wheel:  # comes while the server runs, as NumPy's in `make demo`
        wheel.writestr("later.py", "")
    offered = client.get("/manifest.json").json["playground"]["packages"]
    assert set(offered) == {"numpy", "alone", "later"} and client.get(f"/{offered['later']}").status_code == 200
    assert client.get("/bundle/0000/numpy.zip").status_code == client.get("/bundle/0000/sources.zip").status_code == 404


def test_what_a_first_program_imports_comes_first_with_its_docstrings(wheels):
    with zipfile.ZipFile(wheels / "wherry_quant-0.1.0-py3-none-any.whl", "w") as wheel:
        for name in ("wherry_quant/__init__.py", "wherry_quant/_core.so"):
            wheel.writestr(name, name)
    client = create_app(Config(wheels=wheels)).test_client()
    offered = client.get("/manifest.json").json["playground"]
    first, later = ({name: archive.read(name) for name in archive.namelist()}
                    for archive in (zipfile.ZipFile(io.BytesIO(client.get(f"/{offered[part]}").data)) for part in ("url", "sources")))
    assert first["wherry_tensor/__init__.py"].startswith(b'"""Tensors."""') and "wherry_tensor/_core.so" in first
    assert {"wherry_web/playground/cells.py", "wherry_web/client/digits.py", "wherry_web/static/data/digits.bin"} <= first.keys()
    # A folder with nothing but kernels would be imported in place of the package.
    assert set(later) == {"wherry_quant/__init__.py", "wherry_quant/_core.so", "wherry_tensor/empty.py"}
    assert json.loads(first["wherry_web/playground/later.json"]) == ["wherry_quant", "wherry_tensor.empty"]
    assert not any("/testing/" in name or name.endswith(".h") for name in first.keys() | later.keys())


def test_without_wheels_there_is_no_playground(models):
    assert create_app(Config(models=models)).test_client().get("/manifest.json").get_json()["playground"] is None
