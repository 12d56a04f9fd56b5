"""Flowers in 102 categories: Nilsback & Zisserman (2008)."""
from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError
from wherry_train.data_files import Archive, file_of, mode_of, readable
from wherry_train.io.dataset import Dataset
from wherry_vision.datasets.files import as_floats, backend_of
from wherry_vision.image import picture_of

__all__ = ["Flowers"]

_URL = "http://paddlemodels.bj.bcebos.com/flowers/"
_SETS = {"train": "tstid", "test": "trnid", "valid": "valid"}  # the larger part trains, as in Paddle


class Flowers(Dataset):
    """Images of flowers in 102 classes: 6149 to train, 1020 to test and 1020 to validate.

    Args:
        data_file: the path of the archive 102flowers.tgz; None downloads it.
        label_file: the path of imagelabels.mat; None downloads it.
        setid_file: the path of setid.mat; None downloads it.
        mode: "train", "valid" or "test".
        transform: a function that each image goes through.
        download: whether files that are not given may be downloaded.
        backend: "pil" gives images of Pillow, "cv2" arrays `[height, width, 3]` of float32; None takes that of `set_image_backend`.

    Returns:
        Of an index: the image, and its label (from 1) as an array `[1]` of int64.

    Raises:
        AssertionError: a file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: a file is damaged or another one, or `backend` is unknown.
        RuntimeError: a file cannot be downloaded.

    Source:
        `paddle.vision.datasets.Flowers`.
    """

    def __init__(
        self,
        data_file: Any = None,
        label_file: Any = None,
        setid_file: Any = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        mode = mode_of("Flowers", mode, ("train", "valid", "test"))
        self.backend = backend_of("Flowers", backend)
        self.flag = _SETS[mode]
        self.data_file, self.label_file, self.setid_file = (
            file_of("Flowers", name, given, _URL + file, md5, "flowers", download)
            for name, given, file, md5 in (
                ("data_file", data_file, "102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
                ("label_file", label_file, "imagelabels.mat", "e0620be6f572b9609742df49c70aed4d"),
                ("setid_file", setid_file, "setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c"),
            )
        )
        self.transform = transform
        self.dtype = "float32"
        self.labels = _of_mat("Flowers", self.label_file, "labels")
        self.indexes = _of_mat("Flowers", self.setid_file, self.flag)
        if len(self.indexes) and not (self.indexes.min() > 0 and self.indexes.max() <= len(self.labels)):
            raise InvalidArgumentError(
                f"Flowers: {self.setid_file} and {self.label_file} do not belong together. Got numbers up to {self.indexes.max()} for "
                f"{len(self.labels)} labels, expected one for each."
            )
        self._archive = Archive("Flowers", self.data_file)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        number = int(self.indexes[index])
        image = picture_of("Flowers", io.BytesIO(self._archive.read(f"jpg/image_{number:05}.jpg")), self.data_file)
        if self.backend == "cv2":
            image = np.array(image)
        if self.transform is not None:
            image = self.transform(image)
        return image if self.backend == "pil" else as_floats(image, self.dtype), np.array([self.labels[number - 1]]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.indexes)


# MATLAB's files, version 5: a head of 128 bytes, then elements of a type, a size and data in multiples of eight bytes.

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _PACKED = 14, 15
_LARGEST = 1 << 26  # bytes of a packed element


def _of_mat(kind: str, path: str, name: str) -> Any:
    """The numbers of a matrix in a file, in one row."""
    with readable(kind, path):
        with open(path, "rb") as file:
            data = file.read(_LARGEST)
        order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
        if order is None:
            raise InvalidArgumentError("it is not a file of MATLAB 5")
        for code, element in _elements(data[128:], order):
            if code == _PACKED:
                unpacker = zlib.decompressobj()
                (code, element), *_ = _elements(unpacker.decompress(element, _LARGEST), order)
            if code != _MATRIX:
                continue
            _, _, (_, label), *parts = _elements(element, order)
            if label.decode("ascii") == name:
                number, values = parts[0]
                return np.frombuffer(values, order + _NUMBERS[number]).astype(np.int64)
        raise InvalidArgumentError(f"it has no matrix {name}")


def _elements(data: bytes, order: str) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at + 8 <= len(data):
        code, size = struct.unpack_from(order + "II", data, at)
        if code >> 16:  # a short one: size and type share four bytes, and the data is in the others
            size, code, start, end = code >> 16, code & 0xFFFF, at + 4, at + 8
        else:
            start = at + 8
            end = start + size + (0 if code == _PACKED else -size % 8)
        if start + size > len(data) or (end == at + 8 and size > 4 and start == at + 4):
            raise EOFError(f"an element of {size} bytes ends after the file")
        found.append((code, data[start : start + size]))
        at = end
    if not found:
        raise EOFError("there is nothing in it")
    return found
