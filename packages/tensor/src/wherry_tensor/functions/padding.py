"""Padding tensors before and after each axis."""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64, is_symbolic
from wherry_tensor.arguments import among, fitted, integer, number, require_tensor
from wherry_tensor.axis_sampling import clip_indices, gather_along, int64_scalar
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.sizes import equals, is_unknown
from wherry_tensor.spellings import spelled

__all__ = ["pad"]

_MODES = ("constant", "reflect", "replicate", "circular")
_FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def pad(
    x: Tensor,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Padding: `x` with elements added around it.

    Args:
        x: any dtype.
        pad: how many. With two numbers for every axis of `x` (and mode "constant"): before and after the first
            axis, then the second, and so on. Otherwise `x` is 3-D, 4-D or 5-D and the numbers are for its spatial
            axes from the last one on: `[left, right]`, `[left, right, top, bottom]`,
            `[left, right, top, bottom, front, back]`. One int stands for all of the latter. Negative numbers cut.
            A list, tuple or 1-D integer tensor.
        mode: "constant" adds `value`; "reflect" mirrors `x` at its border elements, without repeating these;
            "replicate" repeats the border elements; "circular" goes on at the other end.
        value: a number.
        data_format: "NCL", "NLC", "NCHW", "NHWC", "NCDHW" or "NDHWC": which axes are spatial.

    Shape:
        `[..., n, ...]` to `[..., before + n + after, ...]`.

    Raises:
        TypeError: `x` is not a Tensor, or `pad` holds something other than ints (also a ValueError).
        ValueError: the mode or layout is unknown (also an AssertionError), there are too many or too few
            numbers, or `x` is too small to be mirrored.

    Source:
        `paddle.nn.functional.pad`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0, 3.0]).reshape([1, 1, 3])
        >>> print(wherry.pad(x, [1, 2], data_format="NCL").flatten().numpy())
        [0. 1. 2. 3. 0. 0.]
        >>> print(wherry.pad(x, [1, 2], mode="reflect", data_format="NCL").flatten().numpy())
        [2. 1. 2. 3. 2. 1.]
    """
    require_tensor(x, "pad")
    if not among(mode, _MODES):
        raise AssertedArgumentError(
            f"pad: mode should be one of constant, reflect, replicate, circular. Got mode={short(mode)}, expected one of them. "
            f"'constant' adds `value`."
        )
    rank = x.ndim
    counts = _counts(pad, max(rank - 2, 0))
    if mode == "constant" and len(counts) == 2 * rank:
        return _filled(x, counts, value)
    borders = _spatial(x, counts, data_format)
    if mode == "constant":
        return _filled(x, tuple(count for border in borders for count in border), value)
    for axis, (before, behind) in enumerate(borders):
        if before or behind:
            _check_continued(x, axis, before, behind, mode)
    if x.stop_gradient and not is_symbolic(x) and x.size >= 1 << 16:
        if all(0 <= count <= size for size, border in zip(x.shape, borders) for count in border):
            return _bordered(x, borders, mode)
    for axis, (before, behind) in enumerate(borders):
        if before or behind:
            x = _continued(x, axis, before, behind, mode)
    return x


def _counts(pad: Any, spatial: int) -> tuple[int, ...]:
    if isinstance(pad, Tensor) or type(pad).__module__ == "numpy":
        pad = pad.tolist()
    if isinstance(pad, (list, tuple)):
        return tuple(integer(count, "pad", f"pad[{i}]") for i, count in enumerate(pad))
    if isinstance(pad, int) and not isinstance(pad, bool):
        return (pad,) * (2 * spatial)
    raise InvalidTypeError(
        f"pad: pad must be a list. Got pad={short(pad)} ({type(pad).__name__}), expected a list of ints. "
        f"Write [left, right, top, bottom] for images."
    )


def _filled(x: Tensor, paddings: tuple[int, ...], value: Any) -> Tensor:
    number_ = value if type(value) is float else number(value, "pad", "value")
    return ops.pad(x, paddings, float(fitted(number_, x.dtype, "pad")))


def _spatial(x: Tensor, counts: tuple[int, ...], data_format: str) -> list[tuple[int, int]]:
    """(before, after) for each axis of `x`, from counts that begin with the last spatial axis."""
    rank = x.ndim
    if not any(among(data_format, formats) for formats in _FORMATS.values()):
        raise AssertedArgumentError(
            f"pad: data_format should be in one of [NCL, NCHW, NCDHW, NLC, NHWC, NDHWC]. Got data_format={short(data_format)}, "
            f"expected one of them. N is the batch, C the channels."
        )
    if rank not in _FORMATS:
        raise AssertedArgumentError(
            f"pad: input tensor dimension must be in [3, 4, 5]. Got x of shape {x.shape}, rank {rank}, with {len(counts)} "
            f"counts, expected {2 * rank} counts, two for each axis, or another rank. Give counts for all axes in mode 'constant'."
        )
    if data_format not in _FORMATS[rank]:
        raise AssertedArgumentError(
            f"pad: input tensor dimension is {rank}, its data format should be in {list(_FORMATS[rank])}. Got data_format="
            f"{short(data_format)} for x of shape {x.shape}, expected one of them. Pass data_format='{_FORMATS[rank][0]}'."
        )
    spatial = rank - 2
    if len(counts) != 2 * spatial:
        raise InvalidArgumentError(
            f"pad: pad must hold two counts for each spatial axis. Got {len(counts)} counts for x of shape {x.shape}, expected "
            f"{2 * spatial} (before and after each spatial axis, from the last on). Add zeros where nothing is to be added."
        )
    borders = [(counts[2 * i], counts[2 * i + 1]) for i in reversed(range(spatial))]
    return [(0, 0), *borders, (0, 0)] if data_format[-1] == "C" else [(0, 0), (0, 0), *borders]


def _check_continued(x: Tensor, axis: int, before: int, behind: int, mode: str) -> None:
    size = x.shape[axis]
    if equals(size, 0):
        raise InvalidArgumentError(
            f"pad: an axis to pad is empty. Got x of shape {x.shape}, expected elements along axis {axis}. "
            f"Use mode 'constant'."
        )
    if mode == "reflect" and not is_unknown(size) and max(before, behind) >= size:
        raise InvalidArgumentError(
            f"pad: more is reflected than the axis holds. Got counts {before} and {behind} for axis {axis} of x of shape {x.shape}, "
            f"expected less than {size} each. The border elements are not repeated; use mode 'replicate' for more."
        )
    length = size + before + behind
    if not is_unknown(length) and length < 0:
        raise InvalidArgumentError(
            f"pad: negative counts cut away more than there is. Got counts {before} and {behind} for axis {axis} of x of shape {x.shape}, "
            f"expected at least {-size} in sum. Use smaller counts."
        )


def _continued(x: Tensor, axis: int, before: int, behind: int, mode: str) -> Tensor:
    """`x` with places added along `axis` whose values are those of other places."""
    size = x.shape[axis]
    at = ops.arange(start=-before, step=1, length=size + before + behind, dtype=int64)
    if mode == "replicate":
        at = clip_indices(at, size)
    elif mode == "circular":
        at = ops.remainder(at, int64_scalar(size))
    else:
        at = ops.subtract(int64_scalar(size - 1), ops.abs(ops.subtract(int64_scalar(size - 1), ops.abs(at))))
    return gather_along(x, at, axis)


def _bordered(x: Tensor, borders: list[tuple[int, int]], mode: str) -> Tensor:
    """All axes of `_continued` in one pass over `x`, to whose borders slices of it are copied: more calls, but few of so much."""
    out = ops.pad(x, tuple(count for border in borders for count in border), 0.0)
    for axis, (before, behind) in enumerate(borders):
        end = before + x.shape[axis]
        # How many are added, where, and from where on they are copied.
        left = before, 0, {"replicate": before, "circular": end - before, "reflect": before + 1}[mode]
        right = behind, end, {"replicate": end - 1, "circular": before, "reflect": end - 1 - behind}[mode]
        for count, start, source in (left, right):
            if count:
                part = ops.slice(out, (axis,), (source,), (source + (1 if mode == "replicate" else count),), (1,))
                part = ops.flip(part, (axis,)) if mode == "reflect" else ops.copy(part)  # it may not be what is written to
                if mode == "replicate" and count > 1:
                    part = ops.broadcast_to(part, (*out.shape[:axis], count, *out.shape[axis + 1 :]))
                ops.slice_put.into((out,), out, part, axes=(axis,), starts=(start,), ends=(start + count,), steps=(1,))
    return out


spelled(globals())
