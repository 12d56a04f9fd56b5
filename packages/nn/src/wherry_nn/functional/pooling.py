"""Pooling in one, two and three dimensions.

1-D pooling is 2-D pooling of height 1. 3-D pooling is 2-D pooling of planes, then 1-D pooling along the depth: every
window is a product of ranges, so the maximum of maxima (and the mean of means) is that of the window.
"""
from __future__ import annotations

import functools
from typing import Any

from wherry_nn.functional._windows import borders, channels_last, require_rank, resolved, sizes, spatial_sizes
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import checked, flag, number, refused
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.spellings import spelled

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


def avg_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor:
    """Average pooling: averages of windows.

    Args:
        x: float16, bfloat16, float32 or float64.
        kernel_size: an int, or a list of one.
        stride: steps between windows; None is `kernel_size`.
        padding: an int, `[before, after]`, three pairs, "SAME" or "VALID".
        exclusive: whether padding is left out of the averages.
        ceil_mode: whether a last window that the input fills only partly counts.

    Shape:
        `[N, C, L]` to `[N, C, L']` with `size' = (size + padding - kernel) // stride + 1`, rounded up with
        `ceil_mode`.

    Raises:
        ValueError: an argument is out of range, or the window does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.avg_pool1d`.

    Examples:
        >>> x = wherry.to_tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]])
        >>> print(wherry.nn.functional.avg_pool1d(x, 2, ceil_mode=True).numpy())
        [[[1.5 3.5 5. ]]]
    """
    return _averaged(
        "avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL"
    )


def avg_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Average pooling: averages of windows.

    Args:
        x: float16, bfloat16, float32 or float64.
        kernel_size: an int or `[height, width]`.
        stride: steps between windows; None is `kernel_size`.
        padding: an int, `[height, width]`, `[top, bottom, left, right]`, four pairs, "SAME" or "VALID".
        ceil_mode: whether a last window that the input fills only partly counts.
        exclusive: whether padding is left out of the averages.
        divisor_override: divides the sums instead of the window's size. Beside `exclusive`, windows at the
            border are first averaged and then scaled by size / divisor_override, as Paddle does.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to `[N, C, H', W']` with `size' = (size + padding - kernel) // stride + 1`, rounded up with
        `ceil_mode`.

    Raises:
        ValueError: an argument is out of range, or the window does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.avg_pool2d`.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> print(wherry.nn.functional.avg_pool2d(x, 2).numpy())
        [[[[ 2.5  4.5]
           [10.5 12.5]]]]
    """
    return _averaged(
        "avg_pool2d", 2, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )


def avg_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Average pooling: averages of windows.

    Args:
        x: float16, bfloat16, float32 or float64.
        kernel_size: an int or one for each axis.
        stride: steps between windows; None is `kernel_size`.
        padding: an int, three ints, six ints, five pairs, "SAME" or "VALID".
        ceil_mode: whether a last window that the input fills only partly counts.
        exclusive: whether padding is left out of the averages.
        divisor_override: divides the sums instead of the window's size. Beside `exclusive`, windows at the
            border are first averaged and then scaled by size / divisor_override, as Paddle does.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to `[N, C, D', H', W']` with `size' = (size + padding - kernel) // stride + 1`, rounded up with
        `ceil_mode`.

    Raises:
        ValueError: an argument is out of range, or the window does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.avg_pool3d`.

    Examples:
        >>> x = wherry.arange(8, dtype="float32").reshape([1, 1, 2, 2, 2])
        >>> print(wherry.nn.functional.avg_pool3d(x, 2).numpy())
        [[[[[3.5]]]]]
    """
    return _averaged(
        "avg_pool3d", 3, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )


def max_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """Max pooling: maxima of windows; padding counts as -inf.

    Args:
        x: float16, bfloat16, float32 or float64.
        kernel_size: an int, or a list of one.
        stride: steps between windows; None is `kernel_size`.
        padding: an int, `[before, after]`, three pairs, "SAME" or "VALID".
        return_mask: whether to return the indices of the maxima, too.
        ceil_mode: whether a last window that the input fills only partly counts.

    Returns:
        The maxima; with `return_mask` also int32 of the same shape: the index of each maximum in its channel, the
        first of equal ones. A number is preferred to NaN.

    Shape:
        `[N, C, L]` to `[N, C, L']` with `size' = (size + padding - kernel) // stride + 1`, rounded up with
        `ceil_mode`.

    Raises:
        ValueError: an argument is out of range, or the window does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.max_pool1d`.

    Examples:
        >>> x = wherry.to_tensor([[[1.0, 3.0, 2.0, 4.0]]])
        >>> out, mask = wherry.nn.functional.max_pool1d(x, 2, return_mask=True)
        >>> print(out.numpy(), mask.numpy())
        [[[3. 4.]]] [[[1 3]]]
    """
    return _maximal("max_pool1d", 1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Max pooling: maxima of windows; padding counts as -inf.

    Args:
        x: float16, bfloat16, float32 or float64.
        kernel_size: an int or `[height, width]`.
        stride: steps between windows; None is `kernel_size`.
        padding: an int, `[height, width]`, `[top, bottom, left, right]`, four pairs, "SAME" or "VALID".
        return_mask: whether to return the indices of the maxima, too.
        ceil_mode: whether a last window that the input fills only partly counts.
        data_format: "NCHW" or "NHWC".

    Returns:
        The maxima; with `return_mask` also int32 of the same shape: the index of each maximum in its flattened channel,
        the first of equal ones. A number is preferred to NaN.

    Shape:
        `[N, C, H, W]` to `[N, C, H', W']` with `size' = (size + padding - kernel) // stride + 1`, rounded up with
        `ceil_mode`.

    Raises:
        ValueError: an argument is out of range, or the window does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.max_pool2d`.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> print(wherry.nn.functional.max_pool2d(x, 2).numpy())
        [[[[ 5.  7.]
           [13. 15.]]]]
    """
    return _maximal("max_pool2d", 2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Max pooling: maxima of windows; padding counts as -inf.

    Args:
        x: float16, bfloat16, float32 or float64.
        kernel_size: an int or one for each axis.
        stride: steps between windows; None is `kernel_size`.
        padding: an int, three ints, six ints, five pairs, "SAME" or "VALID".
        return_mask: whether to return the indices of the maxima, too.
        ceil_mode: whether a last window that the input fills only partly counts.
        data_format: "NCDHW" or "NDHWC".

    Returns:
        The maxima; with `return_mask` also int32 of the same shape: the index of each maximum in its flattened channel,
        the first of equal ones. A number is preferred to NaN.

    Shape:
        `[N, C, D, H, W]` to `[N, C, D', H', W']` with `size' = (size + padding - kernel) // stride + 1`, rounded up with
        `ceil_mode`.

    Raises:
        ValueError: an argument is out of range, or the window does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.max_pool3d`.

    Examples:
        >>> x = wherry.arange(8, dtype="float32").reshape([1, 1, 2, 2, 2])
        >>> out, mask = wherry.nn.functional.max_pool3d(x, 2, return_mask=True)
        >>> out.item(), mask.item()
        (7.0, 7)
    """
    return _maximal("max_pool3d", 3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def adaptive_avg_pool1d(x: Tensor, output_size: Any, name: str | None = None) -> Tensor:
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly.

    Args:
        x: float16, bfloat16, float32 or float64.
        output_size: an int, or a list of one.

    Shape:
        `[N, C, L]` to `[N, C, output_size]`. Window i of n over a size s covers `floor(i * s / n)` to
        `ceil((i + 1) * s / n)`.

    Raises:
        ValueError: `output_size` does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.adaptive_avg_pool1d`.

    Examples:
        >>> x = wherry.to_tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]])
        >>> print(wherry.nn.functional.adaptive_avg_pool1d(x, 2).numpy())
        [[[2. 4.]]]
    """
    return _adaptive("adaptive_avg_pool1d", 1, x, output_size, None, "NCL")


def adaptive_avg_pool2d(x: Tensor, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly.

    Args:
        x: float16, bfloat16, float32 or float64.
        output_size: an int or `[height, width]`; None in its list keeps the size of that axis.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to `[N, C, *output_size]`. Window i of n over a size s covers `floor(i * s / n)` to
        `ceil((i + 1) * s / n)`.

    Raises:
        ValueError: `output_size` does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.adaptive_avg_pool2d`.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> print(wherry.nn.functional.adaptive_avg_pool2d(x, [1, 2]).numpy())
        [[[[6.5 8.5]]]]
    """
    return _adaptive("adaptive_avg_pool2d", 2, x, output_size, None, data_format)


def adaptive_avg_pool3d(x: Tensor, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> Tensor:
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly.

    Args:
        x: float16, bfloat16, float32 or float64.
        output_size: an int or one for each axis; None in its list keeps the size of that axis.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to `[N, C, *output_size]`. Window i of n over a size s covers `floor(i * s / n)` to
        `ceil((i + 1) * s / n)`.

    Raises:
        ValueError: `output_size` does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.adaptive_avg_pool3d`.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 2, 2])
        >>> print(wherry.nn.functional.adaptive_avg_pool3d(x, [2, 1, 1]).numpy().ravel())
        [ 3.5 11.5]
    """
    return _adaptive("adaptive_avg_pool3d", 3, x, output_size, None, data_format)


def adaptive_max_pool1d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly.

    Args:
        x: float16, bfloat16, float32 or float64.
        output_size: an int, or a list of one.
        return_mask: whether to return the indices of the maxima, too, as `max_pool1d` does.

    Shape:
        `[N, C, L]` to `[N, C, output_size]`. Window i of n over a size s covers `floor(i * s / n)` to
        `ceil((i + 1) * s / n)`.

    Raises:
        ValueError: `output_size` does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.adaptive_max_pool1d`.

    Examples:
        >>> x = wherry.to_tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]])
        >>> print(wherry.nn.functional.adaptive_max_pool1d(x, 2).numpy())
        [[[3. 5.]]]
    """
    return _adaptive("adaptive_max_pool1d", 1, x, output_size, return_mask, "NCL")


def adaptive_max_pool2d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly.

    Args:
        x: float16, bfloat16, float32 or float64.
        output_size: an int or `[height, width]`; None in its list keeps the size of that axis.
        return_mask: whether to return the indices of the maxima, too, as `max_pool2d` does.

    Shape:
        `[N, C, H, W]` to `[N, C, *output_size]`. Window i of n over a size s covers `floor(i * s / n)` to
        `ceil((i + 1) * s / n)`.

    Raises:
        ValueError: `output_size` does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.adaptive_max_pool2d`.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> print(wherry.nn.functional.adaptive_max_pool2d(x, [1, 2]).numpy())
        [[[[13. 15.]]]]
    """
    return _adaptive("adaptive_max_pool2d", 2, x, output_size, return_mask, "NCHW")


def adaptive_max_pool3d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly.

    Args:
        x: float16, bfloat16, float32 or float64.
        output_size: an int or one for each axis; None in its list keeps the size of that axis.
        return_mask: whether to return the indices of the maxima, too, as `max_pool3d` does.

    Shape:
        `[N, C, D, H, W]` to `[N, C, *output_size]`. Window i of n over a size s covers `floor(i * s / n)` to
        `ceil((i + 1) * s / n)`.

    Raises:
        ValueError: `output_size` does not fit.
        TypeError: `x` is not a floating Tensor.

    Source:
        `paddle.nn.functional.adaptive_max_pool3d`.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 2, 2])
        >>> print(wherry.nn.functional.adaptive_max_pool3d(x, [2, 1, 1]).numpy().ravel())
        [ 7. 15.]
    """
    return _adaptive("adaptive_max_pool3d", 3, x, output_size, return_mask, "NCDHW")


def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCL",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Max unpooling, a partial inverse of `max_pool1d`: each maximum at its index, zeros elsewhere.

    Args:
        x: the maxima, floating.
        indices: int32 or int64 of the same shape: the mask that `max_pool1d` returned.
        kernel_size: of the pooling, an int, or a list of one.
        stride: of the pooling; None is `kernel_size`.
        padding: of the pooling, an int, or a list of one.
        data_format: "NCL", the only one.
        output_size: the size of the pooling's input (a length, or the whole shape); None computes it.

    Shape:
        `[N, C, L']` to `[N, C, L]` with `size = (size' - 1) * stride - 2 * padding + kernel`.

    Raises:
        ValueError: an argument is out of range, an index lies outside the result, or `output_size` is farther than a
            stride from the computed size.
        TypeError: `x` or `indices` is not a Tensor of such a dtype.

    Source:
        `paddle.nn.functional.max_unpool1d`.

    Examples:
        >>> x = wherry.to_tensor([[[1.0, 3.0, 2.0, 4.0]]])
        >>> out, mask = wherry.nn.functional.max_pool1d(x, 2, return_mask=True)
        >>> print(wherry.nn.functional.max_unpool1d(out, mask, 2).numpy())
        [[[0. 3. 0. 4.]]]
    """
    return _unpooled("max_unpool1d", 1, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCHW",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Max unpooling, a partial inverse of `max_pool2d`: each maximum at its index, zeros elsewhere.

    Args:
        x: the maxima, floating.
        indices: int32 or int64 of the same shape: the mask that `max_pool2d` returned.
        kernel_size: of the pooling, an int or `[height, width]`.
        stride: of the pooling; None is `kernel_size`.
        padding: of the pooling, an int or `[height, width]`.
        data_format: "NCHW", the only one.
        output_size: the size of the pooling's input (a height and a width, or the whole shape); None computes it.

    Shape:
        `[N, C, H', W']` to `[N, C, H, W]` with `size = (size' - 1) * stride - 2 * padding + kernel`.

    Raises:
        ValueError: an argument is out of range, an index lies outside the result, or `output_size` is farther than a
            stride from the computed size.
        TypeError: `x` or `indices` is not a Tensor of such a dtype.

    Source:
        `paddle.nn.functional.max_unpool2d`.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> out, mask = wherry.nn.functional.max_pool2d(x, 2, return_mask=True)
        >>> print(wherry.nn.functional.max_unpool2d(out, mask, 2).numpy()[0, 0, 1])
        [0. 5. 0. 7.]
    """
    return _unpooled("max_unpool2d", 2, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCDHW",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Max unpooling, a partial inverse of `max_pool3d`: each maximum at its index, zeros elsewhere.

    Args:
        x: the maxima, floating.
        indices: int32 or int64 of the same shape: the mask that `max_pool3d` returned.
        kernel_size: of the pooling, an int or one for each axis.
        stride: of the pooling; None is `kernel_size`.
        padding: of the pooling, an int or one for each axis.
        data_format: "NCDHW", the only one.
        output_size: the size of the pooling's input (a depth, a height and a width, or the whole shape); None computes it.

    Shape:
        `[N, C, D', H', W']` to `[N, C, D, H, W]` with `size = (size' - 1) * stride - 2 * padding + kernel`.

    Raises:
        ValueError: an argument is out of range, an index lies outside the result, or `output_size` is farther than a
            stride from the computed size.
        TypeError: `x` or `indices` is not a Tensor of such a dtype.

    Source:
        `paddle.nn.functional.max_unpool3d`.

    Examples:
        >>> x = wherry.arange(8, dtype="float32").reshape([1, 1, 2, 2, 2])
        >>> out, mask = wherry.nn.functional.max_pool3d(x, 2, return_mask=True)
        >>> print(wherry.nn.functional.max_unpool3d(out, mask, 2).numpy().ravel())
        [0. 0. 0. 0. 0. 0. 0. 7.]
    """
    return _unpooled("max_unpool3d", 3, x, indices, kernel_size, stride, padding, data_format, output_size)


# Helpers: arguments in the form that the ops take.


def _averaged(
    op_name: str, rank: int, x: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any, exclusive: Any,
    divisor: Any, data_format: str,
) -> Tensor:
    plain = divisor is None and type(exclusive) is bool and type(ceil_mode) is bool and data_format == "NCHW"
    if plain and rank == 2 and isinstance(x, Tensor) and x.ndim == 4:
        # The most common pooling, without the Python frames of the general case.
        if type(kernel_size) is int and type(padding) is int and (stride is None or type(stride) is int):
            kernel, strides, paddings = _even_window(op_name, 2, kernel_size, kernel_size if stride is None else stride, padding)
            try:
                return ops.avg_pool2d(x, kernel, strides, paddings, ceil_mode, exclusive, None, "NCHW")
            except TypeError as error:
                raise checked(op_name, x, error) from None
    last = channels_last(data_format, rank, op_name)
    try:
        window = _window(op_name, rank, x, kernel_size, stride, padding, ceil_mode, last)
        exclusive = flag(exclusive, op_name, "exclusive")

        def pooled(image: Tensor, kernel: Any, strides: Any, paddings: Any, layout: str) -> Tensor:
            return ops.avg_pool2d(image, kernel, strides, paddings, ceil_mode, exclusive, None, layout)

        out = _by_axes(pooled, rank, x, window, last)
    except (TypeError, AttributeError) as error:
        raise checked(op_name, x, error) from None
    if divisor is None:
        return out
    divisor = number(divisor, op_name, "divisor_override")
    if divisor == 0:
        raise InvalidArgumentError(
            f"{op_name}: divisor_override is zero. Got {short(divisor)}, expected another number or None. "
            f"None divides by the size of each window."
        )
    elements = 1
    for taps in window[0]:
        elements *= taps
    return out * (elements / divisor)


def _maximal(
    op_name: str, rank: int, x: Any, kernel_size: Any, stride: Any, padding: Any, return_mask: Any, ceil_mode: Any,
    data_format: str,
) -> Any:
    plain = return_mask is False and type(ceil_mode) is bool and data_format == "NCHW"
    if plain and rank == 2 and isinstance(x, Tensor) and x.ndim == 4:
        # The most common pooling, without the Python frames of the general case.
        if type(kernel_size) is int and type(padding) is int and (stride is None or type(stride) is int):
            kernel, strides, paddings = _even_window(op_name, 2, kernel_size, kernel_size if stride is None else stride, padding)
            try:
                return ops.max_pool2d(x, kernel, strides, paddings, ceil_mode, "NCHW")[0]
            except TypeError as error:
                raise checked(op_name, x, error) from None
    last = channels_last(data_format, rank, op_name)
    try:
        window = _window(op_name, rank, x, kernel_size, stride, padding, ceil_mode, last)

        def pooled(image: Tensor, kernel: Any, strides: Any, paddings: Any, layout: str) -> Any:
            return ops.max_pool2d(image, kernel, strides, paddings, ceil_mode, layout)

        out, mask = _by_axes(pooled, rank, x, window, last)
    except (TypeError, AttributeError) as error:
        raise checked(op_name, x, error) from None
    return (out, mask) if flag(return_mask, op_name, "return_mask") else out


Window = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _window(
    op_name: str, rank: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any, last: bool
) -> Window:
    """Kernel, strides and paddings."""
    require_rank(x, rank, op_name)
    if type(kernel_size) is int and type(padding) is int and (stride is None or type(stride) is int) and type(ceil_mode) is bool:
        return _even_window(op_name, rank, kernel_size, kernel_size if stride is None else stride, padding)
    kernel = sizes(kernel_size, rank, op_name, "kernel_size")
    strides = kernel if stride is None else sizes(stride, rank, op_name, "stride")
    if flag(ceil_mode, op_name, "ceil_mode") and isinstance(padding, str) and padding.upper() == "VALID":
        raise InvalidArgumentError(
            f"{op_name}: When padding is 'VALID', ceil_mode must be False. Got ceil_mode=True, expected False. "
            f"padding=0 pads as little and allows it."
        )
    return kernel, strides, resolved(borders(padding, rank, last, op_name), spatial_sizes(x, last), kernel, strides)


@functools.lru_cache(256)
def _even_window(op_name: str, rank: int, kernel_size: int, stride: int, padding: int) -> Window:
    """The window that is the same along every axis."""
    kernel, strides = sizes(kernel_size, rank, op_name, "kernel_size"), sizes(stride, rank, op_name, "stride")
    paddings = borders(padding, rank, False, op_name)
    assert paddings is not None  # only 'SAME' waits for the sizes of the input
    return kernel, strides, paddings


def _by_axes(pooled: Any, rank: int, x: Tensor, window: Window, last: bool) -> Any:
    """Apply `pooled(image, kernel, strides, paddings, layout)`, a pooling of images, to `rank` axes."""
    kernel, strides, paddings = window
    if rank == 2:
        return pooled(x, kernel, strides, paddings, "NHWC" if last else "NCHW")
    if rank == 1:
        out = pooled(ops.unsqueeze(x, (2,)), (1, *kernel), (1, *strides), (0, 0, *paddings), "NCHW")
        return tuple(ops.squeeze(one, (2,)) for one in out) if isinstance(out, tuple) else ops.squeeze(out, (2,))
    return _by_planes(
        lambda planes: pooled(planes, kernel[1:], strides[1:], paddings[2:], "NCHW"),
        lambda columns: pooled(columns, (kernel[0], 1), (strides[0], 1), (*paddings[:2], 0, 0), "NHWC"),
        x, last,
    )


def _by_planes(over_planes: Any, over_depth: Any, x: Tensor, last: bool) -> Any:
    """Pool volumes: first each plane of them, then the results along the depth.

    For the second pooling a plane's positions are channels that come last, which the kernels read in
    rows. Of equal maxima the first in the order of the volume wins both times, hence also together.
    """
    if last:
        x = ops.transpose(x, (0, 4, 1, 2, 3))
    n, channels, depth, height, width = x.shape
    planes = over_planes(ops.reshape(x, (n * channels, depth, height, width)))
    masked = isinstance(planes, tuple)
    image, inside = planes if masked else (planes, None)
    size, columns = image.shape[2:], image.shape[2] * image.shape[3]
    out = over_depth(ops.reshape(image, (n * channels, depth, 1, columns)))
    if not masked:
        return _volume(out, n, channels, size, last)
    out, level = out
    # `level` is the maximum's index along the depth, `inside` its index in that plane; -1 where all are NaN.
    level = ops.squeeze(level, (2,))
    found = ops.take_along_axis(
        ops.reshape(inside, (n * channels, depth, columns)), ops.maximum(level, ops.full_like(level, 0, level.dtype)), 1
    )
    nowhere = ops.full_like(found, -1, found.dtype)
    mask = ops.where(ops.equal(ops.minimum(found, level), nowhere), nowhere, found + level * (height * width))
    return _volume(out, n, channels, size, last), _volume(mask, n, channels, size, last)


def _volume(x: Tensor, n: int, channels: int, size: list[int], last: bool) -> Tensor:
    x = ops.reshape(x, (n, channels, x.shape[1], *size))
    return ops.transpose(x, (0, 2, 3, 4, 1)) if last else x


def _adaptive(op_name: str, rank: int, x: Any, output_size: Any, return_mask: Any, data_format: str) -> Any:
    """`return_mask` is None for averages."""
    last = channels_last(data_format, rank, op_name)
    try:
        require_rank(x, rank, op_name)
        if isinstance(output_size, (list, tuple)) and rank > 1 and None in output_size and len(output_size) == rank:
            given = spatial_sizes(x, last)
            output_size = [own if one is None else one for one, own in zip(output_size, given, strict=True)]
        wanted = sizes(output_size, rank, op_name, "output_size", least=0)
        op = ops.adaptive_avg_pool2d if return_mask is None else ops.adaptive_max_pool2d
        if rank == 2:
            out = op(x, wanted, "NHWC" if last else "NCHW")
        elif rank == 1:
            out = op(ops.unsqueeze(x, (2,)), (1, *wanted), "NCHW")
            out = ops.squeeze(out, (2,)) if return_mask is None else tuple(ops.squeeze(one, (2,)) for one in out)
        else:
            out = _by_planes(
                lambda planes: op(planes, wanted[1:], "NCHW"), lambda columns: op(columns, (wanted[0], 1), "NHWC"), x, last
            )
    except (TypeError, AttributeError) as error:
        raise checked(op_name, x, error) from None
    if return_mask is None:
        return out
    return out if flag(return_mask, op_name, "return_mask") else out[0]


def _unpooled(
    op_name: str, rank: int, x: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, data_format: str,
    output_size: Any,
) -> Tensor:
    if channels_last(data_format, rank, op_name):
        raise InvalidArgumentError(
            f"{op_name}: the channels come second. Got data_format={short(data_format)}, expected the default. "
            f"Transpose x and indices."
        )
    kernel = sizes(kernel_size, rank, op_name, "kernel_size")
    strides = kernel if stride is None else sizes(stride, rank, op_name, "stride")
    cut = sizes(padding, rank, op_name, "padding", least=0)
    try:
        require_rank(x, rank, op_name)
        pooled = x.shape[2:]
        size = [(n - 1) * step - 2 * c + taps for n, step, c, taps in zip(pooled, strides, cut, kernel, strict=True)]
        if output_size is not None:
            size = _wanted_size(op_name, rank, size, strides, output_size)
        elements, taken = 1, 1
        for whole, part in zip(size, pooled, strict=True):
            elements *= whole
            taken *= part
        # Indices count flattened elements, so max_unpool2d on planes of one row serves every rank.
        row = (*x.shape[:2], 1, taken)
        out = ops.max_unpool2d(ops.reshape(x, row), ops.reshape(indices, row), (1, elements), "NCHW")
        return ops.reshape(out, (*x.shape[:2], *size))
    except (TypeError, AttributeError) as error:
        raise refused_indices(op_name, error, x, indices) from None


def refused_indices(op_name: str, error: Exception, x: Any, indices: Any) -> Exception:
    """The error to raise: about an argument that is not a tensor, or the op's own about the dtypes."""
    checked(op_name, x, error)
    refused(op_name, error, indices=indices)
    return error


def _wanted_size(op_name: str, rank: int, size: list[int], strides: tuple[int, ...], output_size: Any) -> list[int]:
    if isinstance(output_size, (list, tuple)) and len(output_size) == rank + 2:
        output_size = output_size[2:]
    wanted = sizes(output_size, rank, op_name, "output_size", least=0)
    for axis, (given, computed, stride) in enumerate(zip(wanted, size, strides, strict=True)):
        if not computed - stride < given < computed + stride:
            raise InvalidArgumentError(
                f"{op_name}: invalid output_size \"{list(wanted)}\" (dim {axis} must be between {computed - stride} and "
                f"{computed + stride}). Got {given}, expected less than a stride from {computed}. "
                f"Give the size of the input that was pooled."
            )
    return list(wanted)


spelled(globals())
