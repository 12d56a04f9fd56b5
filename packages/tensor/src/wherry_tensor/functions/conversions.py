"""Tensors out of data by the names and arguments of PyTorch: `tensor`, `as_tensor`, `from_numpy`, `FloatTensor`, ..."""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import numpy_module, real_number, require_tensor
from wherry_tensor.dtype import as_dtype, default_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions import creation
from wherry_tensor.spellings import spelled

__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
    "as_tensor", "asarray", "e", "from_dlpack", "from_numpy", "inf", "nan", "pi", "range", "to_dlpack",
]

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi


def made(data: Any, dtype: Any, device: Any, requires_grad: Any, pin_memory: Any) -> Tensor:
    """A new tensor of data, with the arguments of PyTorch."""
    out = creation.to_tensor(data, dtype, device, not requires_grad)
    return out.pin_memory() if pin_memory else out


def as_tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """`data` as a tensor; a tensor of that dtype on that device is returned as it is.

    Args:
        data: a tensor, an array, a number, or a list of them.
        dtype: of the result; None: as `to_tensor` chooses.
        device: where it lies, as "cpu" or "gpu:0"; None: where it is, or the current device.
        requires_grad: whether it asks for gradients.
        pin_memory: put it into memory from which a GPU copies faster.

    Shape:
        that of the data.

    Raises:
        TypeError: no tensor can be made of the data, or the dtype is unknown (also a ValueError).
        ValueError: the device does not exist.

    Source:
        `paddle.as_tensor`.

    Examples:
        >>> wherry.as_tensor([1, 2]).dtype.name
        'int64'
    """
    if isinstance(data, Tensor) and not requires_grad and not pin_memory:
        return data.to(device=device, dtype=dtype)
    return made(data, dtype, device, requires_grad, pin_memory)


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """`obj` as a tensor, by the name that the array API standard has.

    Args:
        obj: a tensor, an array, a number, or a list of them.
        dtype, device, requires_grad: as those of `as_tensor`.
        copy: True always copies; False refuses to.

    Shape:
        that of the data.

    Raises:
        TypeError: no tensor can be made of it, or the dtype is unknown (also a ValueError).
        ValueError: a copy is needed that `copy=False` forbids, or the device does not exist.

    Source:
        `paddle.asarray`.

    Examples:
        >>> wherry.asarray([1.0, 2.0]).shape
        [2]
    """
    if copy:
        return made(obj, dtype, device, requires_grad, False)
    out = as_tensor(obj, dtype, device, requires_grad)
    if copy is False and out is not obj:
        raise InvalidArgumentError(
            f"asarray: this needs a copy. Got {short(obj)} with copy=False, expected a Tensor of the dtype on the device. Leave copy out."
        )
    return out


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor of a NumPy array.

    Args:
        ndarray: the array.

    Shape:
        that of the array.

    Raises:
        TypeError: it is not an array (also a ValueError).

    Source:
        `paddle.from_numpy`. The values are copied.

    Examples:
        >>> import numpy
        >>> wherry.from_numpy(numpy.ones(3)).shape
        [3]
    """
    numpy = numpy_module()
    if numpy is None or not isinstance(ndarray, numpy.ndarray):
        raise InvalidTypeError(
            f"from_numpy: this is not an array. Got {short(ndarray)} ({type(ndarray).__name__}), expected numpy.ndarray. Use to_tensor."
        )
    return creation.to_tensor(ndarray)


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, by the DLPack protocol.

    Args:
        dlpack: an array with `__dlpack__`, or a capsule.
        device: where the result lies; None: where it is.
        copy: True copies.

    Shape:
        that of the array.

    Raises:
        TypeError: the object does not speak DLPack (also a ValueError).

    Source:
        `paddle.from_dlpack`.

    Examples:
        >>> import numpy
        >>> wherry.from_dlpack(numpy.arange(3)).tolist()
        [0, 1, 2]
    """
    from wherry_tensor.interop import from_dlpack as read

    out = read(dlpack)
    out = out if device is None else out.to(device)
    return out.clone() if copy else out


def to_dlpack(x: Tensor) -> Any:
    """A capsule with the memory of a tensor, for another library's `from_dlpack`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.to_dlpack`.

    Examples:
        >>> wherry.from_dlpack(wherry.to_dlpack(wherry.arange(2))).tolist()
        [0, 1]
    """
    return require_tensor(x, "to_dlpack").__dlpack__()


def range(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Tensor:
    """Evenly spaced numbers from `start` to `end`, which is one of them, as PyTorch's `range`; `arange` leaves the end out.

    Args:
        start, end, step: numbers; without `end`, from 0 to `start`.
        dtype: of the result; None: the default dtype.

    Shape:
        `[floor((end - start) / step) + 1]`.

    Raises:
        TypeError: an argument is not a number (also a ValueError).
        ValueError: the step is 0, or leads away from `end`.

    Source:
        `paddle.range`.

    Examples:
        >>> wherry.range(0, 3).tolist()
        [0.0, 1.0, 2.0, 3.0]
    """
    begin, stop = (0, start) if end is None else (start, end)
    first, last, each = (real_number(one, "range", which) for one, which in ((begin, "start"), (stop, "end"), (step, "step")))
    if not (each and 0 <= (last - first) * each < math.inf):
        raise InvalidArgumentError(
            f"range: the step leads nowhere. Got start={first}, end={last}, step={each}, expected one that comes nearer to the end."
        )
    wanted = default_dtype() if dtype is None else as_dtype(dtype, "range")
    count = math.floor((last - first) / each) + 1
    return creation.arange(first, first + each * (count - 0.5), each, wanted)


def fill_constant(
    shape: Any, dtype: Any, value: Any, force_cpu: bool = False, out: Tensor | None = None, place: Any = None, name: str | None = None
) -> Tensor:
    """One number in every element, as `full`, with the arguments of Paddle's programs.

    Args:
        shape, dtype, value: of the result.
        force_cpu: whether it is made on the CPU.
        out: the tensor that becomes the result.
        place: where it lies.

    Shape:
        `shape`.

    Raises:
        TypeError: an argument is of another kind (also a ValueError).

    Source:
        `paddle.tensor.fill_constant`.

    Examples:
        >>> wherry.tensor.fill_constant([2], "float32", 3).tolist()
        [3.0, 3.0]
    """
    result = creation.full(shape, value, dtype)
    device = "cpu" if force_cpu else place
    result = result if device is None else result.to(device=device)
    return result if out is None else _core.rebind(require_tensor(out, "fill_constant", "out"), result)


class _OfDtype(type):
    """Classes whose call makes a tensor of one dtype: `FloatTensor([1, 2])`, and of a shape, `FloatTensor(2, 3)`."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        device = kwargs.pop("device", None)
        if kwargs:
            raise TypeError(f"{cls.__name__}: unknown arguments. Got {', '.join(kwargs)}, expected data or sizes, and device.")
        dtype = vars(cls)["dtype"]
        if args and all(isinstance(one, int) and not isinstance(one, bool) for one in args):
            return creation.zeros(list(args), dtype).to(device=device)
        if len(args) > 1:
            raise TypeError(f"{cls.__name__}: got {len(args)} arguments, expected data, or sizes. Put the data into one list.")
        return creation.to_tensor(args[0] if args else [], dtype, device)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype is vars(cls)["dtype"]


def _of_dtype(name: str, dtype: _core.DType) -> _OfDtype:
    doc = (
        f"A tensor of {dtype.name}: of data, or zeros of a shape.\n\nShape:\n    `{name}(2, 3)` to `[2, 3]`.\n\nRaises:\n    TypeError: other "
        f"arguments.\n\nSource:\n    `paddle.{name}`.\n\nExamples:\n    >>> wherry.{name}([1, 0]).dtype.name\n    '{dtype.name}'\n"
    )
    return _OfDtype(name, (), {"dtype": dtype, "__doc__": doc, "__module__": __name__})


BFloat16Tensor = _of_dtype("BFloat16Tensor", _core.bfloat16)
BoolTensor = _of_dtype("BoolTensor", _core.bool_)
ByteTensor = _of_dtype("ByteTensor", _core.uint8)
CharTensor = _of_dtype("CharTensor", _core.int8)
DoubleTensor = _of_dtype("DoubleTensor", _core.float64)
FloatTensor = _of_dtype("FloatTensor", _core.float32)
HalfTensor = _of_dtype("HalfTensor", _core.float16)
IntTensor = _of_dtype("IntTensor", _core.int32)
LongTensor = _of_dtype("LongTensor", _core.int64)
ShortTensor = _of_dtype("ShortTensor", _core.int16)


spelled(globals())
