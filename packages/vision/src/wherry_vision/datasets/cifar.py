"""CIFAR-10 and CIFAR-100: Krizhevsky (2009).

The archives hold pickles. They are read as data: `wherry.load` knows arrays, containers, numbers and text, and runs nothing.
"""
from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError
from wherry_train.data_files import Archive, file_of, mode_of, readable
from wherry_train.io.dataset import Dataset
from wherry_train.serialization import load
from wherry_vision.datasets.files import as_floats, backend_of
from wherry_vision.transforms.pictures import of_array

__all__ = ["Cifar10", "Cifar100"]

_URL = "https://dataset.bj.bcebos.com/cifar/"


class Cifar10(Dataset):
    """Colour images of 32 x 32 in ten classes, 50,000 to train and 10,000 to test.

    Args:
        data_file: the path of the archive cifar-10-python.tar.gz; None downloads it.
        mode: "train" or "test".
        transform: a function that each image goes through.
        download: whether the archive may be downloaded.
        backend: "pil" gives images of Pillow, "cv2" arrays `[32, 32, 3]` of float32 (`transform` sees bytes); None: that of `set_image_backend`.

    Returns:
        Of an index: the image, and its label as an array of int64 without axes.

    Raises:
        AssertionError: the file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: the file is damaged or another one, holds a pickle that is not plain data, or `backend` is unknown.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.vision.datasets.Cifar10`.

    Examples:
        >>> import io, pickle, tarfile, tempfile
        >>> batch = pickle.dumps({b"data": np.zeros([2, 3072], np.uint8), b"labels": [7, 3]}, 2)
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of two images
        ...     with tarfile.open(folder + "/cifar.tar.gz", "w:gz") as archive:
        ...         member = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
        ...         member.size = len(batch)
        ...         archive.addfile(member, io.BytesIO(batch))
        ...     data = wherry.vision.datasets.Cifar10(folder + "/cifar.tar.gz", backend="cv2")
        >>> image, label = data[1]
        >>> image.shape, int(label)
        ((32, 32, 3), 3)
    """

    _source = (_URL + "cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a")
    _parts = {"train": "data_batch", "test": "test_batch"}  # noqa: RUF012  what names of members have in them
    _labels = "labels"

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        kind = type(self).__name__
        self.mode = mode_of(kind, mode, ("train", "test"))
        self.backend = backend_of(kind, backend)
        self.data_file = file_of(kind, "data_file", data_file, *self._source, "cifar", download)
        self.transform = transform
        self.dtype = "float32"
        archive = Archive(kind, self.data_file)
        names = [name for name in archive.members if self._parts[self.mode] in name.rpartition("/")[2]]
        if not names:
            raise InvalidArgumentError(
                f"{kind}: {self.data_file} is another file. Got no member {self._parts[self.mode]}, expected the archive for Python."
            )
        parts = [_batch(kind, self.data_file, archive.read(name), self._labels) for name in names]
        self.data = np.concatenate([images for images, _ in parts])
        self.labels = np.concatenate([labels for _, labels in parts])

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image = self.data[index].reshape(3, 32, 32).transpose(1, 2, 0)
        if self.backend == "pil":
            image = of_array(np.ascontiguousarray(image), "RGB")
        if self.transform is not None:  # of "cv2" it sees bytes, as in Paddle: ToTensor divides them by 255
            image = self.transform(image)
        return image if self.backend == "pil" else as_floats(image, self.dtype), np.array(self.labels[index])

    def __len__(self) -> int:
        return len(self.labels)


class Cifar100(Cifar10):
    """Colour images of 32 x 32 in a hundred classes, 50,000 to train and 10,000 to test.

    Args:
        data_file: the path of the archive cifar-100-python.tar.gz; None downloads it.
        mode: "train" or "test".
        transform: a function that each image goes through.
        download: whether the archive may be downloaded.
        backend: "pil" gives images of Pillow, "cv2" arrays `[32, 32, 3]` of float32 (`transform` sees bytes); None: that of `set_image_backend`.

    Returns:
        Of an index: the image, and its label as an array of int64 without axes.

    Raises:
        AssertionError: the file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: the file is damaged or another one, holds a pickle that is not plain data, or `backend` is unknown.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.vision.datasets.Cifar100`.

    Examples:
        >>> import io, pickle, tarfile, tempfile
        >>> batch = pickle.dumps({b"data": np.zeros([2, 3072], np.uint8), b"fine_labels": [7, 3]}, 2)
        >>> with tempfile.TemporaryDirectory() as folder:  # an archive of two images
        ...     with tarfile.open(folder + "/cifar.tar.gz", "w:gz") as archive:
        ...         member = tarfile.TarInfo("cifar-100-python/train")
        ...         member.size = len(batch)
        ...         archive.addfile(member, io.BytesIO(batch))
        ...     data = wherry.vision.datasets.Cifar100(folder + "/cifar.tar.gz", backend="cv2")
        >>> image, label = data[1]
        >>> image.shape, int(label)
        ((32, 32, 3), 3)
    """

    _source = (_URL + "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85")
    _parts = {"train": "train", "test": "test"}  # noqa: RUF012
    _labels = "fine_labels"


def _batch(kind: str, path: str, data: bytes, labels: str) -> tuple[Any, Any]:
    """Images `[n, 3072]` and labels of one pickle, whose text Python 2 wrote as bytes."""
    with readable(kind, path):
        batch = load(io.BytesIO(data), return_numpy=True)
        if not isinstance(batch, dict):
            raise InvalidArgumentError(f"a part of it is a {type(batch).__name__}, expected a dict")
        by_name = {key.decode("latin1") if isinstance(key, bytes) else key: value for key, value in batch.items()}
        images, given = by_name["data"], by_name[labels]
        if not isinstance(images, np.ndarray) or images.dtype != np.uint8 or images.ndim != 2 or images.shape[1] != 3072:
            raise InvalidArgumentError(f"its images are {getattr(images, 'shape', type(images).__name__)}, expected bytes [n, 3072]")
        if not isinstance(given, list) or len(given) != len(images) or not all(type(label) is int and 0 <= label < 100 for label in given):
            raise InvalidArgumentError(f"its labels do not fit {len(images)} images, expected a list of as many classes")
        return images, np.array(given, np.int64)
