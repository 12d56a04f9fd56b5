"""Resizing of arrays along an axis, as weighted sums of samples.

As OpenCV has it, whose numbers Paddle gives for arrays: nothing is smoothed when an image shrinks, except
with "area". Bilinear and the like see samples at the middle of their pixels, "nearest" at the corner.
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wherry_tensor import ops
from wherry_tensor._core import float32, uint8
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import to_tensor as of_array

__all__ = ["RESAMPLING", "cubic", "resample"]

RESAMPLING = ("nearest", "bilinear", "area", "bicubic", "lanczos")

Taps = tuple[Any, Any]  # positions and weights, [new size, samples of each]


def resample(image: Any, height: int, width: int, method: str) -> Any:
    """An array [H, W] or [H, W, C] with another height and width, as float32; of bytes, and with "nearest", in its dtype."""
    if method == "nearest":
        rows, columns = _nearest(image.shape[0], height), _nearest(image.shape[1], width)
        return image[rows[:, None], columns]
    if method == "area" and (height > image.shape[0] or width > image.shape[1]):
        method = "area_up"
    values = of_array(np.ascontiguousarray(image, np.uint8 if image.dtype == np.uint8 else np.float32), place="cpu")
    if image.dtype == np.uint8:
        values = ops.cast.run((values,), (float32,))
    for axis, new in ((0, height), (1, width)):
        positions, weights = _tap_tensors(image.shape[axis], new, method)
        values = ops.resample.run((values, positions, weights), (axis,))
    if image.dtype == np.uint8:
        integers, black, white = _levels()
        ops.add.run_into(values, (values, integers), ())
        ops.subtract.run_into(values, (values, integers), ())
        if method in ("bicubic", "lanczos"):  # whose weights are not all positive
            ops.clip.run_into(values, (values, black, white), ())
        values = ops.cast.run((values,), (uint8,))
    return values.numpy()


@lru_cache(1)
def _levels() -> tuple[Any, ...]:
    """A number beside which floats have no fractions (adding it rounds, halves to even), and the ends of bytes."""
    return tuple(of_array(np.float32(x), place="cpu") for x in (1.5 * 2**23, 0, 255))


@lru_cache(64)
def _tap_tensors(size: int, new: int, method: str) -> Taps:
    positions, weights = _taps(size, new, method)
    return of_array(positions, place="cpu"), of_array(weights, place="cpu")


def _nearest(size: int, new: int) -> Any:
    return np.minimum((np.arange(new) * (size / new)).astype(np.int64), size - 1)


@lru_cache(64)
def _taps(size: int, new: int, method: str) -> Taps:
    scale = size / new
    if method == "area":
        return _overlaps(size, new, scale)
    middle = (np.arange(new) + 0.5) * scale - 0.5
    if method == "area_up":  # linear, but only where a new sample lies on two old ones
        below = np.floor(np.arange(new) * scale)
        share = (np.arange(new) + 1) - (below + 1) / scale
        middle = below + np.where(share <= 0, 0, share - np.floor(share))
    reach = {"bilinear": 1, "area_up": 1, "bicubic": 2, "lanczos": 4}[method]
    first = np.floor(middle).astype(np.int64) - reach + 1
    positions = first[:, None] + np.arange(2 * reach)
    distance = np.abs(middle[:, None] - positions)
    if method == "bicubic":
        weights = cubic(distance)
    elif method == "lanczos":
        weights = np.sinc(distance) * np.sinc(distance / 4)
        weights /= weights.sum(1, keepdims=True)
    else:
        weights = 1 - distance
    return np.clip(positions, 0, size - 1), weights.astype(np.float32)


def cubic(distance: Any, a: float = -0.75) -> Any:
    """Weights of samples at a distance below 2: the cubic of Keys (1981) with the slope that OpenCV chose."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, far)


def _overlaps(size: int, new: int, scale: float) -> Taps:
    """Each new sample is the mean of the samples that it covers."""
    start = np.arange(new) * scale
    end = np.minimum(start + scale, size)
    most = int(np.ceil(scale)) + 1
    positions = np.floor(start + 1e-9).astype(np.int64)[:, None] + np.arange(most)
    weights = np.minimum(end[:, None], positions + 1) - np.maximum(start[:, None], positions)
    weights = np.maximum(weights, 0)
    weights /= weights.sum(1, keepdims=True)
    return np.clip(positions, 0, size - 1), weights.astype(np.float32)


explained(globals())
