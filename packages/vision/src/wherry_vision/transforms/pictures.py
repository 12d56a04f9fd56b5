"""Transforms of Pillow images, by Pillow itself. Called only with such an image."""
from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from wherry_tensor.explained import explained
from wherry_vision.transforms import arrays

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "crop",
    "hflip",
    "of_array",
    "pad",
    "resize",
    "rotate",
    "size_of",
    "to_grayscale",
    "vflip",
    "warp",
]

METHODS = ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")


def _pillow(module: str) -> Any:
    """Looked up when it is needed: code that has such an image has imported Pillow."""
    return import_module(f"PIL.{module}")


def _method(name: str) -> Any:
    return _pillow("Image").Resampling[name.upper()]


def size_of(image: Any) -> tuple[int, int]:
    """Width and height."""
    return image.size  # type: ignore[no-any-return]


def resize(image: Any, height: int, width: int, method: str) -> Any:
    return image.resize((width, height), _method(method))


def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    return image.crop((left, top, left + width, top + height))


def hflip(image: Any) -> Any:
    return image.transpose(_pillow("Image").Transpose.FLIP_LEFT_RIGHT)


def vflip(image: Any) -> Any:
    return image.transpose(_pillow("Image").Transpose.FLIP_TOP_BOTTOM)


def pad(image: Any, left: int, top: int, right: int, bottom: int, fill: Any, mode: str) -> Any:
    if mode == "constant":
        return _pillow("ImageOps").expand(image, (left, top, right, bottom), _fill(image, fill))
    padded = _pillow("Image").fromarray(arrays.pad(np.asarray(image), left, top, right, bottom, 0, mode))
    if image.mode == "P":
        padded.putpalette(image.getpalette())
    return padded


def rotate(image: Any, angle: float, method: str, expand: bool, center: Any, fill: Any) -> Any:
    return image.rotate(angle, _method(method), expand, center, fillcolor=_fill(image, fill))


def warp(image: Any, matrix: tuple[float, ...], method: str, fill: Any) -> Any:
    """`matrix` as for `arrays.source_coordinates`."""
    transform = _pillow("Image").Transform.AFFINE if len(matrix) == 6 else _pillow("Image").Transform.PERSPECTIVE
    return image.transform(image.size, transform, matrix, _method(method), fillcolor=_fill(image, fill))


def of_array(array: Any, mode: str) -> Any:
    """An image of this mode."""
    made = _pillow("Image").fromarray(array)
    return made if made.mode == mode else made.convert(mode)


def to_grayscale(image: Any, channels: int) -> Any:
    gray = image.convert("L")
    return _pillow("Image").merge("RGB", (gray, gray, gray)) if channels == 3 else gray


def adjust_brightness(image: Any, factor: float) -> Any:
    return _pillow("ImageEnhance").Brightness(image).enhance(factor)


def adjust_contrast(image: Any, factor: float) -> Any:
    return _pillow("ImageEnhance").Contrast(image).enhance(factor)


def adjust_saturation(image: Any, factor: float) -> Any:
    return _pillow("ImageEnhance").Color(image).enhance(factor)


def adjust_hue(image: Any, factor: float) -> Any:
    mode = image.mode
    if mode in ("1", "L", "I", "F"):
        return image
    hue, saturation, value = image.convert("HSV").split()
    turn = np.uint8(int(factor * 255) % 256)  # cut downwards, as in Paddle; bytes begin again after 255, as turns do
    hue = _pillow("Image").fromarray(np.asarray(hue) + turn)
    return _pillow("Image").merge("HSV", (hue, saturation, value)).convert(mode)


def _fill(image: Any, fill: Any) -> Any:
    bands = len(image.getbands())
    if isinstance(fill, (int, float)):
        return (int(fill),) * bands if bands > 1 else int(fill)
    return tuple(fill) if bands > 1 else int(next(iter(fill)))


explained(globals())
