"""The end of `make demo`: train LeNet on handwritten digits, save and export it, and serve pages where it answers.

    python -m wherry_web.demo [--epochs 6] [--models DIR] [--pyodide DIR] [--wheels DIR] [--port 8080]

With CI=true in the environment the running server is asked for one prediction instead, and the answer is checked.
"""
from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from waitress.server import create_server

import wherry as paddle
from wherry_export.web import engine_files
from wherry_web.app import create_app
from wherry_web.client import digits
from wherry_web.files import STATIC
from wherry_web.gallery import PROGRAM, SavedModel, link_page, save_model
from wherry_web.programs import MODEL, PARAMS
from wherry_web.serving import add_server_arguments, config_of, listen

NAME = "digits"
PROGRAM_NAME = "lenet"
PAGE = "lenet-page"
LABELS = [str(i) for i in range(10)]
CONTENT = STATIC / "data" / "digits.bin"


class Digits(paddle.io.Dataset):
    """Images `[1, 28, 28]` and labels `[1]`."""

    def __init__(self, images: paddle.Tensor, labels: paddle.Tensor) -> None:
        super().__init__()
        self.images = images.numpy()
        self.labels = paddle.unsqueeze(labels, 1).numpy()

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.images[index], self.labels[index]

    def __len__(self) -> int:
        return len(self.labels)


def data() -> tuple[Digits, Digits]:
    """What is trained on, and what is tested on.

    A drawing is cut to its ink and centred (static/js/digit.js), which moves it by parts of a cell. So every digit to
    train on comes three times: as it is, and twice moved and scaled a little.
    """
    pixels, labels = digits.read(CONTENT.read_bytes())
    n = digits.TRAINED_ON
    random = np.random.default_rng(0)
    moved = [np.stack([cut(image, random) for image in pixels[:n].numpy()]) for _ in range(2)]
    images = paddle.concat([paddle.cast(pixels[:n], "float32"), *map(paddle.to_tensor, moved)])
    return Digits(digits.scaled(images), paddle.concat([labels[:n]] * 3)), unseen()


def unseen() -> Digits:
    """The digits that nothing is trained on."""
    pixels, labels = digits.read(CONTENT.read_bytes())
    return Digits(digits.scaled(pixels[digits.TRAINED_ON:]), labels[digits.TRAINED_ON:])


def cut(image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A digit `[8, 8]` cut to its ink, centred and scaled to the full square, all but for a little by chance."""
    ink = np.argwhere(image >= 1)
    first, last = ink.min(axis=0), ink.max(axis=0) + 1
    side = (last - first).max() / 8 * random.uniform(0.95, 1.15)
    starts = (first + last) / 2 - 4 * side + random.uniform(-0.25, 0.25, 2)
    down, across = (overlaps(start, side) for start in starts)
    return (down @ image @ across.T).astype(np.float32)


def overlaps(start: float, side: float) -> np.ndarray:
    """Shares `[8, 8]` that old cells (columns) have in new ones (rows), which begin at `start` and are `side` long."""
    low = start + side * np.arange(8)[:, None]
    old = np.arange(8)
    return np.clip(np.minimum(low + side, old + 1) - np.maximum(low, old), 0, None) / side


def train(folder: Path, epochs: int = 6, verbose: int = 0) -> float:
    """Train LeNet, and save it into a gallery; returns the share of unseen digits that it gets right.

    Args:
        folder: of the gallery.
        epochs: passes over the 1437 digits and what is made of them.
        verbose: of `Model.fit`; 1 shows a progress bar.
    """
    network, accuracy = trained(epochs, verbose)
    save(folder, network, accuracy)
    return accuracy


def trained(epochs: int, verbose: int) -> tuple[paddle.nn.Layer, float]:
    """LeNet, and the share of unseen digits that it gets right."""
    paddle.seed(0)
    trained_on, tested_on = data()
    network = paddle.vision.models.LeNet()
    model = paddle.Model(network)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.002, epochs * (len(trained_on) // 32 + 1))
    model.prepare(
        paddle.optimizer.AdamW(rate, parameters=model.parameters(), weight_decay=0.01),
        paddle.nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(),
    )
    model.fit(trained_on, epochs=epochs, batch_size=32, verbose=verbose)
    return network, float(model.evaluate(tested_on, batch_size=64, verbose=0)["acc"])


def save(folder: Path, network: paddle.nn.Layer, accuracy: float) -> SavedModel:
    """Put the network into a gallery."""
    return save_model(folder, NAME, network, title="LeNet", architecture="LeNet", labels=LABELS, input_shape=[1, 28, 28], accuracy=accuracy)


class Drawn(paddle.nn.Layer):
    """The network after what makes a drawing look like the digits that it has learned: of 8 x 8 cells (`digits.scaled`)."""

    def __init__(self, network: paddle.nn.Layer) -> None:
        super().__init__()
        self.network = network

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        cells = paddle.nn.functional.avg_pool2d(image[:, :, 2:26, 2:26], 3, 3)
        cells = paddle.repeat_interleave(paddle.repeat_interleave(cells, 3, axis=2), 3, axis=3)
        scores: paddle.Tensor = self.network(paddle.nn.functional.pad(cells, [2, 2, 2, 2], value=-1.0))
        return scores


def export(folder: Path, network: paddle.nn.Layer, model: SavedModel) -> str:
    """Put the network into a gallery as a program of its own and as a page without Python; returns what there is to say of it.

    The page that draws uses the latter: it answers at once, without Python.
    """
    card = folder / f"{PROGRAM_NAME}.json"
    card.write_text(json.dumps({"title": "LeNet, as a program", "labels": LABELS}) + "\n", encoding="utf-8")
    for suffix in (PARAMS, MODEL):  # the program last: a model is there once it is
        shutil.copyfile(folder / NAME / f"{PROGRAM}{suffix}", folder / f"{PROGRAM_NAME}{suffix}.new")
        os.replace(folder / f"{PROGRAM_NAME}{suffix}.new", folder / f"{PROGRAM_NAME}{suffix}")
    lack = engine_files.missing()
    if lack is not None:
        return f"Not exported as a page: {lack}"
    image, _ = unseen()[0]
    try:
        site = paddle.export.web(
            Drawn(network), folder / PAGE, input_spec=[paddle.static.InputSpec([None, 1, 28, 28], "float32", "image")],
            title="LeNet without Python", labels=LABELS, preprocess={"invert": True, "mean": 0.5, "std": 0.5}, example=[image[None]],
        )
    except (RuntimeError, ValueError) as error:  # an engine of another version; it answers otherwise
        return f"Not exported as a page: {error}"
    link_page(model, PAGE)
    return f"Under Models there is a page in which it answers without Python: {site.compressed / 1e3:.0f} kB with {site.compression}."


def main(arguments: list[str] | None = None) -> int:
    """Run the demo; returns the exit status."""
    parser = argparse.ArgumentParser(description="Train LeNet on handwritten digits and serve pages where it answers.")
    parser.add_argument("--epochs", type=int, default=6, help="passes over the training set (default: 6)")
    add_server_arguments(parser)
    parser.set_defaults(models=Path("models"))
    options = parser.parse_args(arguments)

    network, accuracy = trained(options.epochs, verbose=1)
    model = save(options.models, network, accuracy)
    print(f"{accuracy:.2%} of 360 unseen digits are recognised; the model is saved in {options.models / NAME}")
    print(export(options.models, network, model))
    pyodide = options.pyodide if options.pyodide and (options.pyodide / "pyodide.mjs").exists() else None
    wheels = options.wheels if options.wheels and any(options.wheels.glob("*.whl")) else None
    if pyodide is None or wheels is None:
        print(
            "The wheels for the browser are not built: the pages will say so, and only the server answers. `make wasm` builds "
            "them; give their folders with --wheels and --pyodide."
        )
    app = create_app(config_of(options, pyodide=pyodide, wheels=wheels))
    if os.environ.get("CI") == "true":
        return ask_running_server(app)
    return listen(app, options.host, options.port, threads=8, open_browser=True)


def ask_running_server(app: Any) -> int:
    """Start the server, let it predict an unseen digit, and check the answer; returns the exit status."""
    server = create_server(app, host="127.0.0.1", port=0)
    threading.Thread(target=server.run, daemon=True).start()
    image, label = unseen()[0]
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.effective_port}/api/models/{NAME}/predict",
        json.dumps({"inputs": image.tolist(), "top": 1}).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            ((best,),) = json.load(response)["top"]
    finally:
        server.close()
    print(f"The server was asked for a {label[0]} and says {best['label']} ({best['probability']:.1%})")
    return 0 if best["label"] == str(label[0]) else 1


if __name__ == "__main__":
    sys.exit(main())
