"""Arguments of convolutions and pooling: kernel, stride, dilation and padding, in all the forms that Paddle takes.

The ops take a tuple for each: one size per axis, and for paddings (before, after) per axis. Only 'SAME' cannot be
resolved before the size of the input is known.
"""
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.sizes import known

__all__ = ["borders", "channels_last", "require_rank", "resolved", "same_borders", "sizes", "spatial_sizes"]

_FORMATS = (("NCL", "NLC"), ("NCHW", "NHWC"), ("NCDHW", "NDHWC"))
_LAST = {name: last for pair in _FORMATS for name, last in zip(pair, (False, True), strict=True)}
_INTS = {int}
_AXES = ("a length", "a height and a width", "a depth, a height and a width")


def channels_last(data_format: Any, rank: int, op_name: str) -> bool:
    """Whether the channels are the last axis, from the name of a layout with `rank` spatial axes."""
    expected = _FORMATS[rank - 1]
    if isinstance(data_format, str) and data_format in expected:
        return _LAST[data_format]
    raise InvalidArgumentError(
        f"{op_name}: data_format is not known. Got {short(data_format)}, expected '{expected[0]}' or '{expected[1]}'. "
        f"They name the axes of the input in their order."
    )


def require_rank(x: Tensor, rank: int, op_name: str) -> None:
    """Refuse an input that has not batch, channels and `rank` spatial axes."""
    if x.ndim != rank + 2:
        require_tensor(x, op_name)
        raise InvalidArgumentError(
            f"{op_name}: Input x should be {rank + 2}D tensor. Got shape {x.shape}, expected {rank + 2} axes: the batch, the "
            f"channels, and {_AXES[rank - 1]}. Add a batch axis with unsqueeze(0) for a single sample."
        )


def spatial_sizes(x: Tensor, last: bool) -> list[int]:
    """The sizes of `x` without batch and channels."""
    return x.shape[1:-1] if last else x.shape[2:]


def sizes(value: Any, rank: int, op_name: str, name: str, least: int = 1) -> tuple[int, ...]:
    """One int for each spatial axis, from an int or a list of them."""
    given = value
    if type(value) is int:
        found = (value,) * rank
    elif type(value) in (list, tuple) and len(value) == rank and set(map(type, value)) == _INTS:  # mostly
        found = tuple(value)
    else:
        if isinstance(value, Tensor) or type(value).__module__ == "numpy":
            value = value.tolist()
        try:
            found = tuple(_index(one) for one in (value if isinstance(value, (list, tuple)) else (value,) * rank))
        except TypeError:
            found = ()
        if len(found) != rank:
            raise InvalidArgumentError(
                f"{op_name}: The {name}'s length must be {rank}. Got {name}={short(given)}, expected an int or {rank} ints, "
                f"{_AXES[rank - 1]}. A single int stands for every axis."
            )
    if min(found) < least:
        raise InvalidArgumentError(
            f"{op_name}: {name} is too small. Got {name}={short(given)}, expected ints of at least {least}. "
            f"{'Leave it out for the default.' if least else 'Check its sign.'}"
        )
    return found


def _index(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def borders(padding: Any, rank: int, last: bool, op_name: str) -> tuple[int, ...] | None:
    """(before, after) of each spatial axis in one row; None for 'SAME', which depends on the input.

    Args:
        padding: an int, an int for each axis, (before, after) of each axis in one row or as pairs of all
            axes with batch and channels, 'VALID' or 'SAME'.
        rank: how many spatial axes there are.
        last: whether the channels are the last axis.
        op_name: the function that asks.
    """
    if type(padding) is int:
        found: tuple[int, ...] = (padding,) * (2 * rank)
    elif isinstance(padding, str):
        if padding.upper() == "SAME":
            return None
        if padding.upper() != "VALID":
            raise InvalidArgumentError(
                f"{op_name}: Unknown padding. Got {short(padding)}, expected 'SAME' or 'VALID'. "
                f"Give numbers for any other padding."
            )
        return (0,) * (2 * rank)
    else:
        found = _row_of(padding, rank, last, op_name)
    if min(found) < 0:
        raise InvalidArgumentError(
            f"{op_name}: Invalid padding, all value should be larger than or equal to 0. Got {short(padding)}, expected no "
            f"negative number. Cut the input by slicing where less of it is wanted."
        )
    return found


def _row_of(padding: Any, rank: int, last: bool, op_name: str) -> tuple[int, ...]:
    given = padding
    if isinstance(padding, Tensor) or type(padding).__module__ == "numpy":
        padding = padding.tolist()
    try:
        if not isinstance(padding, (list, tuple)):
            return (_index(padding),) * (2 * rank)
        if padding and isinstance(padding[0], (list, tuple)):
            pairs = [(_index(before), _index(after)) for before, after in padding]
            if len(pairs) == rank + 2:
                spatial = pairs[1:-1] if last else pairs[2:]
                if any(any(pair) for pair in (pairs[0], pairs[-1] if last else pairs[1])):
                    raise InvalidArgumentError(
                        f"{op_name}: Non-zero padding in the batch or channel dimensions is not supported. Got {short(given)}, "
                        f"expected [0, 0] there. Use nn.functional.pad for these axes."
                    )
                return tuple(size for pair in spatial for size in pair)
        else:
            row = tuple(padding) if set(map(type, padding)) == _INTS else tuple(_index(one) for one in padding)
            if len(row) == 2 * rank:
                return row
            if len(row) == rank:
                return tuple(size for size in row for _ in (0, 1))
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
    raise InvalidArgumentError(
        f"{op_name}: Invalid padding. Got {short(given)}, expected an int, {rank} ints, {2 * rank} ints (before and after each axis), "
        f"{rank + 2} pairs (batch and channels too), 'SAME' or 'VALID'. The spatial axes are {_AXES[rank - 1]}."
    )


def same_borders(sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """The padding with which ceil(size / stride) windows fit; where it is odd, the end gets more."""
    found: list[int] = []
    for size, window, stride in zip(sizes, kernel, strides, strict=True):
        if stride == 1:
            total = max(window - 1, 0)
        else:
            size = known(size, f"padding='SAME' with a stride of {stride}")
            total = max((-(-size // stride) - 1) * stride + window - size, 0)
        found += (total // 2, total - total // 2)
    return tuple(found)


def resolved(
    paddings: tuple[int, ...] | None, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int]
) -> tuple[int, ...]:
    """Paddings as numbers, also for 'SAME', which `borders` leaves open."""
    return same_borders(sizes, kernel, strides) if paddings is None else paddings
