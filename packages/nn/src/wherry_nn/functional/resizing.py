"""Resizing images, sequences and volumes.

All modes but "area" work on one axis after the other: each place of the result reads one place of the
input (nearest), or the weighted sum of two (linear) or four (cubic).
"""
from __future__ import annotations

import struct
from typing import Any

from wherry_nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64, int64
from wherry_tensor.arguments import integer, require_tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.places import at_places, clipped
from wherry_tensor.sizes import known

__all__ = ["interpolate", "upsample"]

_RANKS = {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,), "nearest": (4, 5), "area": (3, 4, 5)}
_FIRST = {3: ("NCW", "NCL"), 4: ("NCHW",), 5: ("NCDHW",)}
_LAST = {3: ("NWC", "NLC"), 4: ("NHWC",), 5: ("NDHWC",)}


def interpolate(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Interpolation (resizing): `x` at another resolution.

    Args:
        x: floating (any dtype for "nearest"): `[N, C, W]`, `[N, C, H, W]` or `[N, C, D, H, W]`.
        size: sizes of the spatial axes of the result: a list of ints, or a 1-D integer tensor.
        scale_factor: by which sizes are multiplied (rounding down): a number, or one for each spatial axis. One of
            `size` and `scale_factor` is given.
        mode: "nearest" (4-D, 5-D), "linear" (3-D), "bilinear" and "bicubic" (4-D), "trilinear" (5-D), or "area",
            the mean of what a place covers.
        align_corners: whether the first and last elements of input and result lie at the same places, instead of
            the outer edges of them; not for "nearest" and "area".
        align_mode: 0: elements are small areas, and places are those of their centres. 1: elements are points,
            and place i of the result is place `i * ratio` of the input. For the linear modes without
            `align_corners`.
        data_format: "NCW", "NCHW" or "NCDHW", or with the channels last "NWC", "NHWC" or "NDHWC".
        name: accepted for compatibility; unused.

    Shape:
        `[N, C, L]`, `[N, C, H, W]` or `[N, C, D, H, W]` (or channels last) to the same with the new sizes.

    Raises:
        TypeError: `x` is not a Tensor, `align_corners` no bool, or `scale_factor` no number (also a ValueError).
        ValueError: there is no such mode, it does not go with the rank or layout, or a size or scale is wrong.

    Source:
        `paddle.nn.functional.interpolate`. Cubic: Keys (1981) with a = -0.75.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0]).reshape([1, 1, 1, 2])
        >>> print(wherry.nn.functional.interpolate(x, scale_factor=2).flatten().numpy())
        [1. 1. 2. 2. 1. 1. 2. 2.]
        >>> print(wherry.nn.functional.interpolate(x, [1, 4], mode="bilinear").flatten().numpy())
        [1.   1.25 1.75 2.  ]
    """
    require_tensor(x, "interpolate")
    kind = mode.lower() if isinstance(mode, str) else mode
    rank = x.ndim
    last = _checked(x, kind, align_corners, align_mode, data_format)
    axes = range(1, rank - 1) if last else range(2, rank)
    shape = x.shape
    if kind == "area" and isinstance(size, int):
        size = [size] * len(axes)
    counts = [known(shape[axis], f"interpolate: the positions along axis {axis}") for axis in axes]
    sizes, scales = _sizes(size, scale_factor, counts)
    if kind == "area":
        return _mean_of_areas(x, sizes, last)
    if kind != "nearest" and not x.dtype.is_floating:
        raise InvalidTypeError(
            f"interpolate: values between others are fractions. Got x of dtype {x.dtype.name} with mode={short(mode)}, expected a "
            f"floating dtype. Cast it with astype('float32'), or use mode 'nearest'."
        )
    for axis, length, scale in zip(axes, sizes, scales, strict=True):
        count = shape[axis]
        if length == 1 and count > 1:
            ratio = 0.0  # as in Paddle, which takes the first element and not the middle
        elif align_corners:
            ratio = (count - 1) / (length - 1) if length > 1 else 1.0
        else:
            ratio = 1.0 / scale if scale else count / length
        if ratio == 1.0 and length == count:
            continue  # every place stays where it is
        if kind == "nearest":
            x = _nearest(x, axis, count, length, ratio)
        elif kind == "bicubic":
            x = _cubic(x, axis, count, length, ratio, centred=not align_corners)
        else:
            x = _linear(x, axis, count, length, ratio, centred=not align_corners and align_mode == 0)
    return x


def upsample(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Interpolation (resizing): `x` at another resolution: another name of `interpolate`, where all of this is
    described.

    Shape:
        `[N, C, L]`, `[N, C, H, W]` or `[N, C, D, H, W]` (or channels last) to the same with the new sizes.

    Source:
        `paddle.nn.functional.upsample`.

    Examples:
        >>> wherry.nn.functional.upsample(wherry.ones([1, 3, 4, 6]), scale_factor=1.5).shape
        [1, 3, 6, 9]
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


def _checked(x: Tensor, kind: Any, align_corners: Any, align_mode: Any, data_format: Any) -> bool:
    """Whether the channels are last, once the arguments are found to go together."""
    if kind not in _RANKS:
        raise InvalidArgumentError(
            f"interpolate: The mode can only be 'area', 'linear', 'bilinear', 'trilinear', 'bicubic' or 'nearest'. Got "
            f"mode={short(kind)}, expected one of them. Images take 'bilinear'."
        )
    if x.ndim not in _RANKS[kind]:
        ranks = " or ".join(f"{rank}-D" for rank in _RANKS[kind])
        raise InvalidArgumentError(
            f"interpolate: '{kind}' supports {ranks} tensors only. Got x of shape {x.shape}, expected batch, channels and "
            f"{' or '.join(str(rank - 2) for rank in _RANKS[kind])} spatial axes. Choose the mode for {max(x.ndim - 2, 0)} of them, "
            f"or add axes with unsqueeze."
        )
    if type(align_corners) is not bool:
        raise InvalidTypeError(
            f"interpolate: Attr align_corners should be a bool value. Got {short(align_corners)}, expected True or False. "
            f"Write align_corners=True."
        )
    if align_mode not in (0, 1):
        raise InvalidArgumentError(
            f"interpolate: align_mode can only be 0 or 1. Got align_mode={short(align_mode)}, expected one of them. 0 is the usual one."
        )
    if align_corners and kind in ("nearest", "area"):
        raise InvalidArgumentError(
            f"interpolate: align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
            f"trilinear. Got mode={short(kind)}, expected one of them. Leave align_corners out."
        )
    last = data_format in _LAST[x.ndim]
    if not last and data_format not in _FIRST[x.ndim]:
        if kind == "area" and data_format == "NCHW":
            return False  # the default, which nobody changes for this mode
        raise InvalidArgumentError(
            f"interpolate: Got wrong value for param data_format: {short(data_format)} received but only "
            f"'{_FIRST[x.ndim][0]}' or '{_LAST[x.ndim][0]}' supported for {x.ndim}-D input. Got x of shape {x.shape}, expected "
            f"one of them. N is the batch, C the channels."
        )
    return last


def _sizes(size: Any, scale_factor: Any, counts: list[int]) -> tuple[list[int], list[float]]:
    """Sizes of the result, and the scales that gave them; 0 where the size was given."""
    if (size is None) == (scale_factor is None):
        what = "One of size and scale_factor must not be None" if size is None else "Only one of size or scale_factor should be defined"
        raise InvalidArgumentError(
            f"interpolate: {what}. Got size={short(size)} and scale_factor={short(scale_factor)}, expected one. "
            f"`size` is exact, `scale_factor` is relative to x."
        )
    spatial = len(counts)
    if size is not None:
        found = _size_list(size, spatial)
        if min(found) <= 0:
            raise AssertedArgumentError(
                f"interpolate: Each dimension size given in out_shape must be greater than 0. Got size={found}, expected sizes "
                f"of 1 or more. The spatial sizes of x are {counts}."
            )
        return found, [0.0] * spatial
    scales = _scale_list(scale_factor, spatial)
    # In float32, as in Paddle: 100 * 0.29 is 29 there, and 28 once rounded down in float64.
    found = [int(_float32(count * scale)) for count, scale in zip(counts, scales, strict=True)]
    if min(found) <= 0:
        raise InvalidArgumentError(
            f"interpolate: nothing would be left. Got scale_factor={scales} for spatial sizes {counts}, which gives {found}, "
            f"expected sizes greater than 0. Use a larger scale."
        )
    return found, scales


def _size_list(size: Any, spatial: int) -> list[int]:
    if isinstance(size, Tensor):
        if size.ndim != 1:
            raise InvalidArgumentError(
                f"interpolate: If size is a tensor, its rank must be 1. Got shape {size.shape}, expected [{spatial}]. "
                f"Reshape it."
            )
        size = size.tolist()
    elif type(size).__module__ == "numpy":
        size = size.tolist()
    if not isinstance(size, (list, tuple)):
        raise InvalidTypeError(
            f"interpolate: the sizes come in a list. Got size={short(size)} ({type(size).__name__}), expected {spatial} int(s). "
            f"Write {short([size] * spatial)}."
        )
    if len(size) != spatial:
        raise InvalidArgumentError(
            f"interpolate: The x and size should satisfy rank(x) - 2 == len(size). Got size={short(size)}, expected {spatial} int(s). "
            f"Leave out batch and channels."
        )
    return [int(one) if isinstance(one, float) else integer(one, "interpolate", f"size[{i}]") for i, one in enumerate(size)]


def _scale_list(scale: Any, spatial: int) -> list[float]:
    if isinstance(scale, Tensor) or type(scale).__module__ == "numpy":
        scale = scale.tolist()
    if isinstance(scale, (int, float)) and not isinstance(scale, bool):
        scale = [scale] * spatial
    if not isinstance(scale, (list, tuple)):
        raise InvalidTypeError(
            f"interpolate: Attr(scale)'s type should be float, int, list, tuple, or Tensor. Got scale_factor={short(scale)} "
            f"({type(scale).__name__}), expected a number. Write scale_factor=2."
        )
    if len(scale) != spatial:
        raise InvalidArgumentError(
            f"interpolate: there is one scale for each spatial axis. Got scale_factor={short(scale)}, expected {spatial} number(s). "
            f"A single number stands for all."
        )
    found = [_float32(float(one.item() if isinstance(one, Tensor) else one)) for one in scale]
    if not min(found) > 0:
        raise InvalidArgumentError(
            f"interpolate: Attr(scale) should be greater than zero. Got scale_factor={short(scale)}, expected positive numbers. "
            f"Numbers below 1 shrink."
        )
    return found


def _float32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def _mean_of_areas(x: Tensor, sizes: list[int], last: bool) -> Tensor:
    rank = x.ndim
    pool: Any = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 3]
    if not last:
        return pool(x, sizes[0] if rank == 3 else sizes)
    x = ops.transpose(x, (0, rank - 1, *range(1, rank - 1)))
    return ops.transpose(pool(x, sizes[0] if rank == 3 else sizes), (0, *range(2, rank), 1))


def _nearest(x: Tensor, axis: int, count: int, length: int, ratio: float) -> Tensor:
    # In float32, as in Paddle: where the product falls just beside an integer, this decides.
    places = ops.multiply(_row(length, float32), ops.full(shape=(), value=_float32(ratio), dtype=float32))
    return at_places(x, _within(places, count), axis)


def _linear(x: Tensor, axis: int, count: int, length: int, ratio: float, centred: bool) -> Tensor:
    places = _places(length, ratio, centred)
    if centred:
        places = ops.maximum(places, ops.full(shape=(), value=0, dtype=float64))  # the first half of an area has no neighbour
    low = _within(places, count)
    share = ops.subtract(places, ops.cast(low, float64))
    return _weighted(x, axis, [low, clipped(low + 1, count)], [1.0 - share, share])


_CUBIC = -0.75


def _cubic(x: Tensor, axis: int, count: int, length: int, ratio: float, centred: bool) -> Tensor:
    places = _places(length, ratio, centred)
    whole_places = ops.floor(places)
    t = ops.subtract(places, whole_places)
    taps = [_within(whole_places + float(offset), count) for offset in (-1, 0, 1, 2)]
    return _weighted(x, axis, taps, [_far(t + 1.0), _near(t), _near(1.0 - t), _far(2.0 - t)])


def _weighted(x: Tensor, axis: int, places: list[Tensor], weights: list[Tensor]) -> Tensor:
    index = ops.concat(*(ops.unsqueeze(place, (1,)) for place in places), axis=1)
    weight = ops.concat(*(ops.unsqueeze(one, (1,)) for one in weights), axis=1)
    return ops.resample(x, index, ops.cast(weight, dtype=x.dtype), axis)


def _near(t: Tensor) -> Tensor:
    """The kernel of cubic convolution for distances up to 1."""
    return ((_CUBIC + 2.0) * t - (_CUBIC + 3.0)) * t * t + 1.0


def _far(t: Tensor) -> Tensor:
    """The kernel of cubic convolution for distances from 1 to 2."""
    return ((_CUBIC * t - 5.0 * _CUBIC) * t + 8.0 * _CUBIC) * t - 4.0 * _CUBIC


def _places(length: int, ratio: float, centred: bool) -> Tensor:
    """Where the places of the result lie between those of the input."""
    row = _row(length, float64)
    return (row + 0.5) * ratio - 0.5 if centred else row * ratio


def _row(length: int, dtype: Any) -> Tensor:
    return ops.arange(start=0, step=1, length=length, dtype=dtype)


def _within(places: Tensor, count: int) -> Tensor:
    """The places rounded down, none of them outside [0, count)."""
    return clipped(ops.cast(ops.floor(places), int64), count)
