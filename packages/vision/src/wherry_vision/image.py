"""Reading images from files with Pillow, OpenCV or as tensors."""
from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np

from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import to_tensor

__all__ = ["get_image_backend", "image_load", "set_image_backend"]

_BACKENDS = ("pil", "cv2", "tensor")
_backend = "pil"


def set_image_backend(backend: str) -> None:
    """Choose the library that `image_load` uses.

    Args:
        backend: "pil" gives images of Pillow, "cv2" arrays of OpenCV (blue first), "tensor" tensors [C, H, W] of bytes.

    Raises:
        ValueError: `backend` is unknown.

    Source:
        `paddle.vision.set_image_backend`.

    Examples:
        >>> wherry.vision.set_image_backend("pil")
        >>> wherry.vision.get_image_backend()
        'pil'
    """
    global _backend
    _backend = _known(backend, "set_image_backend")


def get_image_backend() -> str:
    """The library that `image_load` uses.

    Source:
        `paddle.vision.get_image_backend`.

    Examples:
        >>> wherry.vision.get_image_backend()
        'pil'
    """
    return _backend


def image_load(path: str | os.PathLike[str], backend: str | None = None) -> Any:
    """Read an image.

    Args:
        path: of the file.
        backend: as `set_image_backend`; None takes what was chosen there.

    Raises:
        TypeError: `path` is not a str or os.PathLike (also a ValueError).
        ValueError: `backend` is unknown; OpenCV cannot read the file.
        ImportError: its library (Pillow, or OpenCV for "cv2") is not installed.

    Source:
        `paddle.vision.image_load`.

    Examples:
        >>> import pathlib, tempfile
        >>> from PIL import Image
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.png")
        ...     Image.new("RGB", (5, 4)).save(path)
        ...     wherry.vision.image_load(path).size, wherry.vision.image_load(path, backend="tensor").shape
        ((5, 4), [3, 4, 5])
    """
    chosen = _backend if backend is None else _known(backend, "image_load")
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise InvalidTypeError(
            f"image_load: path is not a str. Got {short(path)} ({type(path).__name__}), expected a str or os.PathLike. "
            f"Image.fromarray makes an image from an array."
        )
    path = path_of(os.fsdecode(path) if isinstance(path, bytes) else path, "image_load")
    if chosen == "cv2":
        image = _library("cv2", "opencv-python-headless").imread(path)
        if image is None:
            raise InvalidArgumentError(f"image_load: OpenCV cannot read {short(path)}. Got no image, expected one. Check the path.")
        return image
    image = _library("PIL.Image", "Pillow").open(path)
    if chosen == "pil":
        return image
    array = np.asarray(image)
    return to_tensor(np.ascontiguousarray(array[None] if array.ndim == 2 else array.transpose(2, 0, 1)))


def _known(backend: Any, op_name: str) -> str:
    if backend not in _BACKENDS:
        raise InvalidArgumentError(
            f"{op_name}: Expected backend are one of ['pil', 'cv2', 'tensor']. Got {short(backend)}, expected one of them. "
            f"Leave it out for 'pil'."
        )
    return str(backend)


def _library(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"image_load: {package} is not installed, which reads the file. Run pip install {package}.") from error


def picture_of(op_name: str, file: Any, source: str) -> Any:
    """The image in an open file, fully decoded.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: it is not an image, or a damaged one.
    """
    opener = _library("PIL.Image", "Pillow")
    try:
        image = opener.open(file)
        image.load()
    except (OSError, SyntaxError, EOFError, opener.DecompressionBombError) as error:
        raise InvalidArgumentError(f"{op_name}: a picture of {source} cannot be read. Got {error}, expected a whole picture.") from error
    return image


explained(globals())
