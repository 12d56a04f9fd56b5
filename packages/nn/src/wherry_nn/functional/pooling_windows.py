"""Pooling that came with Paddle 3: power averages, and maxima of windows that are drawn."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn.functional import pooling
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, integers_of, real_number, require_rank
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.functions import creation, movement, positions, reduction
from wherry_tensor.functions import random as _random
from wherry_tensor.spellings import spelled

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d", "lp_pool1d", "lp_pool2d"]


def lp_pool1d(
    x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Power average pooling: the root of the sum of powers of each window.

    Args:
        x: floating.
        norm_type: the power, not 0; infinity takes maxima.
        kernel_size: an int.
        stride: steps between windows; None is `kernel_size`.
        padding: zeros that count as elements; as of `max_pool1d`.
        ceil_mode: whether a last window that the input fills only partly counts.
        data_format: "NCL" or "NLC".

    Shape:
        `[N, C, L]` to `[N, C, L']`, as of `avg_pool1d`.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: an argument is out of range, or the window does not fit.

    Source:
        `paddle.nn.functional.lp_pool1d`.

    Examples:
        >>> x = wherry.to_tensor([[[3.0, 4.0, 0.0, 1.0]]])
        >>> wherry.nn.functional.lp_pool1d(x, 2, 2).tolist()
        [[[5.0, 1.0]]]
    """
    require_rank(x, "lp_pool1d", 3, layout="[N, C, L]")
    last = _channels_last(data_format, "NCL", "NLC", "lp_pool1d")
    y = movement.unsqueeze(movement.transpose(x, [0, 2, 1]) if last else x, 2)
    kernel, steps = ([1, *_sizes(one, 1, "lp_pool1d", name)] for one, name in ((kernel_size, "kernel_size"), (stride or kernel_size, "stride")))
    out = movement.squeeze(_powers(y, norm_type, kernel, steps, _flat_padding(padding), ceil_mode, "lp_pool1d"), 2)
    return movement.transpose(out, [0, 2, 1]) if last else out


def _flat_padding(padding: Any) -> Any:
    """The padding of a sequence as that of an image of one row."""
    if isinstance(padding, str):
        return padding
    values = list(integers_of(padding if isinstance(padding, (list, tuple)) else [padding], "lp_pool1d", "padding"))
    return [0, 0, *values] if len(values) == 2 else [0, *values]


def lp_pool2d(
    x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Power average pooling: the root of the sum of powers of each window.

    Args:
        x: floating.
        norm_type: the power, not 0; infinity takes maxima.
        kernel_size: an int or `[height, width]`.
        stride: steps between windows; None is `kernel_size`.
        padding: zeros that count as elements; as of `max_pool2d`.
        ceil_mode: whether a last window that the input fills only partly counts.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to `[N, C, H', W']`, as of `avg_pool2d`.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: an argument is out of range, or the window does not fit.

    Source:
        `paddle.nn.functional.lp_pool2d`.

    Examples:
        >>> wherry.nn.functional.lp_pool2d(wherry.ones([1, 1, 4, 4]), 2, 2).tolist()
        [[[[2.0, 2.0], [2.0, 2.0]]]]
    """
    require_rank(x, "lp_pool2d", 4, layout="[N, C, H, W]")
    last = _channels_last(data_format, "NCHW", "NHWC", "lp_pool2d")
    y = movement.transpose(x, [0, 3, 1, 2]) if last else x
    kernel, steps = (_sizes(one, 2, "lp_pool2d", name) for one, name in ((kernel_size, "kernel_size"), (stride or kernel_size, "stride")))
    out = _powers(y, norm_type, kernel, steps, padding, ceil_mode, "lp_pool2d")
    return movement.transpose(out, [0, 2, 3, 1]) if last else out


def _channels_last(data_format: Any, first: str, last: str, op_name: str) -> bool:
    if data_format not in (first, last):
        raise InvalidArgumentError(f"{op_name}: unknown data_format. Got {short(data_format)}, expected {first!r} or {last!r}.")
    return bool(data_format == last)


def _sizes(value: Any, count: int, op_name: str, name: str) -> list[int]:
    found = [integer(value, op_name, name)] * count if isinstance(value, int) else list(integers_of(value, op_name, name))
    if len(found) == 1:
        found *= count
    if len(found) != count or any(n < 1 for n in found):
        raise InvalidArgumentError(f"{op_name}: {name} does not fit. Got {short(value)}, expected an int of at least 1, or one for each of {count} axes.")
    return found


def _powers(x: Tensor, norm_type: Any, kernel: list[int], stride: list[int], padding: Any, ceil_mode: bool, op_name: str) -> Tensor:
    power = real_number(norm_type, op_name, "norm_type")
    if power == 0:
        raise InvalidArgumentError(f"{op_name}: the power cannot be 0. Got norm_type=0, expected another number. Use 2 for the euclidean norm.")
    if math.isinf(power):
        return pooling.max_pool2d(x, kernel, stride, padding, False, ceil_mode)  # type: ignore[no-any-return]
    means = pooling.avg_pool2d(x**power, kernel, stride, padding, ceil_mode, False, 1.0)
    return means ** (1.0 / power)


def fractional_max_pool2d(
    x: Tensor, output_size: Any, kernel_size: Any = None, random_u: float | None = None, return_mask: bool = False, name: str | None = None
) -> Any:
    """Maxima of windows whose places are drawn, so that the sizes shrink by any factor.

    Args:
        x: floating.
        output_size: an int or `[height, width]`, each not larger than that of the input; None keeps it.
        kernel_size: of windows that overlap; None: from one place to the next.
        random_u: the number in (0, 1) from which the places follow; None draws one.
        return_mask: whether to return the positions of the maxima in their channel, too.

    Shape:
        `[N, C, H, W]` to `[N, C, *output_size]`.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: a size is out of range, or `random_u` not in (0, 1).

    Source:
        `paddle.nn.functional.fractional_max_pool2d`; Graham (2014).

    Examples:
        >>> x = wherry.arange(49, dtype="float32").reshape([1, 1, 7, 7])
        >>> wherry.nn.functional.fractional_max_pool2d(x, 3, random_u=0.3).tolist()
        [[[[8.0, 11.0, 13.0], [29.0, 32.0, 34.0], [43.0, 46.0, 48.0]]]]
    """
    return _fractional(x, output_size, kernel_size, random_u, return_mask, 2, "fractional_max_pool2d")


def fractional_max_pool3d(
    x: Tensor, output_size: Any, kernel_size: Any = None, random_u: float | None = None, return_mask: bool = False, name: str | None = None
) -> Any:
    """Maxima of windows whose places are drawn, so that the sizes shrink by any factor.

    Args:
        x: floating.
        output_size: an int or one for each axis, each not larger than that of the input; None keeps it.
        kernel_size: of windows that overlap; None: from one place to the next.
        random_u: the number in (0, 1) from which the places follow; None draws one.
        return_mask: whether to return the positions of the maxima in their channel, too.

    Shape:
        `[N, C, D, H, W]` to `[N, C, *output_size]`.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: a size is out of range, or `random_u` not in (0, 1).

    Source:
        `paddle.nn.functional.fractional_max_pool3d`; Graham (2014).

    Examples:
        >>> wherry.nn.functional.fractional_max_pool3d(wherry.ones([1, 1, 5, 5, 5]), 2, random_u=0.3).shape
        [1, 1, 2, 2, 2]
    """
    return _fractional(x, output_size, kernel_size, random_u, return_mask, 3, "fractional_max_pool3d")


def _fractional(x: Any, output_size: Any, kernel_size: Any, random_u: Any, return_mask: Any, spatial: int, op_name: str) -> Any:
    require_rank(x, op_name, spatial + 2)
    sizes = x.shape[2:]
    wanted = output_size if isinstance(output_size, (list, tuple)) else [output_size] * spatial
    if len(wanted) != spatial:
        raise InvalidArgumentError(f"{op_name}: output_size does not fit. Got {short(output_size)}, expected an int or {spatial} of them.")
    outputs = [n if one is None else integer(one, op_name, "output_size") for one, n in zip(wanted, sizes)]
    kernels = [0] * spatial if kernel_size is None else _sizes(kernel_size, spatial, op_name, "kernel_size")
    if any(not 1 <= out <= n - max(k - 1, 0) for out, n, k in zip(outputs, sizes, kernels)):
        raise InvalidArgumentError(
            f"{op_name}: the windows do not fit. Got output_size={short(outputs)} and kernel_size={short(kernel_size)} for sizes {sizes}, expected "
            f"output + kernel - 1 of at most the size. Make them smaller."
        )
    u = float(_random.rand([1]).item()) if random_u is None else real_number(random_u, op_name, "random_u")
    if not 0 < u < 1 and random_u is not None:
        raise InvalidArgumentError(f"{op_name}: random_u is out of range. Got {u}, expected a number between 0 and 1. Leave it out to draw one.")
    windows = [_windows(n, out, k, u) for n, out, k in zip(sizes, outputs, kernels)]
    table = creation.to_tensor(_in_channel(windows, sizes), "int64")  # a row for each result: the positions of its window in the flattened channel
    flat = movement.reshape(x, [*x.shape[:2], -1])
    values = movement.reshape(positions.gather(flat, movement.reshape(table, [-1]), 2), [*x.shape[:2], *table.shape])
    shape = [*x.shape[:2], *outputs]
    best = reduction.argmax(values, -1)  # one of them, since the last element of a short window is there twice
    out = movement.reshape(positions.take_along_axis(values, movement.unsqueeze(best, -1), -1), shape)
    if not return_mask:
        return out
    rows = movement.reshape(creation.arange(table.shape[0]), [1, 1, -1]) * table.shape[1]
    mask = positions.gather(movement.reshape(table, [-1]), movement.reshape(rows + best, [-1]))
    return out, movement.reshape(mask, shape).astype("int32")


def _windows(size: int, count: int, kernel: int, u: float) -> list[list[int]]:
    """The positions of each window along one axis, all lists of one length: the last position of a shorter one is repeated."""
    if kernel:
        step = (size - kernel) / (count - 1) if count > 1 else 0.0
        starts = [int((i + u) * step) - int(u * step) for i in range(count - 1)] + [size - kernel]
        return [list(range(a, a + kernel)) for a in starts]
    step, least = size / count, size // count
    # The share of a step by which the windows may move before the last one leaves the input.
    most = min((least + 2) / step - 1, (size + 1 - least) / step - (count - 1))
    starts = [math.ceil(step * (i + u * most) - 1) for i in range(count)]
    ends = [*starts[1:], size]
    starts[0] = max(starts[0], 0)
    longest = max(b - a for a, b in zip(starts, ends))
    return [[min(a + i, b - 1) for i in range(longest)] for a, b in zip(starts, ends)]


def _in_channel(windows: list[list[list[int]]], sizes: list[int]) -> list[list[int]]:
    """Positions in a flattened channel of the windows of several axes, row by row."""
    table = [[0]]
    for ones, size in zip(windows, sizes):
        table = [[at * size + i for at in row for i in one] for row in table for one in ones]
    return table


spelled(globals())
