"""The C structs of `csrc/plugin.h` and `paddle/phi/api/ext/kernels.h`, and the library that loads plug-ins."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from wherry_tensor import _core

__all__ = ["DTYPES", "KERNELS_VERSION", "Kernels", "Program", "Row", "Step", "TensorStruct", "Value", "address_of", "host", "library"]

KERNELS_VERSION, ERROR_SIZE = 1, 512
MAX_RANK: int = _core.MAX_RANK

# By their codes in wherry/abi.h.
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class TensorStruct(ctypes.Structure):  # wext_tensor
    _fields_ = [
        ("data", c_void_p), ("owner", c_void_p), ("shape", c_int64 * MAX_RANK), ("rank", c_int32), ("dtype", c_int32), ("device", c_int32),
        ("reserved", c_int32),
    ]  # fmt: skip


class Value(ctypes.Structure):  # wext_value
    _fields_ = [
        ("kind", c_int32), ("count", c_int32), ("i", c_int64), ("f", c_double), ("s", c_char_p), ("ints", POINTER(c_int64)),
        ("floats", POINTER(c_double)), ("strings", POINTER(c_char_p)), ("tensors", c_void_p),
    ]  # fmt: skip


class Kernel(ctypes.Structure):  # wext_kernel
    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("device", c_char_p), ("dtype", c_int32), ("layout", c_int32), ("n_params", c_int32),
        ("line", c_int32), ("params", POINTER(c_int32)), ("run", c_void_p), ("file", c_char_p),
    ]  # fmt: skip


class Kernels(ctypes.Structure):  # wext_kernels
    _fields_ = [("version", c_int32), ("count", c_int32), ("kernels", POINTER(POINTER(Kernel)))]


class Step(ctypes.Structure):  # wplug_step
    _fields_ = [
        ("kernel", POINTER(Kernel)), ("values", POINTER(Value)), ("tensors", POINTER(TensorStruct)), ("origins", POINTER(c_int32)),
        ("index", POINTER(c_int32)), ("strides", POINTER(c_int64)), ("n_values", c_int32), ("n_tensors", c_int32),
    ]  # fmt: skip


class Program(ctypes.Structure):  # wplug_program
    _fields_ = [
        ("plugin", c_void_p), ("op", c_char_p), ("steps", POINTER(Step)), ("temporaries", POINTER(c_int64)), ("n_steps", c_int32),
        ("n_temporaries", c_int32),
    ]  # fmt: skip


class Row(ctypes.Structure):  # wry_kernel_entry
    _fields_ = [("op", c_char_p), ("dtype", c_int32), ("flags", c_uint32), ("kernel", c_void_p), ("data", c_void_p)]


class _Host(ctypes.Structure):  # wry_host, as far as it is used here
    _fields_ = [
        ("abi_version", c_int32), ("oldest", c_int32), ("size", c_size_t), ("register_kernels", c_void_p),
        ("register_device", ctypes.PYFUNCTYPE(c_int, c_void_p)),
    ]  # fmt: skip


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
host = _Host.from_address(_capsule_pointer(_core.host, b"wherry.host") or 0)


def _load() -> ctypes.CDLL:
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib", "_plugins.so")
    if not os.path.isfile(path):
        raise ImportError(
            f"the loader of device plug-ins is not built. Got no {path}, expected the compiled part of wherry-extension. "
            f"In a checkout: bash tools/dev.sh extension; else: pip install --force-reinstall wherry-extension"
        )
    found = ctypes.CDLL(path)
    found.wplug_open.argtypes = [c_char_p, POINTER(c_void_p), c_char_p]
    found.wplug_start.argtypes = [c_void_p, c_char_p]
    found.wplug_device_type.argtypes = found.wplug_sub_device_type.argtypes = [c_void_p]
    found.wplug_device_type.restype = found.wplug_sub_device_type.restype = c_char_p
    found.wplug_device.argtypes, found.wplug_device.restype = [c_void_p], c_void_p
    found.wplug_kernels.argtypes, found.wplug_kernels.restype = [c_void_p], POINTER(Kernels)
    found.wplug_versions.argtypes, found.wplug_versions.restype = [c_void_p, POINTER(c_uint64)], None
    found.wplug_finish.argtypes, found.wplug_finish.restype = [], None
    return found


library = _load()


def address_of(function: str) -> int:
    """Of a function of the library that is called through its address alone."""
    return ctypes.cast(getattr(library, function), c_void_p).value or 0
