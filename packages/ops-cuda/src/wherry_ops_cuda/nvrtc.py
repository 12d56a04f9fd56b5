"""Compiling CUDA C++ at run time with NVRTC, and keeping what was compiled.

NVRTC is a library of its own (`pip install wherry-ops-cuda[nvrtc]`); where it is absent nothing is compiled at run time. The
emulator brings a counterpart with the same functions.
"""
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["Compiler", "cache_folder", "find"]

_MAGIC = b"wherry cubin 1\n"


class Compiler:
    """NVRTC.

    Args:
        library: the loaded library.

    Attributes:
        identity: what images depend on beside source and options; part of their names in the cache.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion")
        self.identity = f"{major.value}.{minor.value}"
        if hasattr(library, "cuda_emulator_recipe"):  # an image of the emulator belongs to the compiler that made it
            library.cuda_emulator_recipe.restype = ctypes.c_char_p
            self.identity += f" {library.cuda_emulator_recipe().decode()}"

    def compiled(self, source: str, headers: Mapping[str, str], options: Sequence[str]) -> bytes:
        """The image of a program for one architecture.

        Args:
            source: CUDA C++.
            headers: what `#include` finds, by name.
            options: of NVRTC; one of them names the architecture, as `--gpu-architecture=sm_90`.

        Raises:
            RuntimeError: the program is wrong; the text is the compiler's.
        """
        n = len(headers)
        texts = (ctypes.c_char_p * n)(*(text.encode() for text in headers.values()))
        names = (ctypes.c_char_p * n)(*(name.encode() for name in headers))
        program, size, library = ctypes.c_void_p(), ctypes.c_size_t(), self.library
        self._check(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"chain.cu", n, texts, names), "nvrtcCreateProgram")
        try:
            chosen = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            status = library.nvrtcCompileProgram(program, len(options), chosen)
            if status:
                self._check(library.nvrtcGetProgramLogSize(program, ctypes.byref(size)), "nvrtcGetProgramLogSize")
                log = ctypes.create_string_buffer(size.value)
                self._check(library.nvrtcGetProgramLog(program, log), "nvrtcGetProgramLog")
                self._check(status, "nvrtcCompileProgram", log.value.decode(errors="replace"))
            self._check(library.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
            image = ctypes.create_string_buffer(size.value)
            self._check(library.nvrtcGetCUBIN(program, image), "nvrtcGetCUBIN")
            return image.raw
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))

    def image(self, source: str, headers: Mapping[str, str], options: Sequence[str], folder: Path | None = None) -> bytes:
        """`compiled`, or what was compiled before.

        Images are files named by a digest of all that they depend on. They appear whole, and one that was damaged is made again. When
        they are together larger than `WHERRY_CUDA_CACHE_MIB` (64), those that were not used for longest go.

        Args:
            source, headers, options: as for `compiled`.
            folder: of the files; None is `cache_folder()`.
        """
        folder = folder or cache_folder()
        key = hashlib.sha256("\0".join([self.identity, *options, source, *headers, *headers.values()]).encode()).hexdigest()
        path = folder / f"{key}.cubin"
        with contextlib.suppress(OSError):  # it is not there, or cannot be read: it is compiled
            data = path.read_bytes()
            head = len(_MAGIC) + 32
            if data.startswith(_MAGIC) and hashlib.sha256(data[head:]).digest() == data[len(_MAGIC) : head]:
                os.utime(path)
                return data[head:]
        image = self.compiled(source, headers, options)
        with contextlib.suppress(OSError):  # a folder that cannot be written keeps nothing: the next process compiles again
            folder.mkdir(parents=True, exist_ok=True)
            _store(path, _MAGIC + hashlib.sha256(image).digest() + image)
            _forget_oldest(folder)
        return image

    def _check(self, status: int, what: str, log: str = "") -> None:
        if status:
            why = (self.library.nvrtcGetErrorString(status) or b"").decode()
            raise RuntimeError(f"{what}: NVRTC says {why}, expected success. {log}".rstrip())


def cache_folder() -> Path:
    """Where images are kept: $WHERRY_CUDA_CACHE, or a folder of the user's cache."""
    named = os.environ.get("WHERRY_CUDA_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wherry" / "cuda-kernels"


def find(kernels: ctypes.CDLL | None) -> Compiler | None:
    """NVRTC, or None where there is none: the emulator's where `kernels` holds it, else that of the installed wheel, or of the system."""
    if kernels is not None and hasattr(kernels, "nvrtcVersion"):
        return Compiler(kernels)
    places: list[str] = []
    wheels = importlib.util.find_spec("nvidia")
    for root in (wheels.submodule_search_locations or []) if wheels else []:
        places += [str(found) for found in sorted(Path(root).glob("cu*/lib/libnvrtc.so.*"), reverse=True)]
    for place in [*places, "libnvrtc.so.13", "libnvrtc.so"]:
        with contextlib.suppress(OSError, AttributeError):  # it is not there, or is something else: the next one
            return Compiler(ctypes.CDLL(place))
    return None


def _store(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _forget_oldest(folder: Path) -> None:
    limit = float(os.environ.get("WHERRY_CUDA_CACHE_MIB", "64")) * 2**20
    known = []
    for path in folder.glob("*.cubin"):
        with contextlib.suppress(OSError):  # another process has removed it
            found = path.stat()
            known.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in known)
    for _, size, path in sorted(known):
        if total <= limit:
            break
        path.unlink(missing_ok=True)
        total -= size
