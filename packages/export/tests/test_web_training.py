"""Bundles that train: what is written, and what Python does in the page, here without a page. tests/browser runs them in Chromium."""
import gzip
import io
import json
import math
import zipfile

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_export.web import engine_files, export
from wherry_export.web.program import Description, for_pages
from wherry_export.web.training import Training
from wherry_export.web.wheels import PYODIDE_FILES, modules
from wherry_graph.jit import load, save
from wherry_nn import functional as F
from wherry_program.program.input_spec import InputSpec
from wherry_train import optimizer
from wherry_train.serialization import load as load_parameters

lack = engine_files.missing()
pytestmark = pytest.mark.skipif(lack is not None, reason=str(lack))
SPEC = [InputSpec([None, 1, 6, 6], "float32", "image")]


def network():
    wt.seed(3)
    return nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))


def digits(n=20):
    x = np.random.default_rng(1).standard_normal((n, 1, 6, 6)).astype("float32")
    return x, (x.sum((1, 2, 3)) > 0).astype("int64")


@pytest.fixture
def brought(tmp_path):
    """Folders that look like those of `make wasm`: a wheel and Pyodide, nearly empty."""
    wheels, pyodide = tmp_path / "wheels", tmp_path / "pyodide"
    wheels.mkdir()
    pyodide.mkdir()
    with zipfile.ZipFile(wheels / "wherry_tensor-0.1-wasm32.whl", "w") as wheel:
        wheel.writestr("wherry_tensor/__init__.py", '"""Long."""\nx = 1\n')
        wheel.writestr("wherry_tensor/testing/kit.py", "y = 1\n")
    for name in PYODIDE_FILES:
        (pyodide / name).write_bytes(name.encode())
    (pyodide / "package.json").write_text('{"version": "1.2.3"}')
    return {"wheels": wheels, "pyodide": pyodide}


@pytest.fixture
def bundle(tmp_path, brought):
    """A bundle that trains, and its model's files as the page lays them out."""
    def make(net, precision="float32"):
        site = export(net, tmp_path / "site", input_spec=SPEC, engine="train", precision=precision, **brought)
        manifest = json.loads((site.folder / "manifest.json").read_text())
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        for name, file in manifest["train"]["files"].items():
            content = (site.folder / file["url"]).read_bytes()
            assert len(content) == file["bytes"]
            (folder / name).write_bytes(content)
        return site, manifest, Training(str(folder))

    return make


def given(array):
    return array.tobytes(), array.dtype.name, array.shape


def trained(training):
    steps = []
    while not training.done:
        steps += training.run(10)["steps"]
    return steps


def test_a_bundle_that_trains_brings_python_and_the_model_along(bundle):
    net = network()
    net[1].eval()  # its owner keeps it so
    site, manifest, _ = bundle(net)
    assert net.training and not net[1].training
    assert manifest["wherry"] == "train" and manifest["train"]["pyodide"]["url"] == "data/train-pyodide-1.2.3/"
    assert (site.folder / "data/train-pyodide-1.2.3/pyodide.mjs").read_bytes() == b"pyodide.mjs"
    ours = zipfile.ZipFile(io.BytesIO((site.folder / manifest["train"]["files"]["wherry.zip"]["url"]).read_bytes()))
    assert ours.namelist() == ["wherry_tensor/__init__.py"] and ours.read("wherry_tensor/__init__.py") == b"x = 1"
    assert site.compressed < 150_000  # what loads before the first prediction is that of a bundle that predicts


def test_steps_in_a_page_are_those_of_a_program_here(bundle):
    _, _, training = bundle(network())
    x, y = digits()
    begun = training.begin([given(x)], given(y), {"epochs": 3, "batchSize": 8, "learningRate": 0.01, "optimizer": "Momentum", "seed": 5})
    assert begun == {"examples": 20, "steps": 9}
    steps = trained(training)

    net = network()
    # Not Adam: it makes steps of the noise that is the gradient of a bias before a normalization.
    momentum = optimizer.Momentum(0.01, parameters=net.parameters())
    wt.seed(5)
    losses = []
    for _ in range(3):
        order = wt.randperm(20).numpy()
        for at in range(0, 20, 8):
            chosen = order[at : at + 8]
            loss = F.cross_entropy(net(wt.to_tensor(x[chosen])), wt.to_tensor(y[chosen]))
            loss.backward()
            momentum.step()
            momentum.clear_grad()
            losses.append(float(loss))
    np.testing.assert_allclose([step["loss"] for step in steps], losses, rtol=1e-5)
    assert [step["epoch"] for step in steps] == [1, 1, 1, 2, 2, 2, 3, 3, 3] and training.history[-1]["accuracy"] > 0.5
    net.eval()
    training.net.eval()
    np.testing.assert_allclose(training.net(wt.to_tensor(x)).numpy(), net(wt.to_tensor(x)).numpy(), atol=2e-5)  # its running statistics too


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_weights_go_to_the_places_where_the_export_put_them(bundle, precision):
    net = network()
    site, manifest, training = bundle(net, precision)
    program = json.loads((site.folder / manifest["program"]["url"]).read_text())
    found = training.weights()
    assert json.loads(found["weights"]) == program["weights"]
    assert found["shards"] == [(site.folder / shard["url"]).read_bytes() for shard in manifest["weights"]]
    x, y = digits()
    training.begin([given(x)], given(y), {"learningRate": 0.1})
    trained(training)
    after = training.weights()
    assert after["shards"] != found["shards"]
    places = [[{key: one[key] for key in ("id", "shape", "encoding", "offset")} for one in json.loads(it["weights"])] for it in (found, after)]
    assert places[0] == places[1]


def test_what_was_trained_is_saved_under_the_names_of_the_layers_and_as_a_program(bundle, tmp_path):
    _, _, training = bundle(network())
    x, y = digits()
    training.begin([given(x)], given(y), {"learningRate": 0.1, "loss": "cross_entropy"})
    trained(training)
    wanted = training.net.eval() or training.net(wt.to_tensor(x)).numpy()
    (tmp_path / "w.pdparams").write_bytes(training.saved("pdparams")["model.pdparams"])
    net = network()
    missing, unexpected = net.set_state_dict(load_parameters(str(tmp_path / "w.pdparams")))
    assert not missing and not unexpected
    net.eval()
    np.testing.assert_allclose(net(wt.to_tensor(x)).numpy(), wanted, atol=1e-6)
    for name, content in training.saved("pdmodel").items():
        (tmp_path / name).write_bytes(content)
    np.testing.assert_allclose(load(str(tmp_path / "model"))(wt.to_tensor(x)).numpy(), wanted, atol=1e-6)


@pytest.mark.parametrize(("loss", "make"), [
    ("cross_entropy", lambda y: np.eye(3, dtype="float32")[y]), ("mse", lambda y: np.eye(3)[y].astype("float64")),
    ("l1", lambda y: np.eye(3, dtype="float32")[y]), ("smooth_l1", lambda y: np.eye(3, dtype="int64")[y]),
    ("binary_cross_entropy", lambda y: np.eye(3, dtype="uint8")[y]),
])
def test_every_loss_goes_down(bundle, loss, make):
    _, _, training = bundle(network())
    x, y = digits()
    training.begin([given(x)], given(make(y)), {"epochs": 10, "learningRate": 0.01, "loss": loss})
    trained(training)
    history = training.history
    assert "accuracy" not in history[0] and history[-1]["loss"] < 0.8 * history[0]["loss"]


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Momentum", "SGD", "RMSProp", "Adagrad"])
def test_every_optimizer_learns(bundle, name):
    _, _, training = bundle(network())
    x, y = digits()
    training.begin([given(x)], given(y), {"epochs": 5, "optimizer": name, "learningRate": 0.01})
    trained(training)
    assert training.history[-1]["loss"] < training.history[0]["loss"]


def test_a_loss_that_is_not_finite_leaves_the_model_as_it_was(bundle):
    _, _, training = bundle(network())
    x, y = digits()
    before, wanted = training.weights()["shards"], np.eye(3, dtype="float32")[y]
    wanted[10] = np.nan
    training.begin([given(x)], given(wanted), {"batchSize": 8, "shuffle": False, "loss": "mse"})
    with pytest.raises(ValueError, match=r"the loss is nan in step 2\..*Lower learningRate \(it is 0\.001\)"):
        trained(training)
    assert training.weights()["shards"] == before


@pytest.mark.parametrize(("options", "message"), [
    ({"epochs": 0}, "epochs is a whole number. Got 0, expected at least 1"), ({"batchSize": 1.5}, "batchSize is a whole number. Got 1.5"),
    ({"learningRate": math.inf}, "learningRate is a positive number. Got inf"), ({"learningRate": True}, "learningRate .* Got True"),
    ({"optimizer": "adam"}, "no such optimizer. Got 'adam', expected one of Adam, "), ({"loss": "hinge"}, "no such loss. Got 'hinge'"),
    ({"shuffle": 1}, "shuffle is true or false. Got 1"), ({"lr": 1}, "there is no option lr. Expected epochs, batchSize"),
    ({"loss": "mse"}, r"do not fit the model's first output. Got shape \[20\], expected \[examples, 3\]"),
])
def test_wrong_options_are_explained(bundle, options, message):
    _, _, training = bundle(network())
    x, y = digits()
    with pytest.raises(ValueError, match=message):
        training.begin([given(x)], given(y), options)


def test_wrong_targets_are_explained(bundle):
    _, _, training = bundle(network())
    x, y = digits()
    for targets, message in (
        (y[1:], r"as many targets as examples.*Got shape \[19\] for 'targets' beside 20 examples"),
        (y + 2, "numbers of classes. Got 2 to 3, expected 0 to 2"), (y.astype("complex64"), "Got complex64"),
        (np.zeros((20, 2), "int64"), r"Got shape \[20, 2\], expected \[examples\] whole numbers from 0 to 2"),
    ):
        with pytest.raises(ValueError, match=message):
            training.begin([given(x)], given(targets), {})


def test_models_that_cannot_train_are_refused_at_export(tmp_path, brought):
    frozen = nn.Linear(4, 3)
    for x in frozen.parameters():
        x.stop_gradient = True

    class Best(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 3)

        def forward(self, x):
            return wt.argmax(self.inner(x), axis=-1)

    for net, spec, message in (
        (frozen, [None, 4], "nothing that learns"), (Best(), [None, 4], "Got int64, expected scores"),
        (nn.Linear(4, 3), [2, 4], r"the first axis of each input .* is the examples. Got 'x' of shape \[2, 4\]"),
    ):
        with pytest.raises(ValueError, match=message):
            export(net, tmp_path / "site", input_spec=[InputSpec(spec, "float32", "x")], engine="train", **brought)
    program = for_pages(load_program(tmp_path))
    with pytest.raises(TypeError, match="a program alone is not trained"):
        export(program, tmp_path / "site", engine="train", **brought)
    with pytest.raises(ValueError, match="no such engine. Got 'tune', expected one of predict, train"):
        export(program, tmp_path / "site", engine="tune")
    assert not (tmp_path / "site").exists()


def load_program(folder):
    save(nn.Linear(4, 3), str(folder / "linear"), input_spec=[InputSpec([None, 4], "float32", "x")])
    return load(str(folder / "linear")).program()


def test_a_saved_program_trains_from_its_path(tmp_path, brought):
    program = load_program(tmp_path)
    site = export(str(tmp_path / "linear.pdmodel"), tmp_path / "site", engine="train", **brought)
    assert json.loads((site.folder / "manifest.json").read_text())["title"] == "linear"
    rows = Description(for_pages(program), engine_files.built()).rows
    assert any(op in ("linear", "matmul", "addmm") for op, *_ in rows)
    (tmp_path / "linear.pdiparams").unlink()
    with pytest.raises((ValueError, FileNotFoundError)):
        export(str(tmp_path / "linear.pdmodel"), tmp_path / "site", engine="train", **brought)


@pytest.mark.parametrize("which", ["wheels", "pyodide"])
def test_what_is_missing_is_named_with_how_to_make_it(tmp_path, brought, which, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WHERRY_WASM_WHEELS", raising=False)
    monkeypatch.delenv("WHERRY_PYODIDE", raising=False)
    del brought[which]
    with pytest.raises(FileNotFoundError, match=rf"`make wasm` in a checkout makes .*{which}=, --{which} or WHERRY_"):
        export(nn.Linear(4, 3), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")], engine="train", **brought)


def test_the_memory_of_a_started_pyodide_comes_along_where_there_is_one(tmp_path, brought):
    found, packed = [], "data/train-pyodide-1.2.3/snapshot.bin.packed"
    for _ in range(2):
        site = export(nn.Linear(4, 3), tmp_path / "site", input_spec=[InputSpec([None, 4], "float32", "x")], engine="train", **brought)
        told = json.loads((site.folder / "manifest.json").read_text())["train"]["pyodide"]
        found.append((any(file["url"].endswith("/snapshot.bin.packed") for file in told["files"]), packed in site.files))
        (brought["pyodide"] / "snapshot.bin").write_bytes(b"memory")
    assert found == [(False, False), (True, True)]
    assert gzip.decompress((site.folder / packed).read_bytes()) == b"memory"


def test_pages_get_modules_without_docstrings_and_tests(brought):
    assert modules(brought["wheels"].glob("*.whl")) == {"wherry_tensor/__init__.py": b"x = 1"}

