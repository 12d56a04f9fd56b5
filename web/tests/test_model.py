"""The Python of the page Your model, here without a page."""
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import wherry as paddle
from wherry.static import InputSpec
from wherry_paddle_files.models import write_program
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_web.client import model as client
from wherry_web.client.model import of_paddle


@pytest.fixture(scope="module")
def lenet():
    paddle.seed(3)
    return client.example("LeNet", 10)


def opened(files):
    return of_paddle(files["model"], files["params"])


def picture(values, shape):
    return [{"shape": shape, "data": struct.pack(f"{len(values)}f", *values), "format": "f"}]


def program_of(function, *feeds):
    program = Program()
    inputs = [program.feed(shape, dtype, name) for shape, dtype, name in feeds]
    with capture(program):
        results = function(*inputs)
    program.fetches = list(results) if isinstance(results, tuple) else [results]
    return write_program(program)


def doubles(output):
    return list(struct.unpack(f"{len(output['data']) // 8}d", output["data"]))


NEEDS = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from wherry_web.client import formats, model
files = model.example("LeNet", 10)
of_3 = Path(sys.argv[2])
for name, given in (
    ("a.pdmodel", {"a.pdmodel": files["model"], "a.pdiparams": files["params"]}),
    (of_3.name, {path.name: path.read_bytes() for path in (of_3, of_3.with_suffix(".pdiparams"))}),
):
    assert not formats.needs_more(name)
    opened = formats.opened(name, given)
    assert opened.about()["held"]["tensors"] and opened.picture(name)
    opened.run([{"shape": [max(n, 1) for n in x["shape"]], "random": [0, 1]} for x in opened.about()["inputs"]], True)
print("numpy" in sys.modules)
"""


def test_needs_no_numpy(tmp_path):
    # On a page the client is all there is of this package.
    shutil.copytree(Path(client.__file__).parent, tmp_path / "wherry_web" / "client")
    (tmp_path / "wherry_web" / "__init__.py").touch()
    paddle.set_flags({"FLAGS_enable_pir_api": True})
    try:
        paddle.jit.save(paddle.nn.Linear(3, 4), str(tmp_path / "net"), input_spec=[InputSpec([None, 3], "float32", "x")])
    finally:
        paddle.set_flags({"FLAGS_enable_pir_api": False})
    command = [sys.executable, "-c", NEEDS, tmp_path, tmp_path / "net.json"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("fused", [True, False])
def test_a_saved_layer_answers_as_the_layer_does(tmp_path, fused):
    paddle.seed(1)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 3))
    net.eval()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 4], "float32", "x")])
    model = of_paddle((tmp_path / "net.pdmodel").read_bytes(), (tmp_path / "net.pdiparams").read_bytes())
    values = [0.5, -1.0, 2.0, 0.25] * 2
    (output,) = model.run(picture(values, [2, 4]), fused)["outputs"]
    expected = paddle.reshape(net(paddle.reshape(paddle.to_tensor(values), [2, 4])), [-1]).tolist()
    assert doubles(output) == pytest.approx(expected, abs=1e-6)
    assert output["shape"] == [2, 3] and output["dtype"] == "float32" and output["count"] == 6
    assert output["mean"] == pytest.approx(sum(expected) / 6, abs=1e-6) and output["max"] == pytest.approx(max(expected), abs=1e-6)


def test_a_model_tells_what_it_is(lenet):
    about = opened(lenet).about()
    assert about["parameters"] == 61610 and about["weightBytes"] == 4 * 61610 and not about["lacksParams"]
    assert about["inputs"] == [{"name": "image", "dtype": "float32", "shape": [-1, 1, 28, 28], "below": None}]
    assert [x["shape"] for x in about["outputs"]] == [[-1, 10]]
    assert sum(node["type"] == "conv2d" for node in about["nodes"]) == 2
    assert "conv2d(" in about["text"]


def test_every_entry_to_search_has_a_box_in_the_picture(lenet):
    model = opened(lenet)
    groups = [group.attrib for group in ElementTree.fromstring(model.picture("LeNet")).iter("{http://www.w3.org/2000/svg}g")]
    places = {group["data-node"] for group in groups if "data-node" in group}
    places |= {f"{kind}:{group[f'data-{kind}']}" for kind in ("feed", "fetch") for group in groups if f"data-{kind}" in group}
    assert {node["at"] for node in model.about()["nodes"]} == places


def test_times_belong_to_boxes_where_nothing_is_fused(lenet):
    model = opened(lenet)
    kinds = {node["at"]: node["type"] for node in model.about()["nodes"]}
    result = model.run([{"shape": [1, 1, 28, 28], "random": [0, 1]}], False)
    assert [row["op"] for row in result["ops"]] == [kinds[row["at"]] for row in result["ops"]]
    assert sum(row["op"] == "conv2d" for row in result["ops"]) == 2
    assert all(row["milliseconds"] >= 0 for row in result["ops"])
    assert result["peak"] >= 4 * 61610
    fused = model.run([{"shape": [1, 1, 28, 28], "random": [0, 1]}], True)
    assert len(fused["ops"]) < len(result["ops"]) and all(row["at"] is None for row in fused["ops"])


def test_a_program_alone_is_drawn_and_says_what_it_lacks(lenet):
    model = of_paddle(lenet["model"])
    assert model.about()["lacksParams"] and model.picture("x").startswith("<svg")
    with pytest.raises(ValueError, match=r"Drop the \.pdiparams"):
        model.run([{"shape": [1, 1, 28, 28], "random": [0, 1]}], True)


def test_whole_numbers_below_the_rows_of_an_embedding(tmp_path):
    net = paddle.nn.Embedding(7, 3)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 5], "int64", "words")])
    model = of_paddle((tmp_path / "net.pdmodel").read_bytes(), (tmp_path / "net.pdiparams").read_bytes())
    assert model.about()["inputs"][0]["below"] == 7
    (output,) = model.run([{"shape": [2, 5], "random": [0, 7]}], True)["outputs"]
    assert output["shape"] == [2, 5, 3]


def test_values_that_are_not_finite_are_counted_and_left_out_of_the_facts():
    model = of_paddle(program_of(lambda x: 1.0 / x, ([3], paddle.float32, "x")))
    (output,) = model.run(picture([0.0, 2.0, 4.0], [3]), True)["outputs"]
    assert output["bad"] == 1 and (output["min"], output["max"], output["mean"]) == (0.25, 0.5, 0.375)


def test_results_of_any_dtype_are_shown():
    def function(x):
        return x > 0, paddle.cast(x, "int64"), paddle.cast(x, "float16"), paddle.zeros([0, 2]), paddle.cast(x, "complex64"), x.sum()

    outputs = of_paddle(program_of(function, ([2], paddle.float32, "x"))).run(picture([-1.0, 3.0], [2]), True)["outputs"]
    assert [x["dtype"] for x in outputs] == ["bool", "int64", "float16", "float32", "complex64", "float32"]
    assert [doubles(x) for x in outputs] == [[0, 1], [-1, 3], [-1, 3], [], [-1, 0, 3, 0], [2]]
    assert "min" not in outputs[3] and outputs[5]["shape"] == []


@pytest.mark.parametrize(("values", "says"), [
    ([{"shape": [1, 3, 28, 28], "random": [0, 1]}], r"got shape \[1, 3, 28, 28\], expected \[\?, 1, 28, 28\]"),
    ([{"shape": [1, 1, 28], "random": [0, 1]}], "got shape"),
    ([{"shape": [-1, 1, 28, 28], "random": [0, 1]}], "got shape"),
    ([{"shape": [10**9, 1, 28, 28], "random": [0, 1]}], "expected at most"),
    ([{"shape": [1, 1, 28, 28], "data": bytes(40), "format": "f"}], "got 10 values, expected 784"),
])
def test_wrong_inputs_are_explained(lenet, values, says):
    with pytest.raises(ValueError, match=says):
        opened(lenet).run(values, True)


@pytest.mark.parametrize(("content", "says"), [
    (b"", "empty"), (b"hello world, this is not a program at all", "."), (bytes(1000), "."), (b"\x0a\xff\xff\xff\xff\x0f" + bytes(10), "."),
])
def test_what_is_no_program_is_explained(content, says):
    with pytest.raises(ValueError, match=says):
        of_paddle(content)


def test_parameters_of_another_model_are_refused(lenet, tmp_path):
    other = client.example("MLP", 10)
    for params in (other["params"], lenet["params"][:1000], b"", b"abc"):
        with pytest.raises(ValueError, match="."):
            of_paddle(lenet["model"], params)


def test_damaged_programs_are_refused_with_one_line_or_work(lenet):
    rng = random.Random(5)
    for _ in range(300):
        content = bytearray(lenet["model"])
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        try:
            model = of_paddle(bytes(content))
            model.about()
            model.picture("damaged")
        except ValueError as error:
            text = str(error)
            assert text and "\n" not in text and len(text) < 800


def test_a_program_that_is_too_large_to_draw_is_refused_before_it_is_laid_out():
    def function(x):
        y = x
        for _ in range(400):
            y = y * x
        return y

    with pytest.raises(ValueError, match="too large to draw"):
        of_paddle(program_of(function, ([4], paddle.float32, "x"))).picture("chain")


def test_names_that_are_markup_stay_text():
    content = program_of(lambda x: x * 2, ([2], paddle.float32, "<script>alert(1)</script>"))
    drawn = of_paddle(content).picture('"><script>')
    assert "<script" not in drawn
    assert any(text.text == "<script>alert(1)</script>" for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"))
