"""Images: affine grids, grid sampling, pixel and channel shuffle, temporal shift."""
from __future__ import annotations

from typing import Any

from wherry_nn.functional._windows import channels_last, require_rank
from wherry_tensor import ops
from wherry_tensor._core import Tensor, bool_, int64
from wherry_tensor.arguments import integer, refused, require_tensor, sizes_of
from wherry_tensor.axis_sampling import clip_indices, int64_scalar
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.sizes import is_unknown, known, uneven
from wherry_tensor.spellings import spelled

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "pixel_shuffle",
    "pixel_unshuffle",
    "temporal_shift",
]


# Sampling.


def affine_grid(theta: Tensor, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Tensor:
    """Affine grid: sampling positions for `grid_sample` from affine maps.

    Args:
        theta: floating: `[N, 2, 3]`, or `[N, 3, 4]` for volumes. Coordinates go from -1 to 1.
        out_shape: the shape of the result, `[N, C, H, W]` or `[N, C, D, H, W]`: a list, or an integer tensor.
        align_corners: whether -1 and 1 are the centres of the border elements, not their outer edges.

    Returns:
        `[N, H, W, 2]`, each (x, y), or `[N, D, H, W, 3]`, each (x, y, z), for `grid_sample`.

    Shape:
        `theta` `[N, 2, 3]` to `[N, H, W, 2]`; `[N, 3, 4]` to `[N, D, H, W, 3]`.

    Raises:
        TypeError: `theta` is not a Tensor, or `out_shape` is not a list of ints (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.nn.functional.affine_grid`; Jaderberg et al. (2015).

    Examples:
        >>> theta = wherry.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> print(wherry.nn.functional.affine_grid(theta, [1, 1, 1, 3]).numpy())
        [[[[-1.  0.]
           [ 0.  0.]
           [ 1.  0.]]]]
    """
    require_tensor(theta, "affine_grid", "theta")
    shape = sizes_of(out_shape, "affine_grid", "out_shape")
    spatial = len(shape) - 2
    want = [*shape[:1], spatial, spatial + 1]
    if spatial not in (2, 3) or theta.ndim != 3 or any(
        not (is_unknown(have) or is_unknown(n)) and have != n for have, n in zip(theta.shape, want)
    ):
        raise InvalidArgumentError(
            f"affine_grid: the maps do not fit the result. Got theta of shape {theta.shape} and out_shape={list(shape)}, expected "
            f"[N, 2, 3] with [N, C, H, W], or [N, 3, 4] with [N, C, D, H, W]. Check the batch size N of both."
        )
    if not theta.dtype.is_floating:
        raise InvalidTypeError(
            f"affine_grid: theta is not floating. Got theta of dtype {theta.dtype.name}, expected float32 or float64. "
            f"Cast it with astype('float32')."
        )
    sizes = shape[2:]
    # (x, y, z, 1) of every place: x belongs to the last axis.
    parts = []
    for axis in reversed(range(spatial)):
        row = _coordinates(sizes[axis], align_corners, theta)
        row = ops.reshape(row, tuple(sizes[axis] if i == axis else 1 for i in range(spatial)))
        parts.append(ops.unsqueeze(ops.broadcast_to(row, sizes), (spatial,)))
    parts.append(ops.full(shape=(*sizes, 1), value=1, dtype=theta.dtype))
    count = 1
    for size in sizes:
        count *= size
    places = ops.reshape(ops.concat(*parts, axis=spatial), (count, spatial + 1))
    return ops.reshape(ops.matmul(places, theta, False, True), (shape[0], *sizes, spatial))


def _coordinates(size: Any, align_corners: bool, like: Tensor) -> Tensor:
    if is_unknown(size):
        count, one = size.tensor(like.dtype), ops.full(shape=(), value=1, dtype=like.dtype)
        from_middle = ops.arange(start=0, step=1, length=size, dtype=like.dtype) * 2 - (count - 1)
        return from_middle / (ops.maximum(count - 1, one) if align_corners else count)
    if size == 1:
        return ops.full(shape=(1,), value=0, dtype=like.dtype)  # the middle; Paddle divides by 0
    edge = 1.0 if align_corners else (size - 1) / size
    return ops.linspace(start=-edge, stop=edge, num=size, dtype=like.dtype)


def grid_sample(
    x: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Tensor:
    """Grid sampling: the values of images at given positions.

    Args:
        x: floating: `[N, C, H, W]`, or `[N, C, D, H, W]`.
        grid: `[N, out_H, out_W, 2]` of (x, y), or `[N, out_D, out_H, out_W, 3]` of (x, y, z), in the dtype of `x`.
            Coordinates go from -1 to 1, x along the last axis of the image.
        mode: "bilinear" takes the weighted mean of the neighbouring elements, "nearest" the nearest one.
        padding_mode: what lies outside of the image: "zeros"; "border", the nearest element of the border; or
            "reflection", the image mirrored at its borders.
        align_corners: whether -1 and 1 are the centres of the border elements, not their outer edges.

    Shape:
        `[N, C, out_H, out_W]`, or `[N, C, out_D, out_H, out_W]`.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not fit, or there is no such mode.

    Source:
        `paddle.nn.functional.grid_sample`; Jaderberg et al. (2015).

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0, 3.0]).reshape([1, 1, 1, 3])
        >>> grid = wherry.to_tensor([[-1.0, 0.0], [0.5, 0.0], [2.0, 0.0]]).reshape([1, 1, 3, 2])
        >>> print(wherry.nn.functional.grid_sample(x, grid).flatten().numpy())
        [1.  2.5 0. ]
    """
    require_tensor(x, "grid_sample")
    require_tensor(grid, "grid_sample", "grid")
    _check_sampling(x, grid, mode, padding_mode, align_corners)
    n, channels, *sizes = x.shape
    spatial = len(sizes)
    places = grid.shape[1:-1]
    count = 1
    for size in places:
        count *= size
    # Channels as rows: each position of the image is a row of a matrix.
    if not x.size:
        return ops.full(shape=(n, channels, *places), value=0, dtype=x.dtype)
    rows = ops.reshape(ops.transpose(x, (0, *range(2, spatial + 2), 1)), (x.size // channels, channels))
    at = [
        _in_elements(ops.select(grid, spatial + 1, spatial - 1 - axis), sizes[axis], padding_mode, align_corners)
        for axis in range(spatial)
    ]
    # Rows and weights of the corners around each position: every axis doubles their number, except in mode "nearest". The corners
    # come first, so that what is done to all positions goes over long rows.
    index = ops.reshape(ops.arange(start=0, step=1, length=n, dtype=int64), (1, n, *(1,) * spatial))
    weight = None
    for size, one in zip(sizes, at, strict=True):
        ends, shares = _ends(one, mode)
        inside = clip_indices(ends, size)
        if padding_mode == "zeros":
            shares = ops.multiply(shares, ops.cast(ops.equal(inside, ends), grid.dtype))
        index = _each_with_each(ops.add, ops.multiply(index, int64_scalar(size)), inside)
        weight = shares if weight is None else _each_with_each(ops.multiply, weight, shares)
    flat = (index.shape[0], n * count)
    try:
        out = ops.resample(rows, ops.transpose(ops.reshape(index, flat), (1, 0)), ops.transpose(ops.reshape(weight, flat), (1, 0)), 0)
    except TypeError as error:  # two dtypes, and no auto_cast around
        raise refused("grid_sample", error, x=x, grid=grid) from None
    out = ops.reshape(out, (n, *places, channels))
    return ops.transpose(out, (0, spatial + 1, *range(1, spatial + 1)))


def _check_sampling(x: Tensor, grid: Tensor, mode: Any, padding_mode: Any, align_corners: Any) -> None:
    if mode not in ("bilinear", "nearest"):
        raise InvalidArgumentError(
            f"grid_sample: The mode of grid sample function should be in ['bilinear', 'nearest']. Got mode={short(mode)}, expected one "
            f"of them. 'bilinear' has a gradient with respect to the grid."
        )
    if padding_mode not in ("zeros", "reflection", "border"):
        raise InvalidArgumentError(
            f"grid_sample: The padding mode of grid sample function should be in ['zeros', 'reflection', 'border']. Got "
            f"padding_mode={short(padding_mode)}, expected one of them. 'zeros' is the usual one."
        )
    if not isinstance(align_corners, bool):
        raise InvalidTypeError(
            f"grid_sample: The align_corners of grid sample function should be bool. Got {short(align_corners)} "
            f"({type(align_corners).__name__}), expected True or False. Write align_corners=True."
        )
    spatial = x.ndim - 2
    if spatial not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] != spatial or grid.shape[0] != x.shape[0]:
        raise InvalidArgumentError(
            f"grid_sample: the grid does not fit. Got x of shape {x.shape} and grid of shape {grid.shape}, expected [N, C, H, W] "
            f"with [N, out_H, out_W, 2], or [N, C, D, H, W] with [N, out_D, out_H, out_W, 3]. Check the batch size N of both."
        )
    if not (x.dtype.is_floating and grid.dtype.is_floating):
        raise InvalidTypeError(
            f"grid_sample: x or grid is not floating. Got x of dtype {x.dtype.name} and grid of dtype {grid.dtype.name}, expected one "
            f"floating dtype. Cast both with astype('float32')."
        )


def _in_elements(at: Tensor, size: int, padding_mode: str, align_corners: bool) -> Tensor:
    """Coordinates from -1 to 1 as positions 0, 1, ..., size - 1 of an axis, with `padding_mode` applied."""
    at = (at + 1.0) * ((size - 1) / 2.0) if align_corners else ((at + 1.0) * float(size) - 1.0) * 0.5
    if padding_mode == "reflection":
        if align_corners:
            at = _mirrored(at, size - 1.0)
        else:
            at = _mirrored(at + 0.5, float(size)) - 0.5
    if padding_mode == "zeros":
        return at
    return ops.clip(at, _number(0, at), _number(size - 1, at))


def _mirrored(at: Tensor, span: float) -> Tensor:
    """A coordinate between mirrors at 0 and `span`."""
    if span == 0:
        return at * 0.0
    at = ops.abs(at)
    turns = ops.floor(at / (2.0 * span)).detach()
    at = at - turns * (2.0 * span)
    return ops.minimum(at, 2.0 * span - at)


def _each_with_each(op: Any, a: Tensor, b: Tensor) -> Tensor:
    """`op` of each element of the first axis of `a` with each of that of `b`, as the first axis of the result."""
    out = op(ops.unsqueeze(a, (1,)), ops.unsqueeze(b, (0,)))
    return ops.reshape(out, (a.shape[0] * b.shape[0], *out.shape[2:]))


def _ends(at: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    """The elements along an axis on both sides of each place (or the nearest one), and their shares, on a new first axis."""
    new = (0,)
    if mode == "nearest":
        share = _flat(at) if not at.stop_gradient else ops.full_like(at, value=1, dtype=at.dtype)
        return ops.unsqueeze(ops.cast(ops.round(at.detach()), int64), new), ops.unsqueeze(share, new)
    low = ops.floor(at.detach())
    share = at - low
    position = ops.unsqueeze(ops.cast(low, int64), new)
    ends = ops.concat(position, ops.add(position, int64_scalar(1)), axis=0)
    return ends, ops.concat(ops.unsqueeze(1.0 - share, new), ops.unsqueeze(share, new), axis=0)


def _flat(at: Tensor) -> Tensor:
    """Ones with a gradient of 0 with respect to `at`, rather than without one, as in Paddle."""
    return ops.where(ops.full(shape=(), value=False, dtype=bool_), at, _number(1, at))


def _number(value: float, like: Tensor) -> Tensor:
    return ops.full(shape=(), value=value, dtype=like.dtype)


# Channels and pixels.


def pixel_shuffle(x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Pixel shuffle: rearrange each `factor ** 2` channels into a square of pixels.

    Args:
        x: `[N, C * factor ** 2, H, W]` or, with "NHWC", `[N, H, W, C * factor ** 2]`.
        upscale_factor: the side of the square.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H * factor, W * factor]`, or `[N, H * factor, W * factor, C]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `upscale_factor` is not an int.
        ValueError: `x` is not 4-D, `upscale_factor` is not positive, its square does not divide the channels, or there is no
            such layout.

    Source:
        `paddle.nn.functional.pixel_shuffle`; Shi et al. (2016).

    Examples:
        >>> x = wherry.arange(4, dtype="float32").reshape([1, 4, 1, 1])
        >>> print(wherry.nn.functional.pixel_shuffle(x, 2)[0, 0].numpy())
        [[0. 1.]
         [2. 3.]]
    """
    last, factor = _squares(x, upscale_factor, "upscale_factor", data_format, "pixel_shuffle")
    n, *rest = x.shape
    height, width, channels = rest if last else (*rest[1:], rest[0])
    if channels % (factor * factor):
        raise InvalidArgumentError(
            f"pixel_shuffle: the channels do not make squares of pixels. Got {channels} channels in x of shape {x.shape} and upscale_factor="
            f"{factor}, expected a multiple of {factor * factor}. Check data_format."
        )
    fewer = channels // (factor * factor)
    if last:
        x = ops.transpose(ops.reshape(x, (n, height, width, fewer, factor, factor)), (0, 1, 4, 2, 5, 3))
        return ops.reshape(x, (n, height * factor, width * factor, fewer))
    x = ops.transpose(ops.reshape(x, (n, fewer, factor, factor, height, width)), (0, 1, 4, 2, 5, 3))
    return ops.reshape(x, (n, fewer, height * factor, width * factor))


def pixel_unshuffle(x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Pixel unshuffle, the inverse of `pixel_shuffle`: rearrange squares of pixels into channels.

    Args:
        x: `[N, C, H * factor, W * factor]` or, with "NHWC", `[N, H * factor, W * factor, C]`.
        downscale_factor: the side of the square.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C * factor ** 2, H, W]`, or `[N, H, W, C * factor ** 2]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `downscale_factor` is not an int.
        ValueError: `x` is not 4-D, `downscale_factor` is not positive or does not divide its height and width, or there is no such layout.

    Source:
        `paddle.nn.functional.pixel_unshuffle`.

    Examples:
        >>> x = wherry.arange(4, dtype="float32").reshape([1, 1, 2, 2])
        >>> print(wherry.nn.functional.pixel_unshuffle(x, 2).flatten().numpy())
        [0. 1. 2. 3.]
    """
    last, factor = _squares(x, downscale_factor, "downscale_factor", data_format, "pixel_unshuffle")
    n, *rest = x.shape
    height, width, channels = rest if last else (*rest[1:], rest[0])
    if uneven(height, factor) or uneven(width, factor):
        raise InvalidArgumentError(
            f"pixel_unshuffle: the image cannot be cut into squares. Got height {height} and width {width} in x of shape "
            f"{x.shape}, expected multiples of downscale_factor={factor}. Pad x first."
        )
    rows, columns, more = height // factor, width // factor, channels * factor * factor
    if last:
        x = ops.transpose(ops.reshape(x, (n, rows, factor, columns, factor, channels)), (0, 1, 3, 5, 2, 4))
        return ops.reshape(x, (n, rows, columns, more))
    x = ops.transpose(ops.reshape(x, (n, channels, rows, factor, columns, factor)), (0, 1, 3, 5, 2, 4))
    return ops.reshape(x, (n, more, rows, columns))


def channel_shuffle(x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Channel shuffle: the first channel of each group, then the second of each, and so on.

    Args:
        x: `[N, C, H, W]` or, with "NHWC", `[N, H, W, C]`.
        groups: how many; divides the number of channels.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` (or channels last) to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `groups` is not an int.
        ValueError: `x` is not 4-D, `groups` is not positive or does not divide the channels, or there is no such layout.

    Source:
        `paddle.nn.functional.channel_shuffle`; Zhang et al. (2017).

    Examples:
        >>> x = wherry.arange(6, dtype="float32").reshape([1, 6, 1, 1])
        >>> print(wherry.nn.functional.channel_shuffle(x, 2).flatten().numpy())
        [0. 3. 1. 4. 2. 5.]
    """
    last, groups = _squares(x, groups, "groups", data_format, "channel_shuffle")
    shape = tuple(x.shape)
    axis = 3 if last else 1
    if uneven(shape[axis], groups):
        raise InvalidArgumentError(
            f"channel_shuffle: the channels cannot be grouped so. Got groups={groups} for {shape[axis]} channels in x of shape "
            f"{x.shape}, expected a divisor of them. Check data_format."
        )
    x = ops.reshape(x, (*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]))
    return ops.reshape(ops.transpose(x, (0, 1, 2, 4, 3) if last else (0, 2, 1, 3, 4)), shape)


def _squares(x: Any, factor: Any, name: str, data_format: Any, op_name: str) -> tuple[bool, int]:
    """Whether the channels are last, and the factor, after checking the arguments."""
    require_tensor(x, op_name)
    last = check_factor(factor, name, data_format, op_name)
    require_rank(x, 2, op_name)
    return last, factor


def check_factor(factor: Any, name: str, data_format: Any, op_name: str) -> bool:
    """Refuse a factor that is not a positive int, and tell whether the channels are last."""
    if not isinstance(factor, int) or isinstance(factor, bool):
        raise TypeError(
            f"{op_name}: {name} must be int type. Got {short(factor)} ({type(factor).__name__}), expected an int. "
            f"Convert it with int(...)."
        )
    if factor <= 0:
        raise InvalidArgumentError(
            f"{op_name}: {name} must be positive. Got {name}={factor}, expected 1 or more. 1 changes nothing."
        )
    return channels_last(data_format, 2, op_name)


def temporal_shift(
    x: Tensor, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Tensor:
    """Temporal shift: move some channels of each frame to the next frame of the video, and some to the previous one.

    Args:
        x: `[N * seg_num, C, H, W]` or, with "NHWC", `[N * seg_num, H, W, C]`: the frames of N videos.
        seg_num: how many frames a video has.
        shift_ratio: the share of channels that come from the previous frame, and of those that come from the next
            frame; less than 0.5. At the ends of a video they are zeros.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N * seg_num, C, H, W]` (or channels last) to the same.

    Raises:
        TypeError: `x` is not a Tensor, `seg_num` is not an int (also a ValueError), or `shift_ratio` is not a number.
        ValueError: `x` is not 4-D, `seg_num` does not divide its batch, or there is no such layout.

    Source:
        `paddle.nn.functional.temporal_shift`; Lin, Gan & Han (2018).

    Examples:
        >>> x = wherry.arange(8, dtype="float32").reshape([2, 4, 1, 1])  # two frames of four channels
        >>> print(wherry.nn.functional.temporal_shift(x, seg_num=2).reshape([2, 4]).numpy())
        [[0. 5. 2. 3.]
         [0. 0. 6. 7.]]
    """
    require_tensor(x, "temporal_shift")
    last = channels_last(data_format, 2, "temporal_shift")
    require_rank(x, 2, "temporal_shift")
    frames = integer(seg_num, "temporal_shift", "seg_num")
    shape = tuple(x.shape)
    if frames < 1 or (not is_unknown(shape[0]) and shape[0] % frames):
        raise InvalidArgumentError(
            f"temporal_shift: seg_num does not divide the batch. Got seg_num={frames} for x of shape {x.shape}, expected a divisor "
            f"of {shape[0]}. x holds all frames of a video one after the other."
        )
    if not 0 <= shift_ratio < 0.5:
        raise InvalidArgumentError(
            f"temporal_shift: shift_ratio is out of range. Got shift_ratio={shift_ratio}, expected a share in [0, 0.5): it is "
            f"moved in both directions. The usual value is 0.25."
        )
    axis = 4 if last else 2
    channels = known(shape[axis - 1], "temporal_shift: the number of channels that move")
    first, second = int(channels * shift_ratio), int(channels * 2 * shift_ratio)
    videos = ops.reshape(x, (shape[0] // frames, frames, *shape[1:]))
    earlier = _moved(_part(videos, axis, 0, first), 1)
    later = _moved(_part(videos, axis, first, second), -1)
    return ops.reshape(ops.concat(earlier, later, _part(videos, axis, second, channels), axis=axis), shape)


def _part(x: Tensor, axis: int, start: int, end: int) -> Tensor:
    return ops.slice(x, (axis,), (start,), (end,), (1,))


def _moved(x: Tensor, by: int) -> Tensor:
    """Frames (axis 1) moved by one; zeros move in."""
    return ops.pad(x, (0, 0, by, -by, *(0,) * (2 * x.ndim - 4)), 0.0)


explained(globals())
spelled(globals())
