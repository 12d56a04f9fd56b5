"""How a tensor looks as text: Paddle's form, to the character.

Only the elements that are shown are ever read, so printing a tensor of a gigabyte costs no more
than printing one of a thousand numbers. NumPy is not needed.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.errors import short

__all__ = ["set_printoptions", "tensor_to_string"]

_HEAD = "Tensor("
_GAP = "..."


class _Options:
    """What `set_printoptions` sets, for the whole process."""

    precision = 8
    threshold = 1000
    edgeitems = 3
    sci_mode = False
    linewidth = 80


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Set how tensors are printed, for the whole process. An argument left out keeps its value.

    Args:
        precision: digits after the point of a floating value; 8 at the start.
        threshold: a tensor with more elements than this is summarised; 1000 at the start.
        edgeitems: how many entries of an axis a summary shows at each end; 3 at the start.
        sci_mode: whether floating values print as 1.50000000e+00; False at the start.
        linewidth: characters in a line, counted from the margin; 80 at the start.

    Raises:
        TypeError: an argument is not an int (`sci_mode`: not a bool).
        ValueError: a number is negative.

    Source:
        `paddle.set_printoptions`.

    Examples:
        >>> wherry.set_printoptions(precision=3)
        >>> wherry.to_tensor([1.5, 0.25])
        Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=True,
               [1.500, 0.250])
        >>> wherry.set_printoptions(precision=8)
    """
    numbers = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in numbers.items():
        if value is None:
            continue
        if isinstance(value, bool) or not hasattr(type(value), "__index__"):
            raise TypeError(
                f"set_printoptions: {name} is not an int. Got {short(value)}, expected an int of 0 or more. "
                f"Leave {name} out to keep its present value, {getattr(_Options, name)}."
            )
        if value < 0:
            raise ValueError(
                f"set_printoptions: {name} is negative. Got {value}, expected 0 or more. "
                f"Leave {name} out to keep its present value, {getattr(_Options, name)}."
            )
    if sci_mode is not None and not isinstance(sci_mode, bool):
        raise TypeError(
            f"set_printoptions: sci_mode is not a bool. Got {short(sci_mode)}, expected True or False. "
            f"Leave it out to keep its present value, {_Options.sci_mode}."
        )
    for name, value in numbers.items():
        if value is not None:
            setattr(_Options, name, int(value))
    if sci_mode is not None:
        _Options.sci_mode = sci_mode


def tensor_to_string(x: Tensor) -> str:
    """The text of `x`, as `repr(x)` and `str(x)` give it.

    Examples:
        >>> print(wherry.to_tensor([1, -20]))
        Tensor(shape=[2], dtype=int64, place=Place(cpu), stop_gradient=True,
               [ 1 , -20])
    """
    head = f"{_HEAD}shape={list(x.shape)}, dtype={x.dtype.name}, "
    if getattr(x, "is_symbolic", False):
        return f"{head}stop_gradient={x.stop_gradient}, symbolic)"
    shape = tuple(x.shape)
    shown = _shown_part(x.detach(), shape)
    body = _render(shown, len(shape), x.dtype)
    return f"{head}place={x.place!s}, stop_gradient={x.stop_gradient},\n{' ' * len(_HEAD)}{body})"


def _shown_part(x: Tensor, shape: tuple[int, ...]) -> Any:
    """The elements that are shown: nested lists, with _GAP where a summary leaves some out."""
    size = math.prod(shape)
    # Without elements there may still be more empty lists than anybody can read, or memory holds.
    if size <= _Options.threshold and (size or math.prod(n for n in shape if n) <= _Options.threshold):
        return x.tolist()
    return _edges(x, shape, 0)


def shown_table(x: Tensor, rows: int, columns: int) -> list[list[str]]:
    """The texts of a tensor of one or two axes, a row in a list; of more than `rows` or `columns` only the ends, with dots."""
    text = _text_of(x.dtype)
    ops = _ops()
    if len(x.shape) == 1:
        x = ops.reshape(x, (1, x.shape[0]))
    places = [
        [*range(most // 2), None, *range(n - most // 2, n)] if n > most else list(range(n)) for n, most in zip(x.shape, (rows, columns))
    ]
    dots = "\N{HORIZONTAL ELLIPSIS}"
    found = []
    for i in places[0]:
        if i is None:
            found.append([dots] * len(places[1]))
            continue
        row = ops.select(x, axis=0, index=i)
        found.append([dots if j is None else text(ops.select(row, axis=0, index=j).item()) for j in places[1]])
    return found


def _edges(x: Tensor, shape: tuple[int, ...], axis: int) -> Any:
    """Both ends of every axis from `axis` on; the axes before it were selected away."""
    n, edge = shape[axis], _Options.edgeitems
    long = n > 2 * edge
    # With edgeitems=0 Paddle shows "..." and then the whole axis: a list's last 0 are all of it.
    indices = [*range(edge), *range(n - edge if edge else 0, n)] if long else list(range(n))
    if axis == len(shape) - 1:
        parts = [x.tolist()] if not long else [_slice(x, 0, edge), _slice(x, n - edge if edge else 0, n)]
        items = [value for part in parts for value in part]
    else:
        items = [_edges(_row(x, i), shape, axis + 1) for i in indices]
    if long:
        items.insert(edge, _GAP)
    return items


def _slice(x: Tensor, start: int, end: int) -> list[Any]:
    ops = _ops()
    return ops.slice(x, axes=(0,), starts=(start,), ends=(end,), steps=(1,)).tolist()


def _row(x: Tensor, index: int) -> Tensor:
    return _ops().select(x, axis=0, index=index)


def _ops() -> Any:
    from wherry_tensor import ops  # not at import: ops needs the core, which may print an error first

    return ops


def _end_leaves(data: Any, rank: int) -> Iterator[Any]:
    """The elements that a summary of `data` would show, whether it is one or not."""
    if rank == 0:
        yield data
        return
    edge = _Options.edgeitems
    for item in data if len(data) <= 2 * edge else [*data[:edge], *data[-edge:]]:
        if item is not _GAP:
            yield from _end_leaves(item, rank - 1)


def _render(data: Any, rank: int, dtype: _core.DType) -> str:
    text = _text_of(dtype)
    is_negative = _sign_of(dtype)
    # Paddle measures the entries at the ends of every axis even when it shows them all, so an entry
    # in the middle may stand out of its column.
    values = list(_end_leaves(data, rank))
    width = max(map(len, map(text, values)), default=0)
    signed = any(map(is_negative, values))

    def cell(value: Any) -> str:
        if value is _GAP:
            return _GAP
        word = text(value)
        # Numbers align at the left; a column with negative ones leaves room for the sign.
        if signed and len(word) < width and not is_negative(value):
            word = " " + word
        return word.ljust(width)

    def block(items: Any, rank: int, indent: int) -> str:
        if rank == 0:
            return cell(items)
        if rank == 1:
            per_line = max(1, (_Options.linewidth - indent) // (width + 2))
            cells = list(map(cell, items))
            lines = [", ".join(cells[at : at + per_line]) for at in range(0, len(cells), per_line)]
            return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
        parts = [_GAP if item is _GAP else block(item, rank - 1, indent + 1) for item in items]
        return "[" + ("," + "\n" * (rank - 1) + " " * (indent + 1)).join(parts) + "]"

    return block(data, rank, len(_HEAD))


def _text_of(dtype: _core.DType) -> Callable[[Any], str]:
    """How one element of `dtype` prints, before it is padded to its column."""
    if not dtype.is_floating:
        return str
    if _Options.sci_mode:
        return f"{{:.{_Options.precision}e}}".format
    fixed = f"{{:.{_Options.precision}f}}".format

    def text(value: float) -> str:
        # A whole number shows no decimals but keeps its point; an infinity counts as whole.
        if math.isinf(value) or value == math.floor(value if value == value else 0.5):
            return f"{value:.0f}."
        return fixed(value)

    return text


def _sign_of(dtype: _core.DType) -> Callable[[Any], bool]:
    """Whether an element counts as negative: NumPy's `element < 0`, also for complex ones."""
    if not dtype.is_complex:
        return lambda value: value < 0
    # By real, then by imaginary part. A NaN among them counts in one of the two dtypes only.
    single = dtype is _core.complex64
    return lambda z: (z.real < 0 and not (single and z.imag != z.imag)) or (z.real == 0 and z.imag < 0)
