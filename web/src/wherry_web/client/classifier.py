"""A classifier that a visitor teaches with pictures: features of the backbone, and a small network trained on them here."""
from __future__ import annotations

import io
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import wherry as paddle
import wherry.nn as nn
from wherry import Tensor
from wherry_web.client.backbone import FEATURES, SIDE, Backbone, unpacked
from wherry_web.client.page import bytes_of

F = nn.functional
HELD_OUT = 5  # of so many pictures one is not learned from
CLASSES = (2, 6)
BATCH = 32
NEARER = 0.85  # of the side, where a view comes nearer
LIGHTER = 0.15


class Taught(nn.Layer):
    """Pictures `[N, 3, SIDE, SIDE]`, values from -1 to 1, to scores of the classes.

    Args:
        backbone: makes the features; stays as it is.
        classes: how many.
        hidden: width of a layer between; 0 goes straight from features to scores.
    """

    def __init__(self, backbone: Backbone, classes: int, hidden: int) -> None:
        super().__init__()
        self.backbone = backbone
        widths = [FEATURES, hidden, classes] if hidden else [FEATURES, classes]
        layers: list[nn.Layer] = []
        for inputs, outputs in zip(widths, widths[1:], strict=False):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.head = nn.Sequential(*layers[:-1])

    def forward(self, pictures: Tensor) -> Tensor:
        return self.head(even(self.backbone(pictures)))


def even(features: Tensor) -> Tensor:
    """Features of one length, whose numbers are about 1: how bright a picture is says little about what it shows."""
    return features / paddle.sqrt(paddle.mean(features * features, axis=1, keepdim=True) + 1e-6)


def scaled(pixels: Any) -> Tensor:
    """What the backbone takes: `[N, 3, SIDE, SIDE]`, values from -1 to 1.

    Args:
        pixels: bytes, `[N, SIDE, SIDE, 4]`, as a canvas has them.

    Raises:
        ValueError: no whole number of pictures.
    """
    content = bytes_of(pixels)
    if not content or len(content) % (SIDE * SIDE * 4):
        raise ValueError(f"pictures: got {len(content)} bytes, expected {SIDE * SIDE * 4} for each, as canvases of {SIDE} x {SIDE} have them.")
    values = paddle.reshape(paddle.to_tensor(bytearray(content), dtype="uint8"), [-1, SIDE, SIDE, 4])[:, :, :, :3]
    return paddle.transpose(paddle.cast(values, "float32"), [0, 3, 1, 2]) / 127.5 - 1.0


def views(pictures: Tensor) -> list[Tensor]:
    """What is learned from each picture: itself, from nearer, and in more light. Not mirrored: left and right may be classes."""
    edge = round(SIDE * (1 - NEARER) / 2)
    nearer = F.interpolate(pictures[:, :, edge:-edge, edge:-edge], size=[SIDE, SIDE], mode="bilinear")
    return [pictures, nearer, pictures * (1 - LIGHTER) + LIGHTER]


class Example:
    """A picture as the classifier keeps it.

    Attributes:
        key: of its class.
        held: whether it is kept from training, to be asked about.
        features: `[VIEWS, FEATURES]`; of one that is held out `[1, FEATURES]`.
    """

    def __init__(self, key: str, held: bool, features: Tensor) -> None:
        self.key, self.held, self.features = key, held, features


class Classifier:
    """What the page teaches.

    Args:
        weights: the content of `backbone.bin`.
    """

    def __init__(self, weights: Any) -> None:
        self.backbone = unpacked(bytes_of(weights))
        self.examples: dict[int, Example] = {}
        self.tallies: dict[str, list[int]] = {}  # of each class: pictures, and those held out; also what was removed
        self.next = 0
        self.keys: list[str] = []  # of the classes of the network
        self.net: Taught | None = None

    # Pictures.

    def add(self, key: str, pixels: Any, together: int) -> list[dict[str, Any]]:
        """Take pictures of a class. Of those that came together the last fifth is held out: neighbours resemble each other most.

        Args:
            key: of the class.
            pixels: bytes, `[N, SIDE, SIDE, 4]`.
            together: how many come together, these and those that are still to be given.

        Returns:
            The number and `held` of each.
        """
        pictures = scaled(pixels)
        count = pictures.shape[0]
        tally = self.tallies.setdefault(key, [0, 0])
        learned = together - ((tally[0] + together) // HELD_OUT - tally[1])
        answer = []
        for i in range(count):
            one = pictures[i : i + 1]
            held = i >= learned
            with paddle.no_grad():
                features = even(self.backbone(one if held else paddle.concat(views(one))))
            self.examples[self.next] = Example(key, held, features)
            answer.append({"id": self.next, "held": held})
            self.next += 1
            tally[0] += 1
            tally[1] += held
        return answer

    def remove(self, ids: list[int]) -> None:
        """Forget pictures; numbers that there are not are passed over."""
        for number in ids:
            self.examples.pop(number, None)

    # Training. `run` and `evaluate` are called as those of `Trainer` are.

    def begin(self, keys: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        """Start over with a new network for these classes.

        Args:
            keys: of the classes, in the order of the answers.
            settings: hidden, learning_rate, epochs, seed.

        Returns:
            As `evaluate`.

        Raises:
            ValueError: too few classes, or a class without a picture to learn from.
        """
        if not CLASSES[0] <= len(keys) <= CLASSES[1]:
            raise ValueError(f"classes: got {len(keys)}, expected {CLASSES[0]} to {CLASSES[1]}.")
        learned = [[e for e in self.examples.values() if e.key == key and not e.held] for key in keys]
        for i, examples in enumerate(learned):
            if not examples:
                raise ValueError(f"class {i + 1} has no picture to learn from. Got 0, expected at least 1. Add pictures to it.")
        rate, hidden = float(settings["learning_rate"]), int(settings["hidden"])
        if not 0 < rate <= 1:
            raise ValueError(f"learning rate: got {rate}, expected more than 0 and at most 1.")
        paddle.seed(int(settings.get("seed", 0)))
        self.keys = list(keys)
        self.net = Taught(self.backbone, len(keys), hidden)
        self.features, self.labels = stacked(learned)
        # A class with few pictures counts as much as one with many.
        counts = [sum(e.features.shape[0] for e in examples) for examples in learned]
        self.weight = paddle.to_tensor([sum(counts) / len(counts) / count for count in counts])
        self.optimizer = paddle.optimizer.AdamW(rate, parameters=self.net.head.parameters(), weight_decay=0.02)
        self.steps, self.seen, self.seconds = 0, 0, 0.0
        self.to_see = int(settings["epochs"]) * self.labels.shape[0]
        self.order: Any = None
        self.at = 0
        return self.evaluate()

    def run(self, milliseconds: float) -> dict[str, Any]:
        """Train for about this long, but no longer than asked for; returns the loss and accuracy of each step's batch, `done`, and the
        accuracy on what is held out after each time through the pictures, with the number of steps."""
        started = time.perf_counter()
        losses: list[float] = []
        accuracies: list[float] = []
        unseen: list[tuple[int, float | None]] = []
        while self.seen < self.to_see and (not losses or (time.perf_counter() - started) * 1e3 < milliseconds):
            loss, accuracy = self.step()
            losses.append(loss)
            accuracies.append(accuracy)
            if self.at >= self.labels.shape[0]:
                unseen.append((self.steps, self.evaluate()["accuracy"]))
        self.seconds += time.perf_counter() - started
        return {"steps": self.steps, "epochs": self.seen / self.labels.shape[0], "seconds": self.seconds, "losses": losses,
                "accuracies": accuracies, "unseen": unseen, "done": self.seen >= self.to_see}

    def step(self) -> tuple[float, float]:
        count = self.labels.shape[0]
        if self.order is None or self.at >= count:
            self.order, self.at = paddle.randperm(count), 0
        chosen = self.order[self.at : self.at + BATCH]
        labels = paddle.gather(self.labels, chosen)
        scores = self.network().head(paddle.gather(self.features, chosen))
        loss = F.cross_entropy(scores, labels, weight=self.weight)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.at += BATCH
        self.steps += 1
        self.seen += labels.shape[0]
        return float(loss), float(paddle.cast(paddle.argmax(scores, axis=1) == labels, "float32").mean())

    def evaluate(self) -> dict[str, Any]:
        """How the network does on the pictures that are held out; accuracy and loss are None where there are none."""
        held = [[(i, e) for i, e in self.examples.items() if e.key == key and e.held] for key in self.keys]
        confusion = [[0] * len(self.keys) for _ in self.keys]
        mistakes: list[dict[str, int]] = []
        count = sum(map(len, held))
        answer: dict[str, Any] = {
            "steps": self.steps, "count": count, "accuracy": None, "loss": None, "confusion": confusion, "mistakes": mistakes,
        }
        if not count:
            return answer
        features, labels = stacked([[e for _, e in examples] for examples in held])
        with paddle.no_grad():
            scores = self.network().head(features)
            answer["loss"] = float(F.cross_entropy(scores, labels))
        numbers = [number for examples in held for number, _ in examples]
        for number, label, best in zip(numbers, labels.tolist(), paddle.argmax(scores, axis=1).tolist(), strict=True):
            confusion[label][best] += 1
            if label != best:
                mistakes.append({"id": number, "answer": best})
        answer["accuracy"] = 1 - len(mistakes) / count
        return answer

    def network(self) -> Taught:
        """The network in training, or trained.

        Raises:
            ValueError: there is none yet.
        """
        if self.net is None:
            raise ValueError("Nothing is trained yet. Give each class pictures, and press Train.")
        return self.net

    # What comes of it.

    def look(self, pixels: Any) -> dict[str, Any]:
        """Probabilities of one picture, in the order of the classes."""
        net = self.network()
        started = time.perf_counter()
        with paddle.no_grad():
            probabilities = F.softmax(net(scaled(pixels)[:1]))[0].tolist()
        return {"probabilities": probabilities, "milliseconds": (time.perf_counter() - started) * 1e3}

    def program(self, names: list[str]) -> bytes:
        """A zip of the network as a program, which Wherry and Paddle load: `classifier.pdmodel`, `classifier.pdiparams`, and the
        names of the classes, a line each, in `labels.txt`."""
        net = self.network()
        net.eval()
        with tempfile.TemporaryDirectory() as folder:
            paddle.jit.save(net, f"{folder}/classifier", input_spec=spec())
            Path(folder, "labels.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
            return zipped(Path(folder))

    def site(self, title: str, names: list[str]) -> bytes:
        """A zip of a folder that any file server hosts, in which the network answers without Python.

        Args:
            title: of the page.
            names: of the classes.
        """
        from wherry_export.web import export

        net = self.network()
        with tempfile.TemporaryDirectory() as folder:
            half = {"mean": [0.5] * 3, "std": [0.5] * 3}
            export(net, f"{folder}/site", input_spec=spec(), title=title, labels=names, preprocess=half, precision="float16")
            return zipped(Path(folder))


def spec() -> list[Any]:
    return [paddle.static.InputSpec([None, 3, SIDE, SIDE], "float32", "picture")]


def stacked(groups: list[list[Example]]) -> tuple[Tensor, Tensor]:
    """Features `[N, FEATURES]` of all groups, and for each the number of its group."""
    features = paddle.concat([e.features for group in groups for e in group])
    labels = [label for label, group in enumerate(groups) for e in group for _ in range(e.features.shape[0])]
    return features, paddle.to_tensor(labels, dtype="int64")


def zipped(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return buffer.getvalue()
