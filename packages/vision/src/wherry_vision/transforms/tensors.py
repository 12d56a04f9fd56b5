"""Transforms of image tensors, [C, H, W] or [N, C, H, W], composed of differentiable functions."""
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wherry_nn.functional import grid_sample, interpolate
from wherry_nn.functional import pad as pad_axes
from wherry_tensor import (
    Tensor,
    cast,
    clip,
    concat,
    equal,
    flip,
    full_like,
    mean,
    ops,
    remainder,
    stack,
    to_tensor,
    unsqueeze,
    where,
)
from wherry_tensor import max as maximum_of
from wherry_tensor import min as minimum_of
from wherry_tensor._core import float32
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.sizes import equals

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "crop",
    "hflip",
    "of_bytes",
    "pad",
    "resize",
    "rotate",
    "size_of",
    "to_grayscale",
    "vflip",
]

_GRAY = (0.2989, 0.587, 0.114)  # Paddle's numbers for tensors


def of_bytes(x: Tensor, channels_first: bool, channels: int | None = None) -> Tensor:
    """Bytes [H, W, C] as floats in [0, 1], or with `channels_first` the first channels of them, [channels, H, W].

    Bytes change places, which are a quarter of the floats.
    """
    if channels_first:
        x = ops.copy.run((ops.transpose.run((x,), ((2, 0, 1),)),), ())[:channels]
    floats = ops.cast.run((x,), (float32,))
    ops.divide.run_into(floats, (floats, _byte(floats.place)), ())
    return floats


@lru_cache(8)
def _byte(place: Any) -> Tensor:
    return to_tensor(np.float32(255), place=place)


def size_of(image: Tensor) -> tuple[int, int]:
    """Width and height."""
    return image.shape[-1], image.shape[-2]


def resize(image: Tensor, height: int, width: int, method: str) -> Tensor:
    floats = image if image.dtype.is_floating else cast(image, "float32")
    batch = floats if floats.ndim == 4 else unsqueeze(floats, 0)
    out = interpolate(batch, size=[height, width], mode=method)
    return _as_before(out if image.ndim == 4 else out.squeeze(0), image)


def crop(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    return image[..., top : top + height, left : left + width]


def hflip(image: Tensor) -> Tensor:
    return flip(image, [-1])


def vflip(image: Tensor) -> Tensor:
    return flip(image, [-2])


def pad(image: Tensor, left: int, top: int, right: int, bottom: int, fill: Any, mode: str) -> Tensor:
    batch = image if image.ndim == 4 else unsqueeze(image, 0)
    if mode == "symmetric":
        out = _mirrored(_mirrored(batch, -1, left, right), -2, top, bottom)
    else:
        names = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}
        out = pad_axes(batch, [left, right, top, bottom], mode=names[mode], value=_one(fill))
    return out if image.ndim == 4 else out.squeeze(0)


def _one(fill: Any) -> float:
    """A border has one value in all channels of a tensor."""
    values = set(fill) if isinstance(fill, (list, tuple)) else {fill}
    if len(values) != 1:
        raise InvalidArgumentError(
            f"pad: fill has several values for a tensor. Got fill={short(fill)}, expected a number. Pad an array, whose channels may differ."
        )
    return float(values.pop())


def _mirrored(x: Tensor, axis: int, before: int, after: int) -> Tensor:
    """With the edge repeated, unlike "reflect"."""
    size = x.shape[axis]
    parts = [x]
    if before:
        parts.insert(0, flip(_slice(x, axis, 0, before), [axis]))
    if after:
        parts.append(flip(_slice(x, axis, size - after, size), [axis]))
    return concat(parts, axis) if len(parts) > 1 else x


def _slice(x: Tensor, axis: int, start: int, end: int) -> Tensor:
    return x[..., start:end] if axis == -1 else x[..., start:end, :]


def rotate(image: Tensor, matrix: tuple[float, ...], height: int, width: int, method: str, fill: Any) -> Tensor:
    """`matrix` maps the centre of a new pixel to a position in `image`; see `arrays.source_coordinates`."""
    from wherry_vision.transforms.arrays import source_coordinates

    old_width, old_height = size_of(image)
    at_x, at_y, inside = source_coordinates(matrix, height, width, (old_width, old_height))
    # grid_sample counts from -1 at the outer border of the first pixel to 1 at that of the last.
    grid = np.stack([2 * at_x / old_width - 1, 2 * at_y / old_height - 1], -1)[None].astype(np.float32)
    floats = image if image.dtype.is_floating else cast(image, "float32")
    batch = floats if floats.ndim == 4 else unsqueeze(floats, 0)
    grids = cast(to_tensor(np.repeat(grid, batch.shape[0], 0)), batch.dtype)
    out = grid_sample(batch, grids, mode=method, padding_mode="border", align_corners=False)
    color = to_tensor(np.asarray(fill, np.float32).reshape(-1, 1, 1)).astype(batch.dtype)
    out = where(to_tensor(inside), out, color.expand_as(out[0]).expand_as(out))
    return _as_before(out if image.ndim == 4 else out.squeeze(0), image)


def to_grayscale(image: Tensor, channels: int) -> Tensor:
    gray = _as_before(_gray(image), image)
    return concat([gray] * channels, -3) if channels > 1 else gray


def adjust_brightness(image: Tensor, factor: float) -> Tensor:
    return _blended(image, 0.0, factor)


def adjust_contrast(image: Tensor, factor: float) -> Tensor:
    return _blended(image, mean(_gray(image), axis=[-1, -2, -3], keepdim=True), factor)


def adjust_saturation(image: Tensor, factor: float) -> Tensor:
    return image if image.shape[-3] == 1 else _blended(image, _gray(image), factor)


def adjust_hue(image: Tensor, factor: float) -> Tensor:
    if equals(image.shape[-3], 1):
        return image
    white = _white(image)
    red, green, blue = ((_floats(image) / white)[..., channel, :, :] for channel in range(3))
    rgb = stack([red, green, blue], 0)
    value, least = maximum_of(rgb, 0), minimum_of(rgb, 0)
    spread = value - least
    one = full_like(spread, 1.0)
    zero = full_like(spread, 0.0)
    divisor = where(equal(spread, zero), one, spread)
    hue = where(
        equal(value, red),
        (green - blue) / divisor,
        where(equal(value, green), (blue - red) / divisor + 2.0, (red - green) / divisor + 4.0),
    )
    saturation = spread / where(equal(value, zero), one, value)
    hue = remainder(hue / 6.0 + factor, one) * 6.0
    channels = []
    for shift in (5.0, 3.0, 1.0):  # red, green and blue are the same curve, a third of a turn apart
        k = remainder(hue + shift, one * 6.0)
        rising = where(k < 4.0 - k, k, 4.0 - k)
        channels.append(value - value * saturation * clip(rising, 0.0, 1.0))
    return _as_before(stack(channels, -3) * white, image)


def _blended(image: Tensor, other: Any, factor: float) -> Tensor:
    return _as_before(clip(_floats(image) * factor + other * (1.0 - factor), 0.0, _white(image)), image, rounded=False)


def _gray(image: Tensor) -> Tensor:
    floats = _floats(image)
    if equals(image.shape[-3], 1):
        return floats
    red, green, blue = (floats[..., channel : channel + 1, :, :] for channel in range(3))
    return red * _GRAY[0] + green * _GRAY[1] + blue * _GRAY[2]


def _floats(image: Tensor) -> Tensor:
    return image if image.dtype.is_floating else cast(image, "float32")


def _white(image: Tensor) -> float:
    return 1.0 if image.dtype.is_floating else 255.0


def _as_before(values: Tensor, image: Tensor, rounded: bool = True) -> Tensor:
    if image.dtype.is_floating:
        return values
    return cast(clip(values.round() if rounded else values, 0.0, 255.0), image.dtype)


explained(globals())
