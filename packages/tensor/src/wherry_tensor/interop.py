"""Tensors and the rest of Python: other libraries' arrays, pickling, copying, formatting.

The buffer protocol, `numpy()`, `item()` and the number conversions are the core's; here is what can
be said in Python. `methods` lists what becomes a method of Tensor on import.
"""
from __future__ import annotations

from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require, require_tensor
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["from_dlpack", "methods", "to_dlpack"]

_CPU = 1  # DLPack's number


def _is_known(kind: int) -> bool:
    return any(dlpack_type == kind for _, _, dlpack_type in _core.devices().values())


# DLPack.


def to_dlpack(x: Tensor) -> Any:
    """A DLPack capsule with the memory of `x`, for libraries that do not take the tensor itself.

    Args:
        x: any dtype. It must not ask for gradients, which the other library would not see; use
            `x.detach()`.

    Returns:
        A capsule, to be used once. The memory lives as long as its taker needs it.

    Shape:
        `[...]`; the capsule holds shape and strides of `x`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        BufferError: `x` asks for gradients.

    Source:
        `paddle.utils.dlpack.to_dlpack`.

    Examples:
        >>> from wherry_tensor.interop import from_dlpack, to_dlpack
        >>> x = wherry.to_tensor([1.0, 2.0])
        >>> from_dlpack(to_dlpack(x)).tolist()
        [1.0, 2.0]
    """
    return _core.to_dlpack(_shared(require_tensor(x, "to_dlpack")))


def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor on the memory of another library's array.

    Args:
        dlpack: an array with `__dlpack__` (of NumPy, PyTorch, JAX, ...), or a DLPack capsule.

    Returns:
        A tensor that shares the memory: what one writes the other sees. Memory that is
        read-only, or whose items do not lie at multiples of their size, is copied.

    Shape:
        That of the array, `[...]`.

    Raises:
        TypeError: neither an array nor a capsule, or a dtype that tensors do not have.
        ValueError: the memory is not the cpu's, or the capsule was used before.

    Source:
        `paddle.utils.dlpack.from_dlpack`.

    Examples:
        >>> from wherry_tensor.interop import from_dlpack
        >>> a = np.arange(3)
        >>> x = from_dlpack(a)
        >>> x[0] = 7
        >>> print(a)
        [7 1 2]
    """
    if not hasattr(dlpack, "__dlpack__"):
        return _core.take_dlpack(dlpack)
    device = getattr(dlpack, "__dlpack_device__", None)
    if device is not None and not _is_known(int(device()[0])):
        raise ValueError(
            f"from_dlpack: no device here has this memory. Got device {device()}, expected ({_CPU}, 0), the cpu, or a device "
            f"that is registered. Copy the array to the cpu first."
        )
    try:
        stream = _stream_for(device) if device is not None else {}
        capsule = dlpack.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:  # a library from before versions
        capsule = dlpack.__dlpack__()
    return _core.take_dlpack(capsule)


def _stream_for(device: Any) -> dict[str, Any]:
    """The stream argument for a producer's `__dlpack__`: None on the cpu, elsewhere this thread's stream."""
    kind, number = device()
    for name, (_, _, dlpack_type) in _core.devices().items():
        if dlpack_type == int(kind) and name != "cpu":
            return {"stream": _core.get_stream(_core.device_code(name, int(number))).handle or None}
    return {}


def _shared(x: Tensor) -> Tensor:
    if not x.stop_gradient and _core.is_grad_enabled():
        raise BufferError(
            "__dlpack__: the tensor asks for gradients, which another library would not see. "
            "Got stop_gradient=False, expected True. Share x.detach()."
        )
    return x


def _dlpack(
    self: Tensor,
    stream: Any = None,
    *,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule; libraries call this."""
    x = _shared(self)
    here = _dlpack_device(x)
    wanted = here if dl_device is None else _pair(dl_device, "dl_device")
    if wanted != here:
        if wanted[0] != _CPU or copy is False:
            raise BufferError(
                f"__dlpack__: the tensor is on {x.place}. Got dl_device={dl_device}, expected {here}. Copy it there afterwards."
            )
        x, copy = _core.on_host(x), True
    elif here[0] == 0:
        raise BufferError(f"__dlpack__: DLPack has no number for {x.place}. Got a tensor there, expected one on the cpu. Use x.cpu().")
    elif copy:
        x = ops.copy(x)
    if stream is not None and (isinstance(stream, bool) or not isinstance(stream, int) or stream < -1):
        raise InvalidTypeError(
            f"__dlpack__: 'stream' is a stream's handle. Got {short(stream)}, expected an int, -1 for none, or None for the default one. "
            f"Leave it out."
        )
    _core.ready_for(_core.device_of(x), stream)
    newest = (0, 0) if max_version is None else _pair(max_version, "max_version")
    return _core.to_dlpack(x, versioned=newest[0] >= 1, copied=bool(copy))


def _pair(value: Any, name: str) -> tuple[int, int]:
    try:
        first, second = value
        return int(first), int(second)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"__dlpack__: '{name}' is two ints. Got {short(value)}, expected a tuple. Leave it out.") from None


def _dlpack_device(self: Tensor) -> tuple[int, int]:
    """The device in DLPack's numbers."""
    kind, _, number = _core.name_of_device(_core.device_of(self)).partition(":")
    return _core.devices()[kind][2], int(number or 0)


# NumPy. It reads the buffer of a tensor before it asks for __array__, so `np.asarray(x)` shares memory.


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """A NumPy array with a copy of the values, as `numpy()`."""
    array = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def _array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's functions of arrays (`np.mean(x)`, `np.concatenate([x, y])`): on the tensors' values, with arrays as results."""
    return function(*_as_arrays(args), **_as_arrays(kwargs))


def _as_arrays(value: Any) -> Any:
    kind = type(value)
    if isinstance(value, Tensor):
        return value.detach().numpy()
    if kind is list or kind is tuple:
        return kind(map(_as_arrays, value))
    if kind is dict:
        return {key: _as_arrays(item) for key, item in value.items()}
    return value


def _array_interface(self: Tensor) -> dict[str, Any]:
    """NumPy's array interface, which Pillow's `Image.fromarray` asks for."""
    code = _INTERFACE_CODES.get(self.dtype.name)
    if code is None or _core.is_symbolic(self):
        raise AttributeError(
            f"__array_interface__: NumPy cannot hold the values of this tensor. "
            f"Got {self.dtype.name}, cast with x.astype('float32')."
        )
    x = self.detach()
    shared = x if x.is_contiguous() else ops.copy(x)
    # Strides say that the values are not as they lie there: whoever reads asks for tobytes() then.
    strides = None if shared is x else tuple(n * x.itemsize for n in x.strides)
    return {"shape": tuple(x.shape), "typestr": code, "data": memoryview(shared), "strides": strides, "version": 3}


def _cuda_array_interface(self: Tensor) -> dict[str, Any]:
    """The CUDA Array Interface, version 3, by which CuPy, Numba, ... read a GPU tensor: its address, layout and stream."""
    device = _core.device_of(self)
    code = _INTERFACE_CODES.get(self.dtype.name)
    if not _core.name_of_device(device).startswith("gpu:") or code is None or _core.is_symbolic(self):
        raise AttributeError(
            f"__cuda_array_interface__: this tensor is not an array in CUDA memory. "
            f"Got {self.dtype.name} on {self.place}, expected a tensor on a GPU, of a "
            f"dtype that NumPy has. x.cuda() copies it there."
        )
    x = self.detach()
    strides = None if x.is_contiguous() else tuple(n * x.itemsize for n in x.strides)
    return {
        "shape": tuple(x.shape), "typestr": code, "data": (x.data_ptr() if x.size else 0, False), "strides": strides, "version": 3,
        "stream": _core.get_stream(device).handle or 1,  # 1 is the default stream
    }


_INTERFACE_CODES = {
    "bool": "|b1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "float16": "<f2", "float32": "<f4",
    "float64": "<f8", "complex64": "<c8", "complex128": "<c16",
}


def _tobytes(self: Tensor) -> bytes:
    """The values as bytes, row by row, as of NumPy's arrays.

    Shape:
        `[...]` of any shape; strides do not show in the result.

    Source:
        `numpy.ndarray.tobytes`.

    Examples:
        >>> wherry.to_tensor([1, 2], dtype="uint8").tobytes()
        b'\\x01\\x02'
    """
    return memoryview(self.detach()).tobytes()


# Copying and pickling.


def _reduce(self: Tensor) -> tuple[Any, ...]:
    state = (memoryview(self.detach()).tobytes(), tuple(self.shape), self.dtype)
    extra = dict(self.__dict__) if self.__dict__ else None
    # The device goes along by name; where it is missing, the tensor comes back on the current one.
    device = _core.name_of_device(_core.device_of(self))
    return _rebuild, (type(self), *state, self.stop_gradient, self.persistable, self.name, extra, device)


def _rebuild(
    kind: type,
    data: bytes,
    shape: tuple[int, ...],
    dtype: Any,
    stop_gradient: bool,
    persistable: bool,
    name: str,
    extra: dict[str, Any] | None,
    device: str = "cpu",
) -> Tensor:
    flat = _core.reinterpreted(_core.from_buffer(data), dtype) if data else _core.uninitialized((0,), dtype)
    kind_of_device, _, number = device.partition(":")
    count = _core.devices().get(kind_of_device, (0, 0, 0))[1]
    there = int(number or 0) < count
    code = _core.device_code(kind_of_device, int(number or 0)) if there else _core.get_current_device()
    whole = _core.to_device(ops.reshape(flat, shape), code)
    x: Tensor = Tensor.__new__(kind)
    _core.rebind(x, whole)
    x.stop_gradient, x.persistable, x.name = stop_gradient, persistable, name
    if extra:
        x.__dict__.update(extra)
    return x


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A tensor with a copy of the values. Only leaf tensors can be deep-copied: the history of other tensors is shared.

    Raises:
        RuntimeError: the tensor is the result of a recorded operation.
        TypeError: `memo` is not a dict.
    """
    import copy

    require(memo, dict, "deepcopy", "memo", "Use copy.deepcopy(x), which makes one.")
    if not self.is_leaf:
        raise RuntimeError(
            "deepcopy: only leaf tensors can be deep-copied. "
            "Got the result of an operation, expected a tensor that no recorded operation made. "
            "Use x.detach() or x.clone()."
        )
    if id(self) in memo:
        return memo[id(self)]
    x = Tensor.__new__(type(self))
    memo[id(self)] = x
    _core.rebind(x, ops.copy(self.detach()))
    x.stop_gradient, x.persistable = self.stop_gradient, self.persistable
    if self.grad is not None:
        x.grad = copy.deepcopy(self.grad.detach(), memo)
    if self.__dict__:
        x.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return x


def _copy(self: Tensor) -> Tensor:
    """Another tensor on the same memory."""
    x = Tensor.__new__(type(self))
    _core.rebind(x, self)
    x.persistable = self.persistable
    if self.__dict__:
        x.__dict__.update(self.__dict__)
    return x


# Membership and text.


def contains(x: Tensor, item: Any) -> bool:
    """Whether an element of `x` equals `item`: what the core calls for `item in x`."""
    if isinstance(item, (int, float, complex, Tensor)) or hasattr(item, "__array_interface__"):
        found = x == item
        return bool(ops.reduce_any(found, axes=tuple(range(found.ndim)), keepdim=False))
    raise InvalidTypeError(
        f"in: a tensor can only contain numbers. Got {type(item).__name__}, expected a number or a Tensor. "
        f"To look for a tensor in a list of tensors compare with `is`."
    )


def _format(self: Tensor, spec: str) -> str:
    """A 0-d tensor formats as its number, all else as text; without a spec every tensor as `str` does."""
    if not spec:
        return str(self)
    if not isinstance(spec, str):
        raise InvalidTypeError(f"format: a format is text. Got {type(spec).__name__}, expected a str such as '.3f'.")
    if self.ndim == 0:
        return format(self.item(), spec)
    raise TypeError(
        f"format: only a single number takes a format. Got '{spec}' for a Tensor of shape {self.shape}, expected no format or "
        f"shape []. Format x.tolist() element by element, or use set_printoptions."
    )


def _round(self: Tensor, digits: int | None = None) -> Tensor:
    """`round(x)` and `round(x, 2)`: the nearest multiples of 1, or of 0.01; halves go away from 0, as in `paddle.round`."""
    if not digits or not self.dtype.is_floating:
        return ops.round(self) if self.dtype.is_floating else ops.copy(self)
    scale = 10.0 ** abs(digits)
    return ops.round(self * scale) / scale if digits > 0 else ops.round(self / scale) * scale


def _repr_html(self: Tensor) -> str:
    """What notebooks show."""
    from wherry_tensor.notebook import tensor_to_html

    return tensor_to_html(self)


def _transposed(self: Tensor) -> Tensor:
    """The tensor with its axes in reverse order; a view."""
    return ops.transpose(self, _BACKWARDS[self.ndim])


_BACKWARDS = tuple([tuple(range(rank - 1, -1, -1)) for rank in range(_core.MAX_RANK + 1)])

methods = {
    "T": property(_transposed, doc=_transposed.__doc__),
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
    "__array__": _array,
    "__array_function__": _array_function,
    "__array_interface__": property(_array_interface, doc=_array_interface.__doc__),
    "__cuda_array_interface__": property(_cuda_array_interface, doc=_cuda_array_interface.__doc__),
    "__round__": _round,
    "_repr_html_": _repr_html,
    "tobytes": _tobytes,
    "__reduce__": _reduce,
    "__reduce_ex__": lambda self, protocol: _reduce(self),
    "__deepcopy__": _deepcopy,
    "__copy__": _copy,
    "__format__": _format,
}

_core.add_methods(methods)
