"""Images as NumPy arrays, [H, W] or [H, W, C], of bytes or floats.

Floats are in [0, 1] where it matters (brightness, contrast, saturation, hue), bytes in [0, 255].
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from wherry_tensor.explained import explained
from wherry_vision.transforms.resampling import cubic, resample

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "crop",
    "hflip",
    "inverse_rotation",
    "normalize",
    "pad",
    "resize",
    "rotate",
    "size_of",
    "source_coordinates",
    "to_grayscale",
    "vflip",
]

_FEW = 8  # channels, of which each by itself is a longer loop than one pixel
_GRAY = np.array([0.299, 0.587, 0.114], np.float32)  # luma of ITU-R BT.601


def size_of(image: Any) -> tuple[int, int]:
    """Width and height."""
    return image.shape[1], image.shape[0]


def resize(image: Any, height: int, width: int, method: str) -> Any:
    resampled = resample(image, height, width, method)
    return resampled if resampled.dtype == image.dtype else _as_before(resampled, image)


def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    return image[top : top + height, left : left + width]


def hflip(image: Any) -> Any:
    if image.ndim == 2 or image.shape[2] > _FEW:
        return np.ascontiguousarray(image[:, ::-1])
    out = np.empty(image.shape, image.dtype)
    for channel in range(image.shape[2]):  # long loops, in place of one for each pixel
        out[..., channel] = image[:, ::-1, channel]
    return out


def vflip(image: Any) -> Any:
    return np.ascontiguousarray(image[::-1])


def pad(image: Any, left: int, top: int, right: int, bottom: int, fill: Any, mode: str) -> Any:
    widths = [(top, bottom), (left, right)] + [(0, 0)] * (image.ndim - 2)
    if mode != "constant":
        return np.pad(image, widths, mode=mode)  # type: ignore[call-overload]
    shape = (image.shape[0] + top + bottom, image.shape[1] + left + right, *image.shape[2:])
    out = np.empty(shape, image.dtype)
    out[...] = _color(fill, image)
    out[top : top + image.shape[0], left : left + image.shape[1]] = image
    return out


def rotate(image: Any, matrix: tuple[float, ...], height: int, width: int, method: str, fill: Any) -> Any:
    """`matrix` maps the centre of a new pixel to a position in `image`; see `source_coordinates`."""
    at_x, at_y, inside = source_coordinates(matrix, height, width, size_of(image))
    if method == "nearest":
        found = image[
            np.clip(np.floor(at_y).astype(np.int64), 0, image.shape[0] - 1),
            np.clip(np.floor(at_x).astype(np.int64), 0, image.shape[1] - 1),
        ]
    else:
        found = _as_before(_between(image, at_x - 0.5, at_y - 0.5, method), image)
    blank = np.empty(found.shape, image.dtype)
    blank[...] = _color(fill, image)
    return np.where(inside if image.ndim == 2 else inside[..., None], found, blank)


def source_coordinates(matrix: tuple[float, ...], height: int, width: int, size: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Where the middle of each new pixel lies in an image of this size (width, height), as x and y, and whether that is inside.

    `matrix` are its first two rows, six numbers, or eight: those of a projection, whose third row ends with 1.
    """
    a, b, c, d, e, f, *third = matrix
    x, y = np.arange(width) + 0.5, (np.arange(height) + 0.5)[:, None]
    at_x, at_y = a * x + b * y + c, d * x + e * y + f
    if third:
        depth = third[0] * x + third[1] * y + 1.0
        depth = np.where(depth == 0, np.finfo(float).tiny, depth)  # the horizon: far outside
        at_x, at_y = at_x / depth, at_y / depth
    inside = (at_x >= 0) & (at_x < size[0]) & (at_y >= 0) & (at_y < size[1])
    return np.where(inside, at_x, 0.0), np.where(inside, at_y, 0.0), inside


def _between(image: Any, x: Any, y: Any, method: str) -> Any:
    """Interpolated values; beyond the border its pixels are repeated."""
    reach = 1 if method == "bilinear" else 2
    left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    weight = _linear if method == "bilinear" else cubic
    out: Any = 0.0
    for j in range(1 - reach, 1 + reach):
        row = np.clip(top + j, 0, image.shape[0] - 1)
        line: Any = 0.0
        for i in range(1 - reach, 1 + reach):
            share = weight(np.abs(x - (left + i)))
            pixels = image[row, np.clip(left + i, 0, image.shape[1] - 1)]
            line = line + pixels * (share if image.ndim == 2 else share[..., None])
        share = weight(np.abs(y - (top + j)))
        out = out + line * (share if image.ndim == 2 else share[..., None])
    return out


def _linear(distance: Any) -> Any:
    return 1 - distance


def normalize(image: Any, mean: Any, std: Any, channels_first: bool) -> Any:
    """A float32 image [C, H, W] or [H, W, C] less `mean`, by `std`: one number, or one for each channel."""
    as_pixels = image.transpose(1, 2, 0) if channels_first else image
    if not as_pixels.flags.c_contiguous:
        out = np.subtract(image, mean)
        return np.divide(out, std, out=out)
    # Rows of pixels with rows of numbers: one channel after the other is no loop.
    height, width, channels = as_pixels.shape
    middle, spread = (np.tile(np.broadcast_to(one.reshape(-1), channels), width) for one in (mean, std))
    out = np.subtract(as_pixels.reshape(height, width * channels), middle)
    out = np.divide(out, spread, out=out).reshape(as_pixels.shape)
    return out.transpose(2, 0, 1) if channels_first else out


def to_grayscale(image: Any, channels: int) -> Any:
    gray = _as_before(_gray(image), image)
    return np.repeat(gray, channels, axis=2) if channels > 1 else gray


def adjust_brightness(image: Any, factor: float) -> Any:
    values = image.astype(np.float32)
    values *= factor
    return _in_range(values, image)


def adjust_contrast(image: Any, factor: float) -> Any:
    # Paddle's fixed 74 stands for the mean gray of photographs; of floats it is the same share of the range.
    middle = 74.0 if image.dtype.kind in "ui" else 74.0 / 255.0
    values = image.astype(np.float32)
    values -= middle
    values *= factor
    values += middle
    return _in_range(values, image)


def adjust_saturation(image: Any, factor: float) -> Any:
    if image.ndim == 2 or image.shape[2] == 1:
        return image.copy()
    values = image.astype(np.float32)
    values *= factor
    values += _gray(image) * (1 - factor)
    return _in_range(values, image)


def adjust_hue(image: Any, factor: float) -> Any:
    if image.ndim == 2 or image.shape[2] == 1:
        return image.copy()
    scale = _white(image)
    turned = hsv_to_rgb(*_turned(rgb_to_hsv(image.astype(np.float32) / scale), factor))
    return _as_before(turned * scale, image)


def _turned(hsv: tuple[Any, Any, Any], factor: float) -> tuple[Any, Any, Any]:
    hue = hsv[0] + factor  # less than one turn either way; `%` takes ten times as long
    hue -= hue >= 1
    hue += hue < 0
    return hue, hsv[1], hsv[2]


def rgb_to_hsv(image: Any) -> tuple[Any, Any, Any]:
    """Hue (a full turn is 1), saturation and value of an image in [0, 1]."""
    red, green, blue = (np.ascontiguousarray(image[..., channel]) for channel in range(3))
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    divisor = spread + (spread == 0)
    # Terms of 0 or 1 times, since choosing (`np.where`) takes ten times as long; where nothing spreads, all three are 0.
    is_red = value == red
    is_green = (value == green) & ~is_red
    hue = (green - blue) / divisor
    hue += 6 * (hue < 0).astype(hue.dtype)
    hue *= is_red
    hue += ((blue - red) / divisor + 2) * is_green
    hue += ((red - green) / divisor + 4) * ~(is_red | is_green)
    hue /= 6
    return hue, spread / (value + (value == 0)), value


def hsv_to_rgb(hue: Any, saturation: Any, value: Any) -> Any:
    """The reverse of `rgb_to_hsv`."""
    out = np.empty((*hue.shape, 3), value.dtype)
    sixths, colored = hue * 6, value * saturation
    for channel, shift in enumerate((5.0, 3.0, 1.0)):  # red, green and blue are the same curve, a third of a turn apart
        k = shift + sixths
        k -= 6 * (k >= 6).astype(k.dtype)
        np.subtract(value, colored * np.clip(np.minimum(k, 4 - k), 0, 1), out=out[..., channel])
    return out


def inverse_rotation(angle: float, center: tuple[float, float], shift: tuple[float, float] = (0.0, 0.0)) -> tuple[float, ...]:
    """The matrix from pixels of the rotated image to the original; `angle` in degrees, counter-clockwise."""
    turn = -math.radians(angle)
    cosine, sine = round(math.cos(turn), 15), round(math.sin(turn), 15)
    x, y = -center[0] - shift[0], -center[1] - shift[1]
    return (
        cosine,
        sine,
        cosine * x + sine * y + center[0],
        -sine,
        cosine,
        -sine * x + cosine * y + center[1],
    )


def _gray(image: Any) -> Any:
    if image.ndim == 2 or image.shape[2] == 1:
        return image.astype(np.float32).reshape(image.shape[0], image.shape[1], 1)
    return (image[..., :3].astype(np.float32) @ _GRAY)[..., None]


def _color(fill: Any, image: Any) -> Any:
    """One value for each channel; an image with one channel takes the first."""
    color = np.asarray(fill).astype(image.dtype)
    return color.reshape(-1)[:1] if image.ndim == 2 or image.shape[2] == 1 else color


def _white(image: Any) -> float:
    return 255.0 if image.dtype.kind in "ui" else 1.0


def _as_before(values: Any, image: Any) -> Any:
    """Values in the dtype of `image`: rounded, and cut to its range."""
    if image.dtype.kind in "ui":
        limits, rounded = np.iinfo(image.dtype), np.rint(values)
        return np.clip(rounded, limits.min, limits.max, out=rounded).astype(image.dtype)
    return values.astype(image.dtype, copy=False)


def _in_range(values: Any, image: Any) -> Any:
    """Colours in the dtype of `image`: cut to [0, 255], and downwards as Paddle does, or to [0, 1]."""
    return np.clip(values, 0, _white(image), out=values).astype(image.dtype, copy=False)


explained(globals())
