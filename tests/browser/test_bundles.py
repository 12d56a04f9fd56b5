"""Exported models in pages of others, in Chromium and Firefox, from Python's own file server under a sub-path: they answer and train as here."""
from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from firefox import FIREFOX, Firefox  # noqa: E402

import wherry as paddle
from conftest import PYODIDE, WHEELS, FileServer, missing  # noqa: E402
from wherry.nn import functional as F
from wherry_export.web import checking, engine_files

NEEDS_WHEELS = False
pytestmark = pytest.mark.skipif(engine_files.missing() is not None, reason=str(engine_files.missing()))
needs_wheels = pytest.mark.skipif(missing() is not None, reason=str(missing()))
HERE = Path(__file__).parent
CLOSE = 1e-5  # of the largest output: sums in another order, and products without fused rounding
PATIENCE = 300  # seconds


class Reading(paddle.nn.Layer):
    """Words to classes, by an LSTM in both directions."""

    def __init__(self):
        super().__init__()
        self.words, self.out = paddle.nn.Embedding(50, 16), paddle.nn.Linear(48, 4)
        self.lstm = paddle.nn.LSTM(16, 24, num_layers=2, direction="bidirect")

    def forward(self, ids):
        return self.out(self.lstm(self.words(ids))[0][:, -1])


class Attending(paddle.nn.Layer):
    """Words to classes, by a Transformer."""

    def __init__(self):
        super().__init__()
        self.words, self.out = paddle.nn.Embedding(50, 32), paddle.nn.Linear(32, 4)
        self.encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(32, 4, 64), 2)

    def forward(self, ids):
        return self.out(self.encoder(self.words(ids)).mean(axis=1))


class Choosing(paddle.nn.Layer):
    """A choice that depends on the input."""

    def __init__(self):
        super().__init__()
        self.left, self.right = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4)

    def forward(self, x):
        return paddle.static.nn.cond(x.mean() > 0, lambda: self.left(x), lambda: self.right(x) * 2)


class Small(paddle.nn.Sequential):
    """What trains: a convolution, normalization, dropout of nothing, a linear layer."""

    def __init__(self):
        nn = paddle.nn
        super().__init__(nn.Conv2D(1, 6, 3, padding=1), nn.BatchNorm2D(6), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(96, 3))


def picture(channels, side, n=2):
    return np.random.default_rng(0).standard_normal((n, channels, side, side)).astype("float32")


WORDS = np.arange(3 * 7).reshape(3, 7) % 50
SPECS = {
    "image": lambda x: paddle.static.InputSpec([None, *x.shape[1:]], "float32", "x"),
    "words": lambda x: paddle.static.InputSpec([None, None], "int64", "x"),
}
MODELS = {
    "LeNet": (paddle.vision.models.LeNet, "image", picture(1, 28)),
    "MobileNetV2": (paddle.vision.models.mobilenet_v2, "image", picture(3, 64)),
    "ResNet-18": (paddle.vision.models.resnet18, "image", picture(3, 64)),
    "LSTM": (Reading, "words", WORDS),
    "Transformer": (Attending, "words", WORDS),
    "an if, taken": (Choosing, "image", np.array([[0.5, 1, -0.25, 2]], "float32")),
    "an if, not taken": (Choosing, "image", np.array([[-0.5, -1, 0.25, -2]], "float32")),
}


@pytest.fixture(scope="module")
def firefox():
    if FIREFOX is None:
        pytest.skip("no Firefox: apt install firefox-esr")
    with Firefox() as one:
        yield one


@pytest.fixture(params=["Chromium", "Firefox"])
def ran(request, tmp_path):
    """Runs a job on a bundle in a page of another site below a sub-path; returns what run.js found."""
    server = FileServer(tmp_path)
    folder = tmp_path / "some" / "where"
    shutil.copytree(HERE / "bundle", folder)

    def run(job):
        (folder / "job.json").write_text(json.dumps(job))
        address = f"{server.address}/some/where/index.html"
        if request.param == "Firefox":
            text = request.getfixturevalue("firefox").text_of(address, "#result", PATIENCE)
        else:
            page = request.getfixturevalue("browser").new_page()
            page.goto(address)
            page.wait_for_function("document.getElementById('result').textContent", timeout=PATIENCE * 1e3)
            text = page.inner_text("#result")
            page.close()
        result = json.loads(text)
        assert "error" not in result, result["error"]
        return result

    yield folder / "site", run
    server.stop()


def given(x):
    return {"data": x.ravel().tolist(), "shape": list(x.shape)}


def array(outputs):
    (one,) = outputs.values()
    return np.array(one["data"], one["dtype"]).reshape(one["shape"])


def apart(got, wanted):
    """The largest difference, as a share of the largest value."""
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    return np.abs(got - wanted).max() / np.abs(wanted).max()


def exported(site, make, kind, x, **options):
    """Export a new network; returns what it answers here."""
    paddle.seed(0)
    net = make()
    paddle.export.web(net, site, input_spec=[SPECS[kind](x)], **options)
    net.eval()
    with paddle.no_grad():
        return net(paddle.to_tensor(x)).numpy()


@pytest.mark.parametrize("name", MODELS)
def test_a_bundle_answers_as_the_model_here(ran, name):
    site, run = ran
    wanted = exported(site, *MODELS[name])
    assert apart(array(run({"inputs": {"x": given(MODELS[name][2])}})["before"]), wanted) <= CLOSE


# Weights rounded to 11 bits each are off by 5e-4 of themselves at most, those in 8 bits by 4e-3 of the largest of their channel; errors of
# weights that are added up go with the root of their number, and networks of many layers collect them.
@pytest.mark.parametrize("ran", ["Chromium"], indirect=True)
@pytest.mark.parametrize(("name", "precision", "bound"), [
    ("LeNet", "float16", 2e-3), ("LeNet", "int8", 2e-2), ("MobileNetV2", "float16", 2e-3), ("MobileNetV2", "int8", 6e-2),
    ("Transformer", "int8", 2e-2),
])
def test_lower_precision_keeps_within_its_bounds(ran, name, precision, bound):
    site, run = ran
    wanted = exported(site, *MODELS[name], precision=precision)
    far = apart(array(run({"inputs": {"x": given(MODELS[name][2])}})["before"]), wanted)
    assert CLOSE < far <= bound, far


def test_whole_numbers_are_those_of_this_machine_to_the_bit(ran):
    site, run = ran
    paddle.seed(0)
    nn, x = paddle.nn, picture(3, 16)
    observers = paddle.quantization.observers
    net = nn.Sequential(
        nn.Conv2D(3, 24, 3, stride=2, padding=1), nn.BatchNorm2D(24), nn.ReLU6(), nn.Conv2D(24, 24, 3, padding=1, groups=24), nn.Conv2D(24, 16, 1),
        nn.Hardswish(), nn.Conv2D(16, 16, 1), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(256, 5),
    )
    config = paddle.quantization.QuantConfig(activation=None, weight=None)
    weights = observers.AbsMaxChannelWiseWeightObserver()
    config.add_type_config([nn.Conv2D, nn.Linear], activation=observers.AbsmaxObserver(), weight=weights)
    config.add_type_config(nn.Hardswish, activation=observers.AbsmaxObserver(), weight=None)
    made = paddle.export.web(
        net, site, input_spec=[SPECS["image"](x)], quantize=config, data=[paddle.randn([8, 3, 16, 16]) for _ in range(3)], example=[x],
    )
    program = json.loads((site / json.loads((site / "manifest.json").read_text())["program"]["url"]).read_text())
    ops = [name for item in program["block"] for name in item["ops"]]
    assert {"quantized_conv2d", "quantized_depthwise_conv2d", "mapped_bytes", "quantized_max_pool2d", "quantized_linear"} <= set(ops)
    wanted, _ = checking.predicted(site, {"x": x}, repeat=0)  # in Node
    assert made.checked.apart == 0.0  # from what this machine computes
    np.testing.assert_array_equal(array(run({"inputs": {"x": given(x)}})["before"]), next(iter(wanted.values())))


def lesson():
    """A job of training, and what training here gives: losses, answers before and after."""
    x = picture(1, 8, n=40)
    labels = (x.mean((1, 2, 3)) > 0).astype("int64") + (x[:, 0, 0, 0] > 1)
    paddle.seed(0)
    net = Small()
    options = {"epochs": 2, "batchSize": 16, "learningRate": 0.05, "optimizer": "Momentum", "seed": 4}
    job = {"inputs": {"x": given(x[:5])}, "training": {"inputs": {"x": given(x)}, "targets": labels.tolist(), "options": options}}

    def here():
        net.eval()
        with paddle.no_grad():
            return net(paddle.to_tensor(x[:5])).numpy()

    def train():
        net.train()
        optimizer = paddle.optimizer.Momentum(0.05, parameters=net.parameters())
        paddle.seed(4)
        losses = []
        for _ in range(2):
            order = paddle.randperm(40).numpy()
            for at in range(0, 40, 16):
                chosen = order[at : at + 16]
                loss = F.cross_entropy(net(paddle.to_tensor(x[chosen])), paddle.to_tensor(labels[chosen]))
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                losses.append(float(loss))
        return losses, here()

    return net, job, here(), train


@needs_wheels
def test_a_bundle_trains_in_the_page_as_the_model_does_here(ran, tmp_path):
    site, run = ran
    net, job, before, train = lesson()
    paddle.export.web(net, site, input_spec=[SPECS["image"](picture(1, 8))], engine="train", wheels=WHEELS, pyodide=PYODIDE)
    found = run(job)
    losses, after = train()
    assert apart(array(found["before"]), before) <= CLOSE
    np.testing.assert_allclose(found["losses"], losses, rtol=CLOSE)
    assert apart(array(found["after"]), after) <= CLOSE and apart(after, before) > 0.1
    assert [one["epoch"] for one in found["history"]] == [1, 2]
    (tmp_path / "saved.pdparams").write_bytes(bytes(found["saved"]))
    again = Small()
    again.set_state_dict(paddle.load(str(tmp_path / "saved.pdparams")))
    again.eval()
    assert apart(again(paddle.to_tensor(np.array(job["inputs"]["x"]["data"], "float32").reshape(5, 1, 8, 8))).numpy(), after) <= CLOSE
    assert found["refused"].startswith("WherryError input: train: as many targets as examples") and found["aborted"] == "AbortError"


@needs_wheels
def test_a_bundle_trains_without_a_network_after_the_first_visit(tmp_path, browser):
    net, job, _, train = lesson()
    server = FileServer(tmp_path)
    site = tmp_path / "some" / "where"
    paddle.export.web(net, site, input_spec=[SPECS["image"](picture(1, 8))], engine="train", wheels=WHEELS, pyodide=PYODIDE)
    context = browser.new_context()
    said = []
    context.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page = context.new_page()
    page.goto(f"{server.address}/some/where/")
    page.wait_for_selector("body[data-ready]", timeout=PATIENCE * 1e3)
    page.evaluate("navigator.serviceWorker.ready")
    page.close()
    server.stop()
    page = context.new_page()
    page.goto(f"{server.address}/some/where/")
    page.wait_for_selector("body[data-ready]", timeout=PATIENCE * 1e3)
    found = page.evaluate("""async ({ inputs, training }) => {
      const { load } = await import(new URL("wherry.js", location.href).href);
      const model = await load("./");
      const { history } = await model.train(training.inputs, training.targets, training.options);
      return { history, after: Array.from(Object.values(await model.predict(inputs))[0].data) };
    }""", job)
    context.close()
    _, after = train()
    assert not said and apart(np.array(found["after"], "float32").reshape(after.shape), after) <= CLOSE
