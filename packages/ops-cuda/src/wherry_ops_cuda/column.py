"""What this package contributes: the device `gpu`, its memory and streams, and the kernels of the column `gpu`.

wherry-tensor calls `register` when somebody names the device, through the entry point `wherry.devices`.
"""
from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

from wherry_ops_cuda import libraries, nvrtc
from wherry_ops_cuda.building import default_path
from wherry_ops_cuda.chains import Chains
from wherry_tensor import _core, device, flags
from wherry_tensor.columns import require_vocabulary

SERVES_VOCABULARY = 5

_library: ctypes.PyDLL | None = None


def register() -> None:
    """Register the GPUs that can be used here. Where there are none, the device layer learns what is missing.

    The library is the one that `$WHERRY_CUDA_LIBRARY` names (the emulator's, in tests), else the one that was built.
    `WHERRY_CUDA_SYNCHRONOUS=1`, and the flag `FLAGS_benchmark`, wait after each op, so that what fails is reported by the op that does.

    Raises:
        ImportError: wherry-tensor has another op vocabulary or kernel ABI than these kernels serve.
    """
    global _library
    if _library is not None:
        return
    require_vocabulary("wherry-ops-cuda", "wherry-ops-cuda", SERVES_VOCABULARY)
    path = default_path()
    library, missing = _open(path)
    if library is None:
        device.unavailable["gpu"] = device.unavailable["gpu_pinned"] = missing
        return
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    library.wry_cuda_register.argtypes = [ctypes.c_void_p]
    status = library.wry_cuda_register(pointer(_core.host, b"wherry.host"))
    if status != 0:
        raise ImportError(
            f"wherry-ops-cuda: {path} was not taken. Got status {status}, expected 0. It was built for another version of wherry-tensor, "
            f"or the GPU has no memory left: run python -m wherry_ops_cuda build again."
        )
    device.descriptions["gpu"] = _describe
    device.notes["gpu"] = libraries.describe
    _library = library
    libraries.connect(library)
    device.chains["gpu"] = _chains
    flags.when_set("FLAGS_gpu_memory_limit_mb", lambda mebibytes: _set_memory_limit(int(mebibytes)))
    flags.when_set("FLAGS_benchmark", lambda on: set_synchronous(bool(on)))


def _open(path: Path) -> tuple[ctypes.PyDLL | None, str]:
    """The library and "", or None and what is missing."""
    if not path.is_file():
        return None, (
            f"wherry-ops-cuda is installed, but its kernels are not compiled: there is no {path}. "
            f"Run python -m wherry_ops_cuda build, which needs nvcc of CUDA 13 (pip install 'nvidia-cuda-nvcc>=13,<14')."
        )
    try:
        library = ctypes.PyDLL(str(path))  # which keeps the GIL, as registering asks
        count = library.wry_cuda_count
    except (OSError, AttributeError) as error:
        return None, (
            f"The library of kernels cannot be loaded: {error}. Got {path}, expected one that python -m wherry_ops_cuda build has made. "
            f"Run that again."
        )
    why = ctypes.c_char_p()
    return (library, "") if count(ctypes.byref(why)) else (None, (why.value or b"").decode())


def _describe(number: int) -> dict[str, Any]:
    """What `wherry.device.cuda.get_device_properties` tells of a GPU."""
    assert _library is not None
    name = ctypes.create_string_buffer(256)
    major, minor, units, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int64()
    _library.wry_cuda_describe(
        number, name, ctypes.c_size_t(len(name)), ctypes.byref(major), ctypes.byref(minor), ctypes.byref(memory), ctypes.byref(units)
    )
    return {
        "name": name.value.decode(), "major": major.value, "minor": minor.value, "total_memory": memory.value,
        "multi_processor_count": units.value,
    }


@cache
def _chains() -> Chains | None:
    """What compiles element-wise chains; None without NVRTC, and where WHERRY_CUDA_CHAINS=0 asks for the ops one by one."""
    if os.environ.get("WHERRY_CUDA_CHAINS", "1") == "0":
        return None
    compiler = nvrtc.find(_library)
    if compiler is None or _library is None:
        return None

    def architecture(number: int) -> str:
        found = _describe(number)
        return f"sm_{found['major']}{found['minor']}"

    return Chains(_library, compiler, architecture)


def _set_memory_limit(mebibytes: int) -> None:
    if _library is not None:
        _library.wry_cuda_set_memory_limit(ctypes.c_int64(max(mebibytes, 0) << 20))


def set_synchronous(on: bool) -> None:
    """Wait after each op (`on`), or let the stream run; `WHERRY_CUDA_SYNCHRONOUS=1` waits in any case. Without GPUs nothing happens."""
    if _library is not None:
        _library.wry_cuda_set_synchronous(on or os.environ.get("WHERRY_CUDA_SYNCHRONOUS", "0") not in ("", "0"))
