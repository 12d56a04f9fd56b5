"""Creating tensors: from data, filled, ranges, identity and triangles, copies and casts."""
from __future__ import annotations

import math
from builtins import complex as complex_number  # `complex` is a function here
from collections.abc import Sequence
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor, bool_, complex64, complex128, float32, float64, int64
from wherry_tensor.arguments import (
    MAX_RANK,
    Shape,
    fitted,
    flag,
    integer,
    number,
    numpy_module,
    real_number,
    refused,
    require_room,
    require_tensor,
    sizes_of,
    to_dtype,
)
from wherry_tensor.device import device_code
from wherry_tensor.dtype import as_dtype, default_complex_dtype, default_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError, short
from wherry_tensor.paddle_version import is_3
from wherry_tensor.sizes import Size, is_unknown, known
from wherry_tensor.spellings import spelled

__all__ = [
    "arange",
    "assign",
    "cast",
    "clone",
    "complex",
    "diag",
    "diag_embed",
    "diagflat",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "meshgrid",
    "ones",
    "ones_like",
    "polar",
    "to_tensor",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "zeros",
    "zeros_like",
]

_cast, _copy, _full, _full_like = ops.cast, ops.copy, ops.full, ops.full_like

# Kinds of numbers, each of which holds those before it.
_BOOL, _INT, _FLOAT, _COMPLEX = range(4)
_kinds: dict[type, int] = {bool: _BOOL, int: _INT, float: _FLOAT, complex_number: _COMPLEX}


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A tensor with a copy of `data`.

    Args:
        data: a Python number; a list or tuple of numbers, nested to any depth (tensors and arrays may
            stand in it); a NumPy array or scalar; a Tensor; or anything with the buffer protocol.
        dtype: of the result. None keeps that of an array or tensor; Python bools give bool, ints int64,
            floats the default dtype (float32 unless set), complex numbers the complex dtype of its size.
        place: where it is made: a Place, or a name as in "cpu"; None is the current device.
        stop_gradient: False asks for gradients.

    Returns:
        A tensor that shares no memory with `data`. It also has no gradient history when `data` is a tensor.

    Shape:
        A number gives shape `[]`; n lists of m numbers give `[n, m]`.

    Raises:
        TypeError: `data` is something else, or `dtype` is not a known dtype.
        ValueError: nested lists have different lengths, an item is not a number, an int does not fit into
            64 bits, or an array has a dtype that tensors lack.

    Source:
        `paddle.to_tensor`.

    Examples:
        >>> print(wherry.to_tensor([[1, 2], [3, 4]]))
        Tensor(shape=[2, 2], dtype=int64, place=Place(cpu), stop_gradient=True,
               [[1, 2],
                [3, 4]])
        >>> wherry.to_tensor(2.5).shape
        []
    """
    code = device_code(place, "to_tensor")
    wanted = None if dtype is None else as_dtype(dtype, "to_tensor")
    out = _core.to_device(_from_data(data, wanted), code)
    try:
        asks = not stop_gradient
    except ValueError:  # an array, which is neither
        asks = not flag(stop_gradient, "to_tensor", "stop_gradient")
    if asks:
        out.stop_gradient = False
    return out


def _from_data(data: Any, dtype: Any) -> Tensor:
    kind = _kinds.get(type(data))
    if kind is not None:
        return _from_numbers([data], (), kind, dtype)
    if isinstance(data, (list, tuple)):
        return _from_list(data, dtype)
    if isinstance(data, Tensor):
        source = data.detach()
        return _copy(source) if dtype is None or dtype is data.dtype else _cast(source, dtype)
    numpy = numpy_module()
    if numpy is not None and isinstance(data, (numpy.ndarray, numpy.generic)):
        out = _from_array(data, numpy)
        return out if dtype is None else to_dtype(out, dtype)
    if isinstance(data, (bool, int, float)):  # subclasses, such as the members of an IntEnum
        return _from_data(int(data) if isinstance(data, int) else float(data), dtype)
    if not isinstance(data, (str, bytes)):
        try:
            out = _core.from_buffer(data)
            return out if dtype is None else to_dtype(out, dtype)
        except TypeError:
            pass
        if hasattr(data, "__array__"):
            return _from_data(data.__array__(), dtype)
    raise InvalidTypeError(
        f"to_tensor: a tensor cannot be made from this. Got {type(data).__name__}, expected a number, a list or tuple "
        f"of numbers, a NumPy array, a Tensor, or an object with the buffer protocol. Convert it to a list first."
    )


def _from_list(data: Any, dtype: Any) -> Tensor:
    flat = data
    shape = [len(data)]
    types = set(map(type, data))
    while not types <= _kinds.keys():
        if not types <= {list, tuple}:
            flat, types = _plain(flat), {list}
            if not all(type(item) is list for item in flat):
                # Numbers of other kinds (NumPy's, 0-d tensors) have become Python's; a mixture with lists is ragged.
                types = set(map(type, flat))
                if types <= _kinds.keys():
                    break
                raise _ragged(data)
        lengths = set(map(len, flat))
        if len(lengths) > 1:
            raise _ragged(data)
        shape.append(lengths.pop() if lengths else 0)
        if len(shape) > MAX_RANK:
            raise InvalidArgumentError(
                f"to_tensor: the lists are nested too deeply. Got more than {MAX_RANK} levels, expected at most "
                f"{MAX_RANK}. Merge some of them."
            )
        flat = [item for row in flat for item in row]
        types = set(map(type, flat))
        if not flat:
            break
    kind = max((_kinds[t] for t in types), default=_FLOAT)
    return _from_numbers(flat, tuple(shape), kind, dtype)


def _plain(items: Any) -> list[Any]:
    """Items as Python numbers and lists: tensors and arrays are opened."""
    out = []
    for item in items:
        if type(item) in _kinds or type(item) is list:
            out.append(item)
        elif isinstance(item, (tuple, range)):
            out.append(list(item))
        elif isinstance(item, (bool, int, float)) and not hasattr(item, "dtype"):
            out.append(int(item) if isinstance(item, int) else float(item))
        elif hasattr(item, "tolist"):
            out.append(item.tolist())
        else:
            raise InvalidTypeError(
                f"to_tensor: an item is not a number. Got {short(item)} ({type(item).__name__}) in a list, expected bools, ints, "
                f"floats, complex numbers, tensors or arrays. Replace it; a missing value can be float('nan')."
            )
    return out


def _ragged(data: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"to_tensor: Failed to convert input data to a regular ndarray. Got {type(data).__name__} of {len(data)} items "
        f"that differ in length or depth, expected the same everywhere. Usually this means the input data contains "
        f"nested lists with different lengths; pad them to one length."
    )


def _from_numbers(flat: Sequence[Any], shape: tuple[int, ...], kind: int, dtype: Any) -> Tensor:
    """From Python numbers of which the widest is of `kind`."""
    if dtype is None:
        dtype = (bool_, int64, default_dtype(), default_complex_dtype())[kind]
    if kind <= _INT and dtype.is_integer and dtype is not int64:
        flat = [fitted(value, dtype, "to_tensor") for value in flat]
    elif (kind, dtype.is_bool) != (_BOOL, True) and kind > (
        _BOOL if dtype.is_bool else _INT if dtype.is_integer else _FLOAT if dtype.is_floating else _COMPLEX
    ):
        # Narrower than the numbers are: cast as tensors are cast, from the most precise dtype.
        return _cast(_from_numbers(flat, shape, kind, (bool_, int64, float64, complex128)[kind]), dtype)
    try:
        return _core.from_values(flat, shape, dtype)
    except OverflowError:
        raise InvalidArgumentError(
            f"to_tensor: an int does not fit into 64 bits. Got one outside [{-(1 << 63)}, {1 << 63}), expected smaller "
            f"ones. Write it as a float, as in 1e20."
        ) from None


def _from_array(data: Any, numpy: Any) -> Tensor:
    try:
        # NumPy has no bfloat16; Paddle carries its bits as uint16, and so do we.
        return _core.from_buffer(data, _core.bfloat16) if data.dtype == "uint16" else _core.from_buffer(data)
    except (TypeError, ValueError, BufferError):
        raise InvalidArgumentError(
            f"to_tensor: tensors have no such dtype. Got a NumPy array of {data.dtype!r}, expected bool, uint8, int8, "
            f"int16, int32, int64, float16, float32, float64, complex64 or complex128 in native byte order. "
            f"Convert it with astype."
        ) from None


def _dtype_or_default(dtype: Any, op_name: str) -> Any:
    return default_dtype() if dtype is None else as_dtype(dtype, op_name)


def zeros(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of `shape` filled with 0.

    Args:
        shape: sizes >= 0: a list or tuple of ints (or tensors of one element), one int, or a 1-D integer tensor.
        dtype: any; None is the default dtype, float32 unless set.

    Shape:
        None to `shape`.

    Raises:
        TypeError: `shape` holds something other than ints (also a ValueError), or `dtype` is not a known dtype.
        ValueError: a size is negative.
        MemoryError: there is not that much memory.

    Source:
        `paddle.zeros`.

    Examples:
        >>> print(wherry.zeros([2, 3]).numpy())
        [[0. 0. 0.]
         [0. 0. 0.]]
    """
    return _full(sizes_of(shape, "zeros"), 0, default_dtype() if dtype is None else as_dtype(dtype, "zeros"))


def ones(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of `shape` filled with 1. Arguments are those of `zeros`.

    Shape:
        None to `shape`.

    Raises:
        TypeError: `shape` is not made of ints (also a ValueError), or `dtype` is not a known dtype.
        ValueError: a size is negative.
        MemoryError: there is not that much memory.

    Source:
        `paddle.ones`.

    Examples:
        >>> print(wherry.ones([2], "int64").numpy())
        [1 1]
    """
    return _full(sizes_of(shape, "ones"), 1, default_dtype() if dtype is None else as_dtype(dtype, "ones"))


def full(shape: Shape, fill_value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of `shape` filled with one number.

    Args:
        shape: as for `zeros`.
        fill_value: a number, or a tensor of one element.
        dtype: any; None is the default dtype, also for an int `fill_value` (complex for a complex one).

    Shape:
        None to `shape`.

    Raises:
        TypeError: `fill_value` is not a number, or `dtype` is not a known dtype.
        ValueError: a size is negative, or the dtype has no such number (infinity as an integer).
        MemoryError: there is not that much memory.

    Source:
        `paddle.full`.

    Examples:
        >>> print(wherry.full([2, 2], 7).numpy())
        [[7. 7.]
         [7. 7.]]
    """
    if isinstance(fill_value, Tensor) and _core.is_symbolic(fill_value):
        kind = default_dtype() if dtype is None else as_dtype(dtype, "full")
        return ops.copy(ops.broadcast_to(ops.cast(ops.reshape(fill_value, shape=()), kind), shape=tuple(sizes_of(shape, "full"))))
    value = fill_value if type(fill_value) in _kinds else _fill_value(fill_value, "full")
    if dtype is None:
        dtype = default_complex_dtype() if type(value) is complex_number else default_dtype()
        if (value is True or value is False) and is_3():
            dtype = bool_
    else:
        dtype = as_dtype(dtype, "full")
    return _full(sizes_of(shape, "full"), fitted(value, dtype, "full"), dtype)


def _fill_value(value: Any, op_name: str) -> Any:
    if isinstance(value, str):  # Paddle reads text
        try:
            return float(value)
        except ValueError:
            raise InvalidTypeError(
                f"{op_name}: fill_value is not a number. Got {short(value)}, expected an int, float or bool. Write it without quotes."
            ) from None
    return number(value, op_name, "fill_value")


def empty(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of `shape` whose values are not set: whatever the memory held.

    Arguments are those of `zeros`.

    Shape:
        None to `shape`.

    Raises:
        TypeError: `shape` is not made of ints (also a ValueError), or `dtype` is not a known dtype.
        ValueError: a size is negative.
        MemoryError: there is not that much memory.

    Source:
        `paddle.empty`.

    Examples:
        >>> wherry.empty([2, 3]).shape
        [2, 3]
    """
    return _core.uninitialized(sizes_of(shape, "empty"), _dtype_or_default(dtype, "empty"), _core.get_current_device())


def _like(x: Any, fill_value: Any, dtype: Any, op_name: str) -> Tensor:
    require_tensor(x, op_name)
    dtype = x.dtype if dtype is None else as_dtype(dtype, op_name)
    return _full_like(x, fitted(fill_value, dtype, op_name), dtype)


def zeros_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros of the shape of `x`, and of its dtype unless `dtype` names another.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or `dtype` is not a known dtype.

    Source:
        `paddle.zeros_like`.

    Examples:
        >>> print(wherry.zeros_like(wherry.to_tensor([1, 2])).numpy())
        [0 0]
    """
    return _like(x, 0, dtype, "zeros_like")


def ones_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones of the shape of `x`, and of its dtype unless `dtype` names another.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or `dtype` is not a known dtype.

    Source:
        `paddle.ones_like`.

    Examples:
        >>> print(wherry.ones_like(wherry.to_tensor([3.0])).numpy())
        [1.]
    """
    return _like(x, 1, dtype, "ones_like")


def full_like(x: Tensor, fill_value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of the shape of `x` filled with one number, of its dtype unless `dtype` names another.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, `fill_value` is not a number, or `dtype` is not a known dtype.

    Source:
        `paddle.full_like`.

    Examples:
        >>> print(wherry.full_like(wherry.to_tensor([1, 2]), 1.5).numpy())
        [1 1]
    """
    return _like(x, fill_value if type(fill_value) in _kinds else _fill_value(fill_value, "full_like"), dtype, "full_like")


def empty_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of the shape of `x` (and its dtype, unless another is named) whose values are not set.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or `dtype` is not a known dtype.

    Source:
        `paddle.empty_like`.

    Examples:
        >>> wherry.empty_like(wherry.zeros([2, 3])).shape
        [2, 3]
    """
    require_tensor(x, "empty_like")
    if _core.is_symbolic(x):
        return _like(x, 0, dtype, "empty_like")
    return _core.uninitialized(x.shape, x.dtype if dtype is None else as_dtype(dtype, "empty_like"), _core.device_of(x))


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Tensor:
    """Numbers from `start` up to but without `end`, `step` apart.

    Args:
        start: the first; the only argument is `end`, and start is 0 then.
        end: where to stop; below `start` when `step` is negative.
        step: the distance, not 0.
        dtype: None is int64 when all three are integers, else the default dtype. An integer dtype cuts the
            three to integers first.

    Each of the three is a number or a tensor of one element.

    Shape:
        `[ceil((end - start) / step)]`.

    Raises:
        TypeError: one of the three is not a number, or `dtype` is not a known dtype.
        ValueError: `step` is 0 or leads away from `end`, or one of the three is not finite.
        MemoryError: there are too many numbers.

    Source:
        `paddle.arange`.

    Examples:
        >>> print(wherry.arange(1, 10, 3).numpy())
        [1 4 7]
        >>> print(wherry.arange(0, 1, 0.25).numpy())
        [0.   0.25 0.5  0.75]
    """
    if end is None:
        start, end = 0, start
    if any(_core.is_symbolic(v) and v.dtype.is_floating for v in (start, end, step)):
        return _floats_between(start, end, step, default_dtype() if dtype is None else as_dtype(dtype, "arange"))
    start, end = (integer(v, "arange", n) if _core.is_symbolic(v) else v for v, n in ((start, "start"), (end, "end")))
    start, end, step = (number(v, "arange", n) for v, n in ((start, "start"), (end, "end"), (step, "step")))
    if is_unknown(start) or is_unknown(end):
        kind = int64 if dtype is None else as_dtype(dtype, "arange")
        step = known(step, "arange: its step")
        length = -((start - end) // step)
        if is_unknown(start):
            return ops.arange(0, step, length, kind) + start.tensor(kind)
        return ops.arange(known(start, "arange: its start"), step, length, kind)
    for value in (start, end, step):
        if isinstance(value, complex_number) or not math.isfinite(value):
            raise InvalidArgumentError(
                f"arange: the numbers must be real and finite. Got start={start}, end={end}, step={step}, expected finite "
                f"numbers. Check how they were computed."
            )
    if dtype is None:
        dtype = default_dtype() if any(isinstance(v, float) for v in (start, end, step)) else int64
    else:
        dtype = as_dtype(dtype, "arange")
    if dtype.is_integer:
        start, end, step = int(start), int(end), int(step)
    if step == 0 or (end - start) * (1 if step > 0 else -1) < 0:
        raise InvalidArgumentError(
            f"arange: step does not lead from start to end. Got start={start}, end={end}, step={step}, expected "
            f"{'a step other than 0' if step == 0 else 'a negative step' if end < start else 'a positive step'}. "
            f"Change its sign, or swap start and end."
        )
    if all(isinstance(v, int) for v in (start, end, step)):
        length = -((start - end) // step)
    else:
        length = math.ceil((end - start) / step)
    if length >= 1 << 59:
        raise MemoryError(f"arange: no machine holds so many numbers. Got {length}. Check start, end and step.")
    return ops.arange(start, step, length, dtype)


def _floats_between(start: Any, end: Any, step: Any, dtype: DType) -> Tensor:
    """`arange` of numbers that a program finds: how many there are, too."""
    kind = float64 if dtype is float64 else float32
    first, last, each = (
        ops.cast(ops.reshape(v, shape=()), kind) if isinstance(v, Tensor) else _full((), number(v, "arange", name), kind)
        for v, name in ((start, "start"), (end, "end"), (step, "step"))
    )
    count = Size("value", ops.cast(ops.ceil((last - first) / each), int64))
    return ops.cast(ops.arange(0, 1, count, kind) * each + first, dtype)


def _count(num: Any, op_name: str) -> int:
    if isinstance(num, float) and num.is_integer():
        num = int(num)
    if isinstance(num, Tensor) and not _core.is_symbolic(num):
        num = num.item()
    num = integer(num, op_name, "num")
    if is_unknown(num):
        return num
    if num <= 0:
        raise InvalidArgumentError(
            f"{op_name}: num must be positive. Got num={num}, expected how many numbers to make, at least 1. "
            f"Use empty([0]) for a tensor without elements."
        )
    if num >= 1 << 59:
        raise MemoryError(f"{op_name}: no machine holds so many numbers. Got num={num}. Check it.")
    return num


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """`num` numbers in equal steps from `start` to `stop`, both included.

    Args:
        start, stop: numbers, or tensors of one element.
        num: how many, at least 1; one gives `start`.
        dtype: None is the default dtype; an integer dtype cuts the fractions off.

    Shape:
        `[num]`.

    Raises:
        TypeError: an argument is not a number, or `dtype` is not a known dtype.
        ValueError: `num` is not positive.

    Source:
        `paddle.linspace`.

    Examples:
        >>> print(wherry.linspace(0, 1, 5).numpy())
        [0.   0.25 0.5  0.75 1.  ]
    """
    return _steps(start, stop, num, _dtype_or_default(dtype, "linspace"), "linspace")


def _steps(start: Any, stop: Any, num: Any, dtype: Any, op_name: str) -> Tensor:
    if _core.is_symbolic(start) or _core.is_symbolic(stop):
        return _steps_between_values(start, stop, _count(num, op_name), dtype, op_name)
    start, stop = number(start, op_name, "start"), number(stop, op_name, "stop")
    return ops.linspace(start, stop, _count(num, op_name), dtype)


def _steps_between_values(start: Any, stop: Any, count: Any, dtype: Any, op_name: str) -> Tensor:
    """Steps between values of a program that is being captured: the op takes numbers. It counts as the op does, from both ends."""
    first, last = (
        _cast(end, float64).reshape([]) if isinstance(end, Tensor) else _full((), number(end, op_name, "an end"), float64) for end in (start, stop)
    )
    at = ops.arange(0.0, 1.0, count, float64)
    most = ops.reduce_max(at, axes=(0,), keepdim=False)
    step = (last - first) * (1.0 / ops.maximum(most, _full((), 1.0, float64)))
    half = ops.maximum(ops.floor((most + 1.0) * 0.5), 1.0 - most)  # a single number is the start
    near_start = ops.less_than(at, half)
    return _cast(ops.where(near_start, first + step * at, last - step * (most - at)), dtype)


def logspace(
    start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Powers of `base` whose exponents go in equal steps from `start` to `stop`, both included.

    Args:
        start, stop: exponents: numbers, or tensors of one element.
        num: how many, at least 1.
        base: a number, or a tensor of one element.
        dtype: None is the default dtype; an integer dtype cuts the fractions off.

    Shape:
        `[num]`.

    Raises:
        TypeError: an argument is not a number, or `dtype` is not a known dtype.
        ValueError: `num` is not positive.

    Source:
        `paddle.logspace`.

    Examples:
        >>> print(wherry.logspace(0, 3, 4, base=2).numpy())
        [1. 2. 4. 8.]
    """
    base = _cast(base, float64).reshape([]) if _core.is_symbolic(base) else _full((), real_number(base, "logspace", "base"), float64)
    dtype = _dtype_or_default(dtype, "logspace")
    powers = ops.power(base, _steps(start, stop, num, float64, "logspace"))
    if dtype.is_integer:
        # A power may come out a rounding error below the integer it is; cutting must not lose that one.
        powers = powers * (1 + 2.0**-50)
    return _cast(powers, dtype)


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere.

    Args:
        num_rows: how many rows, >= 0.
        num_columns: how many columns, >= 0; None is as many.
        dtype: any; None is the default dtype.

    Shape:
        `[num_rows, num_columns]`.

    Raises:
        TypeError: a count is negative or not an int (as in Paddle), or `dtype` is not a known dtype.

    Source:
        `paddle.eye`.

    Examples:
        >>> print(wherry.eye(2, 3).numpy())
        [[1. 0. 0.]
         [0. 1. 0.]]
    """
    counts = []
    for count, which in ((num_rows, "num_rows"), (num_rows if num_columns is None else num_columns, "num_columns")):
        count = integer(count, "eye", which)
        if count < 0:
            raise InvalidTypeError(
                f"eye: {which} is negative. Got {which}={count}, expected an int >= 0. Check how it was computed."
            )
        counts.append(count)
    sizes_of(counts, "eye")
    return ops.eye(counts[0], counts[1], _dtype_or_default(dtype, "eye"))


def _matrix(x: Any, diagonal: Any, op_name: str) -> int:
    require_tensor(x, op_name)
    if x.ndim < 2:
        raise InvalidArgumentError(
            f"{op_name}: x must hold matrices. Got shape {x.shape}, expected rank >= 2. Add axes with unsqueeze."
        )
    return integer(diagonal, op_name, "diagonal")


def tril(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The lower triangle of matrices: what lies above the diagonal becomes 0.

    Args:
        x: any dtype, `[..., rows, columns]`.
        diagonal: the last diagonal kept: 0 the main one, positive above it, negative below.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[..., rows, columns]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `diagonal` not an int (also a ValueError).
        ValueError: `x` has fewer than two axes.

    Source:
        `paddle.tril`.

    Examples:
        >>> print(wherry.tril(wherry.ones([2, 3])).numpy())
        [[1. 0. 0.]
         [1. 1. 0.]]
    """
    return ops.tril(x, _matrix(x, diagonal, "tril"))


def triu(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The upper triangle of matrices: what lies below the diagonal becomes 0.

    Args:
        x: any dtype, `[..., rows, columns]`.
        diagonal: the first diagonal kept: 0 the main one, positive above it, negative below.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[..., rows, columns]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `diagonal` not an int (also a ValueError).
        ValueError: `x` has fewer than two axes.

    Source:
        `paddle.triu`.

    Examples:
        >>> print(wherry.triu(wherry.ones([2, 3])).numpy())
        [[1. 1. 1.]
         [0. 1. 1.]]
    """
    return ops.triu(x, _matrix(x, diagonal, "triu"))


def _embedded(x: Tensor, offset: int, axis1: int, axis2: int, shape: Sequence[int]) -> Tensor:
    """Zeros of `shape` with `x` on the diagonal of two axes."""
    sizes = sizes_of(tuple(shape), "diag")
    if any(map(is_unknown, sizes)):
        like = _full(sizes, 0, x.dtype)
    else:  # nothing but the shape counts: one zero, repeated
        like = ops.broadcast_to(_full((), 0, x.dtype), sizes)
    return ops.diagonal_vjp(x, like, offset, axis1, axis2)


def diag(x: Tensor, offset: int = 0, padding_value: Any = 0, name: str | None = None) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix.

    Args:
        x: `[n]`, or `[rows, columns]`; a 0-d tensor counts as `[1]`.
        offset: which diagonal: 0 the main one, positive above it, negative below.
        padding_value: what stands elsewhere when a matrix is made.

    Shape:
        `[n]` to `[n + |offset|, n + |offset|]`; `[rows, columns]` to the length of that diagonal.

    Raises:
        TypeError: `x` is not a Tensor or `offset` not an int (also a ValueError).
        ValueError: `x` has more than two axes.

    Source:
        `paddle.diag`.

    Examples:
        >>> print(wherry.diag(wherry.to_tensor([1, 2]), offset=1).numpy())
        [[0 1 0]
         [0 0 2]
         [0 0 0]]
        >>> print(wherry.diag(wherry.to_tensor([[1, 2], [3, 4]])).numpy())
        [1 4]
    """
    require_tensor(x, "diag")
    offset = integer(offset, "diag", "offset")
    rank = x.ndim
    if rank == 2:
        return _copy(ops.diagonal(x, offset, 0, 1))
    if rank > 2:
        raise InvalidArgumentError(
            f"diag: x must be a vector or a matrix. Got shape {x.shape}, expected rank 1 or 2. "
            f"Use diag_embed or diagonal for batches."
        )
    if rank == 0:
        x = ops.reshape(x, (1,))
    size = x.shape[0] + abs(offset)
    out = _embedded(x, offset, 0, 1, (size, size))
    if padding_value == 0:
        return out
    kept = _cast(_embedded(_full_like(x, 1, _core.int32), offset, 0, 1, (size, size)), bool_)
    return ops.where(kept, out, _full((), fitted(number(padding_value, "diag", "padding_value"), x.dtype, "diag"), x.dtype))


def diagflat(x: Tensor, offset: int = 0, name: str | None = None) -> Tensor:
    """A matrix with all elements of `x`, row by row, on its diagonal.

    Args:
        x: any shape.
        offset: which diagonal: 0 the main one, positive above it, negative below.

    Shape:
        n elements to `[n + |offset|, n + |offset|]`.

    Raises:
        TypeError: `x` is not a Tensor or `offset` not an int (also a ValueError).

    Source:
        `paddle.diagflat`.

    Examples:
        >>> print(wherry.diagflat(wherry.to_tensor([[1, 2]])).numpy())
        [[1 0]
         [0 2]]
    """
    require_tensor(x, "diagflat")
    return diag(ops.reshape(x, (x.size,)), integer(offset, "diagflat", "offset"))


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last axis of `input` on their diagonals.

    Args:
        input: `[..., n]`, a tensor or what makes one.
        offset: which diagonal: 0 the main one, positive above it, negative below.
        dim1, dim2: the axes of the result that are rows and columns.

    Shape:
        `[..., n]` to `[..., n + |offset|, n + |offset|]`, those two axes at `dim1` and `dim2`.

    Raises:
        TypeError: `offset`, `dim1` or `dim2` is not an int (also a ValueError).
        IndexError: `dim1` or `dim2` is out of range.
        ValueError: `dim1` and `dim2` are the same axis.

    Source:
        `paddle.diag_embed`.

    Examples:
        >>> print(wherry.diag_embed(wherry.to_tensor([[1, 2], [3, 4]])).numpy())
        [[[1 0]
          [0 2]]
        <BLANKLINE>
         [[3 0]
          [0 4]]]
    """
    x = input if isinstance(input, Tensor) else to_tensor(input)
    offset = integer(offset, "diag_embed", "offset")
    rank = x.ndim + 1
    axes = []
    for axis, which in ((dim1, "dim1"), (dim2, "dim2")):
        axis = integer(axis, "diag_embed", which)
        if not -rank <= axis < rank or rank == 1:
            raise OutOfRangeError(
                f"diag_embed: {which} is out of range for the result. Got {which}={axis} for input of shape {x.shape}, "
                f"expected one in [{-rank}, {rank}). The result has one axis more than the input, which needs one at least."
            )
        axes.append(axis % rank)
    if axes[0] == axes[1]:
        raise InvalidArgumentError(
            f"diag_embed: rows and columns are the same axis. Got dim1={dim1} and dim2={dim2}, expected two axes. "
            f"The defaults are -2 and -1."
        )
    size = x.shape[-1] + abs(offset)
    rest = iter(x.shape[:-1])
    shape = [size if axis in axes else next(rest) for axis in range(rank)]
    return _embedded(x, offset, axes[0], axes[1], shape)


def tril_indices(row: int, col: int, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """Rows and columns of the lower triangle of a `[row, col]` matrix, row by row.

    Args:
        row, col: the size of the matrix.
        offset: the last diagonal that belongs to the triangle.
        dtype: int32 or int64.

    Shape:
        `[2, count]`: row numbers above column numbers.

    Raises:
        TypeError: an argument is not an int (also a ValueError), or `dtype` is not an integer dtype.

    Source:
        `paddle.tril_indices`.

    Examples:
        >>> print(wherry.tril_indices(2, 2).numpy())
        [[0 1 1]
         [0 0 1]]
    """
    row, col, offset = _index_arguments(row, col, offset, "tril_indices")
    # What is left without the empty rows above and the empty columns at the right has about half of its places filled.
    first = min(max(0, -offset), row)
    shape = (row - first, max(0, min(col, row + offset)))
    return _index_pairs(shape, ops.tril, offset + first, (first, 0), dtype, "tril_indices")


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """Rows and columns of the upper triangle of a `[row, col]` matrix, row by row.

    Args:
        row, col: the size of the matrix; `col` None is as many.
        offset: the first diagonal that belongs to the triangle.
        dtype: int32 or int64.

    Shape:
        `[2, count]`: row numbers above column numbers.

    Raises:
        TypeError: an argument is not an int (also a ValueError), or `dtype` is not an integer dtype.

    Source:
        `paddle.triu_indices`.

    Examples:
        >>> print(wherry.triu_indices(2).numpy())
        [[0 0 1]
         [0 1 1]]
    """
    row, col, offset = _index_arguments(row, row if col is None else col, offset, "triu_indices")
    first = min(max(0, offset), col)
    shape = (max(0, min(row, col - offset)), col - first)
    return _index_pairs(shape, ops.triu, offset - first, (0, first), dtype, "triu_indices")


def _index_arguments(row: Any, col: Any, offset: Any, op_name: str) -> tuple[int, int, int]:
    return max(0, integer(row, op_name, "row")), max(0, integer(col, op_name, "col")), integer(offset, op_name, "offset")


def _index_pairs(
    shape: tuple[int, int], triangle: Any, diagonal: int, start: tuple[int, int], dtype: Any, op_name: str
) -> Tensor:
    """Places in a triangle of a matrix of this shape, counted from `start`."""
    dtype = as_dtype(dtype, op_name)
    if not dtype.is_integer:
        raise InvalidTypeError(
            f"{op_name}: the dtype of indices must be an integer one. Got dtype={dtype.name}, expected int32 or int64. Cast the result if need be."
        )
    if not shape[0] or not shape[1]:
        return _core.uninitialized((2, 0), dtype)
    require_room(9 * shape[0] * shape[1], op_name, f"the places in {shape[0]} rows and {shape[1]} columns")
    inside = triangle(ops.full(shape=shape, value=True, dtype=bool_), diagonal=diagonal)
    places = ops.transpose(ops.nonzero(inside), perm=(1, 0))
    if start != (0, 0):
        places = ops.add(places, _core.from_values(start, (2, 1), int64))
    return ops.copy(places) if dtype is int64 else ops.cast(places, dtype=dtype)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinates of a grid from coordinates along its axes, in matrix order (`ij`).

    Args:
        args: vectors of one dtype, each `[n_i]` (a 0-d tensor counts as `[1]`), or one list of them.
        kwargs: `name`, no effect.

    Returns:
        As many tensors of shape `[n_0, n_1, ...]`; the k-th varies along axis k.

    Shape:
        `[n0]`, `[n1]`, ... to as many tensors of `[n0, n1, ...]`.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: no tensor is given, or one has more than one axis.

    Source:
        `paddle.meshgrid`.

    Examples:
        >>> rows, columns = wherry.meshgrid(wherry.to_tensor([1, 2]), wherry.to_tensor([3, 4, 5]))
        >>> print(columns.numpy())
        [[3 4 5]
         [3 4 5]]
    """
    given = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    if not given:
        raise InvalidArgumentError(
            "meshgrid: there is nothing to make a grid of. Got no tensors, expected at least one. Pass one for each axis."
        )
    for i, x in enumerate(given):
        require_tensor(x, "meshgrid", f"args[{i}]")
        if x.ndim > 1:
            raise InvalidArgumentError(
                f"meshgrid: an argument has more than one axis. Got shape {x.shape} for args[{i}], expected rank 0 or 1. "
                f"Flatten it first."
            )
        if x.dtype is not given[0].dtype:
            raise refused("meshgrid", TypeError(), **{f"args[{j}]": y for j, y in enumerate(given)})
    shape = tuple(x.shape[0] if x.ndim else 1 for x in given)
    grids = []
    for i, x in enumerate(given):
        along = ops.reshape(x, tuple(size if axis == i else 1 for axis, size in enumerate(shape)))
        grids.append(_copy(ops.broadcast_to(along, shape)))
    return grids


def assign(x: Any, output: Tensor | None = None) -> Tensor:
    """A copy of `x`, written into `output` if that is given.

    Args:
        x: a Tensor; or a number, list, tuple or NumPy array. As in Paddle, a number gives shape `[1]`, and
            float64 arrays and numbers give float32.
        output: a tensor that takes the values (and the shape and dtype, where they differ).

    Returns:
        `output`, or a new tensor.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is something else, or `output` is not a Tensor (also a ValueError).
        ValueError: nested lists have different lengths.

    Source:
        `paddle.assign`.

    Examples:
        >>> print(wherry.assign([1.0, 2.0]).numpy())
        [1. 2.]
    """
    if not isinstance(x, Tensor):
        if type(x) in _kinds:
            x = [x]
        x = to_tensor(x)
        if (x.dtype is float64 or x.dtype is complex128) and not is_3():
            x = _cast(x, float32 if x.dtype is float64 else complex64)
        if output is None:
            return x
    if output is None:
        return _copy(x)
    require_tensor(output, "assign", "output")
    if output.shape == x.shape and output.dtype is x.dtype and (output._is_initialized() or _core.is_symbolic(output)):
        return _copy.into((output,), x)
    output._share_data_with(_copy(_core.alias(x)))
    return output


def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A copy of `x` that gradients pass through.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.clone`.

    Examples:
        >>> x = wherry.to_tensor([1.0])
        >>> wherry.clone(x) is x
        False
    """
    try:
        return _copy(x)
    except TypeError:
        require_tensor(x, "clone")
        raise


def cast(x: Tensor, dtype: Any) -> Tensor:
    """`x` in another dtype.

    Floats are cut to integers toward 0, integers wrap around in a smaller dtype, anything but 0 is
    True, and complex numbers lose their imaginary part.

    Args:
        x: any dtype and shape.
        dtype: a DType, a name such as "float32", a NumPy dtype, or bool, int, float, complex.

    Returns:
        A new tensor of the shape of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `dtype` is not a known dtype.

    Source:
        `paddle.cast`.

    Examples:
        >>> print(wherry.cast(wherry.to_tensor([1.7, -1.7]), "int32").numpy())
        [ 1 -1]
    """
    known = as_dtype(dtype, "cast")
    try:
        return _cast(x, known)
    except TypeError:
        require_tensor(x, "cast")
        raise


def complex(real: Tensor, imag: Tensor, name: str | None = None) -> Tensor:
    """Complex numbers from real and imaginary parts, which broadcast together.

    Args:
        real, imag: both float32 or both float64.

    Returns:
        complex64 or complex128, of the broadcast shape.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: one is not a Tensor, or the dtypes are not those (also a ValueError where they differ).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.complex`.

    Examples:
        >>> print(wherry.complex(wherry.to_tensor([1.0]), wherry.to_tensor([2.0])).numpy())
        [1.+2.j]
    """
    try:
        return ops.complex(real, imag)
    except TypeError as error:
        raise refused("complex", error, real=real, imag=imag) from None


def polar(abs: Tensor, angle: Tensor, name: str | None = None) -> Tensor:
    """Complex numbers from absolute values and angles (radians), which broadcast together.

    Args:
        abs, angle: both float32 or both float64.

    Returns:
        complex64 or complex128, of the broadcast shape.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: one is not a Tensor, or the dtypes are not those (also a ValueError where they differ).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.polar`.

    Examples:
        >>> print(wherry.polar(wherry.to_tensor([2.0]), wherry.to_tensor([0.0])).numpy())
        [2.+0.j]
    """
    try:
        return ops.complex(ops.multiply(abs, ops.cos(angle)), ops.multiply(abs, ops.sin(angle)))
    except TypeError as error:
        raise refused("polar", error, abs=abs, angle=angle) from None


spelled(globals())
