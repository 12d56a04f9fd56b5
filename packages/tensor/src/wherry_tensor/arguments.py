"""Reading the arguments of public functions: tensors, axes, shapes, numbers.

Each reader takes the name of the function that asks, tests the common case first and raises the
error that Paddle raises. A wrong Python type is InvalidTypeError (a TypeError and a ValueError).
"""
from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor, float32, int32, int64, is_symbolic
from wherry_tensor.dtype import promote_floating
from wherry_tensor.errors import InvalidArgumentError, InvalidIndexError, InvalidTypeError, LeafOverwrittenError, short
from wherry_tensor.sizes import Size
from wherry_tensor.static_builder import described

Axes: TypeAlias = int | Sequence[int] | Tensor | None
Shape: TypeAlias = int | Sequence[int | Tensor] | Tensor
_Kind = TypeVar("_Kind")

MAX_RANK: int = _core.MAX_RANK
_HUGE = 1 << 62  # sums of two such numbers still fit
_MOST_REPEATS = 1 << 16  # passes or layers: minutes of work, and far more than anybody has meant


def require_tensor(x: Any, op_name: str, name: str = "x") -> Tensor:
    """`x`, which must be a Tensor."""
    if isinstance(x, Tensor):
        return x
    got = "None" if x is None else type(x).__name__
    raise InvalidTypeError(
        f"{op_name}: argument '{name}' must be a Tensor. Got {got}, expected Tensor. Make one with to_tensor({name})."
    )


def at_hand(x: Tensor) -> bool:
    """Whether the values of `x` can be read without waiting: not under a capture, nor while a device may still compute them.

    A check of values that the function could do without asks this first, so that it costs a device nothing.
    """
    return not is_symbolic(x) and _core.device_of(x) == 0


def never_from_the_end(index: Tensor, size: Any) -> Tensor:
    """`index` with `size` in place of negative numbers, which ops would count from the end; they are refused when the op runs."""
    return ops.where(index < 0, ops.full(shape=(), value=size, dtype=index.dtype), index)


def require(value: Any, kind: type[_Kind], op_name: str, name: str, remedy: str) -> _Kind:
    """`value`, which must be an instance of `kind`.

    Args:
        value: what the caller gave.
        kind: the class.
        op_name, name: the function and its argument, for the message.
        remedy: where an instance is to be had: the last sentence of the message.

    Raises:
        TypeError: `value` is something else (also a ValueError).
    """
    if isinstance(value, kind):
        return value
    raise InvalidTypeError(
        f"{op_name}: argument '{name}' must be of the class {kind.__name__}. Got {_shown(value)}, expected an instance. {remedy}"
    )


def require_rank(x: Any, op_name: str, least: int, most: int | None = None, name: str = "x", layout: str = "") -> Tensor:
    """`x`, which must be a Tensor with `least` axes, or with `least` to `most`; `layout` says what lies along them."""
    require_tensor(x, op_name, name)
    last = least if most is None else most
    if least <= x.ndim <= last:
        return x
    axes = f"{least} or more axes" if last == MAX_RANK else f"{least} to {last} axes" if last > least else f"{least} ax{'e' if least > 1 else 'i'}s"
    raise InvalidArgumentError(
        f"{op_name}: '{name}' has the wrong number of axes. Got shape {x.shape}, expected {axes}{f', {layout}' if layout else ''}. "
        f"Use reshape or unsqueeze."
    )


def name_of(name: Any, op_name: str) -> str | None:
    """The name that the user gives what is made; None leaves it to the function."""
    if name is None or isinstance(name, str):
        return name
    raise InvalidTypeError(f"{op_name}: the name is not a str. Got {_shown(name)}, expected a str or None. Leave it out.")


def path_of(path: Any, op_name: str, name: str = "path") -> str:
    """The name of a file or folder, given as str or PathLike."""
    try:
        found = os.fspath(path)
        os.fsencode(found)
    except TypeError:
        found = None
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"{op_name}: '{name}' is not a valid file name. Got {short(path)}, expected text that the file system can hold. "
            f"Take the character at position {error.start} out."
        ) from None
    if not isinstance(found, str):
        raise InvalidTypeError(f"{op_name}: '{name}' must be a file name. Got {_shown(path)}, expected a str or a pathlib.Path.")
    return found


def names_of(names: Any, op_name: str, name: str) -> frozenset[str]:
    """Several names, given as a set or another collection; None means no names."""
    if names is None:
        return frozenset()
    if isinstance(names, Iterable) and not isinstance(names, (str, bytes, Tensor)):
        found = set()
        for one in names:
            if not isinstance(one, str):
                break
            found.add(one)
        else:
            return frozenset(found)
    got = f"the text {short(names)}" if isinstance(names, str) else _shown(names)
    example = short(names) if isinstance(names, str) else "'matmul'"
    raise InvalidTypeError(f"{op_name}: {name} must be a collection of names. Got {got}, expected a set of names. Write {name}={{{example}}}.")


def integer(value: Any, op_name: str, name: str) -> int:
    """An int, given as Python int, NumPy integer or integer tensor of one element; a bool is refused."""
    if type(value) is int or type(value) is Size:
        return value  # type: ignore[return-value]  # a Size stands for an int
    if is_symbolic(value) and value.size == 1 and value.dtype.is_integer:
        return Size("value", value)  # type: ignore[return-value]  # a Size stands for an int
    if not isinstance(value, (bool, float)) and hasattr(value, "__index__"):
        try:
            return int(value.__index__())
        except TypeError:  # a tensor of several elements, or of floats
            pass
    shown = f"shape {value.shape}, dtype {value.dtype.name}" if isinstance(value, Tensor) else short(value)
    raise InvalidTypeError(
        f"{op_name}: argument '{name}' must be one integer. Got {shown}, expected an int. "
        f"Convert it with int(...) if it counts something."
    )


def number(value: Any, op_name: str, name: str) -> Any:
    """A Python bool, int, float or complex, given as one, a NumPy scalar or a tensor of one element."""
    if type(value) in (int, float, bool, complex):
        return value
    if type(value) is Size:
        return value
    if isinstance(value, (int, float, complex)):  # numpy.float64 is a float
        return value.item() if hasattr(value, "item") else value
    if hasattr(value, "item") and getattr(value, "size", 0) == 1:
        found = value.item()
        if isinstance(found, (int, float, complex)):
            return found
    raise InvalidTypeError(
        f"{op_name}: argument '{name}' must be one number. Got {_shown(value)}, expected an int, float or bool, "
        f"or a tensor of one element. Convert it first."
    )


def real_number(value: Any, op_name: str, name: str) -> float:
    """A float, from what `number` reads, complex numbers excepted."""
    found = number(value, op_name, name)
    try:
        return float(found)
    except TypeError:
        raise InvalidTypeError(
            f"{op_name}: argument '{name}' must be a real number. Got {short(found)}, expected an int or float. Take its real part."
        ) from None
    except OverflowError:
        raise InvalidArgumentError(
            f"{op_name}: argument '{name}' is too large. Got {short(found)}, expected a number that a float can hold. Use float('inf')."
        ) from None


def fitted(value: Any, dtype: DType, op_name: str) -> Any:
    """A Python number as `dtype` holds it: floats are cut to integers, and integers wrap around."""
    if type(value) is Size:
        return value
    if dtype.is_integer:
        if isinstance(value, complex):
            value = value.real
        if isinstance(value, float) and not -9.3e18 < value < 1.85e19:  # also NaN
            raise InvalidArgumentError(
                f"{op_name}: {dtype.name} has no such number. Got {short(value)}, expected a finite number that fits. "
                f"Choose a floating dtype."
            )
        bits = dtype.itemsize * 8
        value = int(value) & ((1 << bits) - 1)
        if dtype.name[0] != "u" and value >> (bits - 1):
            value -= 1 << bits
        return value
    if dtype.is_bool:
        return bool(value)
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return value.real if isinstance(value, complex) and dtype.is_floating else value


def flag(value: Any, op_name: str, name: str) -> bool:
    """A bool."""
    if value is True or value is False:
        return value
    if type(value).__name__ in ("bool_", "bool"):  # NumPy's
        return bool(value)
    raise InvalidTypeError(
        f"{op_name}: argument '{name}' must be a bool. Got {_shown(value)}, expected True or False. "
        f"Write {name}=True."
    )


def truth(value: Any, op_name: str, name: str) -> bool:
    """Whether a switch is on: a bool, or what Python takes for one, such as 0 and None."""
    try:
        return bool(value)
    except (TypeError, ValueError) as error:
        if isinstance(value, Tensor):  # it says itself why it is neither
            raise
        raise InvalidTypeError(
            f"{op_name}: argument '{name}' must be a bool. Got {_shown(value)}, expected True or False. Write {name}=True."
        ) from error


def among(value: Any, known: Container[Any]) -> bool:
    """Whether `value` is one of the texts of `known`, or None where that is one."""
    return (value is None or isinstance(value, str)) and value in known


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a Tensor of shape {value.shape}"
    text = short(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def repeats(value: Any, op_name: str, name: str, least: int, each: str) -> int:
    """A number of repetitions: an int of at least `least`, and few enough to finish; `each` says what one costs."""
    count = integer(value, op_name, name)
    if type(count) is int and not least <= count <= _MOST_REPEATS:
        raise InvalidArgumentError(
            f"{op_name}: '{name}' is out of range. Got {name}={short(count)}, expected an int in [{least}, {_MOST_REPEATS}]: "
            f"each costs {each}. Check the order of the arguments."
        )
    return count


def require_room(nbytes: float, op_name: str, what: str) -> None:
    """Refuse what the machine's memory cannot hold, before the first part of it is made."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not say
        whole = 1 << 47
    if nbytes > whole:
        raise MemoryError(
            f"{op_name}: {what} would need {nbytes:.3g} bytes. Got a machine with {whole:.3g}, expected one that holds it. "
            f"Make it smaller."
        )


def one_axis(axis: Any, rank: int, op_name: str, error: type[Exception] = InvalidArgumentError, name: str = "axis") -> int:
    """An axis in [0, rank) from one in [-rank, rank). A 0-d tensor has the axes 0 and -1, as in Paddle."""
    at = axis if type(axis) is int else integer(axis, op_name, name)
    if 0 <= at < rank:
        return at
    if -rank <= at < 0:
        return at + rank
    if rank == 0 and -1 <= at <= 0:
        return 0
    raise error(
        f"{op_name}: {name} {at} is out of range for rank {rank}. Got {name}={short(axis)}, expected one in "
        f"[{-max(rank, 1)}, {max(rank, 1)}). Axes count from 0; the last is {max(rank, 1) - 1}, or -1."
    )


def axes_of(axis: Axes, rank: int, op_name: str) -> tuple[int, ...]:
    """Sorted axes in [0, rank) from what the user wrote; None and an empty list mean all."""
    if axis is None:
        return tuple(range(rank))
    if type(axis) is int:
        if 0 <= axis < rank:
            return (axis,)
        if -rank <= axis < 0:
            return (axis + rank,)
    if isinstance(axis, Tensor) or type(axis).__module__ == "numpy":
        axis = axis.tolist()  # type: ignore[union-attr]
    if isinstance(axis, (list, tuple)):
        if not axis:
            return tuple(range(rank))
        found = sorted(one_axis(a, rank, op_name) for a in axis)
        for a, b in pairwise(found):
            if a == b:
                raise InvalidArgumentError(
                    f"{op_name}: axis {a} is named twice. Got axis={short(axis)} for rank {rank}, expected each axis "
                    f"once. Axis -1 is the same as {rank - 1}."
                )
        return tuple(found) if rank else ()
    one = one_axis(axis, rank, op_name)
    return (one,) if rank else ()


def sizes_of(shape: Shape, op_name: str, name: str = "shape") -> tuple[int, ...]:
    """The shape of a new tensor: a tuple of sizes >= 0.

    `shape` is a list or tuple of ints (or tensors of one element), one int, or a 1-D integer tensor.
    """
    if isinstance(shape, (list, tuple)):
        sizes = tuple(shape)
    elif isinstance(shape, Tensor):
        if not (shape.dtype.is_integer and shape.ndim <= 1):
            raise InvalidTypeError(
                f"{op_name}: '{name}' as a tensor must be 1-D and of integers. Got shape {shape.shape}, dtype {shape.dtype.name}, "
                f"expected a 1-D int32 or int64 tensor. Pass a list of ints."
            )
        sizes = values_of(shape, op_name, name)
    elif type(shape).__module__ == "numpy":
        found = shape.tolist()  # type: ignore[union-attr]
        sizes = tuple(found) if isinstance(found, list) else (found,)
    elif hasattr(shape, "__index__") and not isinstance(shape, bool):
        sizes = (shape.__index__(),)  # type: ignore[union-attr]
    else:
        raise InvalidTypeError(
            f"{op_name}: argument '{name}' must be a shape. Got {_shown(shape)}, expected a list or tuple of ints, "
            f"or a 1-D integer tensor. Write [2, 3] for two rows of three."
        )
    for size in sizes:
        if type(size) is not int:
            sizes = tuple(integer(one, op_name, f"{name}[{i}]") for i, one in enumerate(sizes))
            break
    total = 1
    for size in sizes:
        if type(size) is Size:
            continue
        if size < 0:
            raise InvalidArgumentError(
                f"{op_name}: a size cannot be negative. Got {name}={short(list(sizes))}, expected sizes >= 0. "
                f"A new tensor has nothing from which -1 could be inferred."
            )
        if size >= _HUGE:  # even beside a size of 0
            raise MemoryError(f"{op_name}: no machine holds such a tensor. Got {name}={short(list(sizes))}. Check the sizes.")
        total *= size
    if len(sizes) > MAX_RANK:
        raise InvalidArgumentError(
            f"{op_name}: too many axes. Got {len(sizes)}, expected at most {MAX_RANK}. Merge some of them."
        )
    if total >= 1 << 59:  # in bytes it would not fit into 63 bits
        raise MemoryError(
            f"{op_name}: no machine holds such a tensor. Got {name}={short(list(sizes))}, {short(total)} elements. Check the sizes."
        )
    return sizes


def shape_argument(shape: Any, op_name: str, name: str = "shape") -> tuple[Any, ...]:
    if isinstance(shape, (list, tuple)):
        return tuple(shape)
    if isinstance(shape, Tensor) and shape.dtype.is_integer and shape.ndim <= 1:
        return values_of(shape, op_name, name)
    got = f"a Tensor of shape {shape.shape}, dtype {shape.dtype.name}" if isinstance(shape, Tensor) else short(shape)
    raise InvalidTypeError(
        f"{op_name}: '{name}' is not a list of sizes. Got {got}, expected a list or tuple of ints, or a 1-D int32 or "
        f"int64 tensor. Write {op_name}([{short(shape)}]), and several sizes as {op_name}([2, -1])." if isinstance(shape, int) else
        f"{op_name}: '{name}' is not a list of sizes. Got {got}, expected a list or tuple of ints, or a 1-D int32 or "
        f"int64 tensor. Write [2, -1] for two rows."
    )


def integers_of(values: Any, op_name: str, name: str) -> tuple[int, ...]:
    """Ints from a list, tuple or 1-D tensor of them, or from one of them."""
    if type(values) is int:
        if -_HUGE < values < _HUGE:
            return (values,)
        values = [values]
    if isinstance(values, Tensor):
        if values.ndim == 0:
            return (integer(values, op_name, name),)
        values = shape_argument(values, op_name, name)
    elif type(values).__module__ == "numpy":
        values = values.tolist()
    if not isinstance(values, (list, tuple, range)):
        return (integer(values, op_name, name),)
    if len(values) > 1 << 20:
        require_room(40 * len(values), op_name, f"'{name}'")
    found = [value if type(value) is int else integer(value, op_name, f"{name}[{i}]") for i, value in enumerate(values)]
    known = [value for value in found if type(value) is not Size]
    if known and not -_HUGE < min(known) <= max(known) < _HUGE:
        raise InvalidArgumentError(
            f"{op_name}: a number is too large. Got {name}={short(found)}, expected numbers of at most 62 bits. "
            f"No tensor has so many elements."
        )
    return tuple(found)


def values_of(x: Tensor, op_name: str, name: str) -> tuple[int, ...]:
    """The numbers in a tensor of rank 0 or 1; sizes of the program where it is being captured."""
    if not is_symbolic(x):
        return tuple(x.tolist()) if x.ndim else (x.item(),)
    if x.ndim == 0:
        return (Size("value", x),)  # type: ignore[return-value]  # a Size stands for an int
    if x.shape[0] < 0:
        raise InvalidArgumentError(
            f"{op_name}: '{name}' is a tensor that holds an unknown number of values. Got shape {x.shape} in a captured "
            f"program, expected a known size. Give a list of numbers and tensors of one element."
        )
    return tuple(Size("value", x[i]) for i in range(x.shape[0]))  # type: ignore[misc]  # a Size stands for an int


def numpy_module() -> Any:
    """NumPy if the process has imported it, else None: objects of NumPy cannot exist without it."""
    return sys.modules.get("numpy")


# What follows answers the TypeError of an op: either by casting, or by saying what is wrong in the
# terms of the public function. `error` is what the op raised.


def floated(op_name: str, op: Any, x: Any, error: Exception) -> Tensor:
    """`op(x)` for an op of floating numbers: integers and bools are cast to float32."""
    require_tensor(x, op_name)
    if x.dtype.is_integer or x.dtype.is_bool:
        return op(ops.cast(x, dtype=float32))
    raise error


def checked(op_name: str, x: Any, error: Exception) -> Exception:
    """The error to raise when an op of one tensor refused `x`."""
    require_tensor(x, op_name)
    return error


def refused(op_name: str, error: Exception, **tensors: Any) -> Exception:
    """The error to raise when an op refused `tensors` (given by name), of which dtypes may differ."""
    for name, x in tensors.items():
        require_tensor(x, op_name, name)
    if len({x.dtype for x in tensors.values()}) > 1:
        *most, last = (f"'{name}'" for name in tensors)
        name, dtype = _odd_one(tensors)
        return InvalidTypeError(
            f"{op_name}: {', '.join(most)} and {last} must have one dtype. "
            f"Got {' and '.join(x.dtype.name for x in tensors.values())}, "
            f"expected equal dtypes. Cast one of them, as in {name}.astype('{dtype.name}')."
        )
    return error


def _odd_one(tensors: dict[str, Tensor]) -> tuple[str, DType]:
    """Whose dtype to change, and into which: data follows parameters, integers follow floating numbers."""
    (first, x), (_, second), *rest = tensors.items()
    others = second.dtype
    if x.dtype is not others and all(one.dtype is others for _, one in rest):
        if "weight" in tensors or others.is_floating or not x.dtype.is_floating:
            return first, others
    return next((name, x.dtype) for name, one in reversed(tensors.items()) if one.dtype is not x.dtype)


def promoted(op_name: str, op: Any, x: Any, y: Any, error: Exception) -> Tensor:
    """`op(x, y)` in the wider of two floating dtypes; other pairs of dtypes are refused."""
    require_tensor(x, op_name)
    require_tensor(y, op_name, "y")
    a, b = x.dtype, y.dtype
    if a is not b and (a.is_floating or a.is_complex) and (b.is_floating or b.is_complex):
        dtype = promote_floating(a, b)
        return op(to_dtype(x, dtype), to_dtype(y, dtype))
    raise refused(op_name, error, x=x, y=y)


def to_dtype(x: Tensor, dtype: DType) -> Tensor:
    """`x` in `dtype`, itself if it has it."""
    return x if x.dtype is dtype else ops.cast(x, dtype=dtype)


# Lists of tensors, and tensors that hold positions.


def tensors_of(xs: Any, op_name: str, name: str = "x") -> list[Tensor]:
    if not isinstance(xs, (list, tuple)):
        got = "one Tensor" if isinstance(xs, Tensor) else type(xs).__name__
        raise InvalidTypeError(
            f"{op_name}: argument '{name}' must be a list of tensors. Got {got}, expected a list or tuple of Tensor. "
            f"Write {op_name}([a, b])."
        )
    if not xs:
        raise InvalidArgumentError(
            f"{op_name}: there is nothing to join. Got an empty list, expected at least one tensor. Check what filled it."
        )
    for i, x in enumerate(xs):
        if not isinstance(x, Tensor):
            require_tensor(x, op_name, f"{name}[{i}]")
    return list(xs)


def looked_up(op_name: str, op: Any, *args: Any, **attrs: Any) -> Any:
    """Runs an op that reads or writes at positions; its error for a bad position names `op_name`."""
    try:
        return op(*args, **attrs)
    except IndexError as error:
        raise InvalidIndexError(f"{op_name}{str(error)[str(error).find(':'):]}") from None


def index_tensor(index: Any, op_name: str, name: str = "index") -> Tensor:
    require_tensor(index, op_name, name)
    if index.dtype is not int64 and index.dtype is not int32:
        raise InvalidTypeError(
            f"{op_name}: '{name}' must hold positions. Got dtype {index.dtype.name}, expected int32 or int64. "
            f"Cast it with astype('int64')."
        )
    return index


def check_mask(x: Tensor, mask: Tensor, axis: int) -> None:
    shape = x.shape[axis : axis + mask.ndim]
    if mask.shape != shape:
        for k, (have, want) in enumerate(zip(mask.shape, shape, strict=False)):
            if have != want and -1 not in (have, want):
                raise IndexError(
                    f"getitem: the mask does not match axis {axis + k}. "
                    f"Got a mask of shape {mask.shape} for {shape} of x of shape {x.shape}, expected equal shapes. "
                    f"A mask says of every element of the axes it indexes whether it is wanted."
                )
        if mask.ndim > len(shape):
            raise too_many_indices(x, axis + mask.ndim)


def too_many_indices(x: Tensor, count: int) -> IndexError:
    return IndexError(
        f"getitem: too many indices. Got {count} for x of shape {x.shape}, expected at most {x.ndim}. "
        f"Each int, slice or list stands for one axis, a mask for as many as it has."
    )


def positions_of(mask: Tensor) -> list[Tensor]:
    """Where a mask is true: an index tensor for each of its axes."""
    where = ops.nonzero(mask)
    return [ops.select(where, 1, axis) for axis in range(mask.ndim)]


def one_index_dtype(indices: list[Tensor]) -> list[Tensor]:
    first = indices[0].dtype
    if all(index.dtype is first for index in indices):
        return indices
    return [index if index.dtype is int64 else ops.cast(index, int64) for index in indices]


def require_index_broadcast(indices: list[Tensor]) -> None:
    rank = max(index.ndim for index in indices)
    sizes = [1] * rank
    for index in indices:
        for at, size in enumerate(index.shape, rank - index.ndim):
            if type(size) is Size or size in (-1, 1, sizes[at]):  # of an open size the kernel finds out
                continue
            if sizes[at] != 1:
                raise ValueError(
                    f"getitem: the index tensors do not broadcast together. "
                    f"Got shapes {' and '.join(str(i.shape) for i in indices)}, expected equal sizes or 1 in every axis. "
                    f"Reshape them so that their axes align at the right."
                )
            sizes[at] = size


# Tensors that are written in place.


def require_writable(x: Any, op_name: str) -> None:
    """Refuse a leaf that asks for gradients, as in Paddle: its value is what gradients are taken at."""
    require_tensor(x, op_name)
    if not x.stop_gradient and x.is_leaf and _core.is_grad_enabled():
        raise LeafOverwrittenError(
            f"{op_name}: a leaf that asks for gradients cannot be written in place. Got a tensor with "
            f"stop_gradient=False that no operation made, expected stop_gradient=True or a result. "
            f"Use the form without underscore, or write under no_grad().", leaf=x.name,
        )


def write(x: Tensor, out: Tensor, op_name: str, retype: bool = False) -> Tensor:
    """Write `out` into `x`; with `retype`, `x` may take another dtype with it. In static mode only `out` is returned."""
    if type(x) is not Tensor and described(x):
        return out
    require_writable(x, op_name)
    if out.shape != x.shape:
        raise InvalidArgumentError(
            f"{op_name}: the shape of broadcast output {out.shape} is different from that of inplace tensor {x.shape}. "
            f"Got a result that does not fit, expected the shape of x. Use the form without underscore."
        )
    if out.dtype is x.dtype:
        return ops.copy.into((x,), out)
    if not retype:
        raise InvalidTypeError(
            f"{op_name}: the result has another dtype than x. Got {out.dtype.name} for x of {x.dtype.name}, expected "
            f"{x.dtype.name}. Use the form without underscore, or cast x first."
        )
    return _core.rebind(x, out)
