"""Bundles for browsers: what is written, what they answer in Node, and what is refused."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_export.web import checking, engine_files, export, exporting
from wherry_export.web.program import Description
from wherry_export.web.sizes import NotAlike, choices, merged
from wherry_export.web.wasm import NOTHING, Module, Reader, leb, shaken, sleb
from wherry_export.web.weights import stored
from wherry_graph.jit import save, to_static
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_program.program.control import cond, while_loop
from wherry_program.program.input_spec import InputSpec
from wherry_program.run.planner import laid_out
from wherry_tensor import float32, ops
from wherry_tensor.functions.factorization import svd

lack = engine_files.missing()
needs_engine = pytest.mark.skipif(lack is not None, reason=str(lack))
needs_node = pytest.mark.skipif(checking.node() is None, reason="Node is not installed")
HERE = Path(checking.__file__).parent


def array(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def lenet():
    return nn.Sequential(
        nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(),
        nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10),
    )


IMAGE = [InputSpec([None, 1, 28, 28], "float32", "image")]


class Reading(nn.Layer):
    """Words to classes, by an LSTM in both directions."""

    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.out = nn.Embedding(50, 8), nn.LSTM(8, 12, num_layers=2, direction="bidirect"), nn.Linear(24, 4)

    def forward(self, ids):
        return self.out(self.lstm(self.words(ids))[0][:, -1])


class Attending(nn.Layer):
    """Words to classes, by a Transformer."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2)
        self.out = nn.Linear(16, 4)

    def forward(self, ids):
        return self.out(self.encoder(self.words(ids)).mean(axis=1))


class Residual(nn.Layer):
    """What ResNets and MobileNets are made of: normalization, a sum, a convolution by channels, a mean over the image."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2D(3, 8, 3, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU6())
        self.deep = nn.Sequential(nn.Conv2D(8, 8, 3, padding=1, groups=8, bias_attr=False), nn.BatchNorm2D(8), nn.Hardswish())
        self.pool, self.out = nn.AdaptiveAvgPool2D(1), nn.Linear(8, 5)

    def forward(self, x):
        x = self.first(x)
        return self.out(self.pool(self.deep(x) + x).flatten(1))


class Choosing(nn.Layer):
    """A choice and a loop that depend on the input."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        y = cond(x.mean() > 0, lambda: self.left(x), lambda: self.right(x) * 2)
        _, y = while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y + 1], [wt.zeros([1], "int64"), y])
        return y


# Whole models.

@needs_engine
@needs_node
@pytest.mark.parametrize(("make", "spec", "inputs"), [
    (lenet, IMAGE, lambda n: array(n, 1, 28, 28)),
    (Residual, [InputSpec([None, 3, 32, 32], "float32", "image")], lambda n: array(n, 3, 32, 32)),
    (Reading, [InputSpec([None, None], "int64", "ids")], lambda n: np.arange(n * (n + 2)).reshape(n, n + 2) % 50),
    (Attending, [InputSpec([None, None], "int64", "ids")], lambda n: np.arange(n * (n + 2)).reshape(n, n + 2) % 50),
    (Choosing, [InputSpec([None, 4], "float32", "x")], lambda n: array(n, 4) + (9 if n % 2 else -9)),
], ids=["lenet", "residual", "lstm", "transformer", "choice and loop"])
def test_a_bundle_answers_as_the_model_for_every_size(tmp_path, make, spec, inputs):
    wt.seed(3)
    net = make()
    export(to_static(net) if make is Choosing else net, tmp_path / "site", input_spec=spec)
    net.eval()
    for n in (1, 2, 5):
        given = inputs(n)
        with no_grad():
            wanted = net(wt.to_tensor(given)).numpy()
        (got,), _ = _answers(tmp_path / "site", spec[0].name, given)
        assert got.shape == wanted.shape
        assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max(), n


def _answers(folder, name, given):
    found, times = checking.predicted(folder, {name: given}, repeat=0)
    return list(found.values()), times


@needs_engine
@needs_node
def test_a_saved_program_is_exported_by_its_path(tmp_path):
    net = nn.Linear(4, 3)
    save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 4], "float32", "x")])
    site = export(tmp_path / "net.pdmodel", tmp_path / "site", labels=["a", "b", "c"])
    manifest = json.loads((tmp_path / "site" / "manifest.json").read_text())
    assert manifest["title"] == "net" and manifest["labels"] == ["a", "b", "c"] and manifest["inputs"][0]["shape"] == ["batch", 4]
    assert site.checked.apart < 1e-5 and "python -m http.server" in str(site) and "columns" not in manifest

    export(tmp_path / "net.pdmodel", tmp_path / "site", columns={"size": None, "soil": ["clay", "loam"], "c": None, "d": None})
    columns = json.loads((tmp_path / "site" / "manifest.json").read_text())["columns"]
    assert columns[:2] == [{"name": "size", "words": None}, {"name": "soil", "words": ["clay", "loam"]}] and len(columns) == 4


@needs_engine
@needs_node
@pytest.mark.parametrize(("precision", "share"), [("float16", 0.5), ("int8", 0.26)])
def test_lower_precision_makes_the_weights_smaller_and_says_what_it_costs(tmp_path, precision, share):
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    spec = [InputSpec([None, 64], "float32", "x")]
    full = export(net, tmp_path / "full", input_spec=spec)
    small = export(net, tmp_path / "small", input_spec=spec, precision=precision, example=[array(8, 64)])
    sizes = [sum(size for name, size in site.files.items() if "weights" in name) for site in (full, small)]
    assert sizes[1] < (share + 0.02) * sizes[0]
    assert len(small.losses) == 2 and all(0 < lost < 0.05 for _, lost in small.losses)
    assert "what the precision costs" in str(small) and small.losses[0][0] in str(small)


@needs_engine
@needs_node
@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_convolutions_in_blocks_are_stored_smaller_channel_by_channel(tmp_path, precision):
    net = nn.Sequential(nn.Conv2D(3, 24, 3), nn.ReLU(), nn.Conv2D(24, 40, 3), nn.Conv2D(40, 40, 3, groups=40))
    for layer in (net[0], net[2], net[3]):  # channels of very different sizes
        n = layer.weight.shape[0]
        layer.weight.set_value(layer.weight.numpy() * np.logspace(-2, 1, n, dtype="float32").reshape(n, 1, 1, 1))
    site = export(net, tmp_path / "site", input_spec=[InputSpec([None, 3, 12, 12])], precision=precision, example=[array(1, 3, 12, 12)])
    assert len(site.losses) == 3 and all(lost < 0.02 for _, lost in site.losses), site.losses
    assert all("folded" not in name for name, _ in site.losses)


class Windows(nn.Layer):
    """Convolutions of many channels: points, windows with borders, steps and gaps, with a residual and what comes after."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(3, 24, 3, padding=1)
        self.point, self.window = nn.Conv2D(24, 40, 1), nn.Conv2D(40, 40, 3, padding=1, bias_attr=False)
        self.step, self.gaps = nn.Conv2D(40, 64, 3, stride=2, padding=1), nn.Conv2D(64, 16, 3, dilation=2)

    def forward(self, x):
        x = nn.functional.relu6(self.point(nn.functional.relu(self.first(x)) - 0.4))
        return self.gaps(nn.functional.relu(self.step(self.window(x) + x)))


@needs_engine
@needs_node
def test_convolutions_compute_in_whole_numbers_with_the_same_bits_everywhere(tmp_path):
    wt.seed(5)
    net, example = Windows(), array(2, 3, 20, 18)
    site = export(net, tmp_path / "site", input_spec=[InputSpec([None, 3, 20, 18], "float32", "x")], precision="int8", example=[example])
    manifest = json.loads((tmp_path / "site" / "manifest.json").read_text())
    program = json.loads((tmp_path / "site" / manifest["program"]["url"]).read_text())
    assert [one["encoding"] for one in program["weights"]].count("packed") == 4 and manifest["relaxed"]["bytes"] > 0
    assert len(site.losses) == 5 and all(0 < lost < 0.03 for _, lost in site.losses)
    with no_grad():
        wanted = net(wt.to_tensor(example)).numpy()
    (got,), _ = _answers(tmp_path / "site", "x", example)
    assert np.abs(got - wanted).max() <= 0.03 * np.abs(wanted).max()
    exact = export(net, tmp_path / "exact", input_spec=[InputSpec([None, 3, 20, 18], "float32", "x")], precision="int8", compute="float32")
    assert exact.checked.apart < 1e-5 and not any("relaxed" in name for name in exact.files)

    known = subprocess.run(["node", "--v8-options"], capture_output=True, text=True).stdout
    options = ["--experimental-wasm-relaxed-simd"] if "experimental-wasm-relaxed-simd" in known else []
    where = {**os.environ, "WHERRY_JS": str(HERE / "js" / "wherry.js")}
    script = Path(__file__).parent / "int8.mjs"
    found = set()
    for with_relaxed in ([], options):
        done = subprocess.run(["node", *with_relaxed, script, tmp_path / "site"], capture_output=True, text=True, env=where)
        assert done.returncode == 0, done.stderr[-3000:]
        found.update(json.loads(done.stdout))
    assert len(found) == 1


@needs_engine
def test_a_bundle_holds_the_kernels_of_its_program_and_no_others(tmp_path):
    site = export(lenet(), tmp_path / "site", input_spec=IMAGE)
    engine = next(size for name, size in site.files.items() if name.endswith(".wasm"))
    assert engine < 0.06 * len(engine_files.built().module)
    assert site.compressed < 350_000
    assert not any("{{" in (tmp_path / "site" / name).read_text() for name in ("index.html", "sw.js"))
    for name in site.files:
        assert (tmp_path / "site" / name).stat().st_size == site.files[name]


@needs_engine
def test_an_export_replaces_an_earlier_one_and_nothing_else(tmp_path):
    net, spec = nn.Linear(4, 3), [InputSpec([None, 4], "float32", "x")]
    export(net, tmp_path / "site", input_spec=spec)
    export(net, tmp_path / "site", input_spec=spec, title="again")
    assert json.loads((tmp_path / "site" / "manifest.json").read_text())["title"] == "again"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="holds something else"):
        export(net, tmp_path / "other", input_spec=spec)
    assert (tmp_path / "other" / "letter.txt").read_text() == "dear"


@needs_engine
def test_without_node_the_export_says_that_nothing_was_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(checking.shutil, "which", lambda name: None)
    site = export(nn.Linear(4, 3), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")])
    assert site.checked is None and "not checked: Node is not installed" in str(site)


@needs_engine
@needs_node
def test_a_bundle_that_answers_otherwise_is_not_written(tmp_path, monkeypatch):
    whole = engine_files.Built.with_only
    monkeypatch.setattr(engine_files.Built, "with_only", lambda self, kernels: whole(self, [k for k in kernels if k is not _relu(self)]))
    with pytest.raises(ValueError, match="does not run in Node.*unreachable"):
        export(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")])
    assert not (tmp_path / "site").exists()


def _relu(engine):
    return engine.kernel(ops.relu, float32)


# What is refused.

@needs_engine
@pytest.mark.parametrize(("function", "message"), [
    (lambda x: ops.nonzero(x), r"nonzero, recorded at .*, cannot run .* the shape of its result depends on data"),
    (lambda x: x + wt.rand([4]), r"uniform draws random numbers"),
    (lambda x: ops.eig(x)[0], r"eig \(float32\) has no kernel in the engine for browsers"),
])
def test_what_the_engine_does_not_run_is_named_at_export(tmp_path, function, message):
    program = Program()
    x = program.feed([4, 4], float32, "x")
    with capture(program):
        y = function(x)
    program.fetches = [y]
    with pytest.raises(NotImplementedError, match=message):
        export(program, tmp_path / "site")
    assert not (tmp_path / "site").exists()


@needs_engine
def test_a_shape_that_small_sizes_do_not_share_is_refused_with_the_op(tmp_path):
    class Singular(nn.Layer):
        def forward(self, x):
            return svd(x)[1]

    with pytest.raises(NotImplementedError, match=r"svd.* gives output 'output' a shape that is not .* Got \[1\] for \{'batch': 1\}, expected \[3\]"):
        export(Singular(), tmp_path / "site", input_spec=[InputSpec([None, 3], "float32", "x")])


@needs_engine
@pytest.mark.parametrize(("options", "message"), [
    ({"precision": "int4"}, "no such precision.*'int4'.*float32, float16, int8"),
    ({"compute": "int8"}, "compute='int8' with precision='float32'"),
    ({"labels": ["a"]}, "Got 1 labels, expected 3"),
    ({"columns": {"a": None}}, r"Got 1 columns, expected as many as a row has of float32\[-1, 4\]"),
    ({"preprocess": {"means": 1}}, "preprocess has no means"),
    ({"preprocess": {"std": [0.0]}}, "a model of pictures"),
    ({"example": [array(2, 5)]}, r"does not fit. Got shape \[2, 5\], expected \[-1, 4\]"),
    ({"example": [array(2, 4)] * 2}, "Got 2, expected 1"),
])
def test_wrong_arguments_are_explained(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        export(nn.Linear(4, 3), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")], **options)
    assert not (tmp_path / "site").exists()


def test_an_installation_without_the_engine_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(engine_files, "FOLDER", tmp_path)
    engine_files.built.cache_clear()
    with pytest.raises(RuntimeError, match="make engine"):
        export(nn.Linear(4, 3), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")])
    engine_files.built.cache_clear()


class AnyPicture(nn.Layer):
    """What is made of a picture of any size: a smaller one, and classes."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.Conv2D(8, 8, 3, stride=2)
        self.smaller, self.pool, self.out = nn.MaxPool2D(3, 2, padding=1), nn.AdaptiveAvgPool2D(1), nn.Linear(8, 5)

    def forward(self, x):
        x = self.smaller(nn.functional.relu(self.second(nn.functional.relu(self.first(x)))))
        return x, self.out(self.pool(x).flatten(1))


@needs_engine
@needs_node
def test_heights_and_widths_that_go_through_strides_stay_open(tmp_path):
    net = AnyPicture()
    export(net, tmp_path / "site", input_spec=[InputSpec([None, 3, None, None], "float32", "image")])
    manifest = json.loads((tmp_path / "site" / "manifest.json").read_text())
    assert manifest["outputs"][0]["shape"] == ["batch", 8, "((size2 + 3) // 8)", "((size3 + 3) // 8)"]
    net.eval()
    for shape in (1, 3, 224, 224), (2, 3, 65, 100), (1, 3, 333, 97), (3, 3, 17, 5):
        given = array(*shape)
        with no_grad():
            wanted = [value.numpy() for value in net(wt.to_tensor(given))]
        got, _ = _answers(tmp_path / "site", "image", given)
        for a, b in zip(got, wanted, strict=True):
            assert a.shape == b.shape and np.abs(a - b).max() <= 1e-5 * np.abs(b).max(), shape
    with pytest.raises(ValueError, match="too small for the model. Got batch = 1, size2 = 4, size3 = 4"):
        _answers(tmp_path / "site", "image", array(1, 3, 4, 4))


class Positions(nn.Layer):
    """Words with a weight for each position, and numbers in equal steps: both follow from how many words there are."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 8), nn.Embedding(64, 8)

    def forward(self, ids):
        n = ids.shape[1]
        return self.words(ids) + self.places(wt.arange(n)) + self.places(wt.arange(1, n + 1)) + wt.linspace(0, 1, n).unsqueeze(-1)


@needs_engine
@needs_node
def test_positions_of_an_open_length_are_numbered_in_the_page(tmp_path):
    net = Positions()
    export(net, tmp_path / "site", input_spec=[InputSpec([None, None], "int64", "ids")])
    for shape in (1, 1), (2, 7), (3, 2), (1, 40):
        given = np.arange(np.prod(shape)).reshape(shape) % 50
        (got,), _ = _answers(tmp_path / "site", "ids", given)
        with no_grad():
            wanted = net(wt.to_tensor(given)).numpy()
        assert got.shape == wanted.shape and np.abs(got - wanted).max() <= 1e-6 * np.abs(wanted).max(), shape


class Enlarging(nn.Layer):
    """A picture of twice its size, and one of the size of what came in."""

    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        smaller = nn.functional.avg_pool2d(x, 2)
        larger = nn.functional.interpolate(x, scale_factor=2, mode=self.mode, align_corners=self.mode == "bilinear")
        return larger, nn.functional.interpolate(smaller, x.shape[2:], mode=self.mode)


@needs_engine
@needs_node
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_pictures_of_open_sizes_are_resized_in_the_page(tmp_path, mode):
    net = Enlarging(mode)
    export(net, tmp_path / "site", input_spec=[InputSpec([None, 3, None, None], "float32", "image")])
    for shape in (1, 3, 8, 8), (2, 3, 5, 12), (1, 3, 33, 17):
        given = array(*shape)
        with no_grad():
            wanted = [value.numpy() for value in net(wt.to_tensor(given))]
        got, _ = _answers(tmp_path / "site", "image", given)
        for a, b in zip(got, wanted, strict=True):
            assert a.shape == b.shape and np.abs(a - b).max() <= 1e-5 * np.abs(b).max(), shape


# What is said of an export.

class Refused(nn.Layer):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        y = x * 2
        return self.function(y) + 1


@needs_engine
@pytest.mark.parametrize(("function", "op"), [(lambda x: wt.nonzero(x), "nonzero"), (lambda x: wt.abs(ops.eig(x)[0]), "eig")])
def test_a_refused_op_is_named_with_the_line_of_the_layer(tmp_path, function, op):
    line = Refused.forward.__code__.co_firstlineno + 2
    with pytest.raises(NotImplementedError, match=rf"{op}.* recorded at .*test_web.py:{line}[,.]"):
        export(Refused(function), tmp_path / "site", input_spec=[InputSpec([4, 4], "float32", "x")])


def test_a_page_has_a_title_that_says_something():
    assert exporting._title("LeNet", Path("site")) == "LeNet"
    assert exporting._title("TranslatedLayer", Path("build/animal-classifier")) == "Animal classifier"
    assert exporting._title("G", Path("build/site")) == exporting._title("Sequential", Path("build/site")) == "Model"


@needs_engine
@needs_node
def test_a_large_export_says_how_far_it_is_and_what_its_size_means(tmp_path, monkeypatch, capsys):
    spec = [InputSpec([None, 600], "float32", "x")]
    export(nn.Linear(600, 600), tmp_path / "site", input_spec=spec)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(exporting, "LONG", 1 << 20)
    site = export(nn.Linear(600, 600), tmp_path / "site", input_spec=spec)
    said = capsys.readouterr().err
    assert [line.partition("  ")[2].partition("  ")[2].split()[0] for line in said.splitlines()] == ["the", "1.44", "20", "done:"], said
    assert "every visitor downloads 1." in str(site) and "precision='float16' halves" in str(site)


def test_how_much_smaller_a_large_file_gets_is_told_from_pieces_of_it():
    content = bytes(1 << 20) + np.random.default_rng(0).bytes(1 << 20)  # the second half does not get smaller at all
    size, _ = exporting._compressed([content, b"small"])
    assert abs(size - (1 << 20)) < 0.1 * (1 << 20)


# The JavaScript beside it.

@needs_node
def test_wrong_inputs_and_broken_bundles_are_explained_in_javascript(tmp_path):
    script = Path(__file__).parent / "wherry.test.mjs"
    if lack is None:
        export(nn.Linear(4, 3), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")])
        export(Residual(), tmp_path / "images", input_spec=[InputSpec([None, 3, 32, 32], "float32", "image")])
    where = {
        "WHERRY_JS": str(HERE / "js" / "wherry.js"), "WHERRY_SITE": str(tmp_path / "site") if lack is None else "",
        "WHERRY_IMAGES": str(tmp_path / "images"),
    }
    done = subprocess.run(["node", "--test", script], capture_output=True, text=True, env={**os.environ, **where})
    assert done.returncode == 0, done.stdout[-4000:]


class Deciding(nn.Layer):
    """A choice that depends on the input."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return cond(x.mean() > 0, lambda: self.left(x), lambda: self.right(x) * 2)


def damaged_bundles(folder, count):
    """What becomes of bundles that were changed at random, some with digests that fit."""
    spec = [InputSpec([None, None], "int64", "ids")], [InputSpec([None, 4], "float32", "x")]
    export(lenet(), folder / "lenet", input_spec=IMAGE, precision="int8")
    export(Reading(), folder / "reading", input_spec=spec[0])
    export(to_static(Deciding()), folder / "deciding", input_spec=spec[1])
    sites = [folder / name for name in ("lenet", "reading", "deciding")]
    script = Path(__file__).parent / "damage.mjs"
    done = subprocess.run(["node", script, HERE / "js" / "wherry.js", str(count), *sites], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@needs_engine
@needs_node
def test_damaged_bundles_are_explained_or_answer(tmp_path):
    found = damaged_bundles(tmp_path, 300)
    assert found["other"] == [] and found["late"] == [], found
    assert found["answered"] + sum(found["codes"].values()) == 300 and found["rss"] < 600e6, found
    assert {"network", "format", "browser"} <= found["codes"].keys()


# The parts.

def test_numbers_of_a_module_are_read_as_they_are_written():
    for n in (0, 1, 63, 64, 127, 128, 300, 1 << 20, (1 << 32) - 1):
        assert Reader(leb(n)).number() == n
        assert Reader(sleb(n)).signed() == n and Reader(sleb(-n)).signed() == -n


def test_a_module_loses_functions_and_keeps_the_numbers_of_the_others():
    # Two functions () -> i32 in a table; the first is exported.
    module = b"\0asm\1\0\0\0" + b"".join(bytes((number,)) + leb(len(content)) + content for number, content in (
        (1, b"\1\x60\0\1\x7f"), (3, b"\2\0\0"), (4, b"\1\x70\0\2"), (5, b"\1\0\1"), (7, b"\1\1a\0\0"), (9, b"\1\0\x41\0\x0b\2\0\1"),
        (10, b"\2\4\0\x41\5\x0b\4\0\x41\7\x0b"), (11, b"\1\0\x41\x08\x0b\4abcd"),
    ))
    found = Module(shaken(module, [0], [(0, 1, 2)]))
    assert found.bodies == [b"\0\x41\5\x0b", NOTHING] and found.elements == [0, 1]
    assert found.segments == [(b"\0\x41\x09\x0b", b"bc")]
    with pytest.raises(ValueError, match="not a WebAssembly module"):
        Module(b"MZ")


def test_an_imported_memory_is_found_with_the_byte_that_says_whether_it_is_shared():
    def module(kind):
        return b"\0asm\1\0\0\0" + b"".join(bytes((number,)) + leb(len(content)) + content for number, content in (
            (0, b"\1xyz"), (1, b"\1\x60\0\0"), (2, b"\1\3env\6memory" + kind + b"\1" + leb(17) + leb(65536)), (3, b"\1\0"), (4, b"\1\x70\0\1"),
            (9, b"\1\0\x41\0\x0b\1\0"), (10, b"\1\2\0\x0b"), (11, b"\0"),
        ))

    found = Module(module(b"\2"))
    pages, most, at = found.memory
    assert (pages, most, found.n_imported) == (17, 65536, 0)
    assert found.written()[at - 7 : at + 2] == b"memory\2\1\x11"  # written without custom sections
    with pytest.raises(ValueError, match="Got kind 1, expected 0 or 2"):
        Module(module(b"\1"))


def test_sizes_become_polynomials_or_are_refused():
    for n in (1, 2):
        sizes = choices(n)
        area = [{"shape": [choice[0], 4], "area": choice[0] * choice[-1] + 3} for choice in sizes]
        found = merged(area, sizes)
        assert found["shape"] == [{"poly": [[1, [1] + [0] * (n - 1)]]}, 4]
        assert sorted(found["area"]["poly"]) == sorted([[3, [0] * n], [1, [2] if n == 1 else [1, 1]]])
        with pytest.raises(NotAlike):
            merged([choice[0] // 2 for choice in sizes], sizes)
        with pytest.raises(NotAlike):
            merged([["a"] * choice[0] for choice in sizes], sizes)


def test_a_layout_gives_each_output_a_result_of_its_own():
    program = Program()
    x = program.feed([2, 3], float32, "x")
    with capture(program):
        y = x.transpose([1, 0])
        z = ops.relu(y)
    layout = laid_out(program.nodes, [x], [x, y, z, z], [x], lambda op, dtype: 0)
    assert [op.name for op, *_ in layout.steps].count("copy") >= 3
    results = [layout.slots[slot][3] for slot in layout.outputs]
    assert len(set(results)) == len(results) - 1  # z stands there twice
    assert all(layout.buffers[at][0] == 2 for at in results)


def test_weights_with_a_scale_for_each_channel_are_near_what_they_were():
    class One:
        id, name, users, is_quantized = 0, "w", [("conv2d", 1)], False
        tensor = wt.to_tensor(array(8, 4, 3, 3) * np.logspace(-3, 2, 8, dtype="float32").reshape(8, 1, 1, 1))

    (found,), (shard,) = stored([One], "int8")
    wanted = One.tensor.numpy()
    assert found.facts["axes"] == [0] and len(shard) == 8 * 36 + 8 * 4
    assert (np.abs(found.values.numpy() - wanted) <= np.abs(wanted).max(axis=(1, 2, 3), keepdims=True) / 250).all()


def test_a_description_needs_an_engine_and_a_program_alone():
    class Engine:
        def kernel(self, op, dtype):
            return engine_files.Kernel(0, 7, 0)

    program = Program()
    x = program.feed([-1, 3], float32, "x")
    with capture(program):
        program.fetches = [(x * 2.0).sum(axis=1)]
    found = Description(program, Engine())
    (run,) = found.content["block"]
    assert run["kind"] == "run" and run["ops"] == ["multiply", "reduce_sum"] and found.sizes == ["batch"]
