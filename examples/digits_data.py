"""1797 real handwritten digits, as the examples use them: those of scikit-learn, in the file of the web pages."""
from pathlib import Path

import numpy as np

import wherry as paddle

CONTENT = Path(__file__).parent.parent / "web" / "src" / "wherry_web" / "static" / "data" / "digits.bin"
COUNT = 1797


def digits() -> tuple[paddle.io.Dataset, paddle.io.Dataset]:
    """Four fifths to train on and the rest to test on: (image `[1, 28, 28]` in [-1, 1], label `[1]`)."""
    found = np.fromfile(CONTENT, np.uint8)  # images, then labels, shuffled (web/make_digits.py)
    pixels = found[: COUNT * 64].reshape(COUNT, 8, 8).astype("float32") / 8 - 1  # they are 0 to 16
    # LeNet takes 28 x 28: every pixel becomes 3 x 3, with 2 of background around.
    images = np.pad(pixels.repeat(3, axis=1).repeat(3, axis=2), ((0, 0), (2, 2), (2, 2)), constant_values=-1)
    labels = found[COUNT * 64 :].astype("int64")[:, None]
    n = len(labels) * 4 // 5
    return Digits(images[:n, None], labels[:n]), Digits(images[n:, None], labels[n:])


class Digits(paddle.io.Dataset):
    """Images and labels from two arrays."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        super().__init__()
        self.images = images
        self.labels = labels

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return self.images[index], self.labels[index]

    def __len__(self) -> int:
        return len(self.labels)
