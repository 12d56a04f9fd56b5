"""Resizing images, sequences and volumes.

All modes but "area" work on one axis after the other: each position of the result reads one position of the
input (nearest), or the weighted sum of two (linear) or four (cubic).
"""
from __future__ import annotations

import struct
from typing import Any

from wherry_nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, float64, int64, is_symbolic
from wherry_tensor.arguments import integer, require_tensor, values_of
from wherry_tensor.axis_sampling import clip_indices, gather_along
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.sizes import Size, equals, has_sizes, is_unknown, known, largest
from wherry_tensor.spellings import spelled

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
            the mean of the area that a position covers.
        align_corners: whether the centres of the first and last elements of input and result coincide, instead of
            their outer edges; not for "nearest" and "area".
        align_mode: 0: positions are those of the elements' centres. 1: position i of the result is position `i * ratio` of
            the input. For the linear modes without
            `align_corners`.
        data_format: "NCW", "NCHW" or "NCDHW", or with the channels last "NWC", "NHWC" or "NDHWC".

    Shape:
        `[N, C, L]`, `[N, C, H, W]` or `[N, C, D, H, W]` (or channels last) to the same with the new sizes.

    Raises:
        TypeError: `x` is not a Tensor, `align_corners` is not a bool, or `scale_factor` is not a number (also a ValueError).
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
    counts = [shape[axis] for axis in axes]
    sizes, scales = _sizes(size, scale_factor, counts)
    if kind == "area":
        for axis, *two in zip(axes, counts, sizes, strict=True):
            for n in two:
                known(n, f"interpolate: the areas along axis {axis}")
        return _mean_of_areas(x, sizes, last)
    if kind != "nearest" and not x.dtype.is_floating:
        raise InvalidTypeError(
            f"interpolate: x is not floating. Got x of dtype {x.dtype.name} with mode={short(mode)}, expected a "
            f"floating dtype. Cast it with astype('float32'), or use mode 'nearest'."
        )
    order = list(zip(axes, sizes, scales, strict=True))
    if type(sizes[0]) is type(counts[0]) is int and sizes[0] >= counts[0]:
        order.reverse()  # what grows grows last along the axis whose rows are the longest
    for axis, length, scale in order:
        count = shape[axis]
        if length is count and not isinstance(scale, Tensor) and scale == 1.0:
            continue  # a size that is not known yet, and stays
        ratio = _ratio(count, length, scale, align_corners)
        if type(ratio) is float and ratio == 1.0 and not has_sizes((count, length)) and length == count:
            continue  # every place stays where it is
        if kind == "nearest":
            x = _nearest(x, axis, count, length, ratio)
        elif kind == "bicubic":
            x = _cubic(x, axis, count, length, ratio, centred=not align_corners)
        else:
            x = _linear(x, axis, count, length, ratio, centred=not align_corners and align_mode == 0)
    return x


def _ratio(count: int, length: int, scale: float | Tensor, align_corners: bool) -> float | Tensor:
    """How far apart in the input two neighbours of the result are; a tensor where a size is not known while a program is captured."""
    if not has_sizes((count, length)):
        if length == 1 and count > 1:
            return 0.0  # as in Paddle, which takes the first element and not the middle
        if align_corners:
            return (count - 1) / (length - 1) if length > 1 else 1.0
        return 1.0 / scale if scale else count / length
    if equals(length, 1):
        return 0.0  # also of one element, which is the only one there is
    # A result of one place is at 0: aligned by its index, otherwise by a ratio of 0.
    if align_corners:
        return _float64(count - 1) / _float64(largest(length - 1, 1))
    several = ops.cast(ops.greater_than(_float64(length), _float64(1)), float64)
    if isinstance(scale, Tensor):
        return several / ops.cast(scale, float64)
    if scale >= 1:
        return 1.0 / scale  # one place only comes from one element
    return several * (1.0 / scale if scale else _float64(count) / _float64(length))


def _float64(n: int) -> Tensor:
    return n.tensor(float64) if is_unknown(n) else ops.full(shape=(), value=n, dtype=float64)  # type: ignore[attr-defined]


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
    """Interpolation (resizing): another name of `interpolate`, which describes arguments and errors.

    Shape:
        `[N, C, L]`, `[N, C, H, W]` or `[N, C, D, H, W]` (or channels last) to the same with the new sizes.

    Raises:
        TypeError: `x` is not a Tensor, `align_corners` is not a bool, or `scale_factor` is not a number (also a ValueError).
        ValueError: there is no such mode, it does not go with the rank or layout, or a size or scale is wrong.

    Source:
        `paddle.nn.functional.upsample`.

    Examples:
        >>> wherry.nn.functional.upsample(wherry.ones([1, 3, 4, 6]), scale_factor=1.5).shape
        [1, 3, 6, 9]
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


def _checked(x: Tensor, kind: Any, align_corners: Any, align_mode: Any, data_format: Any) -> bool:
    """Whether the channels are last, after checking the arguments."""
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


def _sizes(size: Any, scale_factor: Any, counts: list[int]) -> tuple[list[int], list[float | Tensor]]:
    """Sizes of the result, and the scales that gave them; 0 where the size was given, a tensor where a program finds it."""
    if (size is None) == (scale_factor is None):
        what = "One of size and scale_factor must not be None" if size is None else "Only one of size or scale_factor should be defined"
        raise InvalidArgumentError(
            f"interpolate: {what}. Got size={short(size)} and scale_factor={short(scale_factor)}, expected one. "
            f"`size` is exact, `scale_factor` is relative to x."
        )
    spatial = len(counts)
    if size is not None:
        found = _size_list(size, spatial)
        if min(_numbers(found)) <= 0:
            raise AssertedArgumentError(
                f"interpolate: Each dimension size given in out_shape must be greater than 0. Got size={found}, expected sizes "
                f"of 1 or more. The spatial sizes of x are {counts}."
            )
        return found, [0.0] * spatial
    scales = _scale_list(scale_factor, spatial)
    # In float32, as in Paddle: 100 * 0.29 is 29 there, and 28 once rounded down in float64.
    found = [_scaled(count, scale) for count, scale in zip(counts, scales, strict=True)]
    if min(_numbers(found)) <= 0:
        raise InvalidArgumentError(
            f"interpolate: the result would be empty. Got scale_factor={scales} for spatial sizes {counts}, which gives {found}, "
            f"expected sizes greater than 0. Use a larger scale."
        )
    return found, scales


def _numbers(sizes: list[int]) -> list[int]:
    """The sizes that are known, and a 1 for the others."""
    return [1 if is_unknown(n) else n for n in sizes]


def _scaled(count: int, scale: float | Tensor) -> int:
    if not isinstance(scale, Tensor):
        if not is_unknown(count):
            return int(_float32(count * scale))
        if scale.is_integer():
            return count * int(scale)
        scale = ops.full(shape=(), value=scale, dtype=float32)
    product = ops.multiply(ops.cast(_float64(count), float32), scale)
    return Size("value", ops.cast(ops.floor(product), int64))  # type: ignore[return-value]  # a Size stands for an int


def _size_list(size: Any, spatial: int) -> list[int]:
    if isinstance(size, Tensor):
        if size.ndim != 1:
            raise InvalidArgumentError(
                f"interpolate: If size is a tensor, its rank must be 1. Got shape {size.shape}, expected [{spatial}]. "
                f"Reshape it."
            )
        size = list(values_of(size, "interpolate", "size"))
    elif type(size).__module__ == "numpy":
        size = size.tolist()
    if not isinstance(size, (list, tuple)):
        raise InvalidTypeError(
            f"interpolate: size is not a list. Got size={short(size)} ({type(size).__name__}), expected {spatial} int(s). "
            f"Write {short([size] * spatial)}."
        )
    if len(size) != spatial:
        raise InvalidArgumentError(
            f"interpolate: The x and size should satisfy rank(x) - 2 == len(size). Got size={short(size)}, expected {spatial} int(s). "
            f"Leave out batch and channels."
        )
    return [int(one) if isinstance(one, float) else integer(one, "interpolate", f"size[{i}]") for i, one in enumerate(size)]


def _scale_list(scale: Any, spatial: int) -> list[float | Tensor]:
    if isinstance(scale, Tensor) and is_symbolic(scale):
        parts = [ops.select(scale, axis=0, index=i) for i in range(spatial)] if scale.ndim and spatial > 1 and scale.shape[0] == spatial else [scale]
        scale = parts * (spatial // len(parts))
    elif isinstance(scale, Tensor) or type(scale).__module__ == "numpy":
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
    found = [
        ops.cast(ops.reshape(one, shape=()), float32) if isinstance(one, Tensor) and is_symbolic(one)
        else _float32(float(one.item() if isinstance(one, Tensor) else one)) for one in scale
    ]
    if not all(isinstance(one, Tensor) or one > 0 for one in found):
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


def _nearest(x: Tensor, axis: int, count: int, length: int, ratio: float | Tensor) -> Tensor:
    # In float32, as in Paddle: a product close to an integer rounds down as it does there.
    step = ops.cast(ratio, float32) if isinstance(ratio, Tensor) else ops.full(shape=(), value=_float32(ratio), dtype=float32)
    places = ops.multiply(_row(length, float32), step)
    return gather_along(x, _within(places, count), axis)


def _linear(x: Tensor, axis: int, count: int, length: int, ratio: float | Tensor, centred: bool) -> Tensor:
    places = _places(length, ratio, centred)
    if centred:
        places = ops.maximum(places, ops.full(shape=(), value=0, dtype=float64))  # the first half of the first element has no left neighbour
    low = _within(places, count)
    share = ops.subtract(places, ops.cast(low, float64))
    return _weighted(x, axis, [low, clip_indices(low + 1, count)], [1.0 - share, share])


_CUBIC = -0.75


def _cubic(x: Tensor, axis: int, count: int, length: int, ratio: float | Tensor, centred: bool) -> Tensor:
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


def _places(length: int, ratio: float | Tensor, centred: bool) -> Tensor:
    """Positions of the result in coordinates of the input."""
    row = _row(length, float64)
    return (row + 0.5) * ratio - 0.5 if centred else row * ratio


def _row(length: int, dtype: Any) -> Tensor:
    return ops.arange(start=0, step=1, length=length, dtype=dtype)


def _within(places: Tensor, count: int) -> Tensor:
    """Positions rounded down and clipped to [0, count)."""
    return clip_indices(ops.cast(ops.floor(places), int64), count)


explained(globals())
spelled(globals())
