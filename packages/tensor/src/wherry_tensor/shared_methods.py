"""Methods of Tensor that Paddle 3 shares with PyTorch: `x.float()`, `x.new_ones(2)`, `x.requires_grad`, `x.stride()`, ..."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, one_axis, require_tensor, require_writable, sizes_of
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidIndexError, InvalidTypeError, short
from wherry_tensor.spellings import spelled

__all__ = [
    "apply", "apply_", "get_device", "new_empty", "new_full", "new_ones", "new_zeros", "requires_grad_", "resize_", "set_", "stride",
    "type_as",
]


def _new(x: Any, size: Any, value: Any, dtype: Any, op_name: str) -> Tensor:
    require_tensor(x, op_name)
    wanted = x.dtype if dtype is None else as_dtype(dtype, op_name)
    from wherry_tensor.functions import creation

    sizes = sizes_of(size, op_name, "size")
    out = creation.empty(sizes, wanted) if value is None else creation.full(sizes, value, wanted)
    return _core.to_device(out, _core.device_of(x)) if _core.device_of(x) else out


def new_zeros(x: Tensor, size: Any, *, dtype: Any = None) -> Tensor:
    """Zeros of another shape, in the dtype and on the device of the tensor.

    Args:
        size: the shape; `x.new_zeros(2, 3)` is `x.new_zeros([2, 3])`.
        dtype: another dtype.

    Shape:
        `size`.

    Raises:
        TypeError: `size` is not a shape, or the dtype is unknown (also a ValueError).

    Source:
        `paddle.Tensor.new_zeros`.

    Examples:
        >>> wherry.ones([1], "int32").new_zeros(2).tolist()
        [0, 0]
    """
    return _new(x, size, 0, dtype, "new_zeros")


def new_ones(x: Tensor, size: Any, *, dtype: Any = None) -> Tensor:
    """Ones of another shape, in the dtype and on the device of the tensor.

    Args:
        size: the shape; `x.new_ones(2, 3)` is `x.new_ones([2, 3])`.
        dtype: another dtype.

    Shape:
        `size`.

    Raises:
        TypeError: `size` is not a shape, or the dtype is unknown (also a ValueError).

    Source:
        `paddle.Tensor.new_ones`.

    Examples:
        >>> wherry.zeros([1]).new_ones([2]).tolist()
        [1.0, 1.0]
    """
    return _new(x, size, 1, dtype, "new_ones")


def new_empty(x: Tensor, size: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of another shape whose values nobody has written, in the dtype and on the device of the tensor.

    Args:
        size: the shape; `x.new_empty(2, 3)` is `x.new_empty([2, 3])`.
        dtype: another dtype.

    Shape:
        `size`.

    Raises:
        TypeError: `size` is not a shape, or the dtype is unknown (also a ValueError).

    Source:
        `paddle.Tensor.new_empty`.

    Examples:
        >>> wherry.zeros([1]).new_empty(2, 3).shape
        [2, 3]
    """
    return _new(x, size, None, dtype, "new_empty")


def new_full(x: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number in another shape, in the dtype and on the device of the tensor.

    Args:
        size: the shape.
        fill_value: the number.
        dtype: another dtype.

    Shape:
        `size`.

    Raises:
        TypeError: `size` is not a shape, or the dtype is unknown (also a ValueError).

    Source:
        `paddle.Tensor.new_full`.

    Examples:
        >>> wherry.zeros([1]).new_full([2], 7).tolist()
        [7.0, 7.0]
    """
    return _new(x, size, fill_value, dtype, "new_full")


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Say whether the tensor asks for gradients: the opposite of `stop_gradient`.

    Returns:
        The tensor itself.

    Source:
        `paddle.Tensor.requires_grad_`.

    Examples:
        >>> wherry.ones([2]).requires_grad_().stop_gradient
        False
    """
    self.stop_gradient = not requires_grad
    return self


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another one.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `other` is not a Tensor (also a ValueError).

    Source:
        `paddle.Tensor.type_as`.

    Examples:
        >>> wherry.ones([2]).type_as(wherry.to_tensor([1])).dtype.name
        'int64'
    """
    return ops.cast(self, require_tensor(other, "type_as", "other").dtype)


def stride(self: Tensor, dim: int | None = None) -> Any:
    """Elements from one index to the next along each axis, or along one.

    Args:
        dim: the axis; None: a list for all.

    Raises:
        ValueError: the axis is out of range.

    Source:
        `paddle.Tensor.stride`.

    Examples:
        >>> wherry.ones([2, 3]).stride(), wherry.ones([2, 3]).stride(0)
        ([3, 1], 3)
    """
    if dim is None:
        return self.strides
    if self.ndim == 0:
        raise InvalidIndexError(f"stride: a tensor of shape [] has no axes. Got dim={short(dim)}, expected None. Leave it out.")
    return self.strides[one_axis(dim, self.ndim, "stride", name="dim")]


def get_device(self: Tensor) -> int:
    """The number of the GPU that holds the tensor; -1 for the CPU.

    Source:
        `paddle.Tensor.get_device`.

    Examples:
        >>> wherry.ones([2]).cpu().get_device()
        -1
    """
    name = _core.name_of_device(_core.device_of(self))
    return int(name.partition(":")[2]) if ":" in name else -1


def apply(self: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """`func(x)`: the function is given the whole tensor.

    Raises:
        TypeError: `func` is not a function.
        RuntimeError: the tensor asks for gradients.

    Source:
        `paddle.Tensor.apply`.

    Examples:
        >>> wherry.ones([2]).apply(lambda x: x + 1).tolist()
        [2.0, 2.0]
    """
    _require_function(self, func, "apply")
    return func(self)


def apply_(self: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """Overwrite the tensor with `func` of it; returns the tensor.

    Raises:
        TypeError: `func` is not a function.
        RuntimeError: the tensor asks for gradients.

    Source:
        `paddle.Tensor.apply_`.

    Examples:
        >>> wherry.ones([2]).apply_(lambda x: x + 1).tolist()
        [2.0, 2.0]
    """
    _require_function(self, func, "apply_")
    self.set_value(func(self))
    return self


def _require_function(x: Tensor, func: Any, op_name: str) -> None:
    if not callable(func):
        raise InvalidTypeError(f"{op_name}: 'func' must be a function. Got {type(func).__name__}, expected one that takes the tensor. Use a lambda.")
    if not x.stop_gradient:
        raise RuntimeError(
            f"{op_name}: a tensor that asks for gradients cannot be changed so. Got stop_gradient=False, expected True. Call the function."
        )


def set_(
    self: Tensor, source: Tensor | None = None, shape: Any = None, stride: Any = None, offset: int = 0, name: str | None = None
) -> Tensor:
    """Let the tensor have the memory of another one, seen with a shape and strides.

    Args:
        source: whose memory; None leaves the tensor without elements.
        shape, stride: of the view, in elements; None: those of the source.
        offset: bytes from the beginning of the source's memory.

    Returns:
        The tensor itself.

    Raises:
        TypeError: `source` is not a Tensor, or of another dtype (also a ValueError).
        ValueError: the view does not fit into the memory.

    Source:
        `paddle.Tensor.set_`.

    Examples:
        >>> x, y = wherry.zeros([1]), wherry.arange(6, dtype="float32")
        >>> x.set_(y, [2, 2], [3, 1]).tolist()
        [[0.0, 1.0], [3.0, 4.0]]
    """
    require_writable(self, "set_")
    if source is None:
        from wherry_tensor.functions import creation

        return _core.rebind(self, creation.empty([0], self.dtype))
    if require_tensor(source, "set_", "source").dtype is not self.dtype:
        raise InvalidTypeError(f"set_: the source has another dtype. Got {source.dtype.name}, expected {self.dtype.name}. Cast it.")
    start = integer(offset, "set_", "offset")
    if shape is None and stride is None and not start:
        return _core.rebind(self, _core.alias(source))
    from wherry_tensor.functions import movement

    sizes = source.shape if shape is None else list(shape)
    if stride is None:
        stride, step = [], 1
        for n in reversed(sizes):
            stride.insert(0, step)
            step *= n
    return _core.rebind(self, movement.as_strided(_core.alias(source), sizes, stride, start))


def resize_(self: Tensor, shape: Any, fill_zero: bool = False, name: str | None = None) -> Tensor:
    """Give the tensor another shape, with as many of its elements as there is room for.

    Args:
        shape: the new shape.
        fill_zero: whether elements that come in are 0; otherwise nobody has written them.

    Returns:
        The tensor itself.

    Raises:
        TypeError: `shape` is not a shape (also a ValueError).
        ValueError: the tensor is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.resize_`.

    Examples:
        >>> wherry.to_tensor([1, 2, 3]).resize_([2, 2], fill_zero=True).tolist()
        [[1, 2], [3, 0]]
    """
    require_writable(self, "resize_")
    from wherry_tensor.functions import creation, movement

    sizes, total = sizes_of(shape, "resize_"), 1
    for n in sizes:
        total *= n
    flat = movement.reshape(self, [-1])
    if total <= flat.shape[0]:
        return _core.rebind(self, movement.reshape(flat[:total], sizes))
    more = (creation.zeros if fill_zero else creation.empty)([total - flat.shape[0]], self.dtype)
    return _core.rebind(self, movement.reshape(movement.concat([flat, more]), sizes))


def _in_dtype(name: str, dtype: str) -> Any:
    def cast(self: Tensor) -> Tensor:
        return ops.cast(self, as_dtype(dtype))

    cast.__name__, cast.__qualname__ = name, f"Tensor.{name}"
    cast.__doc__ = (
        f"The tensor in {dtype} (differentiable).\n\nShape:\n    `[...]` to the same.\n\nSource:\n    `paddle.Tensor.{name}`.\n\n"
        f"Examples:\n    >>> wherry.ones([2]).{name}().dtype.name\n    '{dtype}'\n"
    )
    return cast


_OTHER_WORDS = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64", "half": "float16", "float": "float32",
    "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
}


class _NoMatrix(InvalidArgumentError, AttributeError):
    """So that `hasattr(x, "mT")` is an answer."""


def _transposed(self: Tensor) -> Tensor:
    """The tensor with its last two axes exchanged; a view.

    Shape:
        `[..., a, b]` to `[..., b, a]`.

    Raises:
        ValueError: it has less than two axes.

    Source:
        `paddle.Tensor.mT`.

    Examples:
        >>> wherry.ones([5, 2, 3]).mT.shape
        [5, 3, 2]
    """
    from wherry_tensor.functions.joining import swapaxes

    if self.ndim < 2:
        raise _NoMatrix(f"mT: a matrix has two axes. Got shape {self.shape}, expected two or more. Use T, reshape or unsqueeze.")
    return swapaxes(self, -1, -2)


def _requires_grad(self: Tensor) -> bool:
    """Whether the tensor asks for gradients: the opposite of `stop_gradient`. It can be set.

    Source:
        `paddle.Tensor.requires_grad`.

    Examples:
        >>> wherry.ones([2]).requires_grad
        False
    """
    return not self.stop_gradient


def _set_requires_grad(self: Tensor, value: Any) -> None:
    if not isinstance(value, bool):
        raise InvalidTypeError(f"requires_grad: got {value!r} ({type(value).__name__}), expected True or False. It is the opposite of stop_gradient.")
    self.stop_gradient = not value


def _device(self: Tensor) -> str:
    """The name of the device that holds the memory, as "cpu" or "gpu:0"; `place` is the object.

    Source:
        `paddle.Tensor.device`.

    Examples:
        >>> wherry.ones([2]).cpu().device
        'cpu'
    """
    return str(_core.name_of_device(_core.device_of(self)))


def _is_cuda(self: Tensor) -> bool:
    """Whether the memory is that of a GPU.

    Source:
        `paddle.Tensor.is_cuda`.

    Examples:
        >>> wherry.ones([2]).cpu().is_cuda
        False
    """
    return _core.name_of_device(_core.device_of(self)).startswith("gpu:")


spelled(globals())


def table() -> dict[str, Any]:
    """Names and functions, or properties, of these methods."""
    from wherry_tensor.dtype import _ALL

    methods: dict[str, Any] = {name: globals()[name] for name in __all__}
    words = {**{dtype.name: dtype.name for dtype in _ALL if dtype.name not in ("bool",)}, **_OTHER_WORDS}
    methods |= {name: _in_dtype(name, dtype) for name, dtype in words.items()}
    methods |= {
        "device": property(_device), "is_cuda": property(_is_cuda), "mT": property(_transposed),
        "requires_grad": property(_requires_grad, _set_requires_grad),
    }
    return methods
