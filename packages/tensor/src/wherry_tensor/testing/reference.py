"""The reference device: what it does and why is in reference_device.c beside this file.

It is built with the system's C compiler when somebody asks for it, rather than shipped in the wheel:
it is a template for makers of devices, and this is how theirs is built; and nobody who only uses
tensors should load a device whose purpose is to crash.
"""
from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import wherry_tensor
from wherry_tensor import _core
from wherry_tensor.ops.declare import decompose

__all__ = ["build", "host", "register"]

_libraries: dict[str, Any] = {}


def compiler() -> list[str] | None:
    """The command of the C compiler: $CC or cc; None where there is none."""
    command = shlex.split(os.environ.get("CC", "cc"))
    return command if command and shutil.which(command[0]) else None


def build(source: Path, target: Path) -> None:
    """Compile one C file into a shared library, as docs/devices.md does.

    Raises:
        RuntimeError: there is no C compiler, or it refuses.
    """
    command = compiler()
    if command is None:
        raise RuntimeError("the reference device is compiled when it is used. Got no C compiler, expected cc or $CC. Install one.")
    done = subprocess.run(
        [*command, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread",
         f"-I{wherry_tensor.get_include()}", str(source), "-o", str(target)],
        capture_output=True, text=True, check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{source.name} does not compile:\n{done.stderr}")


def host() -> int:
    """The address of the core's wry_host, which C functions take."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(_core.host, b"wherry.host"))


def register(
    name: str = "reference", *, few: bool = False, only: Collection[str] | None = None, caching: bool = False, forks: bool = True
) -> Any:
    """Register the reference device, or another copy of it under another name.

    Args:
        name: what `set_device` calls it.
        few: only the kernels that a device must have, those of ops without a decomposition.
        only: names of the ops that it has kernels for.
        caching: let the core keep freed blocks; without, each comes back to the device and is poisoned.
        forks: whether it says that a forked process may go on; a device with a driver does not.

    Returns:
        The library, a ctypes.PyDLL; the same one for the same name.

    Raises:
        RuntimeError: there is no C compiler.
    """
    if name in _libraries:
        return _libraries[name]
    with tempfile.TemporaryDirectory(prefix="wherry-reference-") as folder:
        path = Path(folder) / f"{name}.so"
        build(Path(__file__).with_name("reference_device.c"), path)
        library = ctypes.PyDLL(str(path))  # PyDLL: its functions are called with the GIL, and Python's errors are raised
    library.reference_start.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    library.reference_serve.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    for count in (library.reference_live_bytes, library.reference_waiting, library.reference_waits, library.reference_brackets):
        count.restype = ctypes.c_size_t
    address = host()
    if library.reference_start(address, name.encode(), int(caching), int(forks)) != 0:
        raise ImportError("reference_device.c was built for another kernel ABI")
    for op in _core.registry.values():
        if not op.view and not (few and op in decompose) and (only is None or op.name in only):
            library.reference_serve(address, name.encode(), op.name.encode())
    _libraries[name] = library
    return library
