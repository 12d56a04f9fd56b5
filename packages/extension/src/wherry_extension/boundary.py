"""The C structs of `paddle/phi/api/ext/host.h` and `wherry/abi.h`, and what the framework offers to a library.

A library is loaded with ctypes. It gets a table of three functions (call a function of the framework, let go of a result, copy between
devices) and gives the table of its operators.
"""
from __future__ import annotations

import ctypes
import itertools
import struct
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_program.program.capture import captures_of_thread
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype

__all__ = ["ABI", "MAX_RANK", "VERSION", "Library", "Meta", "OpEntry", "attrs_array", "host_table", "register_kernel"]

VERSION, ABI, ERROR_SIZE = 2, 2, 512
MAX_RANK: int = _core.MAX_RANK

# By their codes in wherry/abi.h.
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class Meta(ctypes.Structure):
    _fields_ = [("dtype", c_int32), ("rank", c_int32), ("shape", c_int64 * MAX_RANK)]


class _Value(ctypes.Union):
    _fields_ = [("i", c_int64), ("f", c_double), ("ints", POINTER(c_int64)), ("floats", POINTER(c_double)), ("s", c_char_p)]


class _Attr(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("length", c_int32), ("value", _Value)]


class _KernelEntry(ctypes.Structure):
    _fields_ = [("op", c_char_p), ("dtype", c_int32), ("flags", c_uint32), ("kernel", c_void_p), ("data", c_void_p)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p), ("owner", c_void_p), ("shape", c_int64 * MAX_RANK), ("rank", c_int32), ("dtype", c_int32), ("device", c_int32),
        ("reserved", c_int32),
    ]  # fmt: skip


class _Arg(ctypes.Structure):
    _fields_ = [
        ("kind", c_int32), ("count", c_int32), ("i", c_int64), ("f", c_double), ("s", c_char_p), ("ints", POINTER(c_int64)),
        ("tensors", POINTER(_Tensor)),
    ]  # fmt: skip


_Infer = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Meta), POINTER(c_int64), POINTER(_Attr), POINTER(Meta), c_int32, c_void_p)


class OpEntry(ctypes.Structure):
    """wext_op: an operator as the library describes it."""

    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("order", c_int32), ("n_inputs", c_int32), ("n_outputs", c_int32), ("n_attrs", c_int32),
        ("inputs", POINTER(c_char_p)), ("outputs", POINTER(c_char_p)), ("attrs", POINTER(c_char_p)), ("kernel", c_void_p), ("data", c_void_p),
        ("has_shape", c_int32), ("has_dtype", c_int32), ("n_params", c_int32), ("n_attr_params", c_int32), ("file", c_char_p), ("line", c_int32),
        ("takes_attrs", c_int32), ("infer", _Infer), ("in_place", POINTER(c_int32)), ("n_in_place_params", c_int32),
        ("n_output_params", c_int32), ("problem", c_char_p),
    ]  # fmt: skip


class Library(ctypes.Structure):
    _fields_ = [("version", c_int32), ("abi", c_int32), ("count", c_int32), ("reserved", c_int32), ("ops", POINTER(POINTER(OpEntry)))]


def attrs_array(values: list[Any]) -> tuple[Any, list[Any]]:
    """Values of attributes as a C array, and what has to live as long as it."""
    found = (_Attr * max(1, len(values)))()
    kept: list[Any] = []
    for slot, value in zip(found, values):
        if isinstance(value, (bool, int)):
            slot.kind, slot.value.i = 1, int(value)
        elif isinstance(value, float):
            slot.kind, slot.value.f = 2, value
        elif isinstance(value, str):
            text = value.encode()
            kept.append(text)
            slot.kind, slot.length, slot.value.s = 5, len(text), text
        else:
            numbers = (c_int64 * max(1, len(value)))(*value)
            kept.append(numbers)
            slot.kind, slot.length, slot.value.ints = 3, len(value), ctypes.cast(numbers, POINTER(c_int64))
    return found, kept


class _Host(ctypes.Structure):  # wry_host
    _fields_ = [
        ("abi_version", c_int32), ("oldest", c_int32), ("size", c_size_t),
        ("register_kernels", ctypes.PYFUNCTYPE(c_int, c_char_p, POINTER(_KernelEntry), c_size_t, c_size_t)),
    ]  # fmt: skip


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_core_host = _Host.from_address(_capsule_pointer(_core.host, b"wherry.host") or 0)
_WANTS_CONTIGUOUS = 1
_names: dict[str, bytes] = {}  # of kernel rows, which keep their address


def register_kernel(device: str, op: str, kernel: int, data: int) -> None:
    """Let a compiled function run an op, for every dtype, on a kind of device."""
    name = _names.setdefault(op, op.encode())
    row = _KernelEntry(name, -1, _WANTS_CONTIGUOUS, kernel, data)
    _core_host.register_kernels(device.encode(), ctypes.byref(row), 1, ctypes.sizeof(row))


# The functions that the framework offers to libraries.

_kept: dict[int, Tensor] = {}  # results that a library holds, by the number that stands for them
_numbers = itertools.count(1)


def _tensor_of(given: _Tensor) -> Tensor:
    name = DTYPES[given.dtype]
    if given.device:
        raise NotImplementedError(
            f"functions of the framework take tensors of the cpu within an operator in C++. Got one on "
            f"{_core.name_of_device(given.device)}, expected the cpu. Compute on the device with its own library, or copy_to the cpu."
        )
    shape = tuple(given.shape[: given.rank])
    item = np.dtype("uint16" if name == "bfloat16" else name)
    size = int(np.prod(shape, dtype=np.int64))
    if size:
        memory = memoryview((ctypes.c_char * (size * item.itemsize)).from_address(given.data)).cast("B")
        array = np.frombuffer(memory, item).reshape(shape)
    else:
        array = np.empty(shape, item)
    return _core.from_buffer(array, as_dtype(name, "custom operator"))


def _value_of(arg: _Arg) -> Any:
    kind = arg.kind
    if kind == 0:
        return None
    if kind == 1:
        return arg.i
    if kind == 2:
        return arg.f
    if kind == 3:
        return bool(arg.i)
    if kind == 4:
        return (arg.s or b"").decode()
    if kind == 5:
        return arg.ints[: arg.count] if arg.count else []
    if kind == 6:
        return _tensor_of(arg.tensors[0])
    if kind == 7:
        return [_tensor_of(arg.tensors[i]) for i in range(arg.count)]
    if kind == 9:
        return list(struct.unpack(f"{arg.count}d", struct.pack(f"{arg.count}q", *arg.ints[: arg.count])))
    if kind == 10:
        return (arg.s or b"").decode().split("\n") if arg.count else []
    return as_dtype(DTYPES[arg.i], "custom operator")


def _give(result: Tensor | None, slot: _Tensor) -> None:
    from wherry_tensor import ops

    if result is None:
        slot.data, slot.owner, slot.rank, slot.dtype = None, None, 0, -1
        return
    result = ops.copy(result.detach())  # contiguous, and not shared
    number = next(_numbers)
    _kept[number] = result
    slot.data, slot.owner, slot.rank, slot.dtype, slot.device = result.data_ptr(), number, result.ndim, DTYPES.index(result.dtype.name), 0
    for i, n in enumerate(result.shape):
        slot.shape[i] = n


def _apply(name: str, values: list[Any]) -> list[Tensor | None]:
    from wherry_extension.functions import function_of

    with no_grad():
        found = function_of(name)(*values)
    if not isinstance(found, (list, tuple)):
        return [found]
    return [one for each in found for one in (each if isinstance(each, (list, tuple)) else [each])]


def _elsewhere(function: Callable[[], Any]) -> Any:
    """Run in a thread of its own: a capture that is on in this one must not record what a running operator does."""
    import threading

    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend((function(), None))
        except Exception as error:
            outcome.extend((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if outcome[1] is not None:
        raise outcome[1]
    return outcome[0]


def _write(error: int, text: str) -> None:
    data = text.encode()[: ERROR_SIZE - 1] + b"\0"
    ctypes.memmove(error, data, len(data))


@ctypes.CFUNCTYPE(c_int, c_char_p, POINTER(_Arg), c_int32, POINTER(_Tensor), c_int32, c_void_p)
def _call(name: bytes, args: Any, n_args: int, results: Any, room: int, error: int) -> int:
    try:
        values = [_value_of(args[i]) for i in range(n_args)]
        text = name.decode()
        found = _elsewhere(lambda: _apply(text, values)) if captures_of_thread() else _apply(text, values)
        if len(found) > room:
            raise ValueError(f"got {len(found)} results, expected at most {room}")
        for i, result in enumerate(found):
            _give(result, results[i])
        return len(found)
    except BaseException as problem:  # the caller is C
        _write(error, str(problem) or type(problem).__name__)
        return -1


@ctypes.CFUNCTYPE(None, c_void_p)
def _release(owner: int) -> None:
    _kept.pop(owner, None)


@ctypes.CFUNCTYPE(c_int, c_void_p, c_int32, c_void_p, c_int32, c_size_t, c_void_p)
def _copy(_to: int, to_device: int, _origin: int, from_device: int, _size: int, error: int) -> int:
    _write(
        error,
        f"no copy between devices within an operator in C++. Got one from {_core.name_of_device(from_device)} to "
        f"{_core.name_of_device(to_device)}, expected one device. Move the inputs before the call.",
    )
    return 4


_device_names: dict[int, Any] = {}


@ctypes.CFUNCTYPE(c_void_p, c_int32)
def _device_name(device: int) -> int:
    kind = device & 0xFF
    if kind not in _device_names:
        name = next((name.encode() for name, (code, *_) in _core.devices().items() if code == kind), None)
        if name is None:
            return 0
        _device_names[kind] = ctypes.create_string_buffer(name)  # stays where it is
    return ctypes.addressof(_device_names[kind])


@ctypes.CFUNCTYPE(c_int32, c_char_p, c_int32)
def _device_code(name: bytes, number: int) -> int:
    found = _core.devices().get(name.decode())
    return -1 if found is None or not 0 <= number < found[1] else found[0] | number << 8


class _Table(ctypes.Structure):  # wext_host
    _fields_ = [
        ("size", c_size_t), ("call", type(_call)), ("release", type(_release)), ("copy", type(_copy)), ("device_name", type(_device_name)),
        ("device_code", type(_device_code)),
    ]  # fmt: skip


host_table = _Table(ctypes.sizeof(_Table), _call, _release, _copy, _device_name, _device_code)
