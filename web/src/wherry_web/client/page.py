"""What the worker of a page calls. Bytes and numbers go in and out; tensors stay here."""
from __future__ import annotations

import io
import sys
import time
from typing import Any

import wherry as paddle
from wherry_web.client.digits import TRAINED_ON, read, scaled
from wherry_web.client.networks import network, restore

F = paddle.nn.functional
OPTIMIZERS = {"Adam": paddle.optimizer.Adam, "AdamW": paddle.optimizer.AdamW, "Momentum": paddle.optimizer.Momentum,
              "SGD": paddle.optimizer.SGD}


def bytes_of(buffer: Any) -> bytes:
    """The content of a buffer: Python's, or a typed array of the page."""
    return buffer.to_bytes() if hasattr(buffer, "to_bytes") else bytes(buffer)


class Predictor:
    """A saved model that answers."""

    def __init__(self, architecture: str, classes: int, weights: Any) -> None:
        self.net = network(architecture, classes)
        restore(self.net, bytes_of(weights))
        self.net.eval()

    def predict(self, pixels: Any) -> dict[str, Any]:
        """Probabilities of one digit.

        Args:
            pixels: 64 float32, from 0 (paper) to 16 (ink), row by row.
        """
        image = paddle.reshape(paddle.to_tensor(memoryview(bytes_of(pixels)).cast("f")), [1, 8, 8])
        started = time.perf_counter()
        with paddle.no_grad():
            scores = self.net(scaled(image))
            probabilities = F.softmax(scores)[0].tolist()
        return {"probabilities": probabilities, "scores": scores[0].tolist(), "milliseconds": (time.perf_counter() - started) * 1e3}


class Trainer:
    """A network in training on the digits.

    Args:
        digits: the content of `digits.bin`.
        settings: architecture, optimizer, learning_rate, batch_size, seed.
    """

    def __init__(self, digits: Any, settings: dict[str, Any]) -> None:
        rate = float(settings["learning_rate"])
        if not 0 < rate <= 10:
            raise ValueError(f"learning rate: got {rate}, expected more than 0 and at most 10.")
        paddle.seed(int(settings.get("seed", 0)))
        self.pixels, labels = read(bytes_of(digits))
        images = scaled(self.pixels)
        self.train_images, self.test_images = images[:TRAINED_ON], images[TRAINED_ON:]
        self.train_labels, self.test_labels = labels[:TRAINED_ON], labels[TRAINED_ON:]
        self.architecture = settings["architecture"]
        self.net = network(self.architecture, 10)
        self.batch_size = int(settings["batch_size"])
        if not 1 <= self.batch_size <= TRAINED_ON:
            raise ValueError(f"batch size: got {self.batch_size}, expected 1 to {TRAINED_ON}.")
        self.optimizer = OPTIMIZERS[settings["optimizer"]](rate, parameters=self.net.parameters())
        self.steps = 0
        self.examples = 0
        self.seconds = 0.0
        self.order: Any = None
        self.at = 0

    def run(self, milliseconds: float) -> dict[str, Any]:
        """Train for about this long, at least one step; returns the loss and accuracy of each step's batch."""
        started = time.perf_counter()
        losses: list[float] = []
        accuracies: list[float] = []
        self.net.train()
        while not losses or (time.perf_counter() - started) * 1e3 < milliseconds:
            loss, accuracy = self.step()
            losses.append(loss)
            accuracies.append(accuracy)
        self.seconds += time.perf_counter() - started
        return {"steps": self.steps, "epochs": self.examples / TRAINED_ON, "seconds": self.seconds, "losses": losses,
                "accuracies": accuracies}

    def step(self) -> tuple[float, float]:
        if self.order is None or self.at >= TRAINED_ON:
            self.order, self.at = paddle.randperm(TRAINED_ON), 0
        chosen = self.order[self.at : self.at + self.batch_size]
        images, labels = paddle.gather(self.train_images, chosen), paddle.gather(self.train_labels, chosen)
        scores = self.net(images)
        loss = F.cross_entropy(scores, labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        right = paddle.cast(paddle.argmax(scores, axis=1) == labels, "float32").mean()
        self.at += self.batch_size
        self.steps += 1
        self.examples += labels.shape[0]
        return float(loss), float(right)

    def evaluate(self) -> dict[str, Any]:
        """How the network does on the digits it was not trained on: accuracy, confusion matrix, mistakes."""
        self.net.eval()
        with paddle.no_grad():
            scores = self.net(self.test_images)
            loss = float(F.cross_entropy(scores, self.test_labels))
            best = paddle.argmax(scores, axis=1).tolist()
        truth = self.test_labels.tolist()
        confusion = [[0] * 10 for _ in range(10)]
        mistakes = []
        for i, (answer, label) in enumerate(zip(best, truth, strict=True)):
            confusion[label][answer] += 1
            if answer != label:
                mistakes.append({"label": label, "answer": answer, "pixels": paddle.flatten(self.pixels[TRAINED_ON + i]).tolist()})
        right = sum(confusion[i][i] for i in range(10))
        return {"steps": self.steps, "loss": loss, "accuracy": right / len(truth), "confusion": confusion, "mistakes": mistakes}

    def weights(self) -> bytes:
        """The weights as a `.pdparams` file, which Paddle loads too."""
        buffer = io.BytesIO()
        paddle.save(self.net.state_dict(), buffer)
        return buffer.getvalue()

    def load(self, content: Any) -> None:
        """Go on with the weights of a `.pdparams` file."""
        restore(self.net, bytes_of(content))


def timings() -> list[dict[str, Any]]:
    """How long ops and models take here, medians in milliseconds."""
    x, w = paddle.rand([256, 256]), paddle.rand([256, 256])
    big, wide = paddle.rand([512, 512]), paddle.rand([512, 512])
    small = paddle.rand([2, 3])
    images = paddle.rand([32, 1, 28, 28])
    labels = paddle.randint(0, 10, [32])
    net = paddle.vision.models.LeNet()
    adam = paddle.optimizer.Adam(parameters=net.parameters())

    def train() -> None:
        F.cross_entropy(net(images), labels).backward()
        adam.step()
        adam.clear_grad()

    def infer(batch: Any) -> Any:
        with paddle.no_grad():
            return net(batch)

    one = images[:1]
    cases = [
        ("x + y on [2, 3]", lambda: small + small, None),
        ("exp on [512, 512]", lambda: paddle.exp(big), None),
        ("softmax on [512, 512]", lambda: F.softmax(big), None),
        ("matmul 256", lambda: x @ w, 2 * 256**3),
        ("matmul 512", lambda: big @ wide, 2 * 512**3),
        ("LeNet, 1 image", lambda: infer(one), None),
        ("LeNet, 32 images", lambda: infer(images), None),
        ("LeNet, training step of 32 images", train, None),
    ]
    return [timing(name, function, operations) for name, function, operations in cases]


def timing(name: str, function: Any, operations: float | None) -> dict[str, Any]:
    function()
    started = time.perf_counter()
    function()
    once = max(time.perf_counter() - started, 1e-6)
    repeats = max(1, min(2000, int(0.02 / once)))
    samples = []
    for _ in range(7):
        started = time.perf_counter()
        for _ in range(repeats):
            function()
        samples.append((time.perf_counter() - started) / repeats)
    median = sorted(samples)[3]
    return {"name": name, "milliseconds": median * 1e3, "gflops": operations / median / 1e9 if operations else None}


def describe() -> dict[str, str]:
    """Versions of what runs here."""
    import wherry_ops_cpu

    return {"Wherry": paddle.__version__, "Python": sys.version.split()[0], "platform": sys.platform,
            "kernels": wherry_ops_cpu.chosen_isa()}
