"""Say of every pixel what it belongs to: a small U-Net on drawings of shapes.

    python examples/segment_shapes.py [--epochs 15] [--quick]

Each picture has discs, boxes and noise. The network goes down to a quarter of the size and up again, and on
the way up it sees what it saw on the way down. A metric of one's own, the intersection over union, tells
how good the outlines are.
"""
import argparse
import sys

import numpy as np

import wherry as paddle
from wherry import nn

SIZE = 32
CLASSES = 3  # ground, disc, box


def main() -> int:
    parser = argparse.ArgumentParser(description="Segment drawings of shapes with a small U-Net.")
    parser.add_argument("--epochs", type=int, default=15, help="passes over the training set (default: 15)")
    parser.add_argument("--quick", action="store_true", help="fewer epochs: a look at whether it works")
    arguments = parser.parse_args()

    paddle.seed(0)
    model = paddle.Model(UNet(), inputs=[Spec([None, 1, SIZE, SIZE], "float32")])
    model.summary()
    model.prepare(
        paddle.optimizer.Adam(0.003, parameters=model.parameters()), nn.CrossEntropyLoss(axis=1), IntersectionOverUnion()
    )
    test = Shapes(100, seed=1)
    model.fit(
        Shapes(400, seed=0), test, batch_size=16, epochs=6 if arguments.quick else arguments.epochs, verbose=1,
        callbacks=[paddle.callbacks.ReduceLROnPlateau(patience=2, factor=0.3)],
    )
    overlap = model.evaluate(test, batch_size=20, verbose=0)["iou"]
    print(f"the outlines cover each other to {overlap:.1%}")
    picture, truth = test[0]
    guess = model.predict_batch(picture[None])[0].argmax(axis=1)[0]
    print("drawn (left) and found (right):")
    for left, right in zip(truth[::2], guess[::2]):
        print("".join(" o#"[i] for i in left) + "   " + "".join(" o#"[i] for i in right))
    return 0 if overlap >= (0.6 if arguments.quick else 0.8) else 1


class Spec:
    """What `Model` has to know of an input."""

    def __init__(self, shape: list[int | None], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype


class UNet(nn.Layer):
    """`[N, 1, H, W]` to scores `[N, CLASSES, H, W]`; H and W are multiples of 4."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.down1 = twice(1, width)
        self.down2 = twice(width, 2 * width)
        self.bottom = twice(2 * width, 4 * width)
        self.pool = nn.MaxPool2D(2)
        self.up2 = nn.Conv2DTranspose(4 * width, 2 * width, 2, stride=2)
        self.join2 = twice(4 * width, 2 * width)
        self.up1 = nn.Conv2DTranspose(2 * width, width, 2, stride=2)
        self.join1 = twice(2 * width, width)
        self.head = nn.Conv2D(width, CLASSES, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        fine = self.down1(x)
        middle = self.down2(self.pool(fine))
        coarse = self.bottom(self.pool(middle))
        middle = self.join2(paddle.concat([middle, self.up2(coarse)], axis=1))
        fine = self.join1(paddle.concat([fine, self.up1(middle)], axis=1))
        return self.head(fine)


def twice(inputs: int, outputs: int) -> nn.Layer:
    """Two convolutions that keep the size."""
    return nn.Sequential(
        nn.Conv2D(inputs, outputs, 3, padding=1, bias_attr=False), nn.BatchNorm2D(outputs), nn.ReLU(),
        nn.Conv2D(outputs, outputs, 3, padding=1, bias_attr=False), nn.BatchNorm2D(outputs), nn.ReLU(),
    )


class IntersectionOverUnion(paddle.metric.Metric):
    """Of the pixels that are of a class or were taken for it, the share of which both is true; the mean over classes."""

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def compute(self, scores: paddle.Tensor, label: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        return paddle.argmax(scores, axis=1), label

    def update(self, guess: np.ndarray, label: np.ndarray) -> None:
        for c in range(CLASSES):
            self.both[c] += ((guess == c) & (label == c)).sum()
            self.either[c] += ((guess == c) | (label == c)).sum()

    def accumulate(self) -> float:
        return float((self.both / np.maximum(self.either, 1)).mean())

    def reset(self) -> None:
        self.both = np.zeros(CLASSES)
        self.either = np.zeros(CLASSES)

    def name(self) -> str:
        return "iou"


class Shapes(paddle.io.Dataset):
    """Pictures `[1, SIZE, SIZE]` with the class of each pixel `[SIZE, SIZE]`; the same ones for a seed."""

    def __init__(self, count: int, seed: int) -> None:
        super().__init__()
        self.count = count
        self.seed = seed

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng([self.seed, index])
        label = np.zeros([SIZE, SIZE], "int64")
        picture = np.zeros([SIZE, SIZE], "float32")
        y, x = np.mgrid[:SIZE, :SIZE]
        for _ in range(random.integers(2, 5)):
            kind = random.integers(1, CLASSES)
            middle, radius = random.uniform(4, SIZE - 4, 2), random.uniform(3, 8)
            away = np.stack([y - middle[0], x - middle[1]])
            inside = (away**2).sum(0) < radius**2 if kind == 1 else np.abs(away).max(0) < radius
            label[inside] = kind
            picture[inside] = random.uniform(0.4, 1.0)
        return (picture + random.normal(0, 0.1, picture.shape)).astype("float32")[None], label

    def __len__(self) -> int:
        return self.count


if __name__ == "__main__":
    sys.exit(main())
