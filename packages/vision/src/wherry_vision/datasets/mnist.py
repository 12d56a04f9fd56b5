"""MNIST and Fashion-MNIST: LeCun, Bottou, Bengio & Haffner (1998); Xiao, Rasul & Vollgraf (2017)."""
from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError
from wherry_train.data_files import file_of, mode_of, readable
from wherry_train.io.dataset import Dataset
from wherry_vision.datasets.files import as_floats, backend_of
from wherry_vision.transforms.pictures import of_array

__all__ = ["MNIST", "FashionMNIST"]

_LARGEST = 1 << 31  # the largest unpacked size of a file, in bytes


class MNIST(Dataset):
    """Handwritten digits, 60,000 to train and 10,000 to test.

    Args:
        image_path: of the file of images (idx3-ubyte, packed by gzip); None downloads it.
        label_path: of the file of labels (idx1-ubyte, packed by gzip); None downloads it.
        mode: "train" or "test".
        transform: a function that each image goes through.
        download: whether files that are not given may be downloaded.
        backend: "pil" gives images of Pillow, "cv2" arrays `[28, 28]` of float32; None takes that of `set_image_backend`.

    Returns:
        Of an index: the image, and its label as an array `[1]` of int64.

    Raises:
        AssertionError: a file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: a file is damaged or another one, or `backend` is unknown.
        RuntimeError: a file cannot be downloaded.

    Source:
        `paddle.vision.datasets.MNIST`.

    Examples:
        >>> import gzip, pathlib, struct, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:  # files of two images
        ...     images, labels = pathlib.Path(folder, "images.gz"), pathlib.Path(folder, "labels.gz")
        ...     _ = images.write_bytes(gzip.compress(struct.pack(">4i", 2051, 2, 28, 28) + bytes(2 * 28 * 28)))
        ...     _ = labels.write_bytes(gzip.compress(struct.pack(">2i", 2049, 2) + bytes([7, 3])))
        ...     data = wherry.vision.datasets.MNIST(images, labels, backend="cv2")
        >>> image, label = data[1]
        >>> image.shape, label
        ((28, 28), array([3]))
    """

    NAME = "mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

    def __init__(
        self,
        image_path: Any = None,
        label_path: Any = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        kind = type(self).__name__
        self.mode = mode_of(kind, mode, ("train", "test"))
        self.backend = backend_of(kind, backend)
        train = self.mode == "train"
        image_source = (self.TRAIN_IMAGE_URL, self.TRAIN_IMAGE_MD5) if train else (self.TEST_IMAGE_URL, self.TEST_IMAGE_MD5)
        label_source = (self.TRAIN_LABEL_URL, self.TRAIN_LABEL_MD5) if train else (self.TEST_LABEL_URL, self.TEST_LABEL_MD5)
        self.image_path = file_of(kind, "image_path", image_path, *image_source, self.NAME, download)
        self.label_path = file_of(kind, "label_path", label_path, *label_source, self.NAME, download)
        self.transform = transform
        self.dtype = "float32"
        images = _idx(kind, self.image_path, 3)
        labels = _idx(kind, self.label_path, 1)
        if len(images) != len(labels):
            raise InvalidArgumentError(
                f"{kind}: images and labels differ in number. Got {len(images)} images and {len(labels)} labels, expected as many. Check the paths."
            )
        self.images, self.labels = images, labels.astype(np.int64)[:, None]

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image = self.images[index]
        image = of_array(image, "L") if self.backend == "pil" else image.astype(self.dtype)
        if self.transform is not None:
            image = self.transform(image)
        return image if self.backend == "pil" else as_floats(image, self.dtype), self.labels[index]

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Images of clothes in the format of MNIST, 60,000 to train and 10,000 to test.

    Args:
        image_path: of the file of images (idx3-ubyte, packed by gzip); None downloads it.
        label_path: of the file of labels (idx1-ubyte, packed by gzip); None downloads it.
        mode: "train" or "test".
        transform: a function that each image goes through.
        download: whether files that are not given may be downloaded.
        backend: "pil" gives images of Pillow, "cv2" arrays `[28, 28]` of float32; None takes that of `set_image_backend`.

    Returns:
        Of an index: the image, and its label as an array `[1]` of int64.

    Raises:
        AssertionError: a file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: a file is damaged or another one, or `backend` is unknown.
        RuntimeError: a file cannot be downloaded.

    Source:
        `paddle.vision.datasets.FashionMNIST`.

    Examples:
        >>> import gzip, pathlib, struct, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:  # files of two images
        ...     images, labels = pathlib.Path(folder, "images.gz"), pathlib.Path(folder, "labels.gz")
        ...     _ = images.write_bytes(gzip.compress(struct.pack(">4i", 2051, 2, 28, 28) + bytes(2 * 28 * 28)))
        ...     _ = labels.write_bytes(gzip.compress(struct.pack(">2i", 2049, 2) + bytes([7, 3])))
        ...     data = wherry.vision.datasets.FashionMNIST(images, labels, backend="cv2")
        >>> image, label = data[1]
        >>> image.shape, label
        ((28, 28), array([3]))
    """

    NAME = "fashion-mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/fashion_mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "bef4ecab320f06d8554ea6380940ec79"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "bb300cfdad3c16e7a12a480ee83cd310"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "25c81989df183df01b3e8a0aad5dffbe"


def _idx(kind: str, path: str, rank: int) -> Any:
    """The bytes of a packed file of `rank` axes, whose sizes stand at its head."""
    with readable(kind, path), gzip.open(path) as file:
        head = file.read(4 + 4 * rank)
        if len(head) < 4 + 4 * rank or head[:4] != bytes([0, 0, 8, rank]):
            raise InvalidArgumentError(f"its head is {head[:4]!r}, expected {bytes([0, 0, 8, rank])!r}: bytes with {rank} axes")
        shape = struct.unpack(f">{rank}I", head[4:])
        count = 1
        for size in shape:
            count *= size
        if count > _LARGEST:
            raise InvalidArgumentError(f"its shape is {shape}, expected one of at most {_LARGEST} bytes")
        data = file.read(count + 1)
        if len(data) != count:
            raise InvalidArgumentError(f"it holds {'more' if len(data) > count else len(data)} bytes, expected {count} for shape {shape}")
        return np.frombuffer(data, np.uint8).reshape(shape)
