"""Transforms of Pillow images: by Pillow, or by kernels of the same bytes that take a part of its time. Called only with such an image."""
from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from wherry_tensor.explained import explained
from wherry_vision.transforms import arrays, pixels

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
    if method == "nearest" or image.size == (width, height):
        return _pillows_resize(image, height, width, method)
    if image.mode in _LESS:
        return resize(image.convert(_LESS[image.mode]), height, width, method).convert(image.mode)
    ours = image.mode in pixels.MODES and _has_our_bytes()
    return (ours and pixels.resized(image, height, width, method)) or _pillows_resize(image, height, width, method)


_LESS = {"RGBA": "RGBa", "LA": "La"}  # with colours multiplied by alpha, as Pillow resizes them


def _pillows_resize(image: Any, height: int, width: int, method: str) -> Any:
    return image.resize((width, height), _method(method))


@lru_cache(1)
def _has_our_bytes() -> bool:
    """Whether this Pillow makes of a small image what the kernels make."""
    mixed = np.arange(53 * 41 * 3, dtype=np.uint32) * np.uint32(2654435761) >> 24  # numpy.random takes 40 ms to import
    noise = _pillow("Image").fromarray(mixed.astype(np.uint8).reshape(53, 41, 3))
    sizes = ((24, 31, "bilinear"), (24, 31, "bicubic"), (70, 23, "lanczos"), (9, 90, "box"), (20, 20, "hamming"))
    colors = [(factor, kind) for kind in ("brightness", "contrast", "saturation") for factor in (0.3, 1.7)]
    return all(
        _same(pixels.resized(image, *size), _pillows_resize(image, *size)) for image in (noise, noise.convert("L")) for size in sizes
    ) and all(_same(pixels.recolored(noise, *color), _pillows_color(noise, *color)) for color in [*colors, (70.0, "hue")])


def _same(ours: Any, pillows: Any) -> bool:
    return ours is not None and ours.tobytes() == pillows.tobytes()


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
    return _recolored(image, factor, "brightness")


def adjust_contrast(image: Any, factor: float) -> Any:
    return _recolored(image, factor, "contrast")


def adjust_saturation(image: Any, factor: float) -> Any:
    return _recolored(image, factor, "saturation")


def adjust_hue(image: Any, factor: float) -> Any:
    if image.mode in ("1", "L", "I", "F"):
        return image
    # Cut downwards, as in Paddle; bytes begin again after 255, as turns do.
    return _recolored(image, float(int(factor * 255) % 256), "hue")


def _recolored(image: Any, factor: float, kind: str) -> Any:
    ours = image.mode == "RGB" and "transparency" not in image.info and _has_our_bytes()
    return (ours and pixels.recolored(image, factor, kind)) or _pillows_color(image, factor, kind)


def _pillows_color(image: Any, factor: float, kind: str) -> Any:
    if kind != "hue":
        return getattr(_pillow("ImageEnhance"), "Color" if kind == "saturation" else kind.capitalize())(image).enhance(factor)
    hue, saturation, value = image.convert("HSV").split()
    hue = _pillow("Image").fromarray(np.asarray(hue) + np.uint8(factor))
    return _pillow("Image").merge("HSV", (hue, saturation, value)).convert(image.mode)


def _fill(image: Any, fill: Any) -> Any:
    bands = len(image.getbands())
    if isinstance(fill, (int, float)):
        return (int(fill),) * bands if bands > 1 else int(fill)
    return tuple(fill) if bands > 1 else int(next(iter(fill)))


explained(globals())
