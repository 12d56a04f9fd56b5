"""Convolutions in one, two and three dimensions, and their transposes."""
from __future__ import annotations

from typing import Any

from wherry_nn.functional._windows import borders, channels_last, require_rank, same_borders, sizes, spatial_sizes
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, refused
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.spellings import spelled

__all__ = ["conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"]


def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Convolution along one axis.

    Args:
        x: float16, bfloat16, float32 or float64.
        weight: the dtype of `x`.
        bias: the dtype of `x`, or None.
        stride: steps between windows, an int or a list of one.
        padding: zeros around `x`, in one of the forms of `conv2d`, for one axis: an int, `[before, after]`,
            three pairs, "SAME" or "VALID".
        dilation: steps between the elements of a window.
        groups: parts into which channels are split, each connected within itself.
        data_format: "NCL" or "NLC".

    Shape:
        `x` is `[N, C, L]` (or `[N, L, C]`), `weight` `[out, C / groups, k]`, `bias` `[out]`, the result `[N, out, M]`
        (or `[N, M, out]`) with `M = (L + padding - dilation * (k - 1) - 1) // stride + 1`.

    Raises:
        ValueError: an argument is out of range or the shapes do not fit.
        TypeError: the dtypes differ, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.conv1d`.

    Examples:
        >>> x = wherry.to_tensor([[[1.0, 2.0, 3.0, 4.0]]])
        >>> weight = wherry.to_tensor([[[1.0, 1.0]]])
        >>> print(wherry.nn.functional.conv1d(x, weight, stride=2).numpy())
        [[[3. 7.]]]
    """
    return _convolved("conv1d", x, weight, bias, stride, padding, dilation, groups, data_format, 1)


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Convolution of images (the window is not flipped, as everywhere in deep learning).

    Args:
        x: float16, bfloat16, float32 or float64.
        weight: the dtype of `x`.
        bias: the dtype of `x`, or None.
        stride: steps between windows, an int or `[height, width]`.
        padding: zeros around `x`: an int, `[height, width]`, `[top, bottom, left, right]`, a pair for each of
            the four axes (those of batch and channels are `[0, 0]`), "VALID" for none, or "SAME" for
            as many as make the output `ceil(size / stride)`; "SAME" takes dilation to be 1, as Paddle does.
        dilation: steps between the elements of a window, an int or `[height, width]`.
        groups: parts into which channels are split, each connected within itself.
        data_format: "NCHW" or "NHWC".

    Shape:
        `x` is `[N, C, H, W]` (or `[N, H, W, C]`), `weight` `[out, C / groups, kh, kw]`, `bias` `[out]`, and the result
        `[N, out, H', W']` (or `[N, H', W', out]`) with
        `H' = (H + top + bottom - dilation * (kh - 1) - 1) // stride + 1`.

    Raises:
        ValueError: an argument is out of range or the shapes do not fit.
        TypeError: the dtypes differ, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.conv2d`.

    Examples:
        >>> x, weight = wherry.ones([1, 1, 3, 3]), wherry.ones([1, 1, 3, 3])
        >>> print(wherry.nn.functional.conv2d(x, weight, padding=1).numpy())
        [[[[4. 6. 4.]
           [6. 9. 6.]
           [4. 6. 4.]]]]
    """
    return _convolved("conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, 2)


def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Convolution of volumes, over depth, height and width.

    Args:
        x: float16, bfloat16, float32 or float64.
        weight: the dtype of `x`.
        bias: the dtype of `x`, or None.
        stride: steps between windows, an int or one for each axis.
        padding: zeros around `x`: an int, three ints, six ints, five pairs, "SAME" or "VALID".
        dilation: steps between the elements of a window, an int or one for each axis.
        groups: parts into which channels are split, each connected within itself.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `x` is `[N, C, D, H, W]` (or `[N, D, H, W, C]`), `weight` `[out, C / groups, kd, kh, kw]`, `bias` `[out]`, the
        result `[N, out, D', H', W']` (or `[N, D', H', W', out]`), sizes as in `conv2d`.

    Raises:
        ValueError: an argument is out of range or the shapes do not fit.
        TypeError: the dtypes differ, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.conv3d`.

    Examples:
        >>> x, weight = wherry.ones([1, 2, 4, 4, 4]), wherry.ones([3, 2, 2, 2, 2])
        >>> y = wherry.nn.functional.conv3d(x, weight, stride=2)
        >>> y.shape, y.max().item()
        ([1, 3, 2, 2, 2], 16.0)
    """
    return _convolved("conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, 3)


def conv1d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution along one axis. `groups` comes before `dilation`, unlike in `conv2d_transpose`.

    Args:
        x: float16, bfloat16, float32 or float64.
        weight: the dtype of `x`.
        bias: the dtype of `x`, or None.
        stride: of the convolution whose transpose this is.
        padding: of that convolution.
        output_padding: elements added at the end of the result, less than `stride`.
        groups: of that convolution.
        dilation: of that convolution.
        output_size: the length of the result, instead of `output_padding`.
        data_format: "NCL" or "NLC".

    Shape:
        `x` is `[N, C, L]` (or `[N, L, C]`), `weight` `[C, out / groups, k]`, `bias` `[out]`, the result `[N, out, M]` (or
        `[N, M, out]`) with `M = (L - 1) * stride - padding + dilation * (k - 1) + 1 + output_padding`.

    Raises:
        ValueError: an argument is out of range or the shapes do not fit.
        TypeError: the dtypes differ, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.conv1d_transpose`.

    Examples:
        >>> x, weight = wherry.to_tensor([[[1.0, 2.0]]]), wherry.ones([1, 1, 2])
        >>> print(wherry.nn.functional.conv1d_transpose(x, weight, stride=2).numpy())
        [[[1. 1. 2. 2.]]]
    """
    return _transposed(
        "conv1d_transpose", x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format, 1
    )


def conv2d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution of images: what the gradient of `conv2d` for its input computes.

    Args:
        x: float16, bfloat16, float32 or float64.
        weight: the dtype of `x`.
        bias: the dtype of `x`, or None.
        stride: of the convolution whose transpose this is, an int or `[height, width]`.
        padding: of that convolution, in one of the forms of `conv2d`; it is cut from the result.
        output_padding: elements added at the end of each axis of the result, less than `stride`.
        dilation: of that convolution.
        groups: of that convolution.
        output_size: the size of the result, an int or `[height, width]`, instead of `output_padding`.
        data_format: "NCHW" or "NHWC".

    Shape:
        `x` is `[N, C, H, W]` (or `[N, H, W, C]`), `weight` `[C, out / groups, kh, kw]`, `bias` `[out]`, and the result
        `[N, out, H', W']` (or `[N, H', W', out]`) with
        `H' = (H - 1) * stride - top - bottom + dilation * (kh - 1) + 1 + output_padding`.

    Raises:
        ValueError: an argument is out of range, the shapes do not fit, or both `output_size` and
            `output_padding` are given.
        TypeError: the dtypes differ, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.conv2d_transpose`.

    Examples:
        >>> x, weight = wherry.ones([1, 4, 8, 8]), wherry.ones([4, 6, 3, 3])
        >>> wherry.nn.functional.conv2d_transpose(x, weight, stride=2, padding=1, output_padding=1).shape
        [1, 6, 16, 16]
    """
    return _transposed(
        "conv2d_transpose", x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format, 2
    )


def conv3d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Transposed convolution of volumes. `groups` comes before `dilation`, unlike in `conv2d_transpose`.

    Args:
        x: float16, bfloat16, float32 or float64.
        weight: the dtype of `x`.
        bias: the dtype of `x`, or None.
        stride: of the convolution whose transpose this is, an int or one for each axis.
        padding: of that convolution.
        output_padding: elements added at the end of each axis of the result, less than `stride`.
        groups: of that convolution.
        dilation: of that convolution.
        output_size: the size of the result, instead of `output_padding`.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `x` is `[N, C, D, H, W]` (or `[N, D, H, W, C]`), `weight` `[C, out / groups, kd, kh, kw]`, `bias` `[out]`, the
        result `[N, out, D', H', W']` (or `[N, D', H', W', out]`), sizes as in `conv2d_transpose`.

    Raises:
        ValueError: an argument is out of range, the shapes do not fit, or both `output_size` and
            `output_padding` are given.
        TypeError: the dtypes differ, or `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.functional.conv3d_transpose`.

    Examples:
        >>> x, weight = wherry.ones([1, 4, 3, 3, 3]), wherry.ones([4, 6, 2, 2, 2])
        >>> wherry.nn.functional.conv3d_transpose(x, weight, stride=2).shape
        [1, 6, 6, 6, 6]
    """
    return _transposed(
        "conv3d_transpose", x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format, 3
    )


# Arguments in the form of the ops. Layers prepare them once.

Window = tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...], int, bool]


def window_of(op_name: str, stride: Any, padding: Any, dilation: Any, groups: Any, data_format: Any, rank: int) -> Window:
    """(strides, paddings or None for 'SAME', dilations, groups, whether channels are last), checked."""
    last = channels_last(data_format, rank, op_name)
    groups = integer(groups, op_name, "groups")
    if groups < 1:
        raise InvalidArgumentError(
            f"{op_name}: The groups should be greater than 0. Got groups={groups}, expected at least 1. "
            f"groups=1 connects every input channel with every output channel."
        )
    strides = sizes(stride, rank, op_name, "stride")
    dilations = sizes(dilation, rank, op_name, "dilation")
    paddings = borders(padding, rank, last, op_name)
    if paddings is None:
        dilations = (1,) * rank  # as in Paddle, which resets it
    return strides, paddings, dilations, groups, last


def _convolved(
    op_name: str, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any, data_format: Any,
    rank: int,
) -> Tensor:
    window = window_of(op_name, stride, padding, dilation, groups, data_format, rank)
    return convolve(op_name, rank, x, weight, bias, *window)


def convolve(
    op_name: str,
    rank: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    strides: tuple[int, ...],
    paddings: tuple[int, ...] | None,
    dilations: tuple[int, ...],
    groups: int,
    last: bool,
) -> Tensor:
    """Apply the op of `rank` dimensions; 1-D convolution is 2-D convolution of height 1."""
    try:
        require_rank(x, rank, op_name)
        if paddings is None:
            paddings = same_borders(spatial_sizes(x, last), weight.shape[2:], strides)
        if rank == 2:
            return ops.conv2d(x, weight, bias, strides, paddings, dilations, groups, "NHWC" if last else "NCHW")
        if rank == 3:
            return ops.conv3d(x, weight, bias, strides, paddings, dilations, groups, "NDHWC" if last else "NCDHW")
        height = (1,) if last else (2,)
        out = ops.conv2d(
            ops.unsqueeze(x, height), ops.unsqueeze(weight, (2,)), bias, (1, *strides), (0, 0, *paddings), (1, *dilations),
            groups, "NHWC" if last else "NCHW",
        )
        return ops.squeeze(out, height)
    except (TypeError, AttributeError) as error:
        raise _said(op_name, error, x, weight, bias) from None


def _transposed(
    op_name: str, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: Any,
    output_size: Any, data_format: Any, rank: int,
) -> Tensor:
    window = window_of(op_name, stride, padding, dilation, groups, data_format, rank)
    more = sizes(output_padding, rank, op_name, "output_padding", least=0)
    return convolve_transposed(op_name, rank, x, weight, bias, *window, more, output_size)


def convolve_transposed(
    op_name: str,
    rank: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    strides: tuple[int, ...],
    paddings: tuple[int, ...] | None,
    dilations: tuple[int, ...],
    groups: int,
    last: bool,
    output_padding: tuple[int, ...],
    output_size: Any,
) -> Tensor:
    """As `convolve`, with the size of the result from `output_padding` or `output_size`."""
    try:
        require_rank(x, rank, op_name)
        if weight.ndim != rank + 2:
            raise InvalidArgumentError(
                f"{op_name}: `weight` has the wrong rank. Got shape {weight.shape}, expected {rank + 2} axes. "
                f"The weight of a transposed convolution is [in, out / groups, ...]."
            )
        given, kernel = spatial_sizes(x, last), weight.shape[2:]
        if paddings is None:
            paddings = same_borders(given, kernel, strides)
        size: tuple[int, ...]
        if output_size is None:
            size = tuple(
                (n - 1) * stride - paddings[2 * i] - paddings[2 * i + 1] + dilation * (taps - 1) + 1 + more
                for i, (n, stride, dilation, taps, more) in enumerate(
                    zip(given, strides, dilations, kernel, output_padding, strict=True)
                )
            )
        elif any(output_padding):
            raise InvalidArgumentError(
                f"{op_name}: output_padding option is mutually exclusive with output_size. Got output_padding="
                f"{list(output_padding)} and output_size={short(output_size)}, expected one of them. Leave output_padding at 0."
            )
        else:
            size = sizes(output_size, rank, op_name, "output_size")
        if rank == 2:
            return ops.conv2d_transpose(
                x, weight, bias, strides, paddings, dilations, groups, size, "NHWC" if last else "NCHW"
            )
        if rank == 3:
            return ops.conv3d_transpose(
                x, weight, bias, strides, paddings, dilations, groups, size, "NDHWC" if last else "NCDHW"
            )
        height = (1,) if last else (2,)
        out = ops.conv2d_transpose(
            ops.unsqueeze(x, height), ops.unsqueeze(weight, (2,)), bias, (1, *strides), (0, 0, *paddings), (1, *dilations),
            groups, (1, *size), "NHWC" if last else "NCHW",
        )
        return ops.squeeze(out, height)
    except (TypeError, AttributeError) as error:
        raise _said(op_name, error, x, weight, bias) from None


def _said(op_name: str, error: Exception, x: Any, weight: Any, bias: Any) -> Exception:
    """The error in terms of the function's arguments: which is not a tensor, or whose dtypes differ."""
    tensors = {"x": x, "weight": weight}
    if bias is not None:
        tensors["bias"] = bias
    return refused(op_name, error, **tensors)


spelled(globals())
