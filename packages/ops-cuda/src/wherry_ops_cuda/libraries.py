"""NVIDIA's libraries, which the kernels use where they are installed: where they may be, which are used, how to turn them off.

    python -m wherry_ops_cuda libraries     which are found

Nothing is linked or needed. The extras `cublas` and `cudnn` of this package bring cuBLASLt for matrix products and cuDNN for convolutions; others
that the system's loader finds serve as well.
"""
from __future__ import annotations

import ctypes
import importlib.util
import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

__all__ = ["LIBRARIES", "connect", "describe", "candidates"]


class _Library(NamedTuple):
    title: str
    variable: str  # of the environment: a file, or 0 for none
    flag: str
    names: tuple[str, ...]  # for the system's loader, the newest first
    serves: str
    companions: tuple[str, ...] = ()  # that it opens by name, which the loader may not find where wheels have put them


LIBRARIES = {
    "cublaslt": _Library("cuBLASLt", "WHERRY_CUDA_CUBLAS", "FLAGS_use_cublaslt", ("libcublasLt.so.13", "libcublasLt.so.12"), "matrix products"),
    "cudnn": _Library("cuDNN", "WHERRY_CUDA_CUDNN", "FLAGS_use_cudnn", ("libcudnn.so.9",), "convolutions",
                      ("libcublasLt.so.13", "libnvrtc.so.13", "libcublasLt.so.12", "libnvrtc.so.12")),
}

_library: ctypes.CDLL | None = None
_notice: object = None  # the callback lives as long as the library that calls it


def candidates(name: str) -> list[str]:
    """Where a library is looked for, in this order: files of installed wheels, then names for the system's loader.

    The library's variable (`WHERRY_CUDA_CUBLAS`, `WHERRY_CUDA_CUDNN`) names the only file instead, or 0 for none.

    Examples:
        >>> from wherry_ops_cuda import libraries
        >>> libraries.candidates("cublaslt")[-2:]
        ['libcublasLt.so.13', 'libcublasLt.so.12']
    """
    library = LIBRARIES[name]
    named = os.environ.get(library.variable, "1")
    if named not in ("1", ""):
        return [] if named == "0" else [named]
    return [*_of_wheels(library.names), *library.names]


def _of_wheels(names: tuple[str, ...]) -> list[str]:
    wheels = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in (wheels.submodule_search_locations or [])] if wheels else []
    return [str(file) for one in names for root in roots for file in sorted(root.glob(f"*/lib/{one}"), reverse=True)]


def connect(library: ctypes.CDLL) -> None:
    """Tell the kernels where NVIDIA's libraries may be; they are opened when the first call wants one.

    Kernels that were compiled for the emulator take only what the environment names: no library of NVIDIA's runs there.
    """
    global _library, _notice
    from wherry_tensor import flags

    _library = library
    _notice = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_warn)
    library.wry_cuda_set_notice(_notice)
    emulated = hasattr(library, "cuda_emulator_clear")
    for name, one in LIBRARIES.items():
        asked = os.environ.get(one.variable, "1") not in ("", "0", "1")
        where = [] if emulated and not asked else candidates(name)
        beside = _of_wheels(one.companions) if where and not asked else []
        library.wry_cuda_library_places(name.encode(), "\n".join(where).encode(), "\n".join(beside).encode(), int(asked))
        flags.when_set(one.flag, partial(_use, library, name))
    flags.when_set("FLAGS_conv_workspace_size_limit", lambda limit: library.wry_cuda_set_workspace_limit(ctypes.c_int64(int(limit))))
    flags.when_set("FLAGS_enable_cublas_tensor_op_math", lambda on: library.wry_cuda_set_tf32(int(bool(on))))


def _use(library: ctypes.CDLL, name: str, on: object) -> None:
    library.wry_cuda_library_use(name.encode(), int(bool(on)))


def describe() -> list[str]:
    """A line for each library: which one is used, or why none is. Opens them.

    Examples:
        >>> from wherry_ops_cuda import libraries
        >>> libraries.describe() if wherry.device.cuda.device_count() else []
        []
    """
    if _library is None:
        return []
    lines = []
    for name, one in LIBRARIES.items():
        text = ctypes.create_string_buffer(1024)
        used = _library.wry_cuda_library_describe(name.encode(), text, ctypes.c_size_t(len(text)))
        said = text.value.decode(errors="replace")
        lines.append(f"{said}, for {one.serves}" if used else f"{said}; {one.serves} by Wherry's own kernels")
    return lines


def _warn(text: bytes) -> None:
    from wherry_tensor.tracebacks import warn

    warn(text.decode(errors="replace"), RuntimeWarning)
