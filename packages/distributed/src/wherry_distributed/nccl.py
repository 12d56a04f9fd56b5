"""NCCL, NVIDIA's library of collectives between GPUs, by ctypes: opened where it is found, never linked.

    pip install wherry-distributed[nccl]      brings it; others that the system's loader finds serve as well

The environment's WHERRY_NCCL names a file instead, or 0 for none: tensors of GPUs go through the host then.

This file knows addresses, counts and streams; `gpu` knows tensors.
"""
from __future__ import annotations

import ctypes
import importlib.util
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from wherry_tensor.errors import UnavailableError

OLDEST = 21000  # 2.10: averages, bfloat16
NAMES = ("libnccl.so.2",)
SUCCESS, IN_PROGRESS = 0, 7
DTYPES = {
    "int8": 0, "uint8": 1, "int32": 2, "uint32": 3, "int64": 4, "uint64": 5, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9,
}
OPERATIONS = {"SUM": 0, "PROD": 1, "MAX": 2, "MIN": 3, "AVG": 4}
ID_BYTES = 128


class UniqueId(ctypes.Structure):
    """What the ranks of a communicator find each other by; made by one of them."""

    _fields_ = [("internal", ctypes.c_char * ID_BYTES)]


_COMM, _MEMORY, _STREAM = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
_INT, _COUNT = ctypes.c_int, ctypes.c_size_t
FUNCTIONS: dict[str, tuple[Any, ...]] = {  # arguments of those that return a status
    "GetVersion": (ctypes.POINTER(_INT),),
    "GetUniqueId": (ctypes.POINTER(UniqueId),),
    "CommInitRank": (ctypes.POINTER(_COMM), _INT, UniqueId, _INT),
    "CommDestroy": (_COMM,),
    "CommAbort": (_COMM,),
    "CommGetAsyncError": (_COMM, ctypes.POINTER(_INT)),
    "CommCount": (_COMM, ctypes.POINTER(_INT)),
    "CommUserRank": (_COMM, ctypes.POINTER(_INT)),
    "CommCuDevice": (_COMM, ctypes.POINTER(_INT)),
    "GroupStart": (),
    "GroupEnd": (),
    "AllReduce": (_MEMORY, _MEMORY, _COUNT, _INT, _INT, _COMM, _STREAM),
    "Reduce": (_MEMORY, _MEMORY, _COUNT, _INT, _INT, _INT, _COMM, _STREAM),
    "Broadcast": (_MEMORY, _MEMORY, _COUNT, _INT, _INT, _COMM, _STREAM),
    "AllGather": (_MEMORY, _MEMORY, _COUNT, _INT, _COMM, _STREAM),
    "ReduceScatter": (_MEMORY, _MEMORY, _COUNT, _INT, _INT, _COMM, _STREAM),
    "Send": (_MEMORY, _COUNT, _INT, _INT, _COMM, _STREAM),
    "Recv": (_MEMORY, _COUNT, _INT, _INT, _COMM, _STREAM),
}


class Library:
    """An open NCCL.

    Attributes:
        path: its file, or the name that the system's loader knows.
        version: 10000 * major + 100 * minor + patch.

    Raises:
        OSError: the file cannot be opened.
        RuntimeError: it is not NCCL, or too old.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        handle = ctypes.CDLL(path)
        self.functions: dict[str, Any] = {}
        for name, arguments in FUNCTIONS.items():
            function = getattr(handle, f"nccl{name}", None)
            if function is None:
                raise UnavailableError(f"{path} has no function nccl{name}")
            function.argtypes, function.restype = list(arguments), _INT
            self.functions[name] = function
        self._text = handle.ncclGetErrorString
        self._text.argtypes, self._text.restype = [_INT], ctypes.c_char_p
        self._last = getattr(handle, "ncclGetLastError", None)  # since 2.13
        if self._last is not None:
            self._last.argtypes, self._last.restype = [_COMM], ctypes.c_char_p
        version = _INT()
        self.call("GetVersion", ctypes.byref(version))
        found = version.value
        self.version = found if found >= 10000 else found // 1000 * 10000 + found % 1000  # before 2.9: 2804
        if self.version < OLDEST:
            raise UnavailableError(f"{path} is version {self.version_text}, and 2.10 or later is needed")

    @property
    def version_text(self) -> str:
        """As "2.28.3"."""
        return f"{self.version // 10000}.{self.version // 100 % 100}.{self.version % 100}"

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function.

        Raises:
            RuntimeError: it does not return success; the text has NCCL's own.
        """
        status = self.functions[name](*arguments)
        if status not in (SUCCESS, IN_PROGRESS):
            last = (self._last(None) or b"").decode(errors="replace").strip() if self._last is not None else ""
            raise UnavailableError(f"nccl{name}: NCCL {getattr(self, 'version_text', '')} says '{self.text(status)}'{f': {last}' if last else ''}")

    def text(self, status: int) -> str:
        """A status in words."""
        return (self._text(status) or b"?").decode(errors="replace")

    @contextmanager
    def group(self) -> Iterator[None]:
        """Calls inside belong together: they are one piece of work, whatever their order."""
        self.call("GroupStart")
        try:
            yield
        finally:
            self.call("GroupEnd")

    def unique_id(self) -> bytes:
        """What one rank makes for a communicator, and gives to the others."""
        made = UniqueId()
        self.call("GetUniqueId", ctypes.byref(made))
        return bytes(made)


class Communicator:
    """Ranks that exchange what lies in their GPUs. All of them make it at the same time, each with its GPU as the thread's current one.

    Work is put on a stream of CUDA, and done when the stream comes to it; nothing here waits.

    Args:
        unique: `Library.unique_id()` of one of the ranks.

    Raises:
        RuntimeError: NCCL refuses: two ranks with one GPU, or ranks that do not reach each other.
    """

    def __init__(self, library: Library, size: int, rank: int, unique: bytes) -> None:
        self.library, self.size, self.rank = library, size, rank
        self.handle: ctypes.c_void_p | None = ctypes.c_void_p()
        self.lock = threading.Lock()
        library.call("CommInitRank", ctypes.byref(self.handle), size, UniqueId.from_buffer_copy(unique), rank)

    @property
    def device(self) -> int:
        """The number of its GPU."""
        found = _INT()
        self.library.call("CommCuDevice", self._alive(), ctypes.byref(found))
        return found.value

    def _alive(self) -> ctypes.c_void_p:
        if self.handle is None:
            raise UnavailableError("NCCL: this communicator was aborted")
        return self.handle

    def all_reduce(self, source: int, target: int, count: int, dtype: str, op: str, stream: int) -> None:
        """`op` of all sources into each target; both may be one."""
        self.library.call("AllReduce", source, target, count, DTYPES[dtype], OPERATIONS[op], self._alive(), stream)

    def reduce(self, source: int, target: int, count: int, dtype: str, op: str, root: int, stream: int) -> None:
        """`op` of all sources into the target of the root."""
        self.library.call("Reduce", source, target, count, DTYPES[dtype], OPERATIONS[op], root, self._alive(), stream)

    def broadcast(self, source: int, target: int, nbytes: int, root: int, stream: int) -> None:
        """Bytes of the root into each target."""
        self.library.call("Broadcast", source, target, nbytes, DTYPES["uint8"], root, self._alive(), stream)

    def all_gather(self, source: int, target: int, nbytes: int, stream: int) -> None:
        """Bytes of all, in the order of ranks; `nbytes` of each."""
        self.library.call("AllGather", source, target, nbytes, DTYPES["uint8"], self._alive(), stream)

    def reduce_scatter(self, source: int, target: int, count: int, dtype: str, op: str, stream: int) -> None:
        """`op` of all sources, of which each rank gets its part of `count` elements."""
        self.library.call("ReduceScatter", source, target, count, DTYPES[dtype], OPERATIONS[op], self._alive(), stream)

    def send(self, source: int, nbytes: int, peer: int, stream: int) -> None:
        """Bytes to another rank."""
        self.library.call("Send", source, nbytes, DTYPES["uint8"], peer, self._alive(), stream)

    def receive(self, target: int, nbytes: int, peer: int, stream: int) -> None:
        """Bytes of another rank."""
        self.library.call("Recv", target, nbytes, DTYPES["uint8"], peer, self._alive(), stream)

    def failure(self) -> str | None:
        """What has failed after a call had returned."""
        with self.lock:
            if self.handle is None:
                return "it was aborted"
            found = _INT()
            status = self.library.functions["CommGetAsyncError"](self.handle, ctypes.byref(found))
        status = status or found.value
        return None if status in (SUCCESS, IN_PROGRESS) else self.library.text(status)

    def abort(self) -> None:
        """End what is under way, whatever other ranks do: streams that wait for them go on. Nothing can be called afterwards."""
        with self.lock:
            handle, self.handle = self.handle, None
        if handle is not None:
            self.library.call("CommAbort", handle)

    def destroy(self) -> None:
        """Let go of it, when nothing is under way any more."""
        with self.lock:
            handle, self.handle = self.handle, None
        if handle is not None:
            self.library.call("CommDestroy", handle)


def candidates() -> list[str]:
    """Where NCCL is looked for: the file that WHERRY_NCCL names, or those of installed wheels, then names for the system's loader."""
    named = os.environ.get("WHERRY_NCCL", "1")
    if named not in ("1", ""):
        return [] if named == "0" else [named]
    wheels = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in (wheels.submodule_search_locations or [])] if wheels else []
    return [*(str(file) for name in NAMES for root in roots for file in sorted(root.glob(f"*/lib/{name}"), reverse=True)), *NAMES]


@cache
def find() -> tuple[Library | None, str]:
    """NCCL and "", or None and why there is none.

    Examples:
        >>> from wherry_distributed import nccl
        >>> library, why = nccl.find()
        >>> library is not None or bool(why)
        True
    """
    why = "NCCL is not installed. Type: pip install nvidia-nccl-cu13"
    if os.environ.get("WHERRY_NCCL") == "0":
        return None, "WHERRY_NCCL=0 turns NCCL off"
    for place in candidates():
        try:
            return Library(place), ""
        except OSError as error:  # the next one
            if os.environ.get("WHERRY_NCCL", "1") not in ("", "1"):
                why = f"NCCL cannot be opened: {error}"
        except UnavailableError as error:
            return None, f"NCCL cannot be used: {error}"
    return None, why
